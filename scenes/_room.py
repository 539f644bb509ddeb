"""A room: floor, walls with a window, a door, pictures and a shelf, and what stands about in it. Nothing is labelled."""

from __future__ import annotations

import math

import numpy as np

from sdg.mesh import Mesh, lathe, merge, plane
from sdg.patterns import color, make_pattern, noise
from sdg.printing import label
from sdg.scene import Body, Material, RigidBody, Texture
from sdg.scenes._objects import linear, metal, paper, part, plastic, printed
from sdg.shapes import box_projected, moved, rounded_box, rounded_profile, spline, transformed, tube, with_uvs
from sdg.transforms import axis_angle, transform

Size = tuple[float, float, float]


def _static(
    name: str, parts: list[Mesh], materials: list[Material], pose: np.ndarray, *, collider: str = "decomposition"
) -> Body:
    rigid = RigidBody(motion="static", collider=collider, pieces=tuple(parts))  # type: ignore[arg-type]
    return Body(name, merge(parts), pose, materials=materials, rigid_body=rigid)


def flat(width: float, height: float) -> Mesh:
    """Return a rectangle [m] in xy that faces +z, with uvs in metres."""
    mesh = plane(width, height)
    assert mesh.uvs is not None
    return with_uvs(mesh, mesh.uvs * (width, height))


def on_wall(size: Size, wall: int, along: float, height: float, depth: float = 0.0) -> np.ndarray:
    """Return the pose whose x runs along a wall, y up and z into the room; walls 0 to 3 face +x, -x, +y, -y.

    `along` [m] from the wall's middle to the right of someone who looks at it; `depth` [m] into the room.
    """
    inward = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], float)[wall]
    up = np.array([0.0, 0.0, 1.0])
    right = np.cross(up, inward)
    half = np.abs(inward) @ np.array(size) / 2
    return transform(np.stack([right, up, inward], axis=1), -inward * (half - depth) + right * along + up * height)


def shell(rng: np.random.Generator, size: Size, *, ceiling: bool) -> list[Body]:
    """Return floor, walls, skirting boards and, if wanted, a ceiling."""
    length, width, height = size
    floor = _surface(rng, ("planks", "planks", "tiles", "concrete"), 1.6, roughness=0.35)
    bodies = [Body("floor", flat(length, width), materials=[floor])]
    wall = plastic((0.6, 0.58, 0.55), roughness=0.85, texture=_scaled(_wall_paint(rng), 1.2, "wall"))
    board = plastic((0.72, 0.71, 0.68), roughness=0.4)
    for number in range(4):
        reach = width if number < 2 else length
        pose = on_wall(size, number, 0, height / 2)
        bodies.append(Body(f"wall_{number}", flat(reach, height), pose, materials=[wall]))
        skirting = rounded_box((reach, 0.09, 0.014), 0.005)
        bodies.append(_static(f"skirting_{number}", [skirting], [board], on_wall(size, number, 0, 0.045, 0.007)))
    if ceiling:
        down = transform(axis_angle((1, 0, 0), math.pi), (0, 0, height))
        bodies.append(
            Body("ceiling", flat(length, width), down, materials=[plastic((0.75, 0.75, 0.73), roughness=0.9)])
        )
    for surface in bodies:
        surface.rigid_body.collider = "hull"
    return bodies


def _wall_paint(rng: np.random.Generator) -> np.ndarray:
    """Return light, calm plaster."""
    base = color(rng, saturation=(0.03, 0.22), value=(0.78, 0.93))
    shade = 1 + 0.008 * noise(rng, 512, 4) + 0.008 * noise(rng, 512, 64, octaves=2)
    return np.asarray(base * shade[..., None])


def _scaled(pixels: np.ndarray, edge: float, name: str) -> Texture:
    """Return a texture whose tile is `edge` [m] wide on uvs in metres."""
    return printed(pixels, name, scale=(1 / edge, 1 / edge))


def _surface(rng: np.random.Generator, kinds: tuple[str, ...], edge: float, *, roughness: float) -> Material:
    kind = kinds[int(rng.integers(len(kinds)))]
    return plastic((0.5, 0.4, 0.3), roughness=roughness, texture=_scaled(make_pattern(kind, rng), edge, kind))


def window(rng: np.random.Generator, size: Size, wall: int) -> Body:
    """Return a window: white frame, sill, and a bright view of hills under a sky."""
    wide, high = 1.5, 1.25
    bars = [((wide + 0.14, 0.07, 0.05), (0.0, y)) for y in (-high / 2 - 0.035, high / 2 + 0.035)]
    bars += [((0.07, high, 0.05), (x, 0.0)) for x in (-wide / 2 - 0.035, wide / 2 + 0.035)]
    bars += [((0.05, high, 0.035), (0.0, 0.0)), ((wide, 0.035, 0.03), (0.0, high / 6))]
    parts = [part(moved(rounded_box(extent, 0.006), (x, y, 0.02)), 0) for extent, (x, y) in bars]
    parts.append(part(moved(rounded_box((wide + 0.26, 0.03, 0.2), 0.008), (0, -high / 2 - 0.085, 0.09)), 0))
    parts.append(part(moved(plane(wide, high), (0, 0, 0.004)), 1))
    view = Texture(_view(rng), name="view")
    glass = Material(base_color=(0.02, 0.02, 0.02), roughness=0.08, emission=(1.5, 1.5, 1.5), emission_texture=view)
    return _static(
        "window",
        parts,
        [plastic((0.8, 0.8, 0.78), roughness=0.35), glass],
        on_wall(size, wall, 0.35, 1.5),
        collider="none",
    )


def _view(rng: np.random.Generator) -> np.ndarray:
    """Return what is seen through a window [256, 256, 3] uint8."""
    rows = 256
    y = (1 - (np.arange(rows) + 0.5) / rows)[:, None, None]
    pixels = np.array([0.95, 0.97, 1.0]) + (np.array([0.55, 0.75, 1.0]) - np.array([0.95, 0.97, 1.0])) * np.clip(
        y * 1.4 - 0.4, 0, 1
    )
    pixels = np.broadcast_to(pixels, (rows, rows, 3)).copy()
    clouds = np.clip(noise(rng, rows, 3)[..., None] - 0.3, 0, 1) * np.clip(y * 3 - 1.2, 0, 1)
    pixels += (1 - pixels) * clouds
    for level, tone in ((0.42, (0.5, 0.6, 0.62)), (0.33, (0.36, 0.5, 0.36)), (0.2, (0.25, 0.4, 0.22))):
        ridge = level + 0.05 * noise(rng, rows, 2)[0]
        pixels = np.where(
            y[..., 0][..., None] < ridge[None, :, None],
            np.array(tone) * (1 + 0.12 * noise(rng, rows, 24)[..., None]),
            pixels,
        )
    return np.asarray(np.clip(pixels * 255, 0, 255), np.uint8)


def door(size: Size, wall: int) -> Body:
    """Return a panelled door with frame and handle."""
    wide, high = 0.86, 2.02
    parts = [part(moved(rounded_box((wide, high, 0.03), 0.004), (0, high / 2, 0.01)), 0)]
    for x in (-0.2, 0.2):
        for y, tall in ((0.6, 0.8), (1.5, 0.72)):
            parts.append(part(moved(rounded_box((0.3, tall, 0.02), 0.008), (x, y, 0.022)), 0))
    for x in (-wide / 2 - 0.04, wide / 2 + 0.04):
        parts.append(part(moved(rounded_box((0.08, high + 0.08, 0.045), 0.008), (x, high / 2 + 0.04, 0.015)), 1))
    parts.append(part(moved(rounded_box((wide + 0.16, 0.08, 0.05), 0.008), (0, high + 0.04, 0.016)), 1))
    grip = tube(
        np.array([(-0.35, 1.02, 0.025), (-0.35, 1.02, 0.07), (-0.33, 1.02, 0.08), (-0.24, 1.02, 0.08)]),
        0.009,
        segments=12,
    )
    parts.append(part(grip, 2))
    materials = [
        plastic((0.62, 0.6, 0.56), roughness=0.4),
        plastic((0.7, 0.69, 0.66), roughness=0.4),
        metal(roughness=0.3),
    ]
    return _static("door", parts, materials, on_wall(size, wall, -1.1, 0.0), collider="none")


def picture(rng: np.random.Generator, size: Size, wall: int, along: float, number: int) -> Body:
    """Return a framed picture."""
    wide, high = rng.uniform(0.4, 0.8), rng.uniform(0.35, 0.6)
    edge = rng.uniform(0.02, 0.045)
    bars = [((wide + 2 * edge, edge, 0.03), (0.0, sign * (high + edge) / 2)) for sign in (-1, 1)]
    bars += [((edge, high, 0.03), (sign * (wide + edge) / 2, 0.0)) for sign in (-1, 1)]
    parts = [part(moved(rounded_box(extent, 0.005), (x, y, 0.015)), 0) for extent, (x, y) in bars]
    parts.append(part(moved(plane(wide, high), (0, 0, 0.01)), 1))
    kind = ("noise", "label", "gradient", "marble", "stripes")[int(rng.integers(5))]
    art = label(rng, (256, 384)) if kind == "label" else make_pattern(kind, rng, 256)
    frame = plastic(linear(*(color(rng, saturation=(0.0, 0.4), value=(0.1, 0.8)).tolist())), roughness=0.4)
    return _static(
        f"picture_{number}",
        parts,
        [frame, paper(printed(art, "art"))],
        on_wall(size, wall, along, rng.uniform(1.45, 1.7)),
        collider="none",
    )


def shelf(rng: np.random.Generator, size: Size, wall: int, along: float) -> Body:
    """Return two wall boards with rows of books."""
    parts = []
    for level, height in enumerate((1.25, 1.65)):
        parts.append(part(moved(rounded_box((1.1, 0.025, 0.22), 0.004), (0, height - 0.0125, 0.11)), 0))
        x = -0.5 + 0.1 * level
        while x < 0.32:
            thick, tall, deep = rng.uniform(0.015, 0.05), rng.uniform(0.17, 0.28), rng.uniform(0.12, 0.18)
            box = rounded_box((thick, tall, deep), 0.003)
            parts.append(part(moved(box, (x + thick / 2, height + tall / 2, 0.02 + deep / 2)), int(rng.integers(1, 6))))
            x += thick + 0.002
    wood = _surface(rng, ("wood",), 0.6, roughness=0.5)
    covers = [
        plastic(linear(*color(rng, saturation=(0.2, 0.8), value=(0.2, 0.8)).tolist()), roughness=0.6) for _ in range(5)
    ]
    return _static("shelf", parts, [wood, *covers], on_wall(size, wall, along, 0.0), collider="none")


def sideboard(rng: np.random.Generator, size: Size, wall: int, along: float) -> Body:
    """Return a low cupboard with doors and knobs."""
    parts = [part(moved(rounded_box((1.4, 0.62, 0.4), 0.006), (0, 0.45, 0.22)), 0)]
    parts.append(part(moved(rounded_box((1.46, 0.03, 0.44), 0.006), (0, 0.775, 0.22)), 1))
    for x in (-0.465, 0.0, 0.465):
        parts.append(part(moved(rounded_box((0.44, 0.56, 0.02), 0.006), (x, 0.45, 0.425)), 0))
        knob = lathe(
            rounded_profile(
                [(0.006, 0, 0), (0.006, 0.015, 0.003), (0.014, 0.02, 0.004), (0.012, 0.03, 0.004), (0, 0.031, 0)]
            )
        )
        parts.append(part(moved(knob, (x + 0.17, 0.52, 0.435)), 2))
    for x in (-0.62, 0.62):
        for z in (0.06, 0.38):
            parts.append(part(moved(rounded_box((0.05, 0.15, 0.05), 0.005), (x, 0.075, z)), 1))
    paint = plastic(linear(*color(rng, saturation=(0.1, 0.45), value=(0.35, 0.85)).tolist()), roughness=0.45)
    materials = [paint, _surface(rng, ("wood",), 0.9, roughness=0.45), metal((0.7, 0.6, 0.4), roughness=0.3)]
    return _static("sideboard", parts, materials, on_wall(size, wall, along, 0.0), collider="box")


def chair(rng: np.random.Generator, pose: np.ndarray, number: int) -> Body:
    """Return a wooden chair that faces +y."""
    parts = [part(moved(rounded_box((0.42, 0.42, 0.035), 0.012), (0, 0, 0.45)), 0)]
    for x in (-0.18, 0.18):
        parts.append(part(moved(rounded_box((0.036, 0.036, 0.44), 0.006), (x, 0.18, 0.22)), 0))
        parts.append(part(moved(rounded_box((0.036, 0.036, 0.9), 0.006), (x, -0.19, 0.45)), 0))
    for height in (0.62, 0.73, 0.84):
        parts.append(part(moved(rounded_box((0.34, 0.018, 0.07), 0.006), (0, -0.19, height)), 0))
    return _static(f"chair_{number}", parts, [_surface(rng, ("wood",), 0.8, roughness=0.5)], pose)


def plant(rng: np.random.Generator, place: np.ndarray) -> Body:
    """Return a pot plant with curved leaves."""
    pot = lathe(
        rounded_profile(
            [
                (0, 0, 0),
                (0.1, 0, 0.01),
                (0.14, 0.26, 0.01),
                (0.15, 0.28, 0.006),
                (0.135, 0.28, 0.004),
                (0.128, 0.25, 0.002),
                (0, 0.25, 0),
            ]
        )
    )
    parts = [part(pot, 0)]
    for number in range(22):
        reach, rise = rng.uniform(0.2, 0.42), rng.uniform(0.35, 0.75)
        bend = spline(
            [(0, 0.25), (0.25 * reach, 0.25 + rise * 0.7), (0.75 * reach, 0.25 + rise), (reach, 0.25 + rise * 0.85)], 9
        )
        curve = np.column_stack([bend[:, 0], 0 * bend[:, 0], bend[:, 1]])
        leaf = tube(
            curve, np.array([0.006, 0.01, 0.02, 0.03, 0.036, 0.036, 0.03, 0.018, 0.004]), segments=6, flatten=0.08
        )
        parts.append(
            part(transformed(leaf, transform(axis_angle((0, 0, 1), number * 2.4 + rng.uniform(-0.3, 0.3)))), 1)
        )
    materials = [plastic((0.5, 0.22, 0.13), roughness=0.7), plastic(linear(0.2, 0.42, 0.16), roughness=0.45)]
    return _static("plant", parts, materials, transform(None, place), collider="hull")


def rug(rng: np.random.Generator) -> Body:
    """Return a woven rug."""
    mesh = box_projected(rounded_box((2.3, 1.6, 0.012), 0.005))
    return _static(
        "rug",
        [mesh],
        [_surface(rng, ("weave", "stripes", "weave"), 0.5, roughness=0.95)],
        transform(None, (0.1, 0.05, 0.006)),
    )


def furnish(rng: np.random.Generator, size: Size) -> list[Body]:
    """Return what stands and hangs in a room of length, width and height [m]."""
    length, width, _ = size
    turned = transform(axis_angle((0, 0, 1), math.pi + rng.uniform(-0.3, 0.3)), (0.35, 0.85, 0))
    return [
        window(rng, size, 3),
        door(size, 1),
        picture(rng, size, 0, -0.9, 0),
        picture(rng, size, 2, 1.1, 1),
        picture(rng, size, 1, 0.8, 2),
        shelf(rng, size, 0, 0.75),
        sideboard(rng, size, 2, -0.6),
        chair(rng, transform(axis_angle((0, 0, 1), rng.uniform(-0.3, 0.3)), (-0.3, -0.85, 0)), 0),
        chair(rng, turned, 1),
        plant(rng, np.array([length / 2 - 0.45, width / 2 - 0.45, 0.0])),
        rug(rng),
    ]
