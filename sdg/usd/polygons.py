"""Polygons with holes in their data: from faces of any size, concave ones too, to triangles and normals."""

from __future__ import annotations

import numpy as np

CREASE = np.radians(60.0)
"""Faces that meet at a larger angle [rad] do not share a smooth normal."""
_MANY = 64
"""At a vertex of more faces than this the crease is judged against the average normal, to bound the work."""


def corner_faces(counts: np.ndarray) -> np.ndarray:
    """Return the face of each corner [c] for faces of `counts` [f] corners."""
    return np.repeat(np.arange(len(counts)), counts)


def polygon_normals(points: np.ndarray, counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the normals [f, 3] of polygons, as long as twice their area (Newell), for the points [c] of their corners."""
    starts = np.cumsum(counts) - counts
    at = points[corners].astype(np.float64)
    origin = at[starts][corner_faces(counts)]
    follow = np.arange(len(corners)) + 1
    follow[starts + counts - 1] = starts
    cross = np.cross(at - origin, at[follow] - origin)
    return np.asarray(np.add.reduceat(cross, starts, axis=0)) if len(counts) else np.zeros((0, 3))


def triangulate(points: np.ndarray, counts: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return triangles [t, 3] as numbers of corners, and the face of each triangle [t], in the order of the faces."""
    starts = np.cumsum(counts) - counts
    normals = polygon_normals(points, counts, corners)
    triangles, faces = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(counts):
        chosen = np.flatnonzero(counts == size)
        ring = starts[chosen][:, None] + np.arange(size)
        fan = np.stack([np.broadcast_to(ring[:, :1], (len(ring), size - 2)), ring[:, 1:-1], ring[:, 2:]], axis=2)
        if size > 3:
            concave = np.flatnonzero(_is_concave(points[corners[ring]].astype(np.float64), normals[chosen]))
            for row in concave:
                face = ring[row]
                fan[row] = face[clip_ears(_flattened(points[corners[face]].astype(np.float64), normals[chosen[row]]))]
        triangles.append(fan.reshape(-1, 3))
        faces.append(np.repeat(chosen, size - 2))
    face_of = np.concatenate(faces)
    order = np.argsort(face_of, kind="stable")
    return np.concatenate(triangles)[order], face_of[order]


def _is_concave(rings: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return whether polygons [f, n, 3] turn the wrong way at a corner [f]."""
    ahead = np.roll(rings, -1, axis=1) - rings
    turn = np.einsum("fnc,fc->fn", np.cross(np.roll(ahead, 1, axis=1), ahead), normals)
    return np.asarray((turn < -1e-9 * np.sum(normals**2, axis=1, keepdims=True)).any(axis=1))


def _flattened(ring: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the points [n, 2] of a polygon [n, 3] seen against its normal: counter-clockwise."""
    axis = int(np.argmax(np.abs(normal)))
    kept = [(axis + 1) % 3, (axis + 2) % 3]
    flat = ring[:, kept]
    return np.asarray(flat if normal[axis] > 0 else flat * (1.0, -1.0))


def clip_ears(points: np.ndarray) -> np.ndarray:
    """Cut a simple counter-clockwise polygon [n, 2] into n - 2 triangles [n - 2, 3]; one that crosses itself, somehow."""
    left = list(range(len(points)))
    triangles = []
    while len(left) > 3:
        ring = points[left]
        before, after = np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0)
        turn = _cross(ring - before, after - ring)
        best = next((n for n in np.argsort(-turn, kind="stable") if turn[n] > 0 and _is_ear(ring, int(n))), None)
        ear = int(np.argmin(np.abs(turn))) if best is None else int(best)
        triangles.append((left[ear - 1], left[ear], left[(ear + 1) % len(left)]))
        del left[ear]
    return np.array([*triangles, tuple(left)])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _is_ear(ring: np.ndarray, ear: int) -> bool:
    """Return whether no other point of the ring lies in the triangle at its corner `ear`."""
    a, b, c = ring[ear - 1], ring[ear], ring[(ear + 1) % len(ring)]
    inside = (_cross(b - a, ring - a) >= 0) & (_cross(c - b, ring - b) >= 0) & (_cross(a - c, ring - c) >= 0)
    corners = (ring == a).all(axis=1) | (ring == b).all(axis=1) | (ring == c).all(axis=1)
    return not (inside & ~corners).any()


def creased_normals(points: np.ndarray, counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return a unit normal for each corner [c, 3]: area-weighted over the faces at its point within `CREASE` of its own."""
    weighted = polygon_normals(points, counts, corners)
    unit = weighted / np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-300)
    face = corner_faces(counts)
    smooth = np.stack([np.bincount(corners, weighted[face, axis], minlength=len(points)) for axis in range(3)], axis=1)
    smooth = smooth / np.maximum(np.linalg.norm(smooth, axis=1, keepdims=True), 1e-300)
    normals = smooth[corners]
    near = np.einsum("ij,ij->i", unit[face], normals)
    sharp = np.zeros(len(points), bool)
    sharp[corners[near < np.cos(CREASE / 2)]] = True
    many = np.bincount(corners, minlength=len(points)) > _MANY
    flat = sharp[corners] & many[corners] & (near < np.cos(CREASE))
    normals[flat] = unit[face[flat]]
    _average_near(normals, np.flatnonzero(sharp[corners] & ~many[corners]), corners, face, unit, weighted)
    return np.asarray(normals)


def _average_near(
    normals: np.ndarray,
    chosen: np.ndarray,
    corners: np.ndarray,
    face: np.ndarray,
    unit: np.ndarray,
    weighted: np.ndarray,
) -> None:
    """Set the normals of the corners `chosen`, all those of some points, to the average over near faces."""
    if not len(chosen):
        return
    chosen = chosen[np.argsort(corners[chosen], kind="stable")]
    _, first, degree = np.unique(corners[chosen], return_index=True, return_counts=True)
    own_degree = np.repeat(degree, degree)
    one = np.repeat(np.arange(len(chosen)), own_degree)
    step = np.arange(len(one)) - np.repeat(np.cumsum(own_degree) - own_degree, own_degree)
    other = np.repeat(np.repeat(first, degree), own_degree) + step
    face_one, face_other = face[chosen[one]], face[chosen[other]]
    near = np.einsum("ij,ij->i", unit[face_one], unit[face_other]) >= np.cos(CREASE) - 1e-6
    one, face_other = one[near], face_other[near]
    sums = np.stack([np.bincount(one, weighted[face_other, axis], minlength=len(chosen)) for axis in range(3)], axis=1)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    normals[chosen] = np.where(length > 1e-300, sums / np.maximum(length, 1e-300), normals[chosen])


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows [n, d] and the number of each row in them."""
    rows = np.ascontiguousarray(rows, np.float32) + np.float32(0)  # -0 becomes 0
    keys = rows.view(np.dtype((np.void, rows.shape[1] * 4))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], number.ravel()


def shared_corners(points: np.ndarray, ids: list[np.ndarray], triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge corners that agree in point and values.

    Returns triangles [t, 3] of new vertices and, for each vertex [v], a corner that has its data.
    """
    used = np.unique(triangles)
    key = points[used].astype(np.int64)
    for more in ids:
        _, key = np.unique(key, return_inverse=True)
        key = key.ravel() * (int(more.max()) + 1) + more[used]
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    lookup = np.zeros(len(points), np.int64)
    lookup[used] = number.ravel()
    return lookup[triangles], used[first]
