"""What a mesh looks like from a camera: silhouettes, first hits and projected bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdg import transforms
from sdg.scene import Body, Camera


@dataclass(frozen=True)
class Silhouette:
    """The pixels of a body that nothing hides: `mask` [h, w] bool with its corner at pixel (column, row) `origin`.

    The mask may reach beyond the picture by one picture's width and height on each side.
    """

    mask: np.ndarray
    origin: tuple[int, int]

    def inside(self, camera: Camera) -> np.ndarray:
        """Return the part inside of the picture [height, width] bool."""
        picture = np.zeros((camera.height, camera.width), bool)
        x, y = self.origin
        rows, columns = self.mask.shape
        x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + columns, camera.width), min(y + rows, camera.height)
        if x0 < x1 and y0 < y1:
            picture[y0:y1, x0:x1] = self.mask[y0 - y : y1 - y, x0 - x : x1 - x]
        return picture

    def box(self) -> np.ndarray:
        """Return x0 y0 x1 y1 [px edges] of the mask, or -1 four times."""
        return mask_box(self.mask) + np.tile(self.origin, 2) if self.mask.any() else np.full(4, -1.0)


def mask_box(mask: np.ndarray) -> np.ndarray:
    """Return x0 y0 x1 y1 [px edges] around the true pixels of `mask` [h, w], or -1 four times."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return np.full(4, -1.0)
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], float)


def camera_vertices(body: Body, camera: Camera) -> np.ndarray:
    """Return the vertices [v, 3] of a body in camera axes [m]."""
    return transforms.apply(camera.world_to_camera @ body.mesh_to_world, body.mesh.vertices.astype(np.float64))


def lens(camera: Camera) -> np.ndarray:
    """Return fx, fy, cx, cy [px]."""
    return np.array([camera.fx, camera.fy, camera.cx, camera.cy], np.float64)


def silhouette(vertices: np.ndarray, triangles: np.ndarray, camera: Camera) -> Silhouette | None:
    """Cast one ray per pixel centre at a mesh alone; None where it lies outside of the enlarged picture.

    vertices [v, 3] in camera axes [m]. The enlarged picture is three times as wide and as high, as in BOP.
    """
    from . import _kernels

    found, span = _kernels.mesh_span(vertices, triangles, lens(camera), camera.near)
    if not found:
        return None
    low = np.floor(np.maximum(span[:2], [-camera.width, -camera.height])).astype(np.int64)
    high = np.ceil(np.minimum(span[2:], [2 * camera.width, 2 * camera.height])).astype(np.int64)
    if (low >= high).any():
        return None
    depth = np.full((high[1] - low[1], high[0] - low[0]), np.inf)
    hit = np.full(depth.shape, -1, np.int32)
    _kernels.cast(vertices, triangles, lens(camera), camera.near, low, depth, hit)
    return Silhouette(hit >= 0, (int(low[0]), int(low[1])))


def loose_box(vertices: np.ndarray, triangles: np.ndarray, camera: Camera) -> np.ndarray:
    """Return x0 y0 x1 y1 [px] of the projected geometry in front of the camera, clipped to the picture, or -1 four times."""
    from . import _kernels

    found, span = _kernels.mesh_span(vertices, triangles, lens(camera), camera.near)
    box = np.clip(span, 0, [camera.width, camera.height, camera.width, camera.height])
    return box if found and box[0] < box[2] and box[1] < box[3] else np.full(4, -1.0)


def first_hits(vertices: np.ndarray, triangles: np.ndarray, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """Return z [h, w] float64 [m] (inf: no hit) and triangle [h, w] int32 (-1: no hit) of the ray of each pixel centre."""
    from . import _kernels

    depth = np.full((camera.height, camera.width), np.inf)
    hit = np.full(depth.shape, -1, np.int32)
    _kernels.cast(vertices, triangles, lens(camera), camera.near, np.zeros(2, np.int64), depth, hit)
    return depth, hit
