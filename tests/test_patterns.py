"""Patterns and printed labels."""

from __future__ import annotations

import numpy as np
import pytest

from sdg.patterns import KINDS, make_pattern, sky
from sdg.printing import facts, label
from sdg.random import rng_for


@pytest.mark.parametrize("kind", KINDS)
def test_pattern_is_a_deterministic_image_that_varies(kind: str) -> None:
    first, again, other = (make_pattern(kind, rng_for(seed, 0, kind), 128) for seed in (0, 0, 1))
    assert first.shape == (128, 128, 3) and first.dtype == np.uint8
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert np.ptp(first.astype(int), axis=(0, 1)).max() > 10


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("gradient", "label")])
def test_pattern_repeats_without_a_seam(kind: str) -> None:
    image = make_pattern(kind, rng_for(3, 0, kind), 256).astype(float)
    for axis in (0, 1):
        steps = np.abs(np.diff(image, axis=axis)).mean(axis=(1 - axis, 2))
        seam = np.abs(np.take(image, 0, axis) - np.take(image, -1, axis)).mean()
        assert seam <= steps.max() + 6  # no step over the border is larger than the largest step inside


def test_unknown_pattern_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'marble'"):
        make_pattern("marbel", rng_for(0, 0, "x"))


def test_labels_and_sky() -> None:
    printed = label(rng_for(0, 0, "label"), (200, 120), title="SDG")
    assert printed.shape == (200, 120, 3) and printed.min() >= 0 and printed.max() <= 1
    assert facts(rng_for(0, 0, "facts"), (200, 120), base=np.array([0.2, 0.3, 0.6])).shape == (200, 120, 3)
    panorama = sky(rng_for(0, 0, "sky"))
    assert panorama.shape == (128, 256, 3) and panorama.dtype == np.float32 and (panorama >= 0).all()
