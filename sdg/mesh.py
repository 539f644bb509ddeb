"""Triangle meshes and the shapes that are made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangulated surface in its own frame [m]; never changed, so that bodies and samples can share it.

    vertices [v, 3] float32, triangles [t, 3] int32 (counter-clockwise seen from outside), normals [v, 3] float32 (unit,
    shading), uvs [v, 2] float32 or None, material_indices [t] int32: index into `Body.materials`. Data that differ
    between the corners of a vertex are expressed by repeating the vertex.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray
    uvs: np.ndarray | None = None
    material_indices: np.ndarray | None = None

    @cached_property
    def bounds(self) -> np.ndarray:
        """Lowest and highest corner [2, 3] of the axis-aligned box of all vertices that a triangle uses."""
        used = self.vertices[np.unique(self.triangles)]
        return np.stack([used.min(axis=0), used.max(axis=0)]).astype(np.float64)

    @cached_property
    def digest(self) -> str:
        """A hash of everything in the mesh."""
        state = blake2b(digest_size=16)
        for array in (self.vertices, self.triangles, self.normals, self.uvs, self.material_indices):
            state.update(
                b"-"
                if array is None
                else f"{array.dtype.str}{array.shape}".encode() + np.ascontiguousarray(array).tobytes()
            )
        return state.hexdigest()

    @cached_property
    def area(self) -> float:
        """Area [m2] of all triangles."""
        return float(np.linalg.norm(face_normals(self.vertices, self.triangles), axis=1).sum() / 2)

    @cached_property
    def volume(self) -> float:
        """Enclosed volume [m3] by the divergence theorem; meaningful for closed surfaces."""
        a, b, c = (self.vertices[self.triangles[:, corner]].astype(np.float64) for corner in range(3))
        return float(abs(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6)


def make_mesh(
    vertices: np.ndarray,
    triangles: np.ndarray,
    *,
    normals: np.ndarray | None = None,
    uvs: np.ndarray | None = None,
    material_indices: np.ndarray | None = None,
) -> Mesh:
    """Make a mesh: convert dtypes and, where normals are missing, zero or not finite, compute smooth ones."""
    vertices = np.ascontiguousarray(vertices, np.float32)
    triangles = np.ascontiguousarray(triangles, np.int32)
    smooth = vertex_normals(vertices, triangles)
    if normals is not None:
        normals = np.asarray(normals, np.float32)
        with np.errstate(invalid="ignore"):
            length = np.linalg.norm(normals, axis=1, keepdims=True)
            good = np.isfinite(length) & (length > 1e-12)
            smooth = np.where(good, normals / np.where(good, length, 1), smooth).astype(np.float32)
    return Mesh(
        vertices,
        triangles,
        smooth,
        None if uvs is None else np.ascontiguousarray(uvs, np.float32),
        None if material_indices is None else np.ascontiguousarray(material_indices, np.int32),
    )


def face_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the normals [t, 3] of the triangles, as long as twice their area [m2]."""
    a, b, c = (vertices[triangles[:, corner]].astype(np.float64) for corner in range(3))
    return np.asarray(np.cross(b - a, c - a))


def vertex_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return area-weighted unit normals [v, 3]; +z for vertices without any area around them."""
    faces = face_normals(vertices, triangles)
    sums = np.zeros((len(vertices), 3))
    for corner in range(3):
        for axis in range(3):
            sums[:, axis] += np.bincount(triangles[:, corner], faces[:, axis], minlength=len(vertices))
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(length > 1e-300, sums / np.maximum(length, 1e-300), (0.0, 0.0, 1.0)).astype(np.float32)


def split_corners(mesh: Mesh) -> Mesh:
    """Give every triangle its own three vertices and its face normal: flat shading."""
    corners = mesh.triangles.ravel()
    faces = face_normals(mesh.vertices, mesh.triangles)
    return make_mesh(
        mesh.vertices[corners],
        np.arange(len(corners)).reshape(-1, 3),
        normals=np.repeat(faces, 3, axis=0),
        uvs=None if mesh.uvs is None else mesh.uvs[corners],
        material_indices=mesh.material_indices,
    )


def box(size: Sequence[float]) -> Mesh:
    """Return a box [m] around the origin; each face spans uv 0..1."""
    half = np.asarray(size, float) / 2
    vertices, uvs, normals = [], [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner, normal = np.zeros(3), np.zeros(3)
                corner[axis], corner[u], corner[v], normal[axis] = sign, s * sign, t, sign
                vertices.append(corner * half)
                normals.append(normal)
                uvs.append(((s + 1) / 2, (t + 1) / 2))
    first = 4 * np.arange(6)[:, None]
    triangles = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])], axis=1).reshape(-1, 3)
    return make_mesh(np.array(vertices), triangles, normals=np.array(normals), uvs=np.array(uvs))


def plane(size_x: float, size_y: float) -> Mesh:
    """Return a rectangle [m] in the xy plane that faces +z; uv 0..1."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    vertices = corners * (size_x / 2, size_y / 2, 0)
    return make_mesh(vertices, np.array([[0, 1, 2], [0, 2, 3]]), uvs=corners[:, :2] / 2 + 0.5)


def lathe(profile: Sequence[tuple[float, float]] | np.ndarray, *, segments: int = 48, smooth: bool = True) -> Mesh:
    """Return the surface that a profile of (radius, z) points [m] sweeps about the z axis.

    A profile that runs upwards on the outside gives outward normals. u runs round the axis, v along the profile.
    """
    points = np.asarray(profile, float)
    angle = np.linspace(0, 2 * math.pi, segments + 1)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rows = len(points)
    vertices = np.empty((rows, segments + 1, 3))
    vertices[..., :2] = points[:, None, :1] * ring[None]
    vertices[..., 2] = points[:, None, 1]
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    uvs = np.stack(np.broadcast_arrays(angle[None] / (2 * math.pi), (along / max(along[-1], 1e-12))[:, None]), axis=-1)
    row, column = (grid.ravel() for grid in np.mgrid[: rows - 1, :segments])
    a = row * (segments + 1) + column
    b, c, d = a + 1, a + segments + 2, a + segments + 1
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    flat = vertices.reshape(-1, 3)
    triangles = triangles[np.linalg.norm(face_normals(flat, triangles), axis=1) > 1e-14]
    normals = _welded_normals(flat, triangles)
    mesh = make_mesh(flat, triangles, normals=normals, uvs=uvs.reshape(-1, 2))
    return mesh if smooth else split_corners(mesh)


def _welded_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return smooth normals that agree on both sides of the uv seam and at the poles."""
    _, same = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    same = same.ravel()
    merged = np.zeros((same.max() + 1, 3))
    merged[same] = vertices
    return vertex_normals(merged, same[triangles])[same]


def sphere(radius: float, *, segments: int = 48) -> Mesh:
    """Return a sphere [m] around the origin with exact normals, as a grid of `segments` x `segments // 2` facets."""
    angle = np.linspace(-math.pi / 2, math.pi / 2, segments // 2 + 1)
    radii = radius * np.cos(angle)
    radii[[0, -1]] = 0
    mesh = lathe(np.stack([radii, radius * np.sin(angle)], axis=1), segments=segments)
    return make_mesh(mesh.vertices, mesh.triangles, normals=mesh.vertices / radius, uvs=mesh.uvs)


def cylinder(radius: float, height: float, *, segments: int = 48) -> Mesh:
    """Return a closed cylinder [m] along z around the origin, with sharp rims."""
    z = height / 2
    side = lathe([(radius, -z), (radius, z)], segments=segments)
    bottom, top = lathe([(0, -z), (radius, -z)], segments=segments), lathe([(radius, z), (0, z)], segments=segments)
    return merge([side, bottom, top])


def merge(meshes: Sequence[Mesh]) -> Mesh:
    """Return one mesh of several; material indices and uvs are kept where all of them have uvs."""
    offsets = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    has_uvs = all(mesh.uvs is not None for mesh in meshes)
    has_materials = any(mesh.material_indices is not None for mesh in meshes)
    materials = [
        np.zeros(len(m.triangles), np.int32) if m.material_indices is None else m.material_indices for m in meshes
    ]
    return make_mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.triangles + offset for mesh, offset in zip(meshes, offsets[:-1], strict=True)]),
        normals=np.concatenate([mesh.normals for mesh in meshes]),
        uvs=np.concatenate([mesh.uvs for mesh in meshes if mesh.uvs is not None]) if has_uvs else None,
        material_indices=np.concatenate(materials) if has_materials else None,
    )
