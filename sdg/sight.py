"""What can be seen from a place, and how near it is to surfaces."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .scene import Body, Camera, Scene


def first_obstacle(scene: Scene, start: np.ndarray, end: np.ndarray, *, only_unlabelled: bool = False) -> float:
    """Return how far [m] from `start` the line to `end` first meets a surface; inf where nothing is in between."""
    return Sight(scene, only_unlabelled=only_unlabelled).first_obstacle(start, end)


class Sight:
    """The surfaces of a scene as they are now, in the world."""

    def __init__(self, scene: Scene, *, only_unlabelled: bool = False) -> None:
        bodies = [body for body in scene.visible_bodies() if len(body.mesh.triangles)]
        self._bodies = [body for body in bodies if not (only_unlabelled and body.labelled)]
        self._corners = [_corners(body) for body in self._bodies]
        self._boxes = [np.stack([c.min(axis=(0, 1)), c.max(axis=(0, 1))]) for c in self._corners]

    def first_obstacle(self, start: np.ndarray, end: np.ndarray, *, ignore: Collection[str] = ()) -> float:
        """Return how far [m] from `start` the line to `end` first meets a surface; inf where nothing is in between."""
        length = float(np.linalg.norm(end - start))
        nearest = np.inf
        for body, corners, box in zip(self._bodies, self._corners, self._boxes, strict=True):
            if body.name not in ignore and _segment_meets_box(start, end, box):
                nearest = min(nearest, _first_hit(corners, start, (end - start) / length))
        return nearest if nearest <= length else np.inf

    def clearance(self, point: np.ndarray, limit: float, *, target: np.ndarray) -> float:
        """Return the distance [m] from `point` to the nearest surface, at most `limit`; 0 inside of a body.

        A body that also encloses `target` is a room, not an obstacle: one may be inside of it.
        """
        nearest = limit
        for corners, box in zip(self._corners, self._boxes, strict=True):
            if (point < box[0] - limit).any() or (point > box[1] + limit).any():
                continue
            inside = (point > box[0]).all() and (point < box[1]).all()
            if inside and abs(_winding(corners, point)) > 0.5 and abs(_winding(corners, target)) < 0.5:
                return 0.0
            nearest = min(nearest, _distance(corners, point))
        return nearest

    def visible_pixels(self, camera: Camera, names: Collection[str], *, columns: int = 64) -> int:
        """Estimate how many pixels of `camera` show the bodies `names`, from a picture `columns` pixels wide."""
        from .labels.geometry import camera_vertices, first_hits

        factor = min(1.0, columns / camera.width)
        small = replace(
            camera,
            width=max(1, round(camera.width * factor)),
            height=max(1, round(camera.height * factor)),
            **{name: getattr(camera, name) * factor for name in ("fx", "fy", "cx", "cy")},
        )
        depth = np.full((small.height, small.width), np.inf)
        wanted = np.zeros(depth.shape, bool)
        for body in self._bodies:
            z, _ = first_hits(camera_vertices(body, small), body.mesh.triangles, small)
            wanted = np.where(z < depth, body.name in names, wanted)
            depth = np.minimum(depth, z)
        return round(float(wanted.sum()) / factor**2)


def _corners(body: Body) -> np.ndarray:
    """Return the corners [t, 3, 3] of the triangles in the world."""
    return np.asarray(body.world_vertices()[body.mesh.triangles])


def _segment_meets_box(start: np.ndarray, end: np.ndarray, box: np.ndarray) -> bool:
    way = np.where(np.abs(end - start) < 1e-12, 1e-12, end - start)
    first, second = (box[0] - 1e-9 - start) / way, (box[1] + 1e-9 - start) / way
    enter, leave = np.minimum(first, second).max(), np.maximum(first, second).min()
    return bool(enter <= min(leave, 1.0) and leave >= 0)


def _first_hit(corners: np.ndarray, start: np.ndarray, direction: np.ndarray) -> float:
    """Return the distance to the first triangle along a unit direction (Moeller and Trumbore 1997); inf: none."""
    edge1, edge2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    p = np.cross(direction, edge2)
    determinant = np.einsum("ij,ij->i", edge1, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        to_start = start - corners[:, 0]
        u = np.einsum("ij,ij->i", to_start, p) / determinant
        q = np.cross(to_start, edge1)
        v = q @ direction / determinant
        distance = np.einsum("ij,ij->i", edge2, q) / determinant
        hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 1e-9) & (np.abs(determinant) > 1e-20)
    return float(distance[hit].min(initial=np.inf))


def _winding(corners: np.ndarray, point: np.ndarray) -> float:
    """Return how often a surface winds about a point (van Oosterom and Strackee 1983): about 1 inside, 0 outside."""
    a, b, c = (corners[:, i] - point for i in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    dots = (np.einsum("ij,ij->i", x, y) * n for x, y, n in ((a, b, lc), (b, c, la), (c, a, lb)))
    return float(np.arctan2(volume, la * lb * lc + sum(dots)).sum() / (2 * np.pi))


def _distance(corners: np.ndarray, point: np.ndarray) -> float:
    """Return the distance [m] from a point to the nearest of triangles [t, 3, 3]."""
    nearest = np.inf
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inside = np.ones(len(corners), bool)
    for i in range(3):
        start, edge = corners[:, i], corners[:, (i + 1) % 3] - corners[:, i]
        along = np.einsum("ij,ij->i", point - start, edge) / np.maximum(np.einsum("ij,ij->i", edge, edge), 1e-30)
        closest = start + np.clip(along, 0, 1)[:, None] * edge
        nearest = min(nearest, float(np.linalg.norm(point - closest, axis=1).min()))
        inside &= np.einsum("ij,ij->i", np.cross(edge, point - start), normal) >= 0
    length = np.linalg.norm(normal, axis=1)
    inside &= length > 1e-20
    height = np.abs(np.einsum("ij,ij->i", point - corners[:, 0], normal)) / np.maximum(length, 1e-30)
    return min(nearest, float(height[inside].min(initial=np.inf)))
