"""Dishes for the table-top."""

from __future__ import annotations

import math

import numpy as np

from sdg.mesh import lathe
from sdg.outlines import hull_mesh, ring_pieces, turned_piece
from sdg.printing import label
from sdg.scene import Body, RigidBody
from sdg.scenes._objects import TURNED, body, glaze, paper, part, plastic, printed
from sdg.shapes import rounded_profile, spline, tube


def mug(rng: np.random.Generator) -> Body:
    """Return a glazed mug with a handle."""
    outer = rounded_profile(
        [(0, 0, 0), (0.036, 0, 0.006), (0.0415, 0.02, 0.02), (0.0415, 0.0955, 0.0018), (0.0395, 0.0955, 0)]
    )
    inner = rounded_profile(
        [(0.0395, 0.0955, 0), (0.0378, 0.0955, 0.0016), (0.0375, 0.007, 0.014), (0, 0.006, 0)], steps=6
    )
    bend = np.linspace(-1.25, 1.25, 20)
    path = np.stack(
        [0.0405 + 0.034 * np.cos(bend) - 0.0107, 0 * bend, 0.049 + 0.030 * np.sin(bend) / math.sin(1.25)], axis=1
    )
    handle = tube(path, 0.0052, segments=14, flatten=1.35)
    pieces = [
        turned_piece([(0.037, 0), (0.0405, 0.007)]),
        *ring_pieces([(0.003, 0.0405, 0.036), (0.0955, 0.0415, 0.0375)]),
    ]
    for start in range(0, 18, 5):
        corners = path[start : start + 6]
        pieces.append(hull_mesh(np.concatenate([corners + np.array(d) * 0.0052 for d in _CUBE])))
    outside = glaze(rng)
    materials = [plastic(outside, roughness=0.12), plastic((0.8, 0.78, 0.72), roughness=0.12)]
    rigid = RigidBody(
        mass=0.34, static_friction=0.45, dynamic_friction=0.4, collider="decomposition", pieces=tuple(pieces)
    )
    return body(
        "mug",
        [part(lathe(outer, segments=56), 0), part(lathe(inner, segments=56), 1), part(handle, 0)],
        materials,
        rigid,
        keypoints={"rim": (0, 0, 0.0955), "bottom": (0, 0, 0), "handle": (0.0638, 0, 0.049)},
    )


_CUBE = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def bowl(rng: np.random.Generator) -> Body:
    """Return a cereal bowl."""
    outside = spline([(0.036, 0.008), (0.055, 0.022), (0.071, 0.045), (0.0785, 0.066)], 14)
    inside = spline([(0.0755, 0.066), (0.068, 0.0445), (0.052, 0.024), (0.030, 0.0105), (0.0, 0.009)], 16)
    foot = rounded_profile(
        [(0, 0.003, 0), (0.031, 0.003, 0.001), (0.0325, 0, 0.001), (0.036, 0, 0.001), (0.036, 0.008, 0)]
    )
    rim = [(0.0785, 0.066), (0.0786, 0.0676), (0.0778, 0.0686), (0.0765, 0.0686), (0.0757, 0.0676), (0.0755, 0.066)]
    turned = [lathe(np.concatenate([foot, outside[1:], rim[1:]]), segments=56), lathe(inside, segments=56)]
    rows = [
        (0.0, 0.036, 0.0),
        (0.010, 0.038, 0.0),
        (0.024, 0.056, 0.052),
        (0.045, 0.071, 0.068),
        (0.0686, 0.0785, 0.0757),
    ]
    pieces = (
        turned_piece([(0.036, 0.0), (0.04, 0.0105)]),
        *ring_pieces([(rows[1][0], rows[1][1], 0.030), *rows[2:]], sectors=12),
    )
    materials = [plastic(glaze(rng), roughness=0.15), plastic((0.82, 0.8, 0.75), roughness=0.12)]
    rigid = RigidBody(mass=0.38, dynamic_friction=0.4, collider="decomposition", pieces=pieces)
    return body(
        "bowl",
        [part(turned[0], 0), part(turned[1], 1)],
        materials,
        rigid,
        keypoints={"rim": (0, 0, 0.0686), "bottom": (0, 0, 0)},
        symmetries=TURNED,
    )


def plate(rng: np.random.Generator) -> Body:
    """Return a dinner plate with a coloured rim."""
    under = rounded_profile(
        [
            (0, 0.002, 0),
            (0.058, 0.002, 0.001),
            (0.06, 0, 0.001),
            (0.064, 0, 0.001),
            (0.07, 0.006, 0.01),
            (0.108, 0.018, 0.001),
            (0.109, 0.020, 0),
        ]
    )
    upper = rounded_profile(
        [(0.109, 0.020, 0), (0.107, 0.0215, 0.001), (0.072, 0.0105, 0.014), (0.062, 0.006, 0.012), (0, 0.006, 0)],
        steps=6,
    )
    band = rounded_profile([(0.1092, 0.0198, 0), (0.107, 0.0217, 0.001), (0.099, 0.0191, 0)])
    pieces = (
        turned_piece([(0.064, 0.0), (0.072, 0.0065)]),
        *ring_pieces([(0.004, 0.070, 0.060), (0.0215, 0.109, 0.104)], sectors=12),
    )
    white = plastic((0.84, 0.83, 0.8), roughness=0.1)
    rigid = RigidBody(mass=0.55, dynamic_friction=0.35, collider="decomposition", pieces=pieces)
    parts = [part(lathe(under, segments=64), 0), part(lathe(upper, segments=64), 0), part(lathe(band, segments=64), 1)]
    return body(
        "plate",
        parts,
        [white, plastic(glaze(rng), roughness=0.1)],
        rigid,
        keypoints={"center": (0, 0, 0.006)},
        symmetries=TURNED,
    )


def cup(rng: np.random.Generator) -> Body:
    """Return a paper cup with a printed wall."""
    wall = lathe([(0.0285, 0.002), (0.0395, 0.094)], segments=48)
    foot = lathe(
        rounded_profile(
            [(0, 0.004, 0), (0.0265, 0.004, 0), (0.0272, 0, 0.0003), (0.0284, 0, 0.0003), (0.0285, 0.002, 0)]
        ),
        segments=48,
    )
    turn = np.linspace(-0.6, 4.2, 9)
    roll = np.stack([0.0399 + 0.0017 * np.cos(turn), 0.0946 + 0.0017 * np.sin(turn)], axis=1)
    inner = lathe(np.concatenate([roll, [(0.0386, 0.092), (0.0278, 0.006), (0, 0.006)]]), segments=48)
    pixels = np.concatenate([label(rng, (384, 384)) for _ in range(2)], axis=1)
    pieces = (
        *ring_pieces([(0.0, 0.0285, 0.026), (0.0963, 0.0415, 0.037)], sectors=10),
        turned_piece([(0.028, 0), (0.0285, 0.006)]),
    )
    rigid = RigidBody(mass=0.02, dynamic_friction=0.5, collider="decomposition", pieces=pieces)
    materials = [paper(printed(pixels, "cup"), roughness=0.45), paper(color=(0.85, 0.84, 0.8))]
    return body(
        "cup",
        [part(wall, 0), part(foot, 1), part(inner, 1)],
        materials,
        rigid,
        keypoints={"rim": (0, 0, 0.0963)},
        symmetries=TURNED,
    )
