"""A sample: what one key of a data set holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .annotations import ANNOTATIONS
from .labels.objects import Objects
from .renderer import Frame
from .scene import Camera


@dataclass
class View:
    """What one camera saw: its parameters, its arrays by annotation name, and the labelled objects in sight."""

    camera: Camera
    frame: Frame
    objects: Objects


@dataclass
class Sample:
    """One sample: a view per camera and a JSON-able record of everything that was drawn.

    `annotations`: what the job asked for. `classes`: the semantic classes of the whole job by class id, from 2.
    """

    index: int
    views: dict[str, View]
    meta: dict[str, Any] = field(default_factory=dict)
    annotations: tuple[str, ...] = tuple(ANNOTATIONS)
    classes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of this sample in its shard."""
        return f"{self.index:09d}"
