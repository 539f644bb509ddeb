"""Put bodies at random places."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field, PrivateAttr

from sdg import transforms
from sdg.distributions import Count, NonNegative
from sdg.errors import SampleRejected, SceneError
from sdg.physics.colliders import Colliders
from sdg.physics.mujoco import World
from sdg.placement import Propose, box_of, place_apart, region_of, select, unmatched, upright
from sdg.randomizer import Draws, Randomizer
from sdg.scene import Body, Scene


class Scatter(Randomizer):
    """Choose bodies, take the others away and put the chosen ones where they touch nothing.

    Places are uniform over a volume (the scene's region) or over the top of a body (`on`); orientations are uniform over
    all rotations or over turns about z. Bodies that find no free place are taken away and counted.
    """

    bodies: tuple[str, ...] = Field(
        ("*",), description="names or classes of the dynamic bodies to choose from; * and ?"
    )
    count: Count | None = Field(None, description="how many bodies to place, whole number; default: all")
    with_replacement: bool = Field(False, description="whether a body may be chosen several times, as copies")
    on: str | None = Field(None, description="name or class of the body to place on; default: in the scene's region")
    height: NonNegative = Field(
        {"uniform": [0.01, 0.2]},  # type: ignore[assignment]
        description="with `on`: lowest point above that body's top, uniform by default [m]",
    )
    edge: float = Field(0.05, ge=0, description="how far [m] places stay away from the border of the volume or top")
    orientation: Literal["so3", "upright", "keep"] = Field(
        "so3", description="so3: uniform; upright: uniform turn about z"
    )
    gap: float = Field(0.002, ge=0, description="least distance between bodies [m]")
    tries: int = Field(100, gt=0, description="places tried for each body")
    fewer: Literal["accept", "reject"] = Field("accept", description="what happens when a body finds no place")

    _colliders: Colliders = PrivateAttr(default_factory=Colliders)

    def check(self, scene: Scene) -> list[str]:
        dynamic = [body for body in scene.bodies.values() if body.rigid_body.motion == "dynamic"]
        faults = unmatched(scene, self.bodies, among=dynamic, what="dynamic body")
        return faults + unmatched(scene, [self.on] if self.on is not None else [])

    def apply(self, scene: Scene, draw: Draws) -> None:
        pool = [body for body in select(scene, self.bodies) if body.rigid_body.motion == "dynamic"]
        count = len(pool) if self.count is None else draw.count("count", self.count)
        chosen = self._choose(scene, pool, count, draw)
        volume = self._volume(scene)
        try:
            world = World(scene, self._colliders, margin=max(self.gap, 1e-4))
        except SceneError as error:
            raise SampleRejected(str(error)) from None
        names = [body.name for body in chosen if body.name in set(world.moving)]
        proposals = [self._proposal(scene.bodies[name], volume) for name in names]
        placed = place_apart(world, names, proposals, draw.rng, gap=self.gap, tries=self.tries)
        self._take(scene, names, placed, draw)

    def _choose(self, scene: Scene, pool: list[Body], count: int, draw: Draws) -> list[Body]:
        """Return the chosen bodies, copies among them; all others of the pool leave the scene."""
        if self.with_replacement:
            picks = draw.rng.integers(len(pool), size=count).tolist() if pool else []
        else:
            picks = draw.rng.permutation(len(pool))[:count].tolist()
        chosen: list[Body] = []
        for position, pick in enumerate(picks):
            body = pool[pick]
            if pick in picks[:position]:
                body = replace(
                    body,
                    object_to_world=body.object_to_world.copy(),
                    materials=list(body.materials),
                    rigid_body=replace(body.rigid_body),
                )
                scene.add(body)
            chosen.append(body)
        for body in pool:
            if not any(body is other for other in chosen):
                del scene.bodies[body.name]
        return chosen

    def _volume(self, scene: Scene) -> np.ndarray:
        """Return the box [2, 3] of places; with `on` both heights are those of the top."""
        if self.on is None:
            volume = region_of(scene).copy()
        else:
            support = select(scene, [self.on])
            if not support:
                raise SampleRejected(f"there is no body '{self.on}' to place anything on")
            volume = box_of(support[:1])
            volume[0, 2] = volume[1, 2]
        shrink = np.minimum(self.edge, np.ptp(volume[:, :2], axis=0) / 2 * 0.99)
        volume[:, :2] += np.stack([shrink, -shrink])
        return volume

    def _proposal(self, body: Body, volume: np.ndarray) -> Propose:
        corners = body.mesh.vertices[np.unique(body.mesh.triangles)].astype(np.float64) * body.scale
        before = body.object_to_world[:3, :3]

        def propose(rng: np.random.Generator) -> np.ndarray:
            rotation = transforms.random_rotation(rng) if self.orientation == "so3" else before
            rotation = upright(rng, before) if self.orientation == "upright" else rotation
            turned = corners @ rotation.T
            low, high = turned.min(axis=0), turned.max(axis=0)
            place = volume[0] + (volume[1] - volume[0]) * rng.random(3)
            if self.on is not None:
                place[2] = volume[0, 2] + self.height.sample(rng)
            else:
                place[2] = volume[0, 2] + max(0.0, np.ptp(volume[:, 2]) - (high - low)[2]) * rng.random()
            # x and y: the middle of the turned body's box; z: its lowest point
            return transforms.transform(rotation, place - [*((low + high) / 2)[:2], low[2]])

        return propose

    def _take(self, scene: Scene, names: list[str], placed: dict[str, np.ndarray], draw: Draws) -> None:
        missing = [name for name in names if name not in placed]
        if missing and self.fewer == "reject":
            raise SampleRejected(f"no free place for {len(missing)} of {len(names)} bodies, {missing[0]} among them")
        for name in missing:
            del scene.bodies[name]
        for name, pose in placed.items():
            scene.bodies[name].object_to_world = pose
        draw.note("placed", {name: np.round(pose, 9).tolist() for name, pose in placed.items()})
        draw.note("not_placed", missing)
