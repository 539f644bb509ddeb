"""What a writer is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from .plugin import Plugin
from .sample import Sample


@dataclass(frozen=True)
class Member:
    """What the files of one extension hold; `feature`: its type for Hugging Face's `datasets`."""

    extension: str
    meaning: str
    unit: str
    feature: dict[str, Any]


class Writer(Plugin, ABC):
    """Turns samples into files; `sdg.execution` puts the files of many samples into one shard and commits it."""

    samples_per_shard: int = Field(100, gt=0, le=100_000, description="samples in one shard")

    @abstractmethod
    def files(self, sample: Sample) -> dict[str, bytes]:
        """Return the members of one sample by extension, e.g. `rgb.jpg`; the same set for every sample of a job."""

    def members(self, cameras: Sequence[str], annotations: Sequence[str]) -> list[Member]:
        """Describe the members of every sample, for the card of the data set."""
        return []
