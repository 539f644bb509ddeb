"""A room with a table, a bin and labelled objects, all made in code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from sdg import transforms
from sdg.errors import nearest
from sdg.mesh import Mesh, merge
from sdg.patterns import color, make_pattern, sky
from sdg.random import rng_for
from sdg.scene import Body, Camera, Light, RigidBody, Scene, SceneSource, Texture
from sdg.scenes import _food, _kitchen, _room, _tools, _toys
from sdg.scenes._objects import linear, plastic, printed
from sdg.shapes import moved, rounded_box, with_uvs

Maker = Callable[[np.random.Generator], Body]


def _makers() -> dict[str, Maker]:
    """Return what makes each class of object."""
    kitchen = (_kitchen.mug, _kitchen.bowl, _kitchen.plate, _kitchen.cup, _food.bottle, _food.can)
    food = (_food.cereal_box, _food.banana, _food.apple)
    tools = (_tools.hammer, _tools.screwdriver, _tools.wrench, _tools.spray_bottle, _toys.spool)
    toys = (_toys.ball, _toys.block, _toys.book)
    return {maker.__name__: maker for maker in (*kitchen, *food, *tools, *toys)}


def _known(value: tuple[str, ...]) -> tuple[str, ...]:
    makers = _makers()
    for name in value:
        if name not in makers:
            raise ValueError(f"no object '{name}'; {nearest(name, makers)}")
    return value


class Tabletop(SceneSource):
    """A furnished room with a table in the middle, an open bin on it, and objects of 17 classes laid out upright.

    Table, bin and objects are labelled, the room is not. The scene's region is the space above the table.
    """

    objects: Annotated[tuple[str, ...], AfterValidator(_known)] | None = Field(
        None, description="classes of the objects, several times for several looks; default: one of each"
    )
    copies: int = Field(1, ge=0, le=100, description="objects of each class; they differ in colour and print")
    bin: bool = Field(True, description="whether an open bin stands on the table")
    room: bool = Field(True, description="whether there are a floor, walls and furniture")
    ceiling: bool = Field(False, description="whether the room has a ceiling; without it the sky lights the room")
    table_size: tuple[float, float, float] = Field((1.4, 0.8, 0.74), description="length, width and height [m]")
    room_size: tuple[float, float, float] = Field((5.2, 4.6, 2.7), description="length, width and height [m]")
    seed: int = Field(0, ge=0, description="of the wood, prints and colours")

    def load(self) -> Scene:
        scene = Scene()
        if self.room:
            rng = rng_for(self.seed, 0, "room")
            for piece in [*_room.shell(rng, self.room_size, ceiling=self.ceiling), *_room.furnish(rng, self.room_size)]:
                scene.add(piece)
        length, width, height = self.table_size
        scene.add(_table(rng_for(self.seed, 0, "table"), self.table_size))
        if self.bin:
            scene.add(_bin(rng_for(self.seed, 0, "bin"), transforms.transform(None, (length / 2 - 0.3, 0.0, height))))
        self._lay_out(scene)
        edge = 0.06
        low, high = (-length / 2 + edge, -width / 2 + edge, height), (length / 2 - edge, width / 2 - edge, height + 0.4)
        scene.region = np.array([low, high])
        _light(scene, rng_for(self.seed, 0, "light"), self.room_size)
        eye, target = (-0.75, -1.05, height + 0.75), (0.02, 0.02, height + 0.03)
        focal = 320 / math.tan(0.45)
        scene.cameras["camera"] = Camera(640, 480, focal, focal, 320, 240, transforms.look_at(eye, target))
        return scene

    def _lay_out(self, scene: Scene) -> None:
        """Put the objects in rows on the table, beside the bin; what finds no place stands on a higher level."""
        makers = _makers()
        length, width, height = self.table_size
        right = length / 2 - (0.54 if self.bin else 0.06)
        x, y, depth, level = -length / 2 + 0.06, -width / 2 + 0.06, 0.0, height
        names = tuple(makers) if self.objects is None else self.objects
        for number, name in enumerate(name for name in names for _ in range(self.copies)):
            body = makers[name](rng_for(self.seed, number, name))
            low, high = body.mesh.bounds
            size = high - low
            if x + size[0] > right:
                x, y, depth = -length / 2 + 0.06, y + depth + 0.02, 0.0
            if y + size[1] > width / 2:
                y, level = -width / 2 + 0.06, level + 0.35
            body.object_to_world = transforms.transform(None, np.array([x, y, level]) - low)
            x, depth = x + size[0] + 0.02, max(depth, size[1])
            scene.add(body)


def _table(rng: np.random.Generator, size: tuple[float, float, float]) -> Body:
    """Return a wooden table whose frame lies on the floor below its middle."""
    length, width, height = size
    thick, leg = 0.03, 0.06
    parts = [moved(rounded_box((length, width, thick), 0.005, steps=3), (0, 0, height - thick / 2))]
    x, y = length / 2 - 0.07, width / 2 - 0.07
    for sign_x, sign_y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        upright = _turned_uvs(rounded_box((leg, leg, height - thick), 0.006))
        parts.append(moved(upright, (sign_x * x, sign_y * y, (height - thick) / 2)))
    for sign in (-1, 1):
        parts.append(moved(rounded_box((2 * x - leg, 0.022, 0.08), 0.003), (0, sign * y, height - thick - 0.04)))
        parts.append(moved(rounded_box((0.022, 2 * y - leg, 0.08), 0.003), (sign * x, 0, height - thick - 0.04)))
    texture = printed(make_pattern("wood", rng, 768), "table", scale=(1 / 0.9, 1 / 0.9))
    rigid = RigidBody(motion="static", collider="decomposition", dynamic_friction=0.5, pieces=tuple(parts))
    wood = plastic((0.5, 0.35, 0.2), roughness=0.38, texture=texture)
    return Body("table", merge(parts), materials=[wood], semantic_class="table", rigid_body=rigid)


def _turned_uvs(mesh: Mesh) -> Mesh:
    """Return a mesh on which the grain runs upwards."""
    assert mesh.uvs is not None
    return with_uvs(mesh, mesh.uvs[:, ::-1] * (1.0, -1.0))


def _bin(rng: np.random.Generator, pose: np.ndarray) -> Body:
    """Return an open plastic bin whose frame lies below its middle."""
    length, width, height, wall = 0.40, 0.30, 0.11, 0.008
    parts = [moved(rounded_box((length, width, wall), 0.003), (0, 0, wall / 2))]
    for sign in (-1, 1):
        parts.append(moved(rounded_box((wall, width, height), 0.003), (sign * (length - wall) / 2, 0, height / 2)))
        parts.append(moved(rounded_box((length, wall, height), 0.003), (0, sign * (width - wall) / 2, height / 2)))
        parts.append(
            moved(rounded_box((0.014, width + 0.02, 0.008), 0.003), (sign * (length / 2 + 0.004), 0, height - 0.004))
        )
        parts.append(
            moved(rounded_box((length + 0.02, 0.014, 0.008), 0.003), (0, sign * (width / 2 + 0.004), height - 0.004))
        )
    rigid = RigidBody(motion="static", collider="decomposition", dynamic_friction=0.35, pieces=tuple(parts))
    paint = linear(*color(rng, saturation=(0.3, 0.7), value=(0.3, 0.7)).tolist())
    return Body(
        "bin", merge(parts), pose, materials=[plastic(paint, roughness=0.4)], semantic_class="bin", rigid_body=rigid
    )


def _light(scene: Scene, rng: np.random.Generator, room: tuple[float, float, float]) -> None:
    """Hang a soft panel under the ceiling and put a sky over everything."""
    down = transforms.transform(None, (0.3, -0.2, room[2] - 0.05))
    scene.lights["panel"] = Light("rect", down, intensity=8.0, color_temperature=4300.0, width=1.2, height=0.7)
    scene.lights["sky"] = Light("dome", intensity=0.5, texture=Texture(sky(rng), srgb=False, name="sky"))
