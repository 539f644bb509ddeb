"""What the objects of the table-top share: materials and how a labelled body is put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdg.mesh import Mesh, merge
from sdg.patterns import color
from sdg.scene import Body, Material, RigidBody, Texture
from sdg.shapes import moved, with_material

Color = tuple[float, float, float]
TURNED: list[dict[str, Any]] = [{"kind": "continuous", "axis": [0.0, 0.0, 1.0]}]
"""The symmetry of a body that was turned about z."""


def linear(red: float, green: float, blue: float) -> Color:
    """Return the linear RGB of an sRGB colour."""
    values = np.array([red, green, blue])
    low, high = values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    r, g, b = np.where(values <= 0.04045, low, high).tolist()
    return r, g, b


def glaze(rng: np.random.Generator) -> Color:
    """Return a random colour of glaze or soft plastic."""
    red, green, blue = color(rng, saturation=(0.25, 0.75), value=(0.35, 0.9)).tolist()
    return linear(red, green, blue)


def paint(rng: np.random.Generator) -> Color:
    """Return a random strong colour."""
    red, green, blue = color(rng, saturation=(0.6, 0.95), value=(0.4, 0.9)).tolist()
    return linear(red, green, blue)


def printed(pixels: np.ndarray, name: str, *, scale: tuple[float, float] = (1.0, 1.0)) -> Texture:
    """Return a texture of pixels [h, w, 3], uint8 or 0..1."""
    if pixels.dtype != np.uint8:
        pixels = np.asarray(np.clip(pixels * 255 + 0.5, 0, 255), np.uint8)
    return Texture(np.ascontiguousarray(pixels), name=name, uv_scale=scale)


def plastic(color: Color, *, roughness: float = 0.35, texture: Texture | None = None) -> Material:
    """Return coloured plastic, glaze or paint."""
    return Material(base_color=color, base_color_texture=texture, roughness=roughness)


def metal(color: Color = (0.78, 0.77, 0.75), *, roughness: float = 0.25) -> Material:
    """Return bare metal."""
    return Material(base_color=color, roughness=roughness, metallic=1.0)


def paper(texture: Texture | None = None, *, color: Color = (0.8, 0.78, 0.74), roughness: float = 0.6) -> Material:
    """Return printed paper or cardboard."""
    return Material(base_color=color, base_color_texture=texture, roughness=roughness, specular=0.6)


def part(mesh: Mesh, material: int) -> Mesh:
    """Return a part of a body made of its material number `material`."""
    return with_material(mesh, material)


def body(
    name: str,
    parts: Sequence[Mesh],
    materials: Sequence[Material],
    rigid_body: RigidBody,
    *,
    keypoints: Mapping[str, Sequence[float] | np.ndarray] | None = None,
    symmetries: Sequence[dict[str, Any]] = (),
) -> Body:
    """Return a labelled dynamic body whose frame lies in the middle of its box."""
    mesh = merge(parts)
    middle = mesh.bounds.mean(axis=0)
    points = {}
    for key, point in (keypoints or {}).items():
        x, y, z = (np.asarray(point, float) - middle).tolist()
        points[key] = (x, y, z)
    rigid_body = replace(
        rigid_body, motion="dynamic", pieces=tuple(moved(piece, -middle) for piece in rigid_body.pieces)
    )
    return Body(
        name,
        moved(mesh, -middle),
        materials=list(materials),
        semantic_class=name,
        rigid_body=rigid_body,
        keypoints=points,
        symmetries=[dict(symmetry) for symmetry in symmetries],
    )
