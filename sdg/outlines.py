"""Solids from outlines and point clouds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .mesh import Mesh, lathe, make_mesh
from .shapes import auto_smooth


def extruded(
    outline: Sequence[Sequence[float]] | np.ndarray, height: float, *, bevel: float = 0.0, angle: float = 0.6
) -> Mesh:
    """Return a simple polygon [n, 2] (counter-clockwise) made `height` [m] thick about z = 0, with bevelled rims.

    uvs are metres: x and y on the faces, length along the outline and z on the sides. Edges sharper than `angle` [rad]
    look sharp.
    """
    polygon = np.asarray(outline, float)
    count, top = len(polygon), height / 2
    inner = _inset(polygon, bevel)
    levels = (
        [(inner, -top), (polygon, -top + bevel), (polygon, top - bevel), (inner, top)]
        if bevel
        else [(polygon, -top), (polygon, top)]
    )
    closed = np.arange(count + 1) % count
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(polygon[closed], axis=0), axis=1))])
    side = np.concatenate([np.column_stack([ring[closed], np.full(count + 1, z)]) for ring, z in levels])
    side_uvs = np.concatenate([np.column_stack([along, np.full(count + 1, z)]) for _, z in levels])
    row, column = (grid.ravel() for grid in np.mgrid[: len(levels) - 1, :count])
    a = row * (count + 1) + column
    quads = np.stack([a, a + 1, a + count + 2, a + count + 1], axis=1)
    cap = triangulate(inner)
    rims = [np.column_stack([levels[end][0], np.full(count, levels[end][1])]) for end in (0, -1)]
    triangles = [quads[:, [0, 1, 2]], quads[:, [0, 2, 3]], cap[:, ::-1] + len(side), cap + len(side) + count]
    mesh = make_mesh(
        np.concatenate([side, *rims]),
        np.concatenate(triangles),
        uvs=np.concatenate([side_uvs, levels[0][0], levels[-1][0]]),
    )
    return auto_smooth(mesh, angle)


def _inset(polygon: np.ndarray, distance: float) -> np.ndarray:
    """Return the polygon with its corners moved inwards by `distance` [m] along their mean normal."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    inwards = np.stack([-edges[:, 1], edges[:, 0]], axis=1) / np.maximum(
        np.linalg.norm(edges, axis=1, keepdims=True), 1e-12
    )
    mean = inwards + np.roll(inwards, 1, axis=0)
    return np.asarray(polygon + distance * mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 0.3))


def triangulate(polygon: np.ndarray) -> np.ndarray:
    """Return triangles [n - 2, 3] of a simple counter-clockwise polygon [n, 2], by cutting off ears."""
    left = list(range(len(polygon)))
    triangles = []
    while len(left) > 3:
        at = next((i for i in range(len(left)) if _is_ear(polygon, left, i)), 0)
        triangles.append((left[at - 1], left[at], left[(at + 1) % len(left)]))
        del left[at]
    return np.array([*triangles, tuple(left)], np.int32)


def _is_ear(polygon: np.ndarray, left: list[int], at: int) -> bool:
    corners = polygon[[left[at - 1], left[at], left[(at + 1) % len(left)]]]
    if _turn(*corners) <= 1e-15:
        return False
    others = polygon[[index for index in left if index not in (left[at - 1], left[at], left[(at + 1) % len(left)])]]
    inside = np.ones(len(others), bool)
    for start, end in ((0, 1), (1, 2), (2, 0)):
        edge, to = corners[end] - corners[start], others - corners[start]
        inside &= edge[0] * to[:, 1] - edge[1] * to[:, 0] >= -1e-15
    return not inside.any()


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def hull_mesh(points: np.ndarray) -> Mesh:
    """Return the convex hull of points [n, 3] with outward triangles."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flipped = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0
    triangles = np.where(flipped[:, None], hull.simplices[:, ::-1], hull.simplices)
    return make_mesh(points, triangles)


def turned_piece(profile: Sequence[tuple[float, float]], *, segments: int = 20) -> Mesh:
    """Return the hull of a profile of (radius, z) points [m] turned about z."""
    return hull_mesh(lathe(profile, segments=segments).vertices.astype(np.float64))


def ring_pieces(profile: Sequence[tuple[float, float, float]], *, sectors: int = 10) -> tuple[Mesh, ...]:
    """Return convex wedges that fill a hollow turned body: `profile` rows are (z, outer radius, inner radius) [m]."""
    pieces = []
    angle = 2 * np.pi / sectors
    for low, high in pairwise(profile):
        for sector in range(sectors):
            turns = np.array([0, 0.5, 1]) * angle + sector * angle
            ring = np.stack([np.cos(turns), np.sin(turns)], axis=1)
            points = [np.column_stack([radius * ring, np.full(3, z)]) for z, *radii in (low, high) for radius in radii]
            pieces.append(hull_mesh(np.concatenate(points)))
    return tuple(pieces)
