"""Images of surfaces, made from random numbers: uint8 sRGB [size, size, 3], row 0 at the top, seamless where natural."""

from __future__ import annotations

import colorsys
import math
from itertools import pairwise

import numpy as np

from .errors import nearest

KINDS = (
    "wood",
    "planks",
    "marble",
    "concrete",
    "plaster",
    "tiles",
    "bricks",
    "checker",
    "stripes",
    "dots",
    "weave",
    "gradient",
    "noise",
    "terrazzo",
    "label",
)
"""What `make_pattern` can make. All but `gradient` and `label` repeat without a seam."""


def make_pattern(kind: str, rng: np.random.Generator, size: int = 512) -> np.ndarray:
    """Return a pattern [size, size, 3] uint8 sRGB. Raises ValueError for an unknown kind."""
    if kind not in KINDS:
        raise ValueError(f"no pattern '{kind}'; {nearest(kind, KINDS)}")
    pixels = globals()[f"_{kind}"](rng, size)
    return np.asarray(np.clip(pixels * 255 + 0.5, 0, 255), np.uint8)


def noise(rng: np.random.Generator, size: int, cells: int, *, octaves: int = 5, stretch: int = 1) -> np.ndarray:
    """Return seamless fractal noise [size, size] float32 around 0 with a spread of about 1.

    `cells` lattice cells of the first octave; `stretch` times as many along x as along y.
    """
    total, weight = np.zeros((size, size), np.float32), 0.0
    for octave in range(octaves):
        rows, columns = max(1, cells << octave), max(1, (cells * stretch) << octave)
        if octave and max(rows, columns) > size:
            break
        amplitude = 0.5**octave
        total += np.float32(amplitude) * _lattice(rng, size, rows, columns)
        weight += amplitude**2
    return total / np.float32(math.sqrt(weight) * 0.7)


def _lattice(rng: np.random.Generator, size: int, rows: int, columns: int) -> np.ndarray:
    """Return random values of a lattice, smoothly interpolated over [size, size] with wrapped borders."""
    import cv2

    values = rng.standard_normal((rows, columns)).astype(np.float32)
    pad = 2
    wrapped = np.pad(values, pad, mode="wrap")
    scale = (size / columns, size / rows)
    matrix = np.array([[scale[0], 0, (0.5 - pad) * scale[0] - 0.5], [0, scale[1], (0.5 - pad) * scale[1] - 0.5]])
    return np.asarray(
        cv2.warpAffine(wrapped, matrix, (size, size), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    )


def color(
    rng: np.random.Generator, *, saturation: tuple[float, float] = (0.1, 0.8), value: tuple[float, float] = (0.2, 0.95)
) -> np.ndarray:
    """Return an sRGB colour [3] of uniform hue, saturation and value."""
    hue, s, v = rng.random(), rng.uniform(*saturation), rng.uniform(*value)
    return np.array(colorsys.hsv_to_rgb(hue, s, v), np.float32)


def _two_colors(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two colours that differ in brightness."""
    first, second = color(rng), color(rng)
    if abs(float(first.mean() - second.mean())) < 0.2:
        second = second * 0.45 if second.mean() > 0.4 else 1 - (1 - second) * 0.45
    return first, second


def _mix(first: np.ndarray, second: np.ndarray, share: np.ndarray) -> np.ndarray:
    return np.asarray(first + (second - first) * np.clip(share, 0, 1)[..., None].astype(np.float32))


def _grid(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return x [1, size] and y [size, 1] from 0 to 1 at pixel centres."""
    steps = ((np.arange(size) + 0.5) / size).astype(np.float32)
    return steps[None], steps[:, None]


def _wood_color(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the light and the dark colour of a wood: from birch over oak to walnut."""
    woods = np.array(
        [[0.87, 0.74, 0.55], [0.76, 0.58, 0.38], [0.63, 0.43, 0.26], [0.42, 0.27, 0.17], [0.55, 0.33, 0.2]]
    )
    light = woods[rng.integers(len(woods))] * rng.uniform(0.9, 1.08)
    return light.astype(np.float32), (light * np.array([0.68, 0.6, 0.52]) * rng.uniform(0.9, 1.15)).astype(np.float32)


def _grain(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return rings of a lengthwise cut along x [size, size], 0..1, seamless."""
    _, y = _grid(size)
    rings = rng.integers(5, 11)
    bend = noise(rng, size, 1, octaves=3) * 0.07
    phase = np.mod((y + bend) * float(rings), 1)
    late = np.where(phase < 0.8, phase / 0.8, (1 - phase) / 0.2) ** 2.2
    # long, fine fibres: noise stretched along x
    fibre = noise(rng, size, max(size // 8, 2), octaves=2, stretch=1)
    streak = np.repeat(fibre[:, ::16].mean(axis=1, keepdims=True), size, axis=1) + 0.35 * _smear(fibre)
    return np.clip(0.55 * late + 0.16 * streak + 0.12, 0, 1)


def _smear(field: np.ndarray) -> np.ndarray:
    """Blur along x with wrapped borders; the spread grows to that of the field again."""
    import cv2

    wide = min(48, field.shape[1])
    padded = np.concatenate([field[:, -wide:], field, field[:, :wide]], axis=1)
    return np.asarray(cv2.blur(padded, (wide, 1)))[:, wide:-wide] * 4


def _wood(rng: np.random.Generator, size: int) -> np.ndarray:
    light, dark = _wood_color(rng)
    return _mix(light, dark, _grain(rng, size))


def _planks(rng: np.random.Generator, size: int) -> np.ndarray:
    rows = int(rng.integers(4, 8))
    light, dark = _wood_color(rng)
    grain = _grain(rng, size)
    share, gap = np.empty((size, size), np.float32), np.ones((size, size), np.float32)
    edges = np.linspace(0, size, rows + 1).round().astype(int)
    x, _ = _grid(size)
    for start, end in pairwise(edges):
        shift, joint = rng.integers(size, size=2), rng.random()
        share[start:end] = np.roll(grain, shift, axis=(0, 1))[: end - start] + rng.normal(0, 0.09)
        gap[start : start + max(1, size // 256)] = 0.35
        ends = np.abs(np.mod(x[0] - joint + 0.5, 1) - 0.5) < 1.0 / size
        share[start:end] += np.where(np.mod(x[0] - joint, 1) < 0.5, 0.0, rng.normal(0, 0.06))
        gap[start:end, ends] = 0.35
    return _mix(light, dark, share) * gap[..., None]


def _marble(rng: np.random.Generator, size: int) -> np.ndarray:
    base = (
        color(rng, saturation=(0.0, 0.2), value=(0.75, 0.97))
        if rng.random() < 0.7
        else color(rng, saturation=(0.1, 0.5), value=(0.1, 0.35))
    )
    vein = base * 0.45 if base.mean() > 0.5 else 1 - (1 - base) * 0.4
    ridges = sum(np.exp(-np.abs(noise(rng, size, cells)) * 9) * weight for cells, weight in ((2, 0.8), (4, 0.35)))
    cloud = noise(rng, size, 2) * 0.08
    return _mix(base, vein, np.asarray(ridges) + cloud)


def _concrete(rng: np.random.Generator, size: int) -> np.ndarray:
    base = color(rng, saturation=(0.0, 0.12), value=(0.4, 0.75))
    shade = 1 + 0.06 * noise(rng, size, 3) + 0.025 * rng.standard_normal((size, size)).astype(np.float32)
    pores = noise(rng, size, size // 8, octaves=1) > 2.6
    return np.asarray(base * (shade * np.where(pores, 0.7, 1))[..., None])


def _plaster(rng: np.random.Generator, size: int) -> np.ndarray:
    base = color(rng, saturation=(0.0, 0.3), value=(0.7, 0.95))
    return base * (1 + 0.012 * noise(rng, size, 4) + 0.012 * noise(rng, size, size // 8, octaves=2))[..., None]


def _tiles(rng: np.random.Generator, size: int) -> np.ndarray:
    count = int(rng.integers(2, 7))
    first, second = _two_colors(rng)
    x, y = _grid(size)
    column, row = np.floor(x * count).astype(int), np.floor(y * count).astype(int)
    shades = 1 + 0.05 * rng.standard_normal((count, count)).astype(np.float32)
    chess = rng.random() < 0.4
    tile = np.where((((row + column) % 2 == 0) & chess)[..., None], second, first) * shades[row, column][..., None]
    tile = tile * (1 + 0.02 * noise(rng, size, 4))[..., None]
    grout = color(rng, saturation=(0.0, 0.1), value=(0.3, 0.85))
    edge = np.minimum(np.abs(np.mod(x * count + 0.5, 1) - 0.5), np.abs(np.mod(y * count + 0.5, 1) - 0.5))
    return _mix(grout, tile, (edge - 0.012) * size / count / 1.5)


def _bricks(rng: np.random.Generator, size: int) -> np.ndarray:
    rows, columns = 2 * int(rng.integers(3, 6)), int(rng.integers(2, 5))
    base = np.array([0.62, 0.3, 0.22], np.float32) * rng.uniform(0.7, 1.2) if rng.random() < 0.6 else color(rng)
    x, y = _grid(size)
    row = np.floor(y * rows).astype(int)
    along = np.mod(x * columns + 0.5 * (row % 2), columns)
    column = np.floor(along).astype(int)
    shade = (
        1 + 0.12 * rng.standard_normal((rows, columns)).astype(np.float32)[row, column] + 0.07 * noise(rng, size, 16)
    )
    mortar = (
        color(rng, saturation=(0.0, 0.1), value=(0.5, 0.85)) * (1 + 0.04 * noise(rng, size, 32, octaves=2))[..., None]
    )
    edge = np.minimum(np.abs(np.mod(along + 0.5, 1) - 0.5) / columns, np.abs(np.mod(y * rows + 0.5, 1) - 0.5) / rows)
    return _mix(mortar, base * shade[..., None], (edge - 0.006) * size / 2)


def _checker(rng: np.random.Generator, size: int) -> np.ndarray:
    count = 2 * int(rng.integers(1, 7))
    x, y = _grid(size)
    first, second = _two_colors(rng)
    return _mix(first, second, (np.floor(x * count) + np.floor(y * count)) % 2)


def _stripes(rng: np.random.Generator, size: int) -> np.ndarray:
    x, y = _grid(size)
    across, up = int(rng.integers(1, 12)), int(rng.integers(-3, 4))
    first, second = _two_colors(rng)
    wave = np.mod(x * across + y * up, 1)
    return _mix(first, second, (np.abs(wave - 0.5) - rng.uniform(0.1, 0.4)) * size / across + 0.5)


def _dots(rng: np.random.Generator, size: int) -> np.ndarray:
    count = int(rng.integers(3, 12))
    x, y = _grid(size)
    first, second = _two_colors(rng)
    distance = np.hypot(np.mod(x * count, 1) - 0.5, np.mod(y * count, 1) - 0.5)
    return _mix(first, second, (rng.uniform(0.15, 0.4) - distance) * size / count + 0.5)


def _weave(rng: np.random.Generator, size: int) -> np.ndarray:
    count = 4 * int(rng.integers(6, 16))
    x, y = _grid(size)
    first, second = color(rng), color(rng)
    over = (np.floor(x * count) + np.floor(y * count)) % 2
    warp, weft = np.abs(np.sin(np.pi * count * x)), np.abs(np.sin(np.pi * count * y))
    thread = 0.55 + 0.45 * np.where(over == 0, warp + 0 * y, weft + 0 * x)
    fuzz = 1 + 0.08 * noise(rng, size, size // 8, octaves=2)
    return np.asarray(_mix(first, second, over) * (thread * fuzz)[..., None])


def _gradient(rng: np.random.Generator, size: int) -> np.ndarray:
    x, y = _grid(size)
    angle = 2 * math.pi * rng.random()
    along = (x - 0.5) * math.cos(angle) + (y - 0.5) * math.sin(angle)
    return _mix(color(rng), color(rng), along / 1.2 + 0.5)


def _noise(rng: np.random.Generator, size: int) -> np.ndarray:
    first, second = _two_colors(rng)
    mixed = _mix(first, second, 0.5 + 0.4 * noise(rng, size, int(rng.integers(2, 12))))
    return _mix(mixed, color(rng), noise(rng, size, 4) - 0.5)


def _terrazzo(rng: np.random.Generator, size: int) -> np.ndarray:
    pixels = np.broadcast_to(color(rng, saturation=(0.0, 0.25), value=(0.6, 0.95)), (size, size, 3)).astype(np.float32)
    for cells in (10, 18, 30):
        chips = noise(rng, size, cells, octaves=1)
        for low in (1.1, -5.0):
            mask = (chips > low) if low > 0 else (chips < -1.25)
            pixels = _mix(pixels, color(rng, saturation=(0.05, 0.6)), mask.astype(np.float32))
    return pixels


def _label(rng: np.random.Generator, size: int) -> np.ndarray:
    from .printing import label

    return label(rng, (size, size), title=None)


def sky(rng: np.random.Generator, rows: int = 128) -> np.ndarray:
    """Return a panorama [rows, 2 rows, 3] float32 of linear radiance: a sky with a soft sun, or a room with bright panels."""
    azimuth = ((np.arange(2 * rows) + 0.5) / rows * math.pi).astype(np.float32)[None]
    height = (math.pi / 2 - (np.arange(rows) + 0.5) / rows * math.pi).astype(np.float32)[:, None]
    outdoors = bool(rng.random() < 0.5)
    zenith = np.array([0.25, 0.45, 1.0]) if outdoors else rng.uniform(0.3, 0.6) * np.array([1.0, 0.97, 0.92])
    horizon = np.array([0.9, 0.95, 1.0]) if outdoors else zenith * rng.uniform(0.5, 0.9)
    ground = rng.uniform(0.08, 0.3) * np.array([1.0, 0.9, 0.78])
    blend = np.clip(np.sin(np.maximum(height, 0)), 0, 1)[..., None] ** 0.5
    pixels = np.where(height[..., None] > 0, horizon + (zenith - horizon) * blend, ground) + 0 * azimuth[..., None]
    for _ in range(1 if outdoors else int(rng.integers(2, 6))):
        center, up = 2 * math.pi * rng.random(), rng.uniform(0.15, 1.3)
        wide, high = (0.12, 0.12) if outdoors else rng.uniform(0.1, 0.5, 2)
        across = np.abs(np.mod(azimuth - center + math.pi, 2 * math.pi) - math.pi) * math.cos(up)
        edge = (
            np.maximum(across / wide, np.abs(height - up) / high)
            if not outdoors
            else np.hypot(across / wide, (height - up) / high)
        )
        lamp = rng.uniform(20, 60) if outdoors else rng.uniform(3, 12)
        tone = np.array([1.0, rng.uniform(0.8, 1.0), rng.uniform(0.6, 1.0)])
        pixels = pixels + (lamp * np.clip((1.15 - edge) / 0.3, 0, 1) ** 2)[..., None] * tone
    return np.ascontiguousarray(pixels, np.float32)
