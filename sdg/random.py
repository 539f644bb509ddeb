"""Random numbers: one independent stream for each randomizer or sensor of each sample."""

from hashlib import blake2b

import numpy as np


def rng_for(seed: int, sample: int, name: str, attempt: int = 0) -> np.random.Generator:
    """Return the generator of stream `name` in sample number `sample`.

    The stream depends on its arguments alone, so adding, removing or reordering other streams changes none of its
    draws. `attempt` counts how often the sample was rejected and drawn again.
    """
    stream = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    spawn_key = (sample, stream & 0xFFFFFFFF, stream >> 32, attempt)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=spawn_key)))
