"""Dishes and food for the table-top."""

from __future__ import annotations

import math

import numpy as np

from sdg.mesh import lathe
from sdg.outlines import hull_mesh, ring_pieces, turned_piece
from sdg.patterns import color, noise
from sdg.printing import facts, label
from sdg.scene import Body, RigidBody, Texture
from sdg.shapes import rounded_box, rounded_profile, spline, tube

from ._objects import TURNED, body, linear, metal, paper, part, plastic, printed


def _glaze(rng: np.random.Generator) -> tuple[float, float, float]:
    red, green, blue = color(rng, saturation=(0.25, 0.75), value=(0.35, 0.9)).tolist()
    return linear(red, green, blue)


def mug(rng: np.random.Generator) -> Body:
    """Return a glazed mug with a handle."""
    outer = rounded_profile([(0, 0, 0), (0.036, 0, 0.006), (0.0415, 0.02, 0.02), (0.0415, 0.0955, 0.0018), (0.0395, 0.0955, 0)])
    inner = rounded_profile([(0.0395, 0.0955, 0), (0.0378, 0.0955, 0.0016), (0.0375, 0.007, 0.014), (0, 0.006, 0)], steps=6)
    bend = np.linspace(-1.25, 1.25, 20)
    path = np.stack([0.0405 + 0.034 * np.cos(bend) - 0.0107, 0 * bend, 0.049 + 0.030 * np.sin(bend) / math.sin(1.25)], axis=1)
    handle = tube(path, 0.0052, segments=14, flatten=1.35)
    pieces = [turned_piece([(0.037, 0), (0.0405, 0.007)]), *ring_pieces([(0.003, 0.0405, 0.036), (0.0955, 0.0415, 0.0375)])]
    for start in range(0, 18, 5):
        corners = path[start : start + 6]
        pieces.append(hull_mesh(np.concatenate([corners + np.array(d) * 0.0052 for d in _CUBE])))
    glaze = _glaze(rng)
    materials = [plastic(glaze, roughness=0.12), plastic((0.8, 0.78, 0.72), roughness=0.12)]
    rigid = RigidBody(mass=0.34, static_friction=0.45, dynamic_friction=0.4, collider="decomposition", pieces=tuple(pieces))
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
    foot = rounded_profile([(0, 0.003, 0), (0.031, 0.003, 0.001), (0.0325, 0, 0.001), (0.036, 0, 0.001), (0.036, 0.008, 0)])
    rim = [(0.0785, 0.066), (0.0786, 0.0676), (0.0778, 0.0686), (0.0765, 0.0686), (0.0757, 0.0676), (0.0755, 0.066)]
    turned = [lathe(np.concatenate([foot, outside[1:], rim[1:]]), segments=56), lathe(inside, segments=56)]
    rows = [(0.0, 0.036, 0.0), (0.010, 0.038, 0.0), (0.024, 0.056, 0.052), (0.045, 0.071, 0.068), (0.0686, 0.0785, 0.0757)]
    pieces = (turned_piece([(0.036, 0.0), (0.04, 0.0105)]), *ring_pieces(
        [(rows[1][0], rows[1][1], 0.030), *rows[2:]], sectors=12
    ))
    materials = [plastic(_glaze(rng), roughness=0.15), plastic((0.82, 0.8, 0.75), roughness=0.12)]
    rigid = RigidBody(mass=0.38, dynamic_friction=0.4, collider="decomposition", pieces=pieces)
    return body(
        "bowl", [part(turned[0], 0), part(turned[1], 1)], materials, rigid, keypoints={"rim": (0, 0, 0.0686), "bottom": (0, 0, 0)}, symmetries=TURNED
    )


def plate(rng: np.random.Generator) -> Body:
    """Return a dinner plate with a coloured rim."""
    under = rounded_profile([(0, 0.002, 0), (0.058, 0.002, 0.001), (0.06, 0, 0.001), (0.064, 0, 0.001), (0.07, 0.006, 0.01), (0.108, 0.018, 0.001), (0.109, 0.020, 0)])
    upper = rounded_profile([(0.109, 0.020, 0), (0.107, 0.0215, 0.001), (0.072, 0.0105, 0.014), (0.062, 0.006, 0.012), (0, 0.006, 0)], steps=6)
    band = rounded_profile([(0.1092, 0.0198, 0), (0.107, 0.0217, 0.001), (0.099, 0.0191, 0)])
    pieces = (turned_piece([(0.064, 0.0), (0.072, 0.0065)]), *ring_pieces(
        [(0.004, 0.070, 0.060), (0.0215, 0.109, 0.104)], sectors=12
    ))
    white = plastic((0.84, 0.83, 0.8), roughness=0.1)
    rigid = RigidBody(mass=0.55, dynamic_friction=0.35, collider="decomposition", pieces=pieces)
    parts = [part(lathe(under, segments=64), 0), part(lathe(upper, segments=64), 0), part(lathe(band, segments=64), 1)]
    return body("plate", parts, [white, plastic(_glaze(rng), roughness=0.1)], rigid, keypoints={"center": (0, 0, 0.006)}, symmetries=TURNED)


def cup(rng: np.random.Generator) -> Body:
    """Return a paper cup with a printed wall."""
    wall = lathe([(0.0285, 0.002), (0.0395, 0.094)], segments=48)
    foot = lathe(rounded_profile([(0, 0.004, 0), (0.027, 0.004, 0), (0.028, 0, 0.0004), (0.0285, 0.002, 0)]), segments=48)
    turn = np.linspace(-0.6, 4.2, 9)
    roll = np.stack([0.0399 + 0.0017 * np.cos(turn), 0.0946 + 0.0017 * np.sin(turn)], axis=1)
    inner = lathe(np.concatenate([roll, [(0.0386, 0.092), (0.0278, 0.006), (0, 0.006)]]), segments=48)
    pixels = np.concatenate([label(rng, (384, 384)) for _ in range(2)], axis=1)
    pieces = (*ring_pieces([(0.0, 0.0285, 0.026), (0.0963, 0.0415, 0.037)], sectors=10), turned_piece([(0.028, 0), (0.0285, 0.006)]))
    rigid = RigidBody(mass=0.02, dynamic_friction=0.5, collider="decomposition", pieces=pieces)
    materials = [paper(printed(pixels, "cup"), roughness=0.45), paper(color=(0.85, 0.84, 0.8))]
    return body("cup", [part(wall, 0), part(foot, 1), part(inner, 1)], materials, rigid, keypoints={"rim": (0, 0, 0.0963)}, symmetries=TURNED)


def bottle(rng: np.random.Generator) -> Body:
    """Return a shampoo-like plastic bottle with a cap and a label."""
    base = rounded_profile([(0, 0.003, 0), (0.022, 0.002, 0.004), (0.026, 0, 0.003), (0.034, 0, 0.006), (0.034, 0.03, 0)])
    shoulder = spline([(0.034, 0.125), (0.0325, 0.142), (0.024, 0.160), (0.0145, 0.170), (0.0135, 0.178)], 16)
    band = lathe([(0.0342, 0.03), (0.0342, 0.125)], segments=56)
    cap = lathe(rounded_profile([(0.0135, 0.175, 0), (0.0165, 0.175, 0.0008), (0.0165, 0.198, 0.0015), (0.0105, 0.199, 0.001), (0.0095, 0.206, 0.0015), (0, 0.206, 0)]), segments=48)
    paint = _glaze(rng)
    pixels = np.concatenate([label(rng, (400, 400)), facts(rng, (400, 400), base=color(rng, value=(0.3, 0.6)))], axis=1)
    materials = [plastic(paint, roughness=0.25), plastic((0.75, 0.75, 0.73), roughness=0.3), paper(printed(pixels, "bottle"), roughness=0.3)]
    rigid = RigidBody(mass=0.3, dynamic_friction=0.35, collider="hull")
    parts = [part(lathe(np.concatenate([base, [(0.034, 0.125)], shoulder[1:]]), segments=56), 0), part(cap, 1), part(band, 2)]
    return body("bottle", parts, materials, rigid, keypoints={"cap": (0, 0, 0.206), "bottom": (0, 0, 0)}, symmetries=TURNED)


def can(rng: np.random.Generator) -> Body:
    """Return a drinks can."""
    low = rounded_profile([(0, 0.008, 0), (0.018, 0.005, 0.006), (0.022, 0, 0.002), (0.0255, 0.0005, 0.002), (0.033, 0.011, 0.006), (0.033, 0.014, 0)])
    high = rounded_profile([(0.033, 0.106, 0), (0.033, 0.109, 0.004), (0.0275, 0.1185, 0.002), (0.0275, 0.121, 0.0008), (0.026, 0.121, 0.0006), (0.0255, 0.1165, 0.001), (0, 0.1175, 0)])
    turn = np.linspace(0, 2 * math.pi, 20)
    tab = tube(np.stack([0.004 + 0.009 * np.cos(turn), 0.006 * np.sin(turn), 0.1188 + 0 * turn], axis=1), 0.0012, segments=8)
    pixels = np.concatenate([label(rng, (512, 512)), facts(rng, (512, 512), base=color(rng, value=(0.2, 0.5)))], axis=1)
    printed_metal = plastic((0.5, 0.5, 0.5), roughness=0.2, texture=printed(pixels, "can")).changed(metallic=0.35)
    rigid = RigidBody(mass=0.36, dynamic_friction=0.35, restitution=0.2)
    parts = [part(lathe(low, segments=56), 0), part(lathe(high, segments=56), 0), part(tab, 0), part(lathe([(0.033, 0.014), (0.033, 0.106)], segments=56), 1)]
    return body("can", parts, [metal(roughness=0.2), printed_metal], rigid, keypoints={"top": (0, 0, 0.1175), "bottom": (0, 0, 0)}, symmetries=TURNED)


def cereal_box(rng: np.random.Generator) -> Body:
    """Return a printed cardboard box."""
    width, depth, height = 0.16, 0.052, 0.225
    base = color(rng, saturation=(0.6, 0.9), value=(0.5, 0.9))
    box = rounded_box((width, depth, height), 0.0016, face_uvs=True, face_materials=(1, 1, 0, 2, 3, 3))
    front, back = printed(label(rng, (720, 512), base=base), "cereal"), printed(facts(rng, (720, 512), base=base), "cereal_back")
    side = printed(facts(rng, (512, 128), base=base * 0.9), "cereal_side")
    flap = paper(printed(np.full((8, 8, 3), base), "cereal_top"))
    rigid = RigidBody(mass=0.42, dynamic_friction=0.45)
    points = {"front": (0, -depth / 2, 0), "top": (0, 0, height / 2)}
    return body("cereal_box", [box], [paper(front, roughness=0.4), paper(side), paper(back), flap], rigid, keypoints=points)


def banana(rng: np.random.Generator) -> Body:
    """Return a ripe banana."""
    turn = np.linspace(-0.85, 0.85, 26)
    path = np.stack([0.112 * np.sin(turn), 0.112 * (1 - np.cos(turn)), 0 * turn], axis=1)
    place = np.linspace(0, 1, 26)
    radii = spline([(0, 0.0038), (0.06, 0.0046), (0.15, 0.011), (0.35, 0.0172), (0.6, 0.0176), (0.85, 0.0125), (0.96, 0.006), (1, 0.0042)], 101)
    mesh = tube(path, np.interp(place, radii[:, 0], radii[:, 1]), segments=20)
    pieces = []
    for start in range(0, 25, 5):
        rings = [path[i] + np.interp(place[i], radii[:, 0], radii[:, 1]) * d for i in (start, start + 3, min(start + 5, 25)) for d in _ring_about(turn[i])]
        pieces.append(hull_mesh(np.array(rings)))
    rigid = RigidBody(mass=0.15, dynamic_friction=0.6, restitution=0.05, collider="decomposition", pieces=tuple(pieces))
    skin = plastic((0.8, 0.6, 0.1), roughness=0.5, texture=_banana_skin(rng))
    return body("banana", [mesh], [skin], rigid, keypoints={"stem": path[0], "tip": path[-1], "middle": path[13]})


def _ring_about(turn: float) -> list[np.ndarray]:
    outward = np.array([math.sin(turn), -math.cos(turn), 0.0])
    return [math.cos(a) * outward + math.sin(a) * np.array([0, 0, 1.0]) for a in np.linspace(0, 2 * math.pi, 10, endpoint=False)]


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
    outline = [(0.0, 0.007), (0.006, 0.003), (0.013, 0.0005), (0.021, 0.003), (0.031, 0.017), (0.0372, 0.038), (0.0345, 0.056), (0.024, 0.068), (0.013, 0.0695), (0.006, 0.0645), (0.0, 0.058)]
    mesh = lathe(_smooth(outline, 36), segments=44)
    stem = tube(np.array([(0, 0, 0.056), (0.001, 0, 0.064), (0.003, 0.001, 0.071), (0.006, 0.002, 0.077)]), np.array([0.0011, 0.001, 0.0011, 0.0016]), segments=8)
    size = 256
    v = (1 - (np.arange(size) + 0.5) / size)[:, None, None]
    streaks = np.repeat(noise(rng, size, 64, octaves=2)[size // 2 : size // 2 + 1], size, axis=0)[..., None]
    red, yellow = np.array([0.66, 0.09, 0.1]), np.array([0.85, 0.72, 0.25])
    share = np.clip(0.5 + 0.25 * streaks + 0.55 * noise(rng, size, 2, octaves=3)[..., None] - np.abs(v - 0.5) * 1.1 + 0.3, 0, 1)
    skin = plastic((0.6, 0.1, 0.1), roughness=0.28, texture=printed(yellow + (red - yellow) * share, "apple"))
    rigid = RigidBody(mass=0.17, dynamic_friction=0.5, restitution=0.2)
    materials = [skin, plastic(linear(0.3, 0.2, 0.1), roughness=0.8)]
    return body("apple", [part(mesh, 0), part(stem, 1)], materials, rigid, keypoints={"stem": (0, 0, 0.058), "bottom": (0, 0, 0.007)}, symmetries=TURNED)


def _smooth(points: list[tuple[float, float]], count: int) -> np.ndarray:
    """Return a round curve through points [n, 2] that may turn back in both coordinates."""
    from scipy.interpolate import CubicSpline

    knots = np.array(points)
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1) ** 0.5)])
    curve = CubicSpline(along, knots)(np.linspace(0, along[-1], count))
    curve[:, 0] = np.maximum(curve[:, 0], 0)
    return np.asarray(curve)

