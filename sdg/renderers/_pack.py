"""A scene as a few flat arrays: what a renderer uploads and what label kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdg.scene import Body, Material, Scene, Texture

MATERIAL_FLOATS = 8
"""base r g b, roughness, metallic, F0 of the dielectric, opacity, opacity threshold."""
TEXTURE_SLOTS = ("base_color_texture", "roughness_texture", "metallic_texture", "normal_texture", "opacity_texture")
WRAPS = ("repeat", "clamp", "mirror")


@dataclass
class Tables:
    """Materials and textures by number.

    materials [m, 8] float32; slots [m, 5] int32: texture use of each slot, -1 for none; uses [u, 5] uint32: first texel,
    width, height, wrap mode, 1 for sRGB; uv_maps [u, 6] float32: rows of the 2x3 map from mesh uv to texture uv;
    texels [t] uint32: 0xBBGGRR, rows from the top.
    """

    materials: np.ndarray
    slots: np.ndarray
    uses: np.ndarray
    uv_maps: np.ndarray
    texels: np.ndarray


@dataclass
class Geometry:
    """Triangles of several bodies in the world.

    vertices, normals [v, 3], uvs [v, 2] float32; triangles [t, 3] int32; material [t], body [t] int32: number of the
    material in the tables and of the body in the list that was packed.
    """

    vertices: np.ndarray
    normals: np.ndarray
    uvs: np.ndarray
    triangles: np.ndarray
    material: np.ndarray
    body: np.ndarray


@dataclass(frozen=True)
class Group:
    """Triangles first .. last - 1; `material` is the number of the special material that all of them have, or None."""

    first: int
    last: int
    material: int | None


def special(material: Material) -> bool:
    """Say whether a material cannot share the common surface model: it is glass or emits light."""
    return material.transmission > 0 or any(material.emission)


def arrange(geometry: Geometry, is_special: Sequence[bool]) -> tuple[Geometry, list[Group]]:
    """Put the triangles with common materials first, then those of each body and special material together."""
    lone = np.asarray(is_special, bool)[geometry.material]
    key = np.where(lone, 1 + geometry.body.astype(np.int64) * len(is_special) + geometry.material, 0)
    order = np.argsort(key, kind="stable")
    key = key[order]
    arranged = replace(
        geometry,
        triangles=geometry.triangles[order],
        material=geometry.material[order],
        body=geometry.body[order],
    )
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    ends = [*starts[1:], len(key)]
    groups = [
        Group(int(first), int(last), int(arranged.material[first]) if key[first] else None)
        for first, last in zip(starts, ends, strict=True)
    ]
    return arranged, groups


def pack_tables(scene: Scene) -> tuple[Tables, list[Material]]:
    """Collect the materials of all visible bodies; the second result lists them by number."""
    listed = [material for body in scene.visible_bodies() for material in body.materials]
    materials = [Material(), *{id(material): material for material in listed}.values()]
    uses: dict[int, int] = {}
    textures: list[Texture] = []
    slots = np.full((len(materials), len(TEXTURE_SLOTS)), -1, np.int32)
    for row, material in enumerate(materials):
        for column, slot in enumerate(TEXTURE_SLOTS):
            texture = getattr(material, slot)
            if texture is not None:
                if id(texture) not in uses:
                    uses[id(texture)] = len(textures)
                    textures.append(texture)
                slots[row, column] = uses[id(texture)]
    rows = np.array([_material_row(material) for material in materials], np.float32)
    return Tables(rows, slots, *_pack_textures(textures)), materials


def _material_row(m: Material) -> list[float]:
    f0 = m.specular * ((m.ior - 1) / (m.ior + 1)) ** 2
    return [*m.base_color, m.roughness, m.metallic, min(f0, 1.0), m.opacity, m.opacity_threshold]


def _pack_textures(textures: Sequence[Texture]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pack texture uses; uses of the same pixels share their texels."""
    first: dict[int, int] = {}
    texels: list[np.ndarray] = []
    uses, uv_maps, count = [], [], 0
    for texture in textures:
        if id(texture.pixels) not in first:
            packed = pack_texels(texture.pixels)
            first[id(texture.pixels)] = count
            texels.append(packed)
            count += len(packed)
        height, width = texture.pixels.shape[:2]
        uses.append([first[id(texture.pixels)], width, height, WRAPS.index(texture.wrap), int(texture.srgb)])
        uv_maps.append(uv_map(texture))
    return (
        np.array(uses or [[0, 1, 1, 0, 0]], np.uint32),
        np.array(uv_maps or [[1, 0, 0, 0, 1, 0]], np.float32),
        np.concatenate(texels) if texels else np.zeros(1, np.uint32),
    )


def uv_map(texture: Texture) -> list[float]:
    """Return the 2x3 map u' = s_u (u cos - v sin) + o_u, v' = s_v (u sin + v cos) + o_v, row by row."""
    cos, sin = np.cos(texture.uv_rotation), np.sin(texture.uv_rotation)
    (su, sv), (ou, ov) = texture.uv_scale, texture.uv_offset
    return [su * cos, -su * sin, ou, sv * sin, sv * cos, ov]


def pack_texels(pixels: np.ndarray) -> np.ndarray:
    """Pack pixels [h, w], [h, w, 1], [h, w, 3] or [h, w, 4] (uint8, or float 0..1) as 0xBBGGRR uint32 [h * w]."""
    if pixels.dtype != np.uint8:
        pixels = (np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8)
    channels = pixels.reshape(pixels.shape[0], pixels.shape[1], -1).astype(np.uint32)
    if channels.shape[2] < 3:
        channels = np.repeat(channels[..., :1], 3, axis=2)
    return (channels[..., 0] | channels[..., 1] << 8 | channels[..., 2] << 16).ravel()


def pack_bodies(bodies: Sequence[Body], numbers: dict[int, int]) -> Geometry:
    """Put the triangles of `bodies` into one list, in the world, counter-clockwise seen from outside."""
    parts = [_pack_body(body, number, numbers) for number, body in enumerate(bodies)]
    if not parts:
        return Geometry(
            *(np.zeros((0, n), np.float32) for n in (3, 3, 2)), *(np.zeros(n, np.int32) for n in ((0, 3), 0, 0))
        )
    offsets = np.cumsum([0] + [len(part.vertices) for part in parts])
    for part, offset in zip(parts, offsets[:-1], strict=True):
        part.triangles = part.triangles + np.int32(offset)
    return Geometry(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Geometry.__dataclass_fields__)
    )


def _pack_body(body: Body, number: int, numbers: dict[int, int]) -> Geometry:
    mesh = body.mesh
    linear = body.mesh_to_world[:3, :3]
    normals = mesh.normals @ np.linalg.inv(linear)  # normals transform by the inverse transpose
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    triangles = mesh.triangles if np.linalg.det(linear) > 0 else mesh.triangles[:, ::-1]
    of_body = np.array([numbers[id(material)] for material in body.materials] or [0], np.int32)
    chosen = np.zeros(len(triangles), np.int32) if mesh.material_indices is None else mesh.material_indices
    return Geometry(
        body.world_vertices().astype(np.float32),
        normals.astype(np.float32),
        np.zeros((len(mesh.vertices), 2), np.float32) if mesh.uvs is None else mesh.uvs,
        triangles.astype(np.int32),
        of_body[np.clip(chosen, 0, len(of_body) - 1)],
        np.full(len(triangles), number, np.int32),
    )


def equal(a: Any, b: Any) -> bool:
    """Compare nested lists, tuples, dataclasses and arrays."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and bool(np.array_equal(a, b))
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(equal(getattr(a, name), getattr(b, name)) for name in a.__dataclass_fields__)
    return bool(a == b)
