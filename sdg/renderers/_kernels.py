"""From the triangle that each pixel's ray hits to depth, normal, base colour and opacity, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _wrapped(index: int, size: int, mode: int) -> int:
    if mode == 1:
        return min(max(index, 0), size - 1)
    if mode == 2:
        folded = index % (2 * size)
        return folded if folded < size else 2 * size - 1 - folded
    return index % size


@njit(cache=True, nogil=True)
def _texture(
    use: int,
    u0: float,
    v0: float,
    uses: np.ndarray,
    uv_maps: np.ndarray,
    texels: np.ndarray,
    curve: np.ndarray,
    out: np.ndarray,
) -> None:
    """Put the bilinear, linear value of a texture use at mesh uv into `out` [3]; `curve` [256]: sRGB to linear."""
    row = uv_maps[use]
    first, width, height, mode = int(uses[use, 0]), int(uses[use, 1]), int(uses[use, 2]), int(uses[use, 3])
    x = (row[0] * u0 + row[1] * v0 + row[2]) * width - 0.5
    y = (1 - (row[3] * u0 + row[4] * v0 + row[5])) * height - 0.5
    if not (abs(x) < 1e9 and abs(y) < 1e9):
        x = y = 0.0
    x0, y0 = int(np.floor(x)), int(np.floor(y))
    out[:] = 0.0
    for j in range(2):
        for i in range(2):
            weight = (x - x0 if i else 1 - (x - x0)) * (y - y0 if j else 1 - (y - y0))
            texel = int(texels[first + _wrapped(y0 + j, height, mode) * width + _wrapped(x0 + i, width, mode)])
            for channel in range(3):
                value = (texel >> (8 * channel)) & 255
                out[channel] += weight * (curve[value] if uses[use, 4] == 1 else value / 255.0)


@njit(cache=True, nogil=True)
def resolve(
    rays: np.ndarray,
    hit: np.ndarray,
    vertices: np.ndarray,
    normals: np.ndarray,
    uvs: np.ndarray,
    triangles: np.ndarray,
    material: np.ndarray,
    materials: np.ndarray,
    slots: np.ndarray,
    uses: np.ndarray,
    uv_maps: np.ndarray,
    texels: np.ndarray,
    curve: np.ndarray,
    depth: np.ndarray,
    normal: np.ndarray,
    albedo: np.ndarray,
    opacity: np.ndarray,
) -> None:
    """Intersect each ray [n, 3] (camera axes, z = 1) with its triangle `hit` [n] (-1: none) in double precision.

    vertices, normals: in camera axes. Fills depth [n] z [m], normal [n, 3] (unit, towards the camera), albedo [n, 3]
    linear base colour, opacity [n] after the threshold. Misses are left as they are.
    """
    e, w, color, n = np.zeros((3, 3)), np.zeros(3), np.zeros(3), np.zeros(3)
    for r in range(rays.shape[0]):
        t = hit[r]
        if t < 0:
            continue
        det = 0.0
        for k in range(3):
            p, q = vertices[triangles[t, (k + 1) % 3]], vertices[triangles[t, (k + 2) % 3]]
            e[k, 0] = p[1] * q[2] - p[2] * q[1]
            e[k, 1] = p[2] * q[0] - p[0] * q[2]
            e[k, 2] = p[0] * q[1] - p[1] * q[0]
            w[k] = rays[r, 0] * e[k, 0] + rays[r, 1] * e[k, 1] + rays[r, 2] * e[k, 2]
        a = vertices[triangles[t, 0]]
        det = a[0] * e[0, 0] + a[1] * e[0, 1] + a[2] * e[0, 2]
        total = w[0] + w[1] + w[2]
        if total == 0.0:
            continue
        depth[r] = det / total
        u = v = 0.0
        n[:] = 0.0
        for k in range(3):
            w[k] = min(max(w[k] / total, 0.0), 1.0)
            index = triangles[t, k]
            u += w[k] * uvs[index, 0]
            v += w[k] * uvs[index, 1]
            for axis in range(3):
                n[axis] += w[k] * normals[index, axis]
        length = np.sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
        facing = n[0] * rays[r, 0] + n[1] * rays[r, 1] + n[2] * rays[r, 2]
        scale = (-1.0 if facing > 0 else 1.0) / max(length, 1e-30)
        m = material[t]
        for axis in range(3):
            normal[r, axis] = n[axis] * scale
            albedo[r, axis] = materials[m, axis]
        if slots[m, 0] >= 0:
            _texture(slots[m, 0], u, v, uses, uv_maps, texels, curve, color)
            for axis in range(3):
                albedo[r, axis] = color[axis]
        alpha = materials[m, 6]
        if slots[m, 4] >= 0:
            _texture(slots[m, 4], u, v, uses, uv_maps, texels, curve, color)
            alpha = color[0]
        threshold = materials[m, 7]
        opacity[r] = (1.0 if alpha >= threshold else 0.0) if threshold > 0 else alpha
