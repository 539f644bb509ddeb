"""Toys and household things for the table-top."""

from __future__ import annotations

import math

import numpy as np

from sdg.mesh import lathe, sphere
from sdg.patterns import color, make_pattern
from sdg.printing import label, letter
from sdg.scene import Body, RigidBody
from sdg.scenes._objects import TURNED, body, linear, paper, part, plastic, printed
from sdg.shapes import (
    box_projected,
    moved,
    rounded_box,
    rounded_profile,
)


def ball(rng: np.random.Generator) -> Body:
    """Return a striped rubber ball."""
    pixels = np.empty((128, 256, 3), np.float32)
    sectors = np.array(
        [
            color(rng, saturation=(0.7, 0.95), value=(0.6, 0.95)),
            (0.93, 0.92, 0.9),
            color(rng, saturation=(0.7, 0.95), value=(0.6, 0.95)),
            (0.93, 0.92, 0.9),
        ]
    )
    pixels[:] = sectors[(np.arange(256) * 8 // 256) % 4]
    pixels[:9] = pixels[-9:] = sectors[0]
    rigid = RigidBody(mass=0.12, static_friction=0.8, dynamic_friction=0.7, restitution=0.6, collider="sphere")
    axes = [{"kind": "continuous", "axis": axis} for axis in ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])]
    return body(
        "ball",
        [sphere(0.034)],
        [plastic((0.8, 0.2, 0.2), roughness=0.4, texture=printed(pixels, "ball"))],
        rigid,
        symmetries=axes,
    )


def block(rng: np.random.Generator) -> Body:
    """Return a wooden toy block with letters."""
    size = 0.045
    box = rounded_box((size, size, size), 0.0025, steps=3, face_uvs=True, face_materials=(0, 0, 1, 1, 2, 2))
    wood = make_pattern("wood", rng, 192) / np.float32(255) * 0.3 + 0.7 * np.array([0.88, 0.77, 0.58], np.float32)
    materials = []
    for _ in range(3):
        ink = color(rng, saturation=(0.7, 0.95), value=(0.4, 0.85))
        character = "ABCDEFGHKLMNPRSTXZ"[int(rng.integers(18))]
        painted = letter(character, (192, 192), ink, np.array([1.0, 1.0, 1.0]))
        materials.append(plastic((0.7, 0.6, 0.4), roughness=0.5, texture=printed(painted * wood, f"block_{character}")))
    rigid = RigidBody(mass=0.055, dynamic_friction=0.5, restitution=0.2, collider="box")
    return body("block", [box], materials, rigid, keypoints={"top": (0, 0, size / 2), "front": (0, -size / 2, 0)})


def spool(rng: np.random.Generator) -> Body:
    """Return a spool of thread."""
    core = rounded_profile(
        [
            (0.0045, 0.0, 0),
            (0.021, 0, 0.001),
            (0.021, 0.004, 0.001),
            (0.012, 0.007, 0.002),
            (0.012, 0.045, 0.002),
            (0.021, 0.048, 0.001),
            (0.021, 0.052, 0.001),
            (0.0045, 0.052, 0),
        ]
    )
    bore = [(0.0045, 0.052), (0.0045, 0.0)]
    turns = np.linspace(0, 1, 57)
    thread = np.stack([0.0178 + 0.0005 * np.cos(turns * 28 * 2 * math.pi), 0.0062 + 0.0396 * turns], axis=1)
    thread = np.concatenate([[(0.012, 0.006)], thread, [(0.012, 0.046)]])
    wood = printed(make_pattern("wood", rng, 128), "spool_wood")
    yarn = np.repeat(color(rng, saturation=(0.5, 0.95), value=(0.3, 0.9))[None, None], 64, axis=0)
    fibres = yarn * rng.uniform(0.75, 1.0, (64, 64, 1)).astype(np.float32)
    materials = [
        plastic((0.6, 0.45, 0.3), roughness=0.5, texture=wood),
        plastic((0.5, 0.1, 0.1), roughness=0.85, texture=printed(fibres, "thread", scale=(1.0, 28.0))),
    ]
    rigid = RigidBody(mass=0.03, dynamic_friction=0.5)
    parts = [part(lathe(core, segments=40), 0), part(lathe(bore, segments=24), 0), part(lathe(thread, segments=40), 1)]
    return body(
        "spool",
        parts,
        materials,
        rigid,
        symmetries=[*TURNED, {"kind": "discrete", "axis": [1.0, 0.0, 0.0], "order": 2}],
    )


def book(rng: np.random.Generator) -> Body:
    """Return a hardcover book, lying flat, its spine at -x."""
    width, height, thick = 0.13, 0.19, 0.026
    base = color(rng, saturation=(0.4, 0.9), value=(0.25, 0.8))
    front = rounded_box((width, height, 0.0026), 0.0009, face_uvs=True, face_materials=(1, 1, 1, 1, 1, 0))
    cover = moved(front, (0, 0, thick / 2 - 0.0013))
    under = moved(part(rounded_box((width, height, 0.0026), 0.0009), 1), (0, 0, -thick / 2 + 0.0013))
    spine = moved(part(rounded_box((0.004, height, thick), 0.0015), 1), (-width / 2, 0, 0))
    pages = moved(
        part(box_projected(rounded_box((width - 0.006, height - 0.008, thick - 0.005), 0.0005)), 2), (-0.001, 0, 0)
    )
    lines = np.repeat(rng.uniform(0.78, 0.93, (128, 1, 1)), 8, axis=1) * np.array([1.0, 0.97, 0.88])
    sheets = printed(lines, "pages", scale=(1.0, 1 / 0.02))
    materials = [
        paper(printed(label(rng, (512, 352), base=base), "book"), roughness=0.35),
        paper(color=linear(*(base * 0.85).tolist())),
        paper(sheets, roughness=0.8),
    ]
    rigid = RigidBody(mass=0.35, dynamic_friction=0.45, collider="box")
    return body(
        "book",
        [cover, under, spine, pages],
        materials,
        rigid,
        keypoints={"spine": (-width / 2, 0, 0), "front": (0, 0, thick / 2)},
    )
