"""Food and packages for the table-top."""

from __future__ import annotations

import math

import numpy as np

from sdg.mesh import lathe
from sdg.outlines import hull_mesh
from sdg.patterns import color, noise
from sdg.printing import facts, label
from sdg.scene import Body, RigidBody, Texture
from sdg.scenes._objects import TURNED, body, glaze, linear, metal, paper, part, plastic, printed
from sdg.shapes import rounded_box, rounded_profile, spline, tube


def bottle(rng: np.random.Generator) -> Body:
    """Return a shampoo-like plastic bottle with a cap and a label."""
    base = rounded_profile(
        [(0, 0.003, 0), (0.022, 0.002, 0.004), (0.026, 0, 0.003), (0.034, 0, 0.006), (0.034, 0.03, 0)]
    )
    shoulder = spline([(0.034, 0.125), (0.0325, 0.142), (0.024, 0.160), (0.0145, 0.170), (0.0135, 0.178)], 16)
    band = lathe([(0.0342, 0.03), (0.0342, 0.125)], segments=56)
    cap = lathe(
        rounded_profile(
            [
                (0.0135, 0.175, 0),
                (0.0165, 0.175, 0.0008),
                (0.0165, 0.198, 0.0015),
                (0.0105, 0.199, 0.001),
                (0.0095, 0.206, 0.0015),
                (0, 0.206, 0),
            ]
        ),
        segments=48,
    )
    coat = glaze(rng)
    pixels = np.concatenate([label(rng, (400, 400)), facts(rng, (400, 400), base=color(rng, value=(0.3, 0.6)))], axis=1)
    materials = [
        plastic(coat, roughness=0.25),
        plastic((0.75, 0.75, 0.73), roughness=0.3),
        paper(printed(pixels, "bottle"), roughness=0.3),
    ]
    rigid = RigidBody(mass=0.3, dynamic_friction=0.35, collider="hull")
    parts = [
        part(lathe(np.concatenate([base, [(0.034, 0.125)], shoulder[1:]]), segments=56), 0),
        part(cap, 1),
        part(band, 2),
    ]
    return body(
        "bottle", parts, materials, rigid, keypoints={"cap": (0, 0, 0.206), "bottom": (0, 0, 0)}, symmetries=TURNED
    )


def can(rng: np.random.Generator) -> Body:
    """Return a drinks can."""
    low = rounded_profile(
        [
            (0, 0.008, 0),
            (0.018, 0.005, 0.006),
            (0.022, 0, 0.002),
            (0.0255, 0.0005, 0.002),
            (0.033, 0.011, 0.006),
            (0.033, 0.014, 0),
        ]
    )
    high = rounded_profile(
        [
            (0.033, 0.106, 0),
            (0.033, 0.109, 0.004),
            (0.0275, 0.1185, 0.002),
            (0.0275, 0.121, 0.0008),
            (0.026, 0.121, 0.0006),
            (0.0255, 0.1165, 0.001),
            (0, 0.1175, 0),
        ]
    )
    turn = np.linspace(0, 2 * math.pi, 20)
    tab = tube(
        np.stack([0.004 + 0.009 * np.cos(turn), 0.006 * np.sin(turn), 0.1188 + 0 * turn], axis=1), 0.0012, segments=8
    )
    pixels = np.concatenate([label(rng, (512, 512)), facts(rng, (512, 512), base=color(rng, value=(0.2, 0.5)))], axis=1)
    printed_metal = plastic((0.5, 0.5, 0.5), roughness=0.2, texture=printed(pixels, "can")).changed(metallic=0.35)
    rigid = RigidBody(mass=0.36, dynamic_friction=0.35, restitution=0.2)
    parts = [
        part(lathe(low, segments=56), 0),
        part(lathe(high, segments=56), 0),
        part(tab, 0),
        part(lathe([(0.033, 0.014), (0.033, 0.106)], segments=56), 1),
    ]
    return body(
        "can",
        parts,
        [metal(roughness=0.2), printed_metal],
        rigid,
        keypoints={"top": (0, 0, 0.1175), "bottom": (0, 0, 0)},
        symmetries=TURNED,
    )


def cereal_box(rng: np.random.Generator) -> Body:
    """Return a printed cardboard box."""
    width, depth, height = 0.16, 0.052, 0.225
    base = color(rng, saturation=(0.6, 0.9), value=(0.5, 0.9))
    box = rounded_box((width, depth, height), 0.0016, face_uvs=True, face_materials=(1, 1, 0, 2, 3, 3))
    front, back = (
        printed(label(rng, (720, 512), base=base), "cereal"),
        printed(facts(rng, (720, 512), base=base), "cereal_back"),
    )
    side = printed(facts(rng, (512, 128), base=base * 0.9), "cereal_side")
    flap = paper(printed(np.full((8, 8, 3), base), "cereal_top"))
    rigid = RigidBody(mass=0.42, dynamic_friction=0.45)
    points = {"front": (0, -depth / 2, 0), "top": (0, 0, height / 2)}
    return body(
        "cereal_box", [box], [paper(front, roughness=0.4), paper(side), paper(back), flap], rigid, keypoints=points
    )


def banana(rng: np.random.Generator) -> Body:
    """Return a ripe banana."""
    turn = np.linspace(-0.85, 0.85, 26)
    path = np.stack([0.112 * np.sin(turn), 0.112 * (1 - np.cos(turn)), 0 * turn], axis=1)
    place = np.linspace(0, 1, 26)
    radii = spline(
        [
            (0, 0.0038),
            (0.06, 0.0046),
            (0.15, 0.011),
            (0.35, 0.0172),
            (0.6, 0.0176),
            (0.85, 0.0125),
            (0.96, 0.006),
            (1, 0.0042),
        ],
        101,
    )
    mesh = tube(path, np.interp(place, radii[:, 0], radii[:, 1]), segments=20)
    pieces = []
    for start in range(0, 25, 5):
        rings = [
            path[i] + np.interp(place[i], radii[:, 0], radii[:, 1]) * d
            for i in (start, start + 3, min(start + 5, 25))
            for d in _ring_about(turn[i])
        ]
        pieces.append(hull_mesh(np.array(rings)))
    rigid = RigidBody(mass=0.15, dynamic_friction=0.6, restitution=0.05, collider="decomposition", pieces=tuple(pieces))
    skin = plastic((0.8, 0.6, 0.1), roughness=0.5, texture=_banana_skin(rng))
    return body("banana", [mesh], [skin], rigid, keypoints={"stem": path[0], "tip": path[-1], "middle": path[13]})


def _ring_about(turn: float) -> list[np.ndarray]:
    outward = np.array([math.sin(turn), -math.cos(turn), 0.0])
    return [
        math.cos(a) * outward + math.sin(a) * np.array([0, 0, 1.0])
        for a in np.linspace(0, 2 * math.pi, 10, endpoint=False)
    ]


def _banana_skin(rng: np.random.Generator) -> Texture:
    size = 256
    v = (1 - (np.arange(size) + 0.5) / size)[:, None, None]
    ridges = 1 - 0.08 * np.abs(np.cos(np.linspace(0, 5 * math.pi, size)))[None, :, None] ** 8
    yellow, green, brown = np.array([0.93, 0.76, 0.18]), np.array([0.62, 0.66, 0.2]), np.array([0.25, 0.17, 0.09])
    skin = yellow + (green - yellow) * np.clip(1 - v / 0.2, 0, 1) * 0.8
    ends = np.clip(np.maximum((0.035 - v) / 0.02, (v - 0.965) / 0.015), 0, 1)
    spots = np.clip(noise(rng, size, 12) - 1.5, 0, 1)[..., None] * np.clip(noise(rng, size, 3), 0, 1)[..., None]
    pixels = skin * ridges * (1 + 0.03 * noise(rng, size, 8)[..., None])
    pixels = pixels + (brown - pixels) * np.clip(ends + spots, 0, 1)
    return printed(pixels, "banana")


def apple(rng: np.random.Generator) -> Body:
    """Return an apple with its stem."""
    outline = [
        (0.0, 0.007),
        (0.006, 0.003),
        (0.013, 0.0005),
        (0.021, 0.003),
        (0.031, 0.017),
        (0.0372, 0.038),
        (0.0345, 0.056),
        (0.024, 0.068),
        (0.013, 0.0695),
        (0.006, 0.0645),
        (0.0, 0.058),
    ]
    mesh = lathe(_smooth(outline, 36), segments=44)
    stem = tube(
        np.array([(0, 0, 0.056), (0.001, 0, 0.064), (0.003, 0.001, 0.071), (0.006, 0.002, 0.077)]),
        np.array([0.0011, 0.001, 0.0011, 0.0016]),
        segments=8,
    )
    size = 256
    v = (1 - (np.arange(size) + 0.5) / size)[:, None, None]
    streaks = np.repeat(noise(rng, size, 64, octaves=2)[size // 2 : size // 2 + 1], size, axis=0)[..., None]
    red, yellow = np.array([0.66, 0.09, 0.1]), np.array([0.85, 0.72, 0.25])
    share = np.clip(
        0.5 + 0.25 * streaks + 0.55 * noise(rng, size, 2, octaves=3)[..., None] - np.abs(v - 0.5) * 1.1 + 0.3, 0, 1
    )
    skin = plastic((0.6, 0.1, 0.1), roughness=0.28, texture=printed(yellow + (red - yellow) * share, "apple"))
    rigid = RigidBody(mass=0.17, dynamic_friction=0.5, restitution=0.2)
    materials = [skin, plastic(linear(0.3, 0.2, 0.1), roughness=0.8)]
    return body(
        "apple",
        [part(mesh, 0), part(stem, 1)],
        materials,
        rigid,
        keypoints={"stem": (0, 0, 0.058), "bottom": (0, 0, 0.007)},
        symmetries=TURNED,
    )


def _smooth(points: list[tuple[float, float]], count: int) -> np.ndarray:
    """Return a round curve through points [n, 2] that may turn back in both coordinates."""
    from scipy.interpolate import CubicSpline

    knots = np.array(points)
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1) ** 0.5)])
    curve = CubicSpline(along, knots)(np.linspace(0, along[-1], count))
    curve[:, 0] = np.maximum(curve[:, 0], 0)
    return np.asarray(curve)
