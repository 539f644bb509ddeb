"""Tools for the table-top."""

from __future__ import annotations

import math

import numpy as np

from sdg.mesh import Mesh, cylinder, lathe
from sdg.outlines import extruded, hull_mesh
from sdg.patterns import color, make_pattern
from sdg.printing import facts, label
from sdg.scene import Body, RigidBody
from sdg.scenes._objects import body, metal, paint, paper, part, plastic, printed
from sdg.shapes import (
    auto_smooth,
    moved,
    rounded_box,
    rounded_profile,
    spline,
    transformed,
    tube,
    with_uvs,
)
from sdg.transforms import axis_angle, transform


def _along_x(mesh: Mesh) -> Mesh:
    """Return a mesh whose z axis now points along +x."""
    return transformed(mesh, transform(axis_angle((0, 1, 0), math.pi / 2)))


def hammer(rng: np.random.Generator) -> Body:
    """Return a claw hammer that lies on its side: handle along x, head along y."""
    reach = np.linspace(-0.13, 0.13, 24)
    width = np.interp(reach, [-0.13, -0.115, -0.05, 0.02, 0.13], [0.0125, 0.015, 0.0128, 0.0105, 0.0098])
    path = np.stack([reach, 0 * reach, 0 * reach], axis=1)
    handle = tube(path[9:], width[9:], segments=18, flatten=0.72)
    grip = tube(path[:10], width[:10] + 0.001, segments=18, flatten=0.75)
    eye = moved(rounded_box((0.029, 0.034, 0.024), 0.003), (0.132, 0.0, 0.0))
    neck = transformed(lathe([(0.0095, 0.012), (0.0085, 0.035)], segments=28), _toward(1, 0.132))
    face = transformed(
        lathe(
            rounded_profile([(0.0085, 0.033, 0), (0.0135, 0.037, 0.002), (0.0135, 0.053, 0.002), (0, 0.054, 0)]),
            segments=36,
        ),
        _toward(1, 0.132),
    )
    turn = np.linspace(0, 0.95, 10)
    arc = np.stack([0.075 * np.sin(turn), 0.075 * (1 - np.cos(turn))], axis=1)
    claws = []
    for side in (-1, 1):
        curve = np.stack([0.130 - arc[:, 1], -0.012 - arc[:, 0], side * (0.0035 + 0.004 * turn)], axis=1)
        claws.append(tube(curve, np.linspace(0.0068, 0.0028, 10), segments=12))
    pieces = [hull_mesh(mesh.vertices.astype(float)) for mesh in (handle, grip, eye, neck, face, claws[0], claws[1])]
    rigid = RigidBody(mass=0.6, dynamic_friction=0.5, collider="decomposition", pieces=tuple(pieces))
    wood = printed(make_pattern("wood", rng, 256), "hammer_wood", scale=(1.0, 3.0))
    materials = [
        plastic((0.5, 0.3, 0.15), texture=wood, roughness=0.45),
        plastic(paint(rng), roughness=0.6),
        metal((0.42, 0.42, 0.43), roughness=0.32),
    ]
    parts = [part(handle, 0), part(grip, 1), *(part(mesh, 2) for mesh in (eye, neck, face, *claws))]
    points = {"face": (0.132, 0.054, 0), "claw": (0.1, -0.07, 0), "grip_end": (-0.14, 0, 0)}
    return body("hammer", parts, materials, rigid, keypoints=points)


def _toward(direction: int, x: float) -> np.ndarray:
    """Return a transform that turns z to +y or -y at x [m]."""
    return transform(axis_angle((1, 0, 0), -direction * math.pi / 2), (x, 0, 0))


def screwdriver(rng: np.random.Generator) -> Body:
    """Return a slotted screwdriver, lying along x."""
    grip = lathe(
        rounded_profile(
            [
                (0, 0, 0),
                (0.0115, 0, 0.004),
                (0.0145, 0.02, 0.02),
                (0.0125, 0.06, 0.03),
                (0.0155, 0.082, 0.012),
                (0.009, 0.098, 0.006),
                (0.0085, 0.104, 0.001),
                (0, 0.104, 0),
            ],
            steps=6,
        ),
        segments=36,
    )
    lobes = np.array(grip.vertices, float)
    angle = np.arctan2(lobes[:, 1], lobes[:, 0])
    lobes[:, :2] *= (1 + 0.05 * np.cos(6 * angle))[:, None]
    grip = Mesh(lobes.astype(np.float32), grip.triangles, grip.normals, grip.uvs)
    collar = lathe(
        rounded_profile([(0.0087, 0.084, 0), (0.0158, 0.084, 0.001), (0.0158, 0.089, 0.001), (0.0087, 0.0895, 0)]),
        segments=36,
    )
    shaft = lathe([(0.0032, 0.1), (0.0032, 0.19)], segments=20)
    tip = _blade(0.0032, 0.19, 0.205)
    parts = [part(_along_x(grip), 0), part(_along_x(collar), 1), part(_along_x(shaft), 2), part(_along_x(tip), 2)]
    pieces = tuple(hull_mesh(_along_x(mesh).vertices.astype(float)) for mesh in (grip, shaft, tip))
    rigid = RigidBody(mass=0.09, dynamic_friction=0.45, collider="decomposition", pieces=pieces)
    materials = [plastic(paint(rng), roughness=0.2), plastic((0.02, 0.02, 0.02), roughness=0.5), metal(roughness=0.18)]
    return body(
        "screwdriver",
        parts,
        materials,
        rigid,
        keypoints={"tip": (0.205, 0, 0), "end": (0, 0, 0)},
        symmetries=[{"kind": "discrete", "axis": [1.0, 0.0, 0.0], "order": 2}],
    )


def _blade(radius: float, start: float, end: float) -> Mesh:
    """Return a round shaft that becomes a flat blade along z."""
    round_ring = [
        (radius * math.cos(a), radius * math.sin(a), start) for a in np.linspace(0, 2 * math.pi, 16, endpoint=False)
    ]
    wide = [(x * 0.0035, y * 0.0009, start + 0.011) for x in (-1, 1) for y in (-1, 1)]
    flat = [(x * 0.0032, y * 0.0004, end) for x in (-1, 1) for y in (-1, 1)]
    hull = hull_mesh(np.array([*round_ring, *wide, *flat]))
    return auto_smooth(with_uvs(hull, np.zeros((len(hull.vertices), 2))), 0.5)


def wrench(rng: np.random.Generator) -> Body:
    """Return a double open-ended wrench, lying flat along x."""
    large, small = _jaw(0.0165, 0.0068), -_jaw(0.0145, 0.0058)
    middles = np.array([[0.07, 0.0]]), np.array([[-0.07, 0.0]])
    mesh = extruded(np.concatenate([large + middles[0], small + middles[1]]), 0.006, bevel=0.0009)
    pieces = [rounded_box((0.12, 0.0124, 0.006), 0.001)]
    for head, middle in zip((large, small), middles, strict=True):
        for half in (head[:14], head[-14:]):
            pieces.append(
                hull_mesh(np.concatenate([np.column_stack([half + middle, np.full(14, z)]) for z in (-0.003, 0.003)]))
            )
    rigid = RigidBody(mass=0.11, dynamic_friction=0.4, collider="decomposition", pieces=tuple(pieces))
    points = {"large_jaw": (0.07, 0, 0), "small_jaw": (-0.07, 0, 0)}
    return body("wrench", [mesh], [metal((0.62, 0.62, 0.64), roughness=0.22)], rigid, keypoints=points)


def _jaw(radius: float, jaw: float, *, tilt: float = 0.26, neck: float = 0.0062) -> np.ndarray:
    """Return the outline [n, 2] of an open jaw that is held at -x, from below its neck round to above it."""
    hold, opening = math.asin(neck / radius), math.asin(jaw / radius)
    first = np.linspace(math.pi + hold, 2 * math.pi + tilt - opening, 12)
    second = np.linspace(2 * math.pi + tilt + opening, 3 * math.pi - hold, 12)
    axis, across = np.array([math.cos(tilt), math.sin(tilt)]), np.array([-math.sin(tilt), math.cos(tilt)])
    depth = -0.15 * radius
    notch = [axis * (depth + 0.3 * jaw) - across * jaw, axis * depth - across * 0.6 * jaw]
    notch += [axis * depth + across * 0.6 * jaw, axis * (depth + 0.3 * jaw) + across * jaw]
    arcs = [radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) for angle in (first, second)]
    return np.concatenate([arcs[0], notch, arcs[1]])


def spray_bottle(rng: np.random.Generator) -> Body:
    """Return a cleaner's bottle with a trigger, its nozzle along +x."""
    flat = np.diag([1.0, 0.62, 1.0, 1.0])
    base = rounded_profile(
        [
            (0, 0.004, 0),
            (0.036, 0.003, 0.003),
            (0.04, 0, 0.003),
            (0.047, 0, 0.008),
            (0.048, 0.03, 0.02),
            (0.048, 0.035, 0),
        ]
    )
    shoulder = spline([(0.048, 0.125), (0.046, 0.142), (0.031, 0.165), (0.019, 0.182), (0.0175, 0.194)], 16)
    wall = transformed(lathe(np.concatenate([base, [(0.048, 0.125)], shoulder[1:]]), segments=56), flat)
    band = transformed(lathe([(0.0483, 0.035), (0.0483, 0.125)], segments=56), flat)
    collar = lathe(
        rounded_profile([(0.011, 0.19, 0), (0.0165, 0.19, 0.001), (0.0165, 0.21, 0.002), (0.011, 0.211, 0)]),
        segments=36,
    )
    head, lever = _trigger()
    nozzle = moved(_along_x(cylinder(0.0075, 0.016, segments=24)), (0.056, 0, 0.2385))
    pixels = np.concatenate([label(rng, (448, 512)), facts(rng, (448, 512), base=color(rng, value=(0.3, 0.6)))], axis=1)
    liquid = paint(rng)
    materials = [
        plastic(liquid, roughness=0.22),
        plastic((0.82, 0.82, 0.8), roughness=0.35),
        plastic(paint(rng), roughness=0.3),
        paper(printed(np.roll(pixels, 256, axis=1), "spray"), roughness=0.3),
    ]
    parts = [part(wall, 0), part(band, 3), part(collar, 1), part(head, 1), part(lever, 2), part(nozzle, 2)]
    pieces = tuple(hull_mesh(mesh.vertices.astype(float)) for mesh in (wall, collar, head, lever, nozzle))
    rigid = RigidBody(mass=0.45, dynamic_friction=0.35, collider="decomposition", pieces=pieces)
    return body(
        "spray_bottle",
        parts,
        materials,
        rigid,
        keypoints={"nozzle": (0.064, 0, 0.2385), "trigger": (0.034, 0, 0.2), "bottom": (0, 0, 0)},
    )


def _trigger() -> tuple[Mesh, Mesh]:
    """Return the head of a spray bottle and its lever."""
    gun = [
        (-0.03, 0.226),
        (-0.012, 0.208),
        (0.012, 0.208),
        (0.018, 0.222),
        (0.044, 0.228),
        (0.05, 0.232),
        (0.05, 0.246),
        (0.03, 0.25),
        (-0.02, 0.25),
        (-0.034, 0.242),
    ]
    stand = transform(axis_angle((1, 0, 0), math.pi / 2))
    head = transformed(extruded(gun, 0.021, bevel=0.003), stand)
    lever = transformed(
        extruded(
            [(0.022, 0.226), (0.03, 0.2), (0.029, 0.18), (0.034, 0.179), (0.0365, 0.2), (0.033, 0.228)],
            0.011,
            bevel=0.0015,
        ),
        stand,
    )
    return head, lever
