"""Picture files of a stage, also those inside of .usdz packages, as arrays R, G, B, A."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdg.llvm import import_mitsuba

UDIM = "<UDIM>"
LFS = b"version https://git-lfs"
"""How a file starts that Git LFS has not replaced by its content."""


def read_picture(path: str, *, largest: int) -> np.ndarray:
    """Return the picture of a resolved asset path [h, w, 1..4], uint8, or float32 for high dynamic range.

    No side is longer than `largest` [px]. Raises ValueError or OSError.
    """
    pixels = decode(read_asset(path), path)
    height, width = pixels.shape[:2]
    if max(height, width) <= largest:
        return pixels
    shrink = largest / max(height, width)
    return resized(pixels, max(1, round(height * shrink)), max(1, round(width * shrink)))


def resized(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return a picture at another size [px], averaged over areas."""
    import cv2

    made = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(made).reshape(height, width, -1)


def read_asset(path: str) -> bytes:
    """Return the bytes of a resolved asset. Raises ValueError."""
    from pxr import Ar

    asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(path))
    if not asset or not asset.GetSize():
        raise ValueError(f"the file {path} is empty" if asset else f"there is no file {path}")
    return bytes(asset.GetBuffer())


def decode(data: bytes, path: str) -> np.ndarray:
    """Decode a picture file [h, w, 1..4] from its bytes; `path` tells its kind. Raises ValueError."""
    import cv2

    if data.startswith(LFS):
        raise ValueError(f"{path} is only a pointer of Git LFS; run `git lfs pull`")
    kind = path.lower().rstrip("]").rpartition(".")[2]
    if kind in ("exr", "tga"):
        return _decode_with_mitsuba(data, path, kind)
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError(f"the picture {path} cannot be decoded; png, jpg, tiff, webp, tga, hdr and exr can")
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    if pixels.shape[2] >= 3:
        pixels = pixels[..., [2, 1, 0, *range(3, pixels.shape[2])]]
    if pixels.dtype == np.uint16:
        pixels = ((pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)
    return np.ascontiguousarray(pixels if pixels.dtype == np.uint8 else pixels.astype(np.float32))


def _decode_with_mitsuba(data: bytes, path: str, kind: str) -> np.ndarray:
    """Decode what OpenCV cannot: .exr as float32, .tga as uint8."""
    try:
        mi = import_mitsuba()
    except ImportError:
        raise ValueError(f"{path}: reading .{kind} needs mitsuba; save the picture as .hdr or .png") from None
    if mi.variant() is None:
        mi.set_variant("scalar_rgb")
    stream = mi.MemoryStream(len(data))
    stream.write(data)
    stream.seek(0)
    try:
        picture = mi.Bitmap(stream, mi.Bitmap.FileFormat.OpenEXR if kind == "exr" else mi.Bitmap.FileFormat.TGA)
    except RuntimeError as error:
        raise ValueError(f"the picture {path} cannot be decoded: {error}") from None
    if kind == "exr":
        formats = mi.Bitmap.PixelFormat
        wanted = {1: formats.Y, 2: formats.YA}.get(
            picture.channel_count(), formats.RGBA if picture.has_alpha() else formats.RGB
        )
        picture = picture.convert(wanted, mi.Struct.Type.Float32, False)
    pixels = np.array(picture)
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    return pixels if kind == "tga" else np.asarray(np.nan_to_num(pixels, posinf=65504.0, neginf=0.0))


def read_tiles(pattern: str, *, largest: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Return the tiles of a path with `<UDIM>` in one picture, and the columns and rows of tiles in it. Raises ValueError."""
    tiles = {number: read_picture(path, largest=largest) for number, path in _tile_paths(pattern).items()}
    if not tiles:
        raise ValueError(f"there is no file {pattern} for any tile from 1001 to 1100")
    columns = 1 + max((number - 1001) % 10 for number in tiles)
    rows = 1 + max((number - 1001) // 10 for number in tiles)
    side = min(max(max(tile.shape[:2]) for tile in tiles.values()), max(1, largest // max(columns, rows)))
    channels = max(tile.shape[2] for tile in tiles.values())
    first = next(iter(tiles.values()))
    atlas = np.zeros((rows * side, columns * side, channels), first.dtype)
    for number, tile in tiles.items():
        row, column = rows - 1 - (number - 1001) // 10, (number - 1001) % 10
        place = atlas[row * side : (row + 1) * side, column * side : (column + 1) * side]
        place[:] = _with_channels(resized(tile, side, side), channels)
    return atlas, (columns, rows)


def _tile_paths(pattern: str) -> dict[int, str]:
    from pxr import Ar

    resolver: Any = Ar.GetResolver()
    found = {number: str(resolver.Resolve(pattern.replace(UDIM, str(number)))) for number in range(1001, 1101)}
    return {number: path for number, path in found.items() if path}


def _with_channels(pixels: np.ndarray, channels: int) -> np.ndarray:
    """Return a picture with more channels: grey is repeated, alpha is full."""
    full = 255 if pixels.dtype == np.uint8 else 1
    if pixels.shape[2] in (1, 2) and channels >= 3:
        pixels = np.concatenate([np.repeat(pixels[..., :1], 3, axis=2), pixels[..., 1:]], axis=2)
    missing = channels - pixels.shape[2]
    return np.pad(pixels, ((0, 0), (0, 0), (0, missing)), constant_values=full) if missing > 0 else pixels
