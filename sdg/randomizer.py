"""What a randomizer is, and the draws it makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from pydantic import Field

from .distributions import Distribution
from .plugin import Plugin
from .scene import Scene


class Draws:
    """The random numbers of one randomizer in one sample, recorded under names."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.record: dict[str, Any] = {}

    def __call__(self, name: str, distribution: Distribution) -> Any:
        """Draw from `distribution` and record the value as `name`."""
        return self.note(name, distribution.sample(self.rng))

    def count(self, name: str, distribution: Distribution) -> int:
        """Draw a whole number."""
        return int(self(name, distribution))

    def note(self, name: str, value: Any) -> Any:
        """Record a value that was drawn from `rng` itself; return it unchanged."""
        self.record[name] = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        return value


class Randomizer(Plugin, ABC):
    """Changes one aspect of a scene, drawing from the random numbers that are handed in and from nothing else."""

    name: str = Field("", description="names the stream of random numbers; default: the type; unique in a job")

    @property
    def stream(self) -> str:
        """The name of the stream of random numbers."""
        return self.name or self.type_name()

    @abstractmethod
    def apply(self, scene: Scene, draw: Draws) -> None:
        """Change `scene` in place. Raise SampleRejected when this draw can make no usable sample."""

    def check(self, scene: Scene) -> list[str]:
        """Say what of `scene`, as it was loaded, this randomizer cannot work with: one fault per line."""
        return []

    def semantic_classes(self) -> list[str]:
        """Return the classes of the bodies that this randomizer adds."""
        return []
