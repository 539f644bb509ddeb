"""The contact sheet: pictures of many samples at a glance, and the labels of one of them below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .annotations import UNLABELLED

WIDTH = 1440
"""Width of a sheet [px]."""
GAP = 6
PAPER = (24, 24, 27)
INK = (236, 236, 240)


@dataclass
class Tile:
    """What the sheet shows of one camera in one sample: arrays as `sdg.annotations` says; None: not made.

    boxes [n, 4] are the tight boxes, in pixel edges; -1: not visible. class_id [n].
    """

    rgb: np.ndarray
    depth: np.ndarray | None = None
    instance: np.ndarray | None = None
    normals: np.ndarray | None = None
    boxes: np.ndarray | None = None
    class_id: np.ndarray | None = None
    classes: Sequence[str] = field(default_factory=tuple)


def draw(tiles: Sequence[Tile]) -> np.ndarray:
    """Return the sheet [h, w, 3] uint8 sRGB of at least one tile."""
    columns = _columns(len(tiles))
    rows = [_row([tile.rgb for tile in tiles[i : i + columns]], columns) for i in range(0, len(tiles), columns)]
    labels = label_pictures(max(tiles, key=_interest))
    if labels:
        rows.append(_row(list(labels.values()), len(labels), captions=list(labels)))
    gap = np.full((GAP, WIDTH, 3), PAPER, np.uint8)
    return np.concatenate([gap, *(part for row in rows for part in (row, gap))])


def encode(sheet: np.ndarray, suffix: str) -> bytes:
    """Return a picture as a file; `suffix`: .jpg or .png."""
    import cv2

    done, data = cv2.imencode(suffix, sheet[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 80] if suffix == ".jpg" else [])
    if not done:
        raise ValueError(f"cannot encode a picture as {suffix}")
    return bytes(data)


def label_pictures(tile: Tile) -> dict[str, np.ndarray]:
    """Return a picture [h, w, 3] uint8 for each kind of label that the tile has, by caption."""
    found = {}
    if tile.depth is not None:
        found["depth"] = depth_picture(tile.depth)
    if tile.instance is not None:
        found["instances"] = instance_picture(tile.instance, tile.rgb)
    if tile.normals is not None:
        hit = np.any(tile.normals != 0, axis=-1, keepdims=True)
        facing = tile.normals * (1, -1, -1)  # towards the camera is blue, up is green, as normal maps are shown
        found["normals"] = np.where(hit, (facing * 0.5 + 0.5) * 255, 0).astype(np.uint8)
    if tile.boxes is not None and tile.class_id is not None:
        found["boxes"] = box_picture(tile.rgb, tile.boxes, tile.class_id, tile.classes)
    return found


def depth_picture(depth: np.ndarray) -> np.ndarray:
    """Return depth [h, w] in false colours, near is bright; pixels without a hit are black."""
    import cv2

    hit = depth > 0
    if not hit.any():
        return np.zeros((*depth.shape, 3), np.uint8)
    near, far = np.percentile(depth[hit], (1, 99))
    nearness = (1 / np.clip(depth, near, far) - 1 / far) / max(1 / near - 1 / far, 1e-9)
    colors = cv2.applyColorMap(np.rint(nearness * 235 + 20).astype(np.uint8), cv2.COLORMAP_INFERNO)[..., ::-1]
    return np.where(hit[..., None], colors, 0).astype(np.uint8)


def instance_picture(instance: np.ndarray, rgb: np.ndarray) -> np.ndarray:
    """Return the labelled objects in one colour each, over a faint grey picture."""
    grey = np.repeat(rgb.mean(axis=-1, keepdims=True) * 0.35, 3, axis=-1)
    labelled = instance > UNLABELLED
    colors = np.stack([instance_color(number) for number in range(int(instance.max()) + 1)])[instance]
    shaded = colors * (0.72 + 0.28 * rgb.mean(axis=-1, keepdims=True) / 255)
    return np.where(labelled[..., None], shaded, grey).astype(np.uint8)


def instance_color(number: int) -> np.ndarray:
    """Return a colour [3] in 0..255; numbers that follow each other differ most."""
    hue = (number * 0.61803398875) % 1.0 * 6
    ramp = np.clip(np.abs((hue + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1, 0, 1)
    return np.asarray(255 * (0.26 + 0.68 * ramp))


def box_picture(rgb: np.ndarray, boxes: np.ndarray, class_id: np.ndarray, classes: Sequence[str]) -> np.ndarray:
    """Return the picture with the boxes [n, 4] drawn, one colour for each class."""
    import cv2

    canvas = (rgb * 0.85).astype(np.uint8)
    thick = max(1, rgb.shape[1] // 320)
    for box, number in zip(boxes, class_id, strict=True):
        if box[2] <= box[0]:
            continue
        color = instance_color(int(number)).tolist()
        low, high = np.rint(box[:2]).astype(int), np.rint(box[2:]).astype(int) - 1
        cv2.rectangle(canvas, low.tolist(), high.tolist(), color, thick)
        name = classes[number - UNLABELLED - 1] if UNLABELLED < number <= UNLABELLED + len(classes) else ""
        place = (int(low[0]) + 2, int(low[1]) + (-3 if low[1] > 40 * thick else 11 * thick))
        cv2.putText(canvas, name, place, cv2.FONT_HERSHEY_SIMPLEX, 0.36 * thick, color, thick, cv2.LINE_AA)
    return canvas


def _interest(tile: Tile) -> int:
    return 0 if tile.instance is None else int((np.unique(tile.instance) > UNLABELLED).sum())


def _columns(count: int) -> int:
    """Return how many pictures stand side by side: six for a full sheet, fewer for a few."""
    return next((columns for most, columns in ((1, 1), (4, 2), (9, 3), (16, 4)) if count <= most), 6)


def _row(pictures: Sequence[np.ndarray], columns: int, *, captions: Sequence[str] = ()) -> np.ndarray:
    """Return pictures side by side over the whole width; places that are left over stay empty."""
    width = (WIDTH - GAP * (columns + 1)) // columns
    height = max(round(width * picture.shape[0] / picture.shape[1]) for picture in pictures)
    row = np.full((height, WIDTH, 3), PAPER, np.uint8)
    left = (WIDTH - columns * width - (columns - 1) * GAP) // 2
    for number, picture in enumerate(pictures):
        resized = _resized(picture, width)
        if captions:
            _caption(resized, captions[number])
        at = left + number * (width + GAP)
        row[: resized.shape[0], at : at + width] = resized
    return row


def _resized(picture: np.ndarray, width: int) -> np.ndarray:
    import cv2

    height = round(width * picture.shape[0] / picture.shape[1])
    smaller = width < picture.shape[1]
    way = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return np.ascontiguousarray(cv2.resize(picture, (width, height), interpolation=way))


def _caption(picture: np.ndarray, text: str) -> None:
    import cv2

    font, scale = cv2.FONT_HERSHEY_SIMPLEX, 0.45
    (width, height), _ = cv2.getTextSize(text, font, scale, 1)
    cv2.rectangle(picture, (0, 0), (width + 14, height + 14), PAPER, -1)
    cv2.putText(picture, text, (7, height + 6), font, scale, INK, 1, cv2.LINE_AA)
