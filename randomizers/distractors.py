"""Add things that are there to mislead."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from pydantic import Field, PrivateAttr

from sdg import transforms
from sdg.distributions import Count, Fraction, Number, Positive
from sdg.errors import SampleRejected, SceneError
from sdg.mesh import Mesh, cylinder, lathe, sphere
from sdg.outlines import extruded
from sdg.patterns import KINDS, make_pattern
from sdg.physics.colliders import Colliders
from sdg.physics.mujoco import World
from sdg.placement import Propose, place_apart, region_of
from sdg.random import rng_for
from sdg.randomizer import Draws, Randomizer
from sdg.scene import Body, Material, RigidBody, Scene, Texture
from sdg.shapes import rounded_box, spline

Kind = Literal["box", "cylinder", "sphere", "blob", "prism"]


class Distractors(Randomizer):
    """Add random shapes with random patterns, at uniform places and orientations in the region, where they touch nothing.

    They are unlabelled unless a class is given. Dynamic ones fall when a `settle` comes later; flying ones stay in the
    air around the region. There are `shapes` different meshes and `looks` textures, the same in every sample; size and
    stretch are drawn. Those that find no place are left out.
    """

    count: Count = Field([2, 6], description="how many are added, whole number, uniform")  # type: ignore[assignment]
    kinds: tuple[Kind, ...] = Field(
        ("box", "cylinder", "sphere", "blob", "prism"), min_length=1, description="uniform choice"
    )
    size: Positive = Field(
        {"log_uniform": [0.03, 0.14]}, description="longest extent before stretching [m], log-uniform"
    )  # type: ignore[assignment]
    stretch: Positive = Field([0.6, 1.3], description="factor along each axis, uniform")  # type: ignore[assignment]
    roughness: Fraction = Field([0.1, 0.9], description="0..1, uniform")  # type: ignore[assignment]
    metallic: Fraction = Field(
        {"choice": [0.0, 1.0], "weights": [0.85, 0.15]}, description="1 in 15 % of cases, else 0"
    )  # type: ignore[assignment]
    tile: Positive = Field(
        {"log_uniform": [0.3, 3.0]}, description="size of the pattern, relative to the body's uvs, log-uniform"
    )  # type: ignore[assignment]
    rotation: Number = Field([0.0, 2 * math.pi], description="of the pattern [rad], uniform")  # type: ignore[assignment]
    flying: bool = Field(False, description="whether they hang in the air, around the region too, and touch nothing")
    spread: float = Field(0.3, ge=0, description="how far [m] flying ones may be outside of the region")
    semantic_class: str = Field("", description="their class; default: unlabelled")
    shapes: int = Field(40, gt=0, le=10000, description="how many different meshes there are")
    looks: int = Field(60, gt=0, le=10000, description="how many different textures there are")
    tries: int = Field(50, gt=0, description="places tried for each")

    _colliders: Colliders = PrivateAttr(default_factory=Colliders)
    _meshes: dict[int, Mesh] = PrivateAttr(default_factory=dict)
    _textures: dict[int, np.ndarray] = PrivateAttr(default_factory=dict)

    def semantic_classes(self) -> list[str]:
        return [self.semantic_class] if self.semantic_class else []

    def apply(self, scene: Scene, draw: Draws) -> None:
        before = list(scene.bodies)
        added = []
        for number in range(draw.count("count", self.count)):
            body = self._make(draw, f"distractor_{number}")
            scene.add(body)
            added.append(body.name)
        volume = self._volume(scene)
        try:
            world = World(scene, self._colliders, margin=1e-3)
        except SceneError as error:
            raise SampleRejected(str(error)) from None
        proposals = [_anywhere(scene.bodies[name], volume) for name in added]
        placed = place_apart(world, added, proposals, draw.rng, gap=1e-3, tries=self.tries)
        for name in added:
            if name not in placed:
                del scene.bodies[name]
                continue
            scene.bodies[name].object_to_world = placed[name]
            if self.flying:
                scene.bodies[name].rigid_body = RigidBody(motion="kinematic", collider="none")
        draw.note("placed", {name: np.round(pose, 9).tolist() for name, pose in placed.items()})
        assert set(before) <= set(scene.bodies)

    def _make(self, draw: Draws, name: str) -> Body:
        mesh = self._mesh(draw.note(f"{name}.shape", int(draw.rng.integers(self.shapes))))
        look = draw.note(f"{name}.look", int(draw.rng.integers(self.looks)))
        size = draw(f"{name}.size", self.size)
        stretch = [size * self.stretch.sample(draw.rng) for _ in range(3)]
        draw.note(f"{name}.scale", stretch)
        repeats = 1 / draw(f"{name}.tile", self.tile)
        texture = Texture(
            self._texture(look),
            uv_scale=(repeats, repeats),
            uv_rotation=draw(f"{name}.rotation", self.rotation),
            name=f"distractor_{look}",
        )
        material = Material(
            base_color_texture=texture,
            roughness=draw(f"{name}.roughness", self.roughness),
            metallic=draw(f"{name}.metallic", self.metallic),
        )
        return Body(
            f"{self.stream}_{name.removeprefix('distractor_')}",
            mesh,
            scale=(stretch[0], stretch[1], stretch[2]),
            materials=[material],
            semantic_class=self.semantic_class,
            rigid_body=RigidBody(motion="dynamic", density=400.0),
        )

    def _mesh(self, number: int) -> Mesh:
        if number not in self._meshes:
            self._meshes[number] = shape(self.kinds[number % len(self.kinds)], rng_for(0, number, "distractor shape"))
        return self._meshes[number]

    def _texture(self, number: int) -> np.ndarray:
        if number not in self._textures:
            rng = rng_for(0, number, "distractor look")
            self._textures[number] = make_pattern(KINDS[int(rng.integers(len(KINDS)))], rng, 256)
        return self._textures[number]

    def _volume(self, scene: Scene) -> np.ndarray:
        volume = region_of(scene).copy()
        if self.flying:
            volume += np.array([[-1.0], [1.0]]) * self.spread
            volume[0, 2] += self.spread
        return volume


def _anywhere(body: Body, volume: np.ndarray) -> Propose:
    """Return what draws a pose at which the body's box lies inside of `volume` [2, 3], if it fits."""
    corners = body.mesh.vertices.astype(np.float64) * body.scale

    def propose(rng: np.random.Generator) -> np.ndarray:
        rotation = transforms.random_rotation(rng)
        turned = corners @ rotation.T
        low, high = volume[0] - turned.min(axis=0), volume[1] - turned.max(axis=0)
        return transforms.transform(rotation, low + np.maximum(high - low, 0) * rng.random(3))

    return propose


def shape(kind: Kind, rng: np.random.Generator) -> Mesh:
    """Return a random shape whose longest extent is about 1."""
    if kind == "box":
        return rounded_box(rng.uniform(0.4, 1.0, 3), rng.uniform(0.01, 0.12), face_uvs=True)
    if kind == "cylinder":
        return cylinder(rng.uniform(0.15, 0.5), rng.uniform(0.4, 1.0))
    if kind == "sphere":
        return sphere(0.5, segments=40)
    if kind == "blob":
        knots = [(0.0, -0.5), *((rng.uniform(0.12, 0.5), z) for z in np.linspace(-0.42, 0.42, 5)), (0.0, 0.5)]
        return lathe(spline(knots, 32), segments=40)
    corners = int(rng.integers(3, 9))
    angle = np.linspace(0, 2 * math.pi, corners, endpoint=False) + rng.uniform(-0.2, 0.2, corners)
    radius = rng.uniform(0.25, 0.5, corners)
    outline = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return extruded(outline, rng.uniform(0.2, 0.9), bevel=0.02)
