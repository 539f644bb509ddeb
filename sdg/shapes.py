"""Shapes with soft edges, and what can be done with meshes: move, split, smooth, unwrap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .mesh import Mesh, face_normals, lathe, make_mesh


def transformed(mesh: Mesh, matrix: np.ndarray) -> Mesh:
    """Return a mesh moved by an affine [4, 4]; a mirrored one is turned inside out again."""
    linear = matrix[:3, :3]
    normals = mesh.normals @ np.linalg.inv(linear)
    triangles = mesh.triangles[:, ::-1] if np.linalg.det(linear) < 0 else mesh.triangles
    moved = mesh.vertices @ linear.T + matrix[:3, 3]
    return make_mesh(moved, triangles, normals=normals, uvs=mesh.uvs, material_indices=mesh.material_indices)


def moved(mesh: Mesh, offset: Sequence[float] | np.ndarray) -> Mesh:
    """Return a mesh moved by `offset` [m]."""
    matrix = np.eye(4)
    matrix[:3, 3] = offset
    return transformed(mesh, matrix)


def with_material(mesh: Mesh, index: int) -> Mesh:
    """Return a mesh that is all made of one material of its body."""
    return make_mesh(
        mesh.vertices,
        mesh.triangles,
        normals=mesh.normals,
        uvs=mesh.uvs,
        material_indices=np.full(len(mesh.triangles), index),
    )


def with_uvs(mesh: Mesh, uvs: np.ndarray) -> Mesh:
    """Return a mesh with other texture coordinates [v, 2]."""
    return make_mesh(
        mesh.vertices, mesh.triangles, normals=mesh.normals, uvs=uvs, material_indices=mesh.material_indices
    )


def box_projected(mesh: Mesh, scale: Sequence[float] | np.ndarray = (1.0, 1.0, 1.0)) -> Mesh:
    """Return a mesh with uvs [m] of the main plane that each triangle faces; corners are repeated between planes."""
    faces = face_normals(mesh.vertices * np.asarray(scale), mesh.triangles)
    axis = np.argmax(np.abs(faces), axis=1)
    key = mesh.triangles.astype(np.int64) * 3 + axis[:, None]
    used, triangles = np.unique(key.ravel(), return_inverse=True)
    vertex, plane = used // 3, used % 3
    points = mesh.vertices[vertex].astype(np.float64) * np.asarray(scale)
    u = np.choose(plane, [points[:, 1], points[:, 0], points[:, 0]])
    v = np.choose(plane, [points[:, 2], points[:, 2], points[:, 1]])
    return make_mesh(
        mesh.vertices[vertex],
        triangles.reshape(-1, 3),
        normals=mesh.normals[vertex],
        uvs=np.stack([u, v], axis=1),
        material_indices=mesh.material_indices,
    )


def uv_density(mesh: Mesh, scale: Sequence[float] | np.ndarray = (1.0, 1.0, 1.0)) -> float:
    """Return how much uv there is in a metre, on average over the surface; 1 where there are no uvs."""
    if mesh.uvs is None:
        return 1.0
    flat = np.column_stack([mesh.uvs.astype(np.float64), np.zeros(len(mesh.uvs))])
    spread = np.linalg.norm(face_normals(flat, mesh.triangles), axis=1).sum()
    surface = np.linalg.norm(face_normals(mesh.vertices * np.asarray(scale), mesh.triangles), axis=1).sum()
    return math.sqrt(spread / surface) if spread > 1e-12 and surface > 1e-12 else 1.0


def _welded(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct vertices [n, 3] and triangles [t, 3] that refer to them."""
    points, index = np.unique(np.round(mesh.vertices.astype(np.float64), 7), axis=0, return_inverse=True)
    return points, index.ravel()[mesh.triangles]


def is_closed(mesh: Mesh) -> bool:
    """Return whether every edge belongs to two triangles that run along it in opposite directions."""
    _, triangles = _welded(mesh)
    triangles = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    there, back = (np.unique(pairs, axis=0) for pairs in (edges, edges[:, ::-1]))
    return len(there) == len(edges) and np.array_equal(there, back)


def split_pieces(mesh: Mesh) -> list[Mesh]:
    """Return the connected pieces of a mesh, without uvs and materials."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    points, triangles = _welded(mesh)
    start, end = triangles[:, [0, 1]].ravel(), triangles[:, [1, 2]].ravel()
    graph = coo_matrix((np.ones(len(start)), (start, end)), shape=(len(points), len(points)))
    _, piece = connected_components(graph, directed=False)
    pieces = []
    for number in np.unique(piece[triangles[:, 0]]):
        own = triangles[piece[triangles[:, 0]] == number]
        used, local = np.unique(own.ravel(), return_inverse=True)
        pieces.append(make_mesh(points[used], local.reshape(-1, 3)))
    return pieces


def simplified(mesh: Mesh, limit: int) -> Mesh:
    """Return a mesh of at most `limit` triangles: vertices in one cell of a grid become one, the finest grid that does."""
    if len(mesh.triangles) <= limit:
        return mesh
    low, edge = mesh.bounds[0], float(np.ptp(mesh.bounds, axis=0).max())
    for cells in (256, 181, 128, 91, 64, 45, 32, 23, 16, 11, 8, 6, 4, 3, 2):
        cell = np.floor((mesh.vertices - low) / (edge / cells + 1e-12)).astype(np.int64)
        _, place = np.unique(cell @ [1, 1 << 10, 1 << 20], return_inverse=True)
        triangles = place[mesh.triangles]
        triangles = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
        _, first = np.unique(np.sort(triangles, axis=1) @ [1, 1 << 20, 1 << 40], return_index=True)
        if len(first) <= limit:
            break
    sums = np.stack([np.bincount(place, mesh.vertices[:, axis]) for axis in range(3)], axis=1)
    return make_mesh(sums / np.bincount(place)[:, None], triangles[np.sort(first)])


def auto_smooth(mesh: Mesh, angle: float = 0.7) -> Mesh:
    """Return a mesh that looks round where faces meet at less than `angle` [rad], and sharp elsewhere."""
    _, welded = _welded(mesh)
    faces = face_normals(mesh.vertices, mesh.triangles)
    unit = faces / np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-30)
    corner_vertex = welded.ravel()
    order = np.argsort(corner_vertex, kind="stable")
    face_of = order // 3
    counts = np.bincount(corner_vertex)
    first = np.concatenate([[0], np.cumsum(counts)])[corner_vertex[order]]
    sums, own = np.zeros((len(order), 3)), unit[face_of]
    for step in range(int(counts.max())):
        valid = step < counts[corner_vertex[order]]
        other = face_of[np.minimum(first + step, len(order) - 1)]
        close = valid & (np.einsum("ij,ij->i", own, unit[other]) > math.cos(angle))
        sums += np.where(close[:, None], faces[other], 0)
    normals = np.empty((len(order), 3))
    normals[order] = sums
    corners = mesh.triangles.ravel()
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    rows = np.concatenate([corners[:, None], np.round(normals * 1e4).astype(np.int64)], axis=1)
    _, keep, triangles = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return make_mesh(
        mesh.vertices[corners[keep]],
        triangles.reshape(-1, 3),
        normals=normals[keep],
        uvs=None if mesh.uvs is None else mesh.uvs[corners[keep]],
        material_indices=mesh.material_indices,
    )


def rounded_box(
    size: Sequence[float] | np.ndarray,
    radius: float,
    *,
    steps: int = 2,
    face_uvs: bool = False,
    face_materials: Sequence[int] | None = None,
) -> Mesh:
    """Return a box [m] around the origin with edges rounded by `radius` [m].

    uvs are metres, or 0..1 on each face where `face_uvs` is set, upright and not mirrored seen from outside.
    `face_materials` are those of the faces -x, +x, -y, +y, -z, +z.
    """
    half = np.asarray(size, float) / 2
    radius = min(radius, float(half.min()) * 0.999)
    tangent = np.tan(np.linspace(0, math.pi / 4, steps + 1))
    offset = np.concatenate([-tangent[::-1], tangent])
    side = np.sign(np.concatenate([-np.ones(steps + 1), np.ones(steps + 1)]))
    count = 2 * (steps + 1)
    s, t = np.meshgrid(np.arange(count), np.arange(count), indexing="xy")
    a = (t[:-1, :-1] * count + s[:-1, :-1]).ravel()
    quads = np.stack([a, a + 1, a + count + 1, a + count], axis=1)
    vertices, normals, uvs, triangles, materials = [], [], [], [], []
    for face in range(6):
        axis, sign = face // 2, (-1.0, 1.0)[face % 2]
        right, up = _face_axes(axis, sign)
        direction = np.zeros((count, count, 3))
        direction[..., axis] = sign
        direction += offset[s][..., None] * right + offset[t][..., None] * up
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        inner = side[s][..., None] * right + side[t][..., None] * up
        inner[..., axis] = sign
        points = (inner * (half - radius) + direction * radius).reshape(-1, 3)
        flat = np.stack([points @ right, points @ up], axis=1)
        extent = np.array([np.abs(right) @ half, np.abs(up) @ half])
        uvs.append(flat / (2 * extent) + 0.5 if face_uvs else flat)
        triangles.append(np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]) + face * count * count)
        vertices.append(points)
        normals.append(direction.reshape(-1, 3))
        materials.append(np.full(2 * len(quads), 0 if face_materials is None else face_materials[face]))
    return make_mesh(
        np.concatenate(vertices),
        np.concatenate(triangles),
        normals=np.concatenate(normals),
        uvs=np.concatenate(uvs),
        material_indices=None if face_materials is None else np.concatenate(materials),
    )


def _face_axes(axis: int, sign: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the directions of u and v on a face of a box, seen from outside: right and up."""
    normal = np.zeros(3)
    normal[axis] = sign
    up = np.array([0.0, 0.0, 1.0]) if axis < 2 else np.array([0.0, 1.0, 0.0])
    return np.cross(up, normal), up


def rounded_profile(points: Sequence[tuple[float, float, float]], *, steps: int = 4) -> np.ndarray:
    """Return a profile [n, 2] for `lathe` from (radius, z, rounding) points [m]: each corner becomes an arc."""
    corners = np.array([point[:2] for point in points], float)
    profile: list[np.ndarray] = []
    for number, (_, _, rounding) in enumerate(points):
        here = corners[number]
        if rounding <= 0 or number in (0, len(points) - 1):
            profile.append(here)
            continue
        back, ahead = corners[number - 1] - here, corners[number + 1] - here
        profile += _arc(here, back, ahead, rounding, steps)
    return np.array(profile)


def _arc(here: np.ndarray, back: np.ndarray, ahead: np.ndarray, rounding: float, steps: int) -> list[np.ndarray]:
    lengths = np.linalg.norm(back), np.linalg.norm(ahead)
    back, ahead = back / lengths[0], ahead / lengths[1]
    half = math.acos(float(np.clip(back @ ahead, -1, 1))) / 2
    if half > math.pi / 2 - 1e-3 or half < 1e-3:
        return [here]
    reach = min(rounding / math.tan(half), 0.49 * float(min(lengths)))
    radius = reach * math.tan(half)
    middle = here + (back + ahead) / np.linalg.norm(back + ahead) * radius / math.sin(half)
    start, end = here + back * reach - middle, here + ahead * reach - middle
    turn = math.atan2(start[0] * end[1] - start[1] * end[0], float(start @ end))
    angles = np.linspace(0, turn, steps + 1)
    return [middle + np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) @ start for a in angles]


def spline(points: Sequence[Sequence[float]] | np.ndarray, count: int) -> np.ndarray:
    """Return `count` points [count, d] on a smooth curve through `points` (centripetal Catmull-Rom by chord length)."""
    from scipy.interpolate import PchipInterpolator

    knots = np.asarray(points, float)
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1) ** 0.5)])
    return np.asarray(PchipInterpolator(along, knots)(np.linspace(0, along[-1], count)))


def tube(path: np.ndarray, radii: np.ndarray | float, *, segments: int = 16, flatten: float = 1.0) -> Mesh:
    """Return a closed tube [m] along `path` [n, 3] with round ends; its section is `flatten` times as high as wide.

    u runs round the section, v along the path.
    """
    path = np.asarray(path, float)
    radii = np.broadcast_to(np.asarray(radii, float), len(path))
    steps = np.gradient(path, axis=0)
    tangents = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    side = np.cross(tangents[0], (0.0, 0.0, 1.0))
    if np.linalg.norm(side) < 1e-6:
        side = np.array([1.0, 0.0, 0.0])
    sides = []
    for tangent in tangents:
        side = side - tangent * (tangent @ side)
        if np.linalg.norm(side) < 1e-6 * np.linalg.norm(tangent):
            side = np.cross(tangent, (tangent[2], tangent[0], tangent[1]))
        side = side / np.linalg.norm(side)
        sides.append(side)
    ups = np.cross(np.array(sides), tangents)
    cap = np.linspace(0, math.pi / 2, 5)[1:]
    order = [(0, c) for c in cap[::-1]] + [(row, 0.0) for row in range(len(path))] + [(len(path) - 1, c) for c in cap]
    angle = np.linspace(0, 2 * math.pi, segments + 1)
    rings = []
    for place, (row, bend) in enumerate(order):
        outward = -1.0 if place < len(cap) else 1.0
        center = path[row] + outward * tangents[row] * radii[row] * math.sin(bend)
        radius = radii[row] * (0.0 if bend > 1.57 else math.cos(bend))
        rings.append(
            center + radius * (np.cos(angle)[:, None] * sides[row] + flatten * np.sin(angle)[:, None] * ups[row])
        )
    return _skin(np.array(rings))


def _skin(rings: np.ndarray) -> Mesh:
    """Return the smooth surface through rings [n, segments + 1, 3] whose first and last points coincide."""
    rows, columns = rings.shape[:2]
    grid = lathe(np.stack([np.ones(rows), np.arange(rows)], axis=1), segments=columns - 1)
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(rings.mean(axis=1), axis=0), axis=1))])
    u, v = np.linspace(0, 1, columns), along / max(along[-1], 1e-12)
    uvs = np.stack(np.broadcast_arrays(u[None], v[:, None]), axis=-1).reshape(-1, 2)
    flat = rings.reshape(-1, 3)
    faces = face_normals(flat, grid.triangles)
    triangles = grid.triangles[np.linalg.norm(faces, axis=1) > 1e-13]
    return auto_smooth(make_mesh(flat, triangles, uvs=uvs), math.pi)
