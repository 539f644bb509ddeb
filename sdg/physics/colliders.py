"""From meshes to the convex parts that collide."""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np

from sdg.errors import SceneError
from sdg.mesh import Mesh, face_normals
from sdg.scene import Body, RigidBody
from sdg.shapes import is_closed, simplified, split_pieces

THICKNESS = 0.05
"""How far [m] a flat body reaches behind its face, so that nothing falls through it."""
_ALMOST = 0.985
"""A hull that fills this share of its box collides as the box: boxes rest more quietly than general hulls."""
_SOLID = 0.87
"""A piece that fills this share of its hull needs no decomposition."""
_SMALL = 0.1
"""A piece smaller than this share of the whole body needs none either."""
_MAX_PRISMS = 600
"""A concave static piece with more triangles is made coarser."""


@dataclass(frozen=True, eq=False)
class Part:
    """A convex part in the unscaled frame of a mesh: a box or a sphere by its bounds [2, 3], or a hull by its points [n, 3]."""

    kind: Literal["hull", "box", "sphere"]
    points: np.ndarray
    volume: float


class Colliders:
    """Makes the parts of bodies and keeps those of the last `size` meshes, because the same meshes return in every sample."""

    def __init__(self, size: int = 512) -> None:
        self._size = size
        self._parts: OrderedDict[tuple[str, ...], list[Part]] = OrderedDict()

    def __call__(self, body: Body) -> list[Part]:
        """Return the parts of `body`, empty where it does not collide. Raises SceneError for a mesh without any extent."""
        rigid = body.rigid_body
        if rigid.collider == "none":
            return []
        flat = rigid.motion != "dynamic" and _normal_of_flat(body.mesh) is not None
        key = (body.mesh.digest, "flat" if flat else rigid.collider, *(piece.digest for piece in rigid.pieces))
        if key not in self._parts:
            self._parts[key] = self._make(body, flat=flat)
            while len(self._parts) > self._size:
                self._parts.popitem(last=False)
        self._parts.move_to_end(key)
        return self._parts[key]

    def _make(self, body: Body, *, flat: bool) -> list[Part]:
        if not np.isfinite(body.mesh.bounds).all():
            raise SceneError(f"body '{body.name}' cannot collide: its mesh holds vertices that are not numbers")
        if flat:
            return _flat_parts(body.mesh)
        parts = _parts_of(body.mesh, body.rigid_body, body.name)
        if not parts:
            raise SceneError(
                f"body '{body.name}' cannot collide: its mesh has no volume (its box is {np.ptp(body.mesh.bounds, axis=0)} m); "
                "repair the mesh or give the body no collider"
            )
        return parts


def _parts_of(mesh: Mesh, rigid: RigidBody, name: str) -> list[Part]:
    low, high = mesh.bounds
    if rigid.collider == "box":
        return [Part("box", mesh.bounds, float(np.prod(high - low)))] if (high > low).all() else []
    if rigid.collider == "sphere":
        return [Part("sphere", mesh.bounds, float(np.ptp(mesh.bounds, axis=0).mean() ** 3 * np.pi / 6))]
    if rigid.pieces and rigid.collider == "decomposition":
        return _hulls([piece.vertices for piece in rigid.pieces])
    if rigid.collider == "hull":
        return _hulls([mesh.vertices[np.unique(mesh.triangles)]])
    pieces = split_pieces(mesh)
    extent = max(float(np.ptp(mesh.bounds, axis=0).max()), 1e-12)
    parts = []
    for piece in pieces:
        parts += _piece_parts(
            piece, name, exact=rigid.collider == "mesh", small=np.ptp(piece.bounds, axis=0).max() < _SMALL * extent
        )
    return parts


def _piece_parts(piece: Mesh, name: str, *, exact: bool, small: bool) -> list[Part]:
    """Return one hull for a convex or small piece, else prisms behind its triangles (static meshes) or a decomposition."""
    hulls = _hulls([piece.vertices])
    volume = _signed_volume(piece)
    hollow = exact and volume < 0  # a room seen from inside
    if hulls and not hollow and (small or abs(volume) >= _SOLID * hulls[0].volume):
        return hulls
    if _normal_of_flat(piece) is not None:
        return _flat_parts(piece)
    if exact:
        return _prisms(simplified(piece, _MAX_PRISMS), THICKNESS / 10 if is_closed(piece) and not hollow else THICKNESS)
    return _hulls(decompose(piece, name))


def _signed_volume(mesh: Mesh) -> float:
    """Return the enclosed volume [m3], negative where the triangles face inwards."""
    a, b, c = (mesh.vertices[mesh.triangles[:, corner]].astype(np.float64) for corner in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def _hulls(clouds: list[np.ndarray]) -> list[Part]:
    """Return the hull of each cloud of points [n, 3] that has a volume."""
    from scipy.spatial import ConvexHull, QhullError

    parts = []
    for cloud in clouds:
        points = np.unique(np.asarray(cloud, np.float64), axis=0)
        low, high = points.min(axis=0), points.max(axis=0)
        if len(points) < 4 or np.ptp(points, axis=0).min() < 1e-6:
            continue
        try:
            hull = ConvexHull(points)
        except QhullError:
            continue
        box = float(np.prod(high - low))
        if hull.volume > _ALMOST * box:
            parts.append(Part("box", np.stack([low, high]), box))
        elif hull.volume > 1e-6 * box:
            parts.append(Part("hull", points[hull.vertices], float(hull.volume)))
    return parts


def _normal_of_flat(mesh: Mesh) -> np.ndarray | None:
    """Return the unit normal [3] of a mesh whose vertices all lie in one plane, else None."""
    faces = face_normals(mesh.vertices, mesh.triangles)
    total = faces[np.argmax(np.linalg.norm(faces, axis=1))]
    length = np.linalg.norm(total)
    if length < 1e-12:
        return None
    points = mesh.vertices[np.unique(mesh.triangles)].astype(np.float64)
    heights = points @ (total / length)
    return total / length if np.ptp(heights) <= 1e-5 * np.ptp(points, axis=0).max() else None


def _flat_parts(mesh: Mesh) -> list[Part]:
    """Return a plate behind a flat mesh: one hull where it is convex, else one prism for each triangle."""
    normal = _normal_of_flat(mesh)
    assert normal is not None
    points = mesh.vertices[np.unique(mesh.triangles)].astype(np.float64)
    plate = _hulls([np.concatenate([points, points - normal * THICKNESS])])
    area = np.linalg.norm(face_normals(mesh.vertices, mesh.triangles), axis=1).sum() / 2
    if plate and area * THICKNESS >= _SOLID * plate[0].volume:
        return plate
    return _prisms(mesh, THICKNESS)


def _prisms(mesh: Mesh, thickness: float) -> list[Part]:
    """Return a prism of `thickness` [m] behind each triangle."""
    normals = face_normals(mesh.vertices, mesh.triangles)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    good = length[:, 0] > 1e-12
    corners = mesh.vertices[mesh.triangles].astype(np.float64)[good]
    behind = corners - (normals[good] / length[good])[:, None] * thickness
    return _hulls(list(np.concatenate([corners, behind], axis=1)))


def decompose(mesh: Mesh, name: str, *, threshold: float = 0.05, max_hulls: int = 16) -> list[np.ndarray]:
    """Split a concave mesh into the points of convex hulls (CoACD, Wei 2022), kept in the user's cache by content.

    Raises ImportError where the package is missing.
    """
    key = blake2b(f"{mesh.digest} {threshold} {max_hulls} 3".encode(), digest_size=12).hexdigest()
    file = _cache_folder() / f"{key}.npz"
    try:
        with np.load(file) as stored:
            return [stored[key] for key in sorted(stored.files)]
    except (OSError, ValueError, EOFError):
        pass
    hulls = _run_coacd(mesh, name, threshold, max_hulls)
    _store(file, {f"{number:04d}": hull for number, hull in enumerate(hulls)})
    return hulls


def _run_coacd(mesh: Mesh, name: str, threshold: float, max_hulls: int) -> list[np.ndarray]:
    try:
        import coacd
    except ImportError:
        raise ImportError(
            f"body '{name}' is concave and its collider is a decomposition, which needs the extra `colliders`: "
            "pip install 'sdg-pipeline[colliders]'; or give the body the collider `hull`"
        ) from None
    coacd.set_log_level("error")
    welded, triangles = np.unique(mesh.vertices, axis=0, return_inverse=True)
    found = coacd.run_coacd(
        coacd.Mesh(welded.astype(np.float64), triangles.ravel()[mesh.triangles]),
        threshold=threshold,
        max_convex_hull=max_hulls,
        preprocess_mode="off" if is_closed(mesh) else "auto",  # remeshing is slow and inflates
        preprocess_resolution=50,
        mcts_iterations=60,
        mcts_nodes=12,
        max_ch_vertex=32,
        decimate=True,
        seed=0,
    )
    # Nothing may reach beyond the mesh itself.
    return [np.clip(np.asarray(points, np.float64), *mesh.bounds) for points, _ in found]


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "sdg" / "hulls"


def _store(file: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write a cache file in one step; a cache that cannot be written is no fault."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".tmp", delete=False) as temporary:
            np.savez(temporary, **arrays)  # type: ignore[arg-type]
        os.replace(temporary.name, file)
    except OSError:
        return
