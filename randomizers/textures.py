"""Put other images on surfaces."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field, PrivateAttr

from sdg.distributions import Fraction, Number, Positive
from sdg.errors import SceneError, nearest
from sdg.mesh import Mesh
from sdg.patterns import KINDS, make_pattern
from sdg.placement import select, unmatched
from sdg.plugin import InputPath
from sdg.random import rng_for
from sdg.randomizer import Draws, Randomizer
from sdg.scene import Body, Scene, Texture
from sdg.shapes import box_projected, uv_density
from sdg.usd.pictures import decode, resized

_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp")
_KEPT = 256


def _known(value: tuple[str, ...]) -> tuple[str, ...]:
    for kind in value:
        if kind not in KINDS:
            raise ValueError(f"no pattern '{kind}'; {nearest(kind, KINDS)}")
    return value


class Textures(Randomizer):
    """Give the chosen bodies colour textures: images of a folder or patterns, uniform choice for each material.

    The size of a texture is given in metres on the surface, whatever the body's uvs are. Bodies without uvs are
    unwrapped by projection along the main axes. There are `variants` looks of each pattern, the same in every sample.
    """

    bodies: tuple[str, ...] = Field(("*",), description="names or classes of the bodies; * and ?")
    probability: Fraction = Field(1.0, description="chance that a body is changed")  # type: ignore[assignment]
    images: InputPath | None = Field(
        None, description="a folder of images (jpg, png, webp, bmp), searched below too; default: patterns"
    )
    patterns: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_known)] = Field(
        tuple(kind for kind in KINDS if kind != "label"), description="kinds of patterns, uniform choice"
    )
    variants: int = Field(6, gt=0, le=1000, description="how many looks there are of each pattern")
    resolution: int = Field(512, ge=32, le=4096, description="edge of patterns, longest edge of images [px]")
    size: Positive = Field({"log_uniform": [0.1, 1.0]}, description="edge of one tile on the surface [m], log-uniform")  # type: ignore[assignment]
    rotation: Number = Field([0.0, 2 * math.pi], description="on the surface [rad], uniform")  # type: ignore[assignment]
    box_projection: bool = Field(False, description="whether bodies with uvs of their own are unwrapped anew, too")

    _images: dict[Path | tuple[str, int], Texture] = PrivateAttr(default_factory=dict)
    _meshes: dict[tuple[str, tuple[float, ...]], Mesh] = PrivateAttr(default_factory=dict)

    def check(self, scene: Scene) -> list[str]:
        faults = unmatched(scene, self.bodies)
        if self.images is not None and not self._files():
            faults.append(f"the folder {self.images} holds no image ({', '.join(_SUFFIXES)})")
        return faults

    def apply(self, scene: Scene, draw: Draws) -> None:
        files = self._files() if self.images is not None else []
        for body in select(scene, self.bodies):
            if draw.rng.random() < self.probability.sample(draw.rng):
                self._change(body, files, draw)

    def _change(self, body: Body, files: list[Path], draw: Draws) -> None:
        if body.mesh.uvs is None or self.box_projection:
            body.mesh = self._unwrapped(body)
        density = uv_density(body.mesh, body.scale)
        record = []
        for number, material in enumerate(body.materials):
            chosen = Draws(draw.rng)
            texture = self._choose(files, chosen)
            size, rotation = chosen("size", self.size), chosen("rotation", self.rotation)
            height, width = texture.pixels.shape[:2]
            repeats = 1 / (size * density)
            placed = Texture(
                texture.pixels,
                uv_scale=(repeats, repeats * width / height),
                uv_rotation=rotation,
                uv_offset=(chosen.note("u", float(draw.rng.random())), chosen.note("v", float(draw.rng.random()))),
                name=texture.name,
            )
            body.materials[number] = material.changed(base_color_texture=placed)
            record.append(chosen.record)
        draw.note(body.name, record)

    def _choose(self, files: list[Path], draw: Draws) -> Texture:
        if files:
            file = files[int(draw.rng.integers(len(files)))]
            assert self.images is not None
            draw.note("image", file.relative_to(self.images).as_posix() if self.images.is_dir() else file.name)
            return self._kept(file, lambda: read_image(file, self.resolution))
        kind = draw.note("pattern", self.patterns[int(draw.rng.integers(len(self.patterns)))])
        variant = draw.note("variant", int(draw.rng.integers(self.variants)))
        return self._kept(
            (kind, variant), lambda: make_pattern(kind, rng_for(0, variant, f"pattern {kind}"), self.resolution)
        )

    def _kept(self, key: Path | tuple[str, int], make: Callable[[], np.ndarray]) -> Texture:
        """Return the texture that was made before under `key`, or make it; the newest are kept."""
        if key not in self._images:
            while len(self._images) >= _KEPT:
                self._images.pop(next(iter(self._images)))
            name = key.name if isinstance(key, Path) else f"{key[0]}_{key[1]}"
            self._images[key] = Texture(make(), name=name)
        return self._images[key]

    def _files(self) -> list[Path]:
        assert self.images is not None
        if self.images.is_file():
            return [self.images]
        return sorted(path for path in self.images.rglob("*") if path.suffix.lower() in _SUFFIXES)

    def _unwrapped(self, body: Body) -> Mesh:
        key = (body.mesh.digest, body.scale)
        if key not in self._meshes:
            while len(self._meshes) >= _KEPT:
                self._meshes.pop(next(iter(self._meshes)))
            self._meshes[key] = box_projected(body.mesh, body.scale)
        return self._meshes[key]


def read_image(file: Path, longest: int) -> np.ndarray:
    """Read an image [h, w, 3] uint8 sRGB, made smaller where an edge is longer than `longest` [px]. Raises SceneError."""
    try:
        pixels = decode(file.read_bytes(), file.name)
    except (ValueError, OSError) as error:
        raise SceneError(f"{file}: cannot be read as an image: {error}") from None
    if pixels.dtype != np.uint8:
        raise SceneError(f"{file}: a texture has 8 or 16 bits per channel, not {pixels.dtype}")
    pixels = np.repeat(pixels[..., :1], 3, axis=2) if pixels.shape[2] < 3 else pixels[..., :3]
    factor = longest / max(pixels.shape[:2])
    if factor < 1:
        pixels = resized(pixels, max(1, round(pixels.shape[0] * factor)), max(1, round(pixels.shape[1] * factor)))
    return np.ascontiguousarray(pixels)
