"""Reading glTF 2.0 (.glb, .gltf): triangles, PBR materials and embedded pictures."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

import numpy as np

from sdg import transforms
from sdg.errors import SceneError
from sdg.scene import Material, Texture
from sdg.usd.pictures import decode
from sdg.usd.textures import placement, rescaled

_TYPES: dict[int, str] = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_KNOWN = {"KHR_texture_transform", "KHR_materials_transmission", "KHR_materials_ior", "KHR_materials_emissive_strength"}
_WRAPS: dict[int, Literal["clamp", "mirror"]] = {33071: "clamp", 33648: "mirror"}
_UP = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])
"""From glTF's y up to z up."""


@dataclass
class Primitive:
    """Triangles of one material: points [v, 3], triangles [t, 3], normals [v, 3] and uvs [v, 2] or None, z up [m]."""

    points: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray | None
    uvs: np.ndarray | None
    material: Material


@dataclass
class Gltf:
    """A file that is being read."""

    path: Path
    data: dict[str, Any]
    body: bytes
    _buffers: dict[int, bytes] = field(default_factory=dict)
    _pictures: dict[int, np.ndarray] = field(default_factory=dict)
    _materials: dict[int | None, tuple[Material, int]] = field(default_factory=dict)

    def primitives(self) -> Iterator[Primitive]:
        """Yield the triangles of all nodes of the file's scene."""
        scenes = self.data.get("scenes") or [{"nodes": range(len(self.data.get("nodes", [])))}]
        for node in scenes[self.data.get("scene", 0)].get("nodes", []):
            yield from self._node(node, _UP, 0)

    def _node(self, number: int, to_world: np.ndarray, depth: int) -> Iterator[Primitive]:
        if depth > 200:
            raise SceneError(f"{self.path}: its nodes contain each other")
        node = self.data["nodes"][number]
        to_world = to_world @ _local(node)
        if "mesh" in node:
            for primitive in self.data["meshes"][node["mesh"]]["primitives"]:
                if primitive.get("mode", 4) in (4, 5, 6):
                    yield self._primitive(primitive, to_world)
        for child in node.get("children", []):
            yield from self._node(child, to_world, depth + 1)

    def _primitive(self, primitive: dict[str, Any], to_world: np.ndarray) -> Primitive:
        given = primitive["attributes"]
        points = self.values(given["POSITION"]).astype(np.float64)
        corners = self.values(primitive["indices"]).ravel() if "indices" in primitive else np.arange(len(points))
        triangles = _triangles(corners.astype(np.int64), primitive.get("mode", 4))
        material, uv_set = self.material(primitive.get("material"))
        uvs = next((given[name] for name in (f"TEXCOORD_{uv_set}", "TEXCOORD_0") if name in given), None)
        normals = self.values(given["NORMAL"]).astype(np.float64) if "NORMAL" in given else None
        linear = to_world[:3, :3]
        if np.linalg.det(linear) < 0:
            triangles = triangles[:, ::-1]
        return Primitive(
            transforms.apply(to_world, points),
            triangles,
            None if normals is None or not np.linalg.det(linear) else normals @ np.linalg.inv(linear),
            None if uvs is None else self.values(uvs).astype(np.float64) * (1, -1) + (0, 1),
            material,
        )

    # --- data -------------------------------------------------------------------------------------------------------

    def values(self, number: int) -> np.ndarray:
        """Return the values [n, width] of an accessor; normalized integers become 0..1 or -1..1."""
        accessor = self.data["accessors"][number]
        kind, width, count = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[accessor["type"]], accessor["count"]
        array = np.zeros((count, width), kind)
        if "bufferView" in accessor:
            array = self._strided(accessor["bufferView"], accessor.get("byteOffset", 0), count, width, kind)
        if "sparse" in accessor:
            sparse, array = accessor["sparse"], array.copy()
            at, new = sparse["indices"], sparse["values"]
            index_kind = np.dtype(_TYPES[at["componentType"]])
            places = self._strided(at["bufferView"], at.get("byteOffset", 0), sparse["count"], 1, index_kind)
            array[places.ravel()] = self._strided(
                new["bufferView"], new.get("byteOffset", 0), sparse["count"], width, kind
            )
        if accessor.get("normalized") and kind.kind in "iu":
            return np.maximum(array.astype(np.float32) / np.iinfo(kind).max, -1)
        return array

    def _strided(self, view: int, offset: int, count: int, width: int, kind: np.dtype[Any]) -> np.ndarray:
        stride = self.data["bufferViews"][view].get("byteStride") or width * kind.itemsize
        return np.ndarray((count, width), kind, self.view(view), offset, (stride, kind.itemsize)).copy()

    def view(self, number: int) -> bytes:
        """Return the bytes of a buffer view."""
        view = self.data["bufferViews"][number]
        start = view.get("byteOffset", 0)
        if view["buffer"] not in self._buffers:
            uri = self.data["buffers"][view["buffer"]].get("uri")
            self._buffers[view["buffer"]] = self.body if uri is None else self.load(uri)
        return self._buffers[view["buffer"]][start : start + view["byteLength"]]

    def load(self, uri: str) -> bytes:
        """Return the bytes of a data URI or of a file beside this one. Raises SceneError."""
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2])
        file = self.path.parent / unquote(uri)
        if not file.is_file():
            raise SceneError(f"{self.path} needs the file {file}, which does not exist")
        return file.read_bytes()

    # --- materials --------------------------------------------------------------------------------------------------

    def material(self, number: int | None) -> tuple[Material, int]:
        """Return a material and the number of the texture coordinates that it uses."""
        if number not in self._materials:
            given = {} if number is None else self.data["materials"][number]
            self._materials[number] = self._read_material(given)
        return self._materials[number]

    def _read_material(self, given: dict[str, Any]) -> tuple[Material, int]:
        pbr, more = given.get("pbrMetallicRoughness", {}), given.get("extensions", {})
        *color, alpha = pbr.get("baseColorFactor", (1, 1, 1, 1))
        base, packed = pbr.get("baseColorTexture"), pbr.get("metallicRoughnessTexture")
        metallic, roughness = pbr.get("metallicFactor", 1.0), pbr.get("roughnessFactor", 1.0)
        strength = more.get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1.0)
        shine = tuple(float(c * strength) for c in given.get("emissiveFactor", (0, 0, 0)))
        mode = given.get("alphaMode", "OPAQUE")
        return Material(
            base_color=tuple(map(float, color)),  # type: ignore[arg-type]
            base_color_texture=self.texture(base, "rgb", color, srgb=True),
            roughness=float(roughness),
            roughness_texture=self.texture(packed, "g", [roughness]),
            metallic=float(metallic),
            metallic_texture=self.texture(packed, "b", [metallic]),
            ior=float(more.get("KHR_materials_ior", {}).get("ior", 1.5)),
            normal_texture=self.texture(given.get("normalTexture"), "rgb", [1.0, 1.0, 1.0]),
            opacity=1.0 if mode == "OPAQUE" else float(alpha),
            opacity_texture=None if mode == "OPAQUE" else self.texture(base, "a", [alpha]),
            opacity_threshold=float(given.get("alphaCutoff", 0.5)) if mode == "MASK" else 0.0,
            transmission=float(more.get("KHR_materials_transmission", {}).get("transmissionFactor", 0.0)),
            emission=shine,  # type: ignore[arg-type]
            emission_texture=self.texture(given.get("emissiveTexture"), "rgb", [1.0, 1.0, 1.0], srgb=True)
            if any(shine)
            else None,
            name=given.get("name", ""),
        ), int((base or packed or {}).get("texCoord", 0))

    def texture(self, use: dict[str, Any] | None, channels: str, factor: Any, *, srgb: bool = False) -> Texture | None:
        """Return channels of a picture times a factor, or None where there is none or it lacks the channel."""
        if use is None:
            return None
        texture = self.data["textures"][use["index"]]
        source = texture.get("source", texture.get("extensions", {}).get("EXT_texture_webp", {}).get("source"))
        pixels = self._picture(source)
        grey = pixels.shape[2] <= 2
        numbers = [0 if grey and name != "a" else "rgba".index(name) for name in channels]
        if channels == "a":
            numbers = [pixels.shape[2] - 1]
            if pixels.shape[2] in (1, 3):
                return None
        made, srgb = rescaled(
            np.ascontiguousarray(pixels[..., numbers]),
            np.array(factor, float),
            np.zeros(len(numbers)),
            srgb=srgb,
            keep_range=False,
        )
        sampler = self.data["samplers"][texture["sampler"]] if "sampler" in texture else {}
        scale, rotation, offset = _placed(use.get("extensions", {}).get("KHR_texture_transform", {}))
        return Texture(
            made, srgb, _WRAPS.get(sampler.get("wrapS", 0), "repeat"), scale, rotation, offset, f"{self.path}:{source}"
        )

    def _picture(self, number: int | None) -> np.ndarray:
        if number is None:
            raise SceneError(f"{self.path}: one of its textures has no picture in a format that can be read")
        if number not in self._pictures:
            image = self.data["images"][number]
            data = self.load(image["uri"]) if "uri" in image else self.view(image["bufferView"])
            try:
                self._pictures[number] = decode(data, f"{self.path}: picture {number} {image.get('name', '')}".rstrip())
            except ValueError as error:
                raise SceneError(str(error)) from None
        return self._pictures[number]


def _placed(extension: dict[str, Any]) -> tuple[tuple[float, float], float, tuple[float, float]]:
    """Return scale, rotation and offset of KHR_texture_transform for v that runs upwards."""
    (x, y), angle, (su, sv) = (
        extension.get("offset", (0, 0)),
        extension.get("rotation", 0.0),
        extension.get("scale", (1, 1)),
    )
    cos, sin = np.cos(angle), np.sin(angle)
    flip = np.array([[1, 0, 0], [0, -1, 1], [0, 0, 1.0]])
    down = np.array([[cos * su, sin * sv, x], [-sin * su, cos * sv, y], [0, 0, 1.0]])
    return placement((flip @ down @ flip)[:2]) or ((su, sv), 0.0, (x, 1 - sv - y))


def _local(node: dict[str, Any]) -> np.ndarray:
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    rotation = transforms.quaternion_to_rotation((w, x, y, z)) if any((x, y, z, w)) else np.eye(3)
    return transforms.transform(rotation * np.array(node.get("scale", (1, 1, 1))), node.get("translation", (0, 0, 0)))


def _triangles(corners: np.ndarray, mode: int) -> np.ndarray:
    """Return the triangles [t, 3] of a list (4), a strip (5) or a fan (6)."""
    if mode == 4:
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    step = np.arange(max(len(corners) - 2, 0))
    if mode == 6:
        return corners[np.stack([np.zeros_like(step), step + 1, step + 2], axis=1)]
    odd = step % 2
    return corners[np.stack([step, step + 1 + odd, step + 2 - odd], axis=1)]


def read_gltf(path: Path) -> list[Primitive]:
    """Read a .glb or .gltf file. Raises SceneError."""
    raw = path.read_bytes()
    try:
        text, body = raw, b""
        if raw[:4] == b"glTF":
            (length,) = struct.unpack_from("<I", raw, 12)
            text, body = raw[20 : 20 + length], raw[28 + length :]
        data = json.loads(text)
        foreign = sorted(
            set(data.get("extensionsRequired", [])) - _KNOWN - {"KHR_mesh_quantization", "EXT_texture_webp"}
        )
        if foreign:
            raise SceneError(
                f"{path} needs the glTF extensions {', '.join(foreign)}, which cannot be read; export it without them"
            )
        return list(Gltf(path, data, body).primitives())
    except (KeyError, IndexError, TypeError, ValueError, struct.error) as error:
        raise SceneError(f"{path} is damaged or no glTF 2.0 file: {type(error).__name__}: {error}") from error
