"""Ray casting of triangles through pixel centres, compiled; imported only where it is called."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _pixel_span(corners: np.ndarray, lens: np.ndarray, near: float, out: np.ndarray) -> bool:
    """Put the pixel-edge bounds x0 y0 x1 y1 of a triangle's part beyond `near` into `out`; False: nothing is beyond."""
    found = False
    for i in range(3):
        j = (i + 1) % 3
        za, zb = corners[i, 2], corners[j, 2]
        for step in range(2):
            if step == 0:
                if za < near:
                    continue
                x, y, z = corners[i, 0], corners[i, 1], za
            else:
                if (za < near) == (zb < near):
                    continue
                s = (near - za) / (zb - za)
                x = corners[i, 0] + s * (corners[j, 0] - corners[i, 0])
                y = corners[i, 1] + s * (corners[j, 1] - corners[i, 1])
                z = near
            u, v = lens[0] * x / z + lens[2], lens[1] * y / z + lens[3]
            if not found:
                out[0], out[1], out[2], out[3] = u, v, u, v
                found = True
            else:
                out[0], out[1] = min(out[0], u), min(out[1], v)
                out[2], out[3] = max(out[2], u), max(out[3], v)
    return found


@njit(cache=True, nogil=True)
def mesh_span(vertices: np.ndarray, triangles: np.ndarray, lens: np.ndarray, near: float) -> tuple[bool, np.ndarray]:
    """Return whether anything lies beyond `near`, and its pixel-edge bounds x0 y0 x1 y1.

    vertices [v, 3] in camera axes [m]; lens: fx, fy, cx, cy [px].
    """
    span, one, corners = np.zeros(4), np.zeros(4), np.zeros((3, 3))
    found = False
    for t in range(triangles.shape[0]):
        for k in range(3):
            for axis in range(3):
                corners[k, axis] = vertices[triangles[t, k], axis]
        if not _pixel_span(corners, lens, near, one):
            continue
        if not found:
            span[:] = one
            found = True
        else:
            span[0], span[1] = min(span[0], one[0]), min(span[1], one[1])
            span[2], span[3] = max(span[2], one[2]), max(span[3], one[3])
    return found, span


@njit(cache=True, nogil=True)
def cast(
    vertices: np.ndarray,
    triangles: np.ndarray,
    lens: np.ndarray,
    near: float,
    origin: np.ndarray,
    depth: np.ndarray,
    hit: np.ndarray,
) -> None:
    """Cast the ray of each pixel centre and keep the nearest triangle.

    vertices [v, 3] in camera axes [m]; lens: fx, fy, cx, cy [px]; origin: pixel column and row of the arrays' corner.
    depth [h, w] float64 holds z of the nearest hit so far [m] (inf: none) and hit [h, w] int32 its triangle; both are
    updated. A ray d hits a triangle a b c where d.(b x c), d.(c x a) and d.(a x b) all have the sign of a.(b x c).
    """
    corners, span, e = np.zeros((3, 3)), np.zeros(4), np.zeros((3, 3))
    rows, columns = depth.shape
    for t in range(triangles.shape[0]):
        for k in range(3):
            for axis in range(3):
                corners[k, axis] = vertices[triangles[t, k], axis]
        if not _pixel_span(corners, lens, near, span):
            continue
        x0 = max(int(np.ceil(max(span[0] - 0.5 - 1e-6, -1e9))), origin[0])
        y0 = max(int(np.ceil(max(span[1] - 0.5 - 1e-6, -1e9))), origin[1])
        x1 = min(int(np.floor(min(span[2] - 0.5 + 1e-6, 1e9))), origin[0] + columns - 1)
        y1 = min(int(np.floor(min(span[3] - 0.5 + 1e-6, 1e9))), origin[1] + rows - 1)
        if x0 > x1 or y0 > y1:
            continue
        for k in range(3):
            p, q = corners[(k + 1) % 3], corners[(k + 2) % 3]
            e[k, 0] = p[1] * q[2] - p[2] * q[1]
            e[k, 1] = p[2] * q[0] - p[0] * q[2]
            e[k, 2] = p[0] * q[1] - p[1] * q[0]
        det = corners[0, 0] * e[0, 0] + corners[0, 1] * e[0, 1] + corners[0, 2] * e[0, 2]
        if det == 0.0:
            continue
        sign = 1.0 if det > 0 else -1.0
        det *= sign
        for y in range(y0, y1 + 1):
            dy = (y + 0.5 - lens[3]) / lens[1]
            for x in range(x0, x1 + 1):
                dx = (x + 0.5 - lens[2]) / lens[0]
                a = sign * (dx * e[0, 0] + dy * e[0, 1] + e[0, 2])
                b = sign * (dx * e[1, 0] + dy * e[1, 1] + e[1, 2])
                c = sign * (dx * e[2, 0] + dy * e[2, 1] + e[2, 2])
                if a >= 0 and b >= 0 and c >= 0 and a + b + c > 0:
                    z = det / (a + b + c)
                    if z >= near and z < depth[y - origin[1], x - origin[0]]:
                        depth[y - origin[1], x - origin[0]] = z
                        hit[y - origin[1], x - origin[0]] = t
