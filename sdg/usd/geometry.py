"""From UsdGeom.Mesh prims to meshes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdg.mesh import Mesh, face_normals, make_mesh

from .polygons import corner_faces, creased_normals, distinct_rows, shared_corners, triangulate

UV_NAMES = ("st", "st0", "st_0", "UVMap", "map1", "uv", "Texture_uv")
"""Texture coordinates that are taken where a material names none that the mesh has, in this order."""


class Unusable(Exception):
    """A prim that cannot be drawn; the text says why."""


@dataclass
class Faces:
    """The polygons of a prim: points [p, 3], corners per face [f], point of each corner [c], old number of each face [f]."""

    points: np.ndarray
    counts: np.ndarray
    corners: np.ndarray
    number: np.ndarray
    kept_corners: np.ndarray
    """The number [c] that each corner has in the file."""


def read_mesh(prim: Any, time: Any, *, unit: float, uv_names: Sequence[str] = ("st",)) -> tuple[Mesh, list[str]]:
    """Return the mesh [m] of a UsdGeom.Mesh prim in its own frame, and warnings.

    `unit` is the length of one unit of the stage [m]. Material 0 is that of the prim and material k that of its k-th
    material subset; `uv_names` are the names of the texture coordinates that these materials want. Missing normals
    are smooth across edges of up to 60 degrees. Raises Unusable.
    """
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(prim)
    warnings: list[str] = []
    faces = _read_faces(mesh, time, warnings)
    material = _face_materials(prim, time, faces, warnings)
    triangles, face_of = triangulate(faces.points, faces.counts, faces.corners)
    normals = _normals(mesh, time, faces, warnings)
    wanted = [uv_names[min(number, len(uv_names) - 1)] for number in range(material.max() + 1)]
    uvs = _uvs(prim, time, faces, wanted, material, warnings)
    vertex, order = shared_corners(faces.corners, [normals[1]] if uvs is None else [normals[1], uvs[1]], triangles)
    points = faces.points[faces.corners[order]] * unit
    solid = np.linalg.norm(face_normals(points, vertex), axis=1) > 0
    if not solid.any():
        raise Unusable("none of its faces has an area")
    made = make_mesh(
        points,
        vertex[solid],
        normals=normals[0][normals[1][order]],
        uvs=None if uvs is None else uvs[0][uvs[1][order]],
        material_indices=material[face_of[solid]] if material.any() else None,
    )
    return made, warnings


def _read_faces(mesh: Any, time: Any, warnings: list[str]) -> Faces:
    points = _array(mesh.GetPointsAttr(), time, np.float64, 3)
    counts = _array(mesh.GetFaceVertexCountsAttr(), time, np.int64)
    corners = _array(mesh.GetFaceVertexIndicesAttr(), time, np.int64)
    if not len(points) or not len(counts):
        raise Unusable("it has no points" if not len(points) else "it has no faces")
    if (counts < 0).any() or counts.sum() != len(corners):
        raise Unusable(f"faceVertexCounts adds up to {counts.sum()}, but there are {len(corners)} faceVertexIndices")
    if len(corners) and (corners.min() < 0 or corners.max() >= len(points)):
        raise Unusable(
            f"faceVertexIndices run from {corners.min()} to {corners.max()}, but it has {len(points)} points"
        )
    keep = counts >= 3
    holes = _array(mesh.GetHoleIndicesAttr(), time, np.int64)
    keep[holes[(holes >= 0) & (holes < len(counts))]] = False
    face = corner_faces(counts)
    finite = np.isfinite(points).all(axis=1)
    broken = np.unique(face[~finite[corners]])
    if len(broken):
        warnings.append(f"{len(broken)} faces are left out because they use points that are not numbers")
        keep[broken] = False
        points = np.where(finite[:, None], points, 0.0)
    if not keep.any():
        raise Unusable("no usable face is left")
    kept = _corner_order(counts, left_handed=mesh.GetOrientationAttr().Get(time) == "leftHanded")[keep[face]]
    return Faces(points, counts[keep], corners[kept], np.flatnonzero(keep), kept)


def _corner_order(counts: np.ndarray, *, left_handed: bool) -> np.ndarray:
    """Return the corners of all faces in counter-clockwise order."""
    order = np.arange(counts.sum())
    if not left_handed:
        return order
    starts = np.cumsum(counts) - counts
    return np.asarray((2 * starts + counts - 1)[corner_faces(counts)] - order)


def _array(attribute: Any, time: Any, dtype: type, width: int = 0) -> np.ndarray:
    value = attribute.Get(time) if attribute else None
    array: np.ndarray = np.asarray([] if value is None else value)
    if array.shape[1:] != ((width,) if width else ()) or array.dtype.kind not in "iuf":
        return np.zeros((0, width) if width else 0, dtype)  # of another type than the schema's
    return array.astype(dtype)


def material_subsets(prim: Any) -> list[Any]:
    """Return the subsets of a mesh that carry materials, in order."""
    from pxr import UsdGeom, UsdShade

    return list(UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()) if prim.IsA(UsdGeom.Mesh) else []


def _face_materials(prim: Any, time: Any, faces: Faces, warnings: list[str]) -> np.ndarray:
    """Return the material number [f] of each kept face."""
    material = np.zeros(int(faces.number.max()) + 1, np.int64)
    for number, subset in enumerate(material_subsets(prim), 1):
        chosen = _array(subset.GetIndicesAttr(), time, np.int64)
        if len(chosen) and chosen.min() < 0:
            warnings.append(f"the subset '{subset.GetPrim().GetName()}' names faces that do not exist")
        material[chosen[(chosen >= 0) & (chosen < len(material))]] = number
    return np.asarray(material[faces.number])


# --- values on corners ----------------------------------------------------------------------------------------------


def _normals(mesh: Any, time: Any, faces: Faces, warnings: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return normals [n, 3] and the number of the normal of each corner [c]."""
    from pxr import UsdGeom

    primvar = UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvar("normals")
    found = None
    if primvar and primvar.HasValue():
        found = _on_corners(
            primvar.GetInterpolation(), _array(primvar, time, np.float32, 3), _indices(primvar, time), faces
        )
    elif mesh.GetNormalsAttr().HasValue():
        values = _array(mesh.GetNormalsAttr(), time, np.float32, 3)
        found = _on_corners(mesh.GetNormalsInterpolation(), values, None, faces) if len(values) else None
        primvar = mesh.GetNormalsAttr() if len(values) else None
    if found is None:
        if primvar:
            warnings.append("its normals do not fit its points and are computed instead")
        return distinct_rows(creased_normals(faces.points, faces.counts, faces.corners).astype(np.float32))
    values, ids = found
    if _mostly_zero(values):
        warnings.append("its normals are zero or not numbers and are computed instead")
        return distinct_rows(creased_normals(faces.points, faces.counts, faces.corners).astype(np.float32))
    return values, ids


def _mostly_zero(normals: np.ndarray) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        length = np.linalg.norm(normals, axis=1)
        return bool((~(np.isfinite(length) & (length > 1e-12))).mean() > 0.5)


def _uvs(
    prim: Any, time: Any, faces: Faces, wanted: Sequence[str], material: np.ndarray, warnings: list[str]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return texture coordinates [n, 2] and the number of those of each corner [c], or None."""
    values, ids, first = [], np.zeros(len(faces.corners), np.int64), 0
    of_corner = np.repeat(material, faces.counts)
    for name in dict.fromkeys(wanted):
        found = _uv_set(prim, time, name, faces, warnings)
        if found is not None:
            chosen = np.isin(of_corner, [n for n, want in enumerate(wanted) if want == name])
            ids[chosen] = found[1][chosen] + first
            values.append(found[0])
            first += len(found[0])
    return (np.concatenate(values), ids) if values else None


def _uv_set(
    prim: Any, time: Any, wanted: str, faces: Faces, warnings: list[str]
) -> tuple[np.ndarray, np.ndarray] | None:
    from pxr import UsdGeom

    api = UsdGeom.PrimvarsAPI(prim)
    flat = [p for p in api.FindPrimvarsWithInheritance() if p.HasValue() and str(p.GetTypeName()) in _UV_TYPES]
    typed = sorted(flat, key=lambda p: not str(p.GetTypeName()).startswith("texCoord"))
    named = {p.GetPrimvarName(): p for p in typed}
    name = next((name for name in (wanted, *UV_NAMES, *named) if name in named), None)
    if name is None:
        return None
    values = _array(named[name], time, np.float32, 2)
    found = _on_corners(named[name].GetInterpolation(), values, _indices(named[name], time), faces)
    if found is None:
        warnings.append(f"the texture coordinates '{name}' do not fit its points and are left out")
    elif not np.isfinite(found[0]).all():
        warnings.append(f"the texture coordinates '{name}' hold values that are not numbers; 0 is used")
        found = (np.nan_to_num(found[0], nan=0.0, posinf=0.0, neginf=0.0), found[1])
    return found


_UV_TYPES = {f"{kind}2{precision}[]" for kind in ("texCoord",) for precision in "fhd"} | {
    "float2[]",
    "half2[]",
    "double2[]",
}


def _indices(primvar: Any, time: Any) -> np.ndarray | None:
    return np.array(primvar.GetIndices(time), np.int64) if primvar.IsIndexed() else None


def _on_corners(
    interpolation: str, values: np.ndarray, indices: np.ndarray | None, faces: Faces
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return values [n, d] and the number of the value of each corner [c], or None where they do not fit."""
    if interpolation in ("vertex", "varying"):
        ids = faces.corners
    elif interpolation == "faceVarying":
        ids = faces.kept_corners
    elif interpolation == "uniform":
        ids = faces.number[corner_faces(faces.counts)]
    else:
        ids = np.zeros(len(faces.corners), np.int64)
    if indices is not None:
        if not len(indices) or ids.max() >= len(indices):
            return None
        ids = indices[ids]
    if not len(values) or ids.min() < 0 or ids.max() >= len(values):
        return None
    if interpolation != "faceVarying" or indices is not None:
        return values, ids
    return distinct_rows(values[ids])
