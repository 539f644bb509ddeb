"""What a renderer is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias

import numpy as np

from .plugin import Plugin
from .scene import Camera, Scene

Frame: TypeAlias = dict[str, np.ndarray]
"""Annotation name -> array; see `sdg.annotations` for dtypes, shapes and units."""

Render: TypeAlias = Callable[[Scene, Camera, Sequence[str], np.random.Generator], Frame]
"""`render(scene, camera, annotations, rng) -> Frame`: the annotations of `sdg.annotations.RENDERED` that are asked for.

`rng` seeds the noise of the light transport and nothing else: labels do not depend on it.
"""


class Renderer(Plugin, ABC):
    """A renderer's options; `open` starts the engine."""

    @abstractmethod
    def open(self) -> AbstractContextManager[Render]:
        """Start the engine, once per process; leaving the context stops it."""

    def versions(self) -> dict[str, str]:
        """Return the versions of what decides the pixels; they are part of the job digest."""
        return {}
