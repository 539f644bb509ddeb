"""From the ways in which shading networks look pictures up to textures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sdg.scene import Texture
from sdg.sensors.tone import decode_srgb, encode_srgb

from .pictures import UDIM, read_picture, read_tiles

Wrap = Literal["repeat", "clamp", "mirror"]
Use = Literal["color", "value", "normal", "light"]
Placement = tuple[tuple[float, float], float, tuple[float, float]]


@dataclass(frozen=True)
class Lookup:
    """How a network reads a picture: all that makes one texture differ from another of the same file.

    `channels`: the used ones, such as rgb or g; `color_space`: sRGB, raw or auto; the values are multiplied by `scale`,
    then `bias` is added (r, g, b, a); texture uv = `affine` [2, 3] of mesh uv; `uv_name`: the mesh's uv that it wants.
    """

    path: str
    prim: str
    channels: str = "rgb"
    color_space: str = "auto"
    wrap: Wrap = "repeat"
    scale: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    bias: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    affine: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    uv_name: str = ""


@dataclass
class Textures:
    """Makes textures, each picture read once. `faults` takes a line for each picture that cannot be read.

    No side of a picture stays longer than `largest` [px].
    """

    largest: int = 4096
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _pictures: dict[str, tuple[np.ndarray, tuple[int, int]] | None] = field(default_factory=dict)
    _values: dict[tuple[object, ...], tuple[np.ndarray, bool] | None] = field(default_factory=dict)
    _made: dict[tuple[Lookup, Use], Texture | None] = field(default_factory=dict)

    def __call__(self, lookup: Lookup, use: Use) -> Texture | None:
        """Return the texture of a lookup, or None where its file cannot be read or lacks the alpha channel."""
        if (lookup, use) not in self._made:
            self._made[lookup, use] = self._make(lookup, use)
        return self._made[lookup, use]

    def _make(self, lookup: Lookup, use: Use) -> Texture | None:
        picture = self.picture(lookup.path, lookup.prim)
        if picture is None:
            return None
        pixels, (columns, rows) = picture
        key = (lookup.path, lookup.channels, lookup.color_space, lookup.scale, lookup.bias, use)
        if key not in self._values:
            self._values[key] = used_values(pixels, lookup, use)
        found = self._values[key]
        if found is None:
            return None
        tiled = np.array(lookup.affine).reshape(2, 3) / np.array([[columns], [rows]])
        placed = placement(tiled)
        if placed is None:
            self.warnings.append(f"{lookup.prim}: its texture transform shears the picture; the shear is left out")
            placed = ((tiled[0, 0] or 1.0, tiled[1, 1] or 1.0), 0.0, (tiled[0, 2], tiled[1, 2]))
        scale, rotation, offset = placed
        return Texture(*found, lookup.wrap, scale, rotation, offset, lookup.path)

    def picture(self, path: str, prim: str) -> tuple[np.ndarray, tuple[int, int]] | None:
        """Return a picture [h, w, 1..4] and the columns and rows of its tiles, or None where it cannot be read."""
        if path not in self._pictures:
            self._pictures[path] = None
            try:
                if UDIM in path:
                    self._pictures[path] = read_tiles(path, largest=self.largest)
                else:
                    self._pictures[path] = read_picture(path, largest=self.largest), (1, 1)
            except (OSError, ValueError, RuntimeError) as error:
                self.faults.append(f"{prim}: {error}")
        return self._pictures[path]


def used_values(pixels: np.ndarray, lookup: Lookup, use: Use) -> tuple[np.ndarray, bool] | None:
    """Return the channels that are used, scaled and biased [h, w, 1 or 3], and whether they are sRGB-encoded colours.

    None: the alpha of a picture without alpha, which is 1 everywhere.
    """
    srgb = _is_srgb(pixels, lookup, use)
    grey = pixels.shape[2] <= 2
    if lookup.channels == "a":
        if pixels.shape[2] in (1, 3):
            return None
        chosen, numbers, srgb = pixels[..., -1:], [3], False
    elif len(lookup.channels) == 1:
        number = "rgb".index(lookup.channels)
        chosen, numbers = pixels[..., :1] if grey else pixels[..., number : number + 1], [number]
    else:
        chosen, numbers = (pixels[..., :1], [0]) if grey else (pixels[..., :3], [0, 1, 2])
    scale, bias = np.array(lookup.scale)[numbers], np.array(lookup.bias)[numbers]
    if use == "normal":
        scale, bias = scale / 2, (bias + 1) / 2  # a renderer decodes 0..1 to -1..1 itself
    made, srgb = rescaled(np.ascontiguousarray(chosen), scale, bias, srgb=srgb, keep_range=use == "light")
    if use in ("color", "normal", "light") and made.shape[2] == 1:
        made = np.repeat(made, 3, axis=2)
    return made, srgb


def _is_srgb(pixels: np.ndarray, lookup: Lookup, use: Use) -> bool:
    space = lookup.color_space.lower()
    if use == "normal" or pixels.dtype != np.uint8:
        return False
    if space in ("auto", ""):
        return use in ("color", "light") and pixels.shape[2] >= 3
    return space.startswith(("srgb", "g22", "gamma"))


def rescaled(
    pixels: np.ndarray, scale: np.ndarray, bias: np.ndarray, *, srgb: bool, keep_range: bool
) -> tuple[np.ndarray, bool]:
    """Apply scale and bias to linear values; 8-bit pictures stay 8-bit and others become so unless `keep_range`."""
    if pixels.dtype == np.uint8:
        if np.allclose(scale, 1) and np.allclose(bias, 0):
            return pixels, srgb
        steps = np.arange(256, dtype=np.uint8)
        linear = decode_srgb(steps) if srgb else steps.astype(np.float32) / 255
        tables = [_encoded(linear * s + b, srgb=srgb) for s, b in zip(scale, bias, strict=True)]
        return np.stack([table[pixels[..., n]] for n, table in enumerate(tables)], axis=2), srgb
    values = (pixels * scale + bias).astype(np.float32)
    if keep_range:
        return values, False
    return _encoded(values, srgb=pixels.shape[2] == 3), pixels.shape[2] == 3


def _encoded(linear: np.ndarray, *, srgb: bool) -> np.ndarray:
    return encode_srgb(linear) if srgb else (np.clip(linear, 0, 1) * 255 + 0.5).astype(np.uint8)


def placement(affine: np.ndarray) -> Placement | None:
    """Return uv scale, rotation [rad] and offset of a [2, 3] map, or None where it shears."""
    linear = affine[:, :2]
    u, v = float(np.linalg.norm(linear[0])), float(np.linalg.norm(linear[1]))
    if min(u, v) < 1e-12 or abs(linear[0] @ linear[1]) > 1e-4 * u * v:
        return None
    angle = math.atan2(-linear[0, 1], linear[0, 0])
    if np.linalg.det(linear) < 0:
        v = -v
    return (u, v), angle, (float(affine[0, 2]), float(affine[1, 2]))
