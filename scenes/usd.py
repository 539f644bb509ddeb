"""Scenes from USD files."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sdg.plugin import InputPath
from sdg.scene import Scene, SceneSource


class Usd(SceneSource):
    """Read a .usd, .usda, .usdc or .usdz file: bodies, materials, lights, cameras, labels and rigid bodies.

    A body is a prim that can be drawn, or all of those below a rigid body, a `kind = "component"`, a native instance or a
    prim with a semantic label; each point of a PointInstancer is one, named `/path[number]`. Names are prim paths.
    Raises SceneError for whatever the file refers to but cannot be found.
    """

    file: InputPath
    variants: dict[str, dict[str, str]] = Field(
        {}, description="variants to choose: prim path -> variant set -> variant"
    )
    labels: dict[str, str] = Field(
        {},
        description="classes: glob of prim paths -> class, '' for none; `*` stays within one name, `**` crosses names; "
        "comes before labels in the file, the last match decides",
    )
    dynamic: tuple[str, ...] = Field((), description="globs of prims that become dynamic rigid bodies")
    purposes: tuple[Literal["default", "render", "proxy", "guide"], ...] = Field(
        ("default", "render"), description="purposes of the prims that are drawn"
    )
    time: float | None = Field(
        None, description="time code at which animation is read; default: the first of the stage"
    )
    largest_texture: int = Field(4096, ge=1, le=16384, description="larger textures are shrunk to this side [px]")

    def load(self) -> Scene:
        """Read the scene. Raises SceneError."""
        from sdg.usd.reader import read_scene

        return read_scene(
            self.file,
            variants=self.variants,
            labels=self.labels,
            dynamic=self.dynamic,
            purposes=self.purposes,
            time=self.time,
            largest_texture=self.largest_texture,
        )
