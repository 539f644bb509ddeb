"""Mesh files (.obj with .mtl, .ply, .stl, .glb, .gltf) as meshes with materials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sdg.errors import SceneError
from sdg.gltf import Primitive, read_gltf
from sdg.mesh import Mesh, face_normals, make_mesh, merge
from sdg.scene import Material, Texture
from sdg.sensors.tone import decode_srgb
from sdg.usd.pictures import decode
from sdg.usd.polygons import creased_normals, distinct_rows, shared_corners

SUFFIXES = (".obj", ".ply", ".stl", ".glb", ".gltf")


@dataclass
class MeshFile:
    """What a mesh file holds: one mesh [m], its materials, and what was wrong with it."""

    mesh: Mesh
    materials: list[Material]
    warnings: list[str] = field(default_factory=list)


def read_mesh_file(path: Path) -> MeshFile:
    """Read a mesh file as one mesh; glTF's y axis becomes z, the axes of other formats are kept.

    Missing or zero normals are smooth across edges of up to 60 degrees; triangles with vertices that are not numbers
    are left out with a warning. Raises SceneError for a file that cannot be read, or without any triangle.
    """
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise SceneError(f"{path}: a mesh file is one of {', '.join(SUFFIXES)}, not '{kind}'")
    warnings: list[str] = []
    try:
        parts = read_gltf(path) if kind in (".glb", ".gltf") else _read_others(path, kind, warnings)
    except OSError as error:
        raise SceneError(f"{path} cannot be read: {error}") from None
    meshes, materials = [], []
    for part in parts:
        mesh = _usable(part, path, warnings)
        if mesh is not None:
            if part.material not in materials:
                materials.append(part.material)
            meshes.append((mesh, materials.index(part.material)))
    if not meshes:
        raise SceneError("\n  ".join([f"{path} holds no usable triangle", *warnings]))
    return MeshFile(_merged(meshes, len(materials)), materials, list(dict.fromkeys(warnings)))


def _merged(meshes: Sequence[tuple[Mesh, int]], materials: int) -> Mesh:
    with_uvs = any(mesh.uvs is not None for mesh, _ in meshes)
    parts = []
    for mesh, number in meshes:
        uvs = np.zeros((len(mesh.vertices), 2), np.float32) if mesh.uvs is None and with_uvs else mesh.uvs
        chosen = np.full(len(mesh.triangles), number, np.int32) if materials > 1 else None
        parts.append(Mesh(mesh.vertices, mesh.triangles, mesh.normals, uvs, chosen))
    return merge(parts) if len(parts) > 1 else parts[0]


def _usable(part: Primitive, path: Path, warnings: list[str]) -> Mesh | None:
    """Return the mesh of one part without its broken triangles, or None where none is left."""
    points, triangles = part.points, part.triangles
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(points)):
        raise SceneError(f"{path}: its faces name vertices up to {triangles.max()}, but it has {len(points)}")
    finite = np.isfinite(points).all(axis=1)
    good = finite[triangles].all(axis=1)
    if not good.all():
        warnings.append(
            f"{path}: {int((~good).sum())} triangles are left out because they use points that are not numbers"
        )
    points = np.where(finite[:, None], points, 0.0)
    triangles = triangles[good]
    triangles = triangles[np.linalg.norm(face_normals(points, triangles), axis=1) > 0]
    if not len(triangles):
        return None
    normals = part.normals
    if normals is not None:
        length = np.linalg.norm(np.nan_to_num(normals, posinf=0, neginf=0), axis=1)
        if (length[np.unique(triangles)] < 1e-12).any():
            warnings.append(f"{path}: some of its normals are zero or not numbers and are computed instead")
            normals = None
    uvs = None if part.uvs is None else np.nan_to_num(part.uvs, posinf=0, neginf=0)
    if normals is not None:
        used, triangles = np.unique(triangles, return_inverse=True)
        return make_mesh(
            points[used], triangles.reshape(-1, 3), normals=normals[used], uvs=None if uvs is None else uvs[used]
        )
    return _with_creases(points, triangles, uvs)


def _with_creases(points: np.ndarray, triangles: np.ndarray, uvs: np.ndarray | None) -> Mesh:
    """Return a mesh with computed normals; vertices at one place count as one, whatever their uv."""
    places, place = distinct_rows(points)
    corners = place[triangles].ravel()
    normals, ids = distinct_rows(creased_normals(places, np.full(len(triangles), 3), corners))
    vertex = triangles.ravel()
    data = [ids] if uvs is None else [ids, distinct_rows(uvs[vertex])[1]]
    made, order = shared_corners(corners, data, np.arange(len(vertex)).reshape(-1, 3))
    source = vertex[order]
    return make_mesh(points[source], made, normals=normals[ids[order]], uvs=None if uvs is None else uvs[source])


# --- .obj, .ply and .stl --------------------------------------------------------------------------------------------


def _read_others(path: Path, kind: str, warnings: list[str]) -> list[Primitive]:
    import trimesh

    materials = read_mtl_of(path, warnings) if kind == ".obj" else {}
    try:
        scene = trimesh.load_scene(str(path), process=False, maintain_order=True)
        meshes = [mesh for mesh in scene.geometry.values() if isinstance(mesh, trimesh.Trimesh)]
    except Exception as error:  # the readers raise whatever a broken file leads to
        raise SceneError(f"{path} cannot be read as {kind}: {type(error).__name__}: {error}") from None
    return [_primitive(mesh, materials) for mesh in meshes]


def _primitive(mesh: Any, materials: dict[str, Material]) -> Primitive:
    points, triangles = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int64)
    given = "vertex_normals" in mesh._cache  # else trimesh makes them up
    uvs = getattr(mesh.visual, "uv", None)
    name = str(getattr(getattr(mesh.visual, "material", None), "name", ""))
    return Primitive(
        points,
        triangles,
        np.asarray(mesh.vertex_normals, np.float64) if given else None,
        None if uvs is None or len(uvs) != len(points) else np.asarray(uvs, np.float64)[:, :2],
        materials.get(name) or _colored(mesh),
    )


def _colored(mesh: Any) -> Material:
    """Return a material of the mean of the colours of a mesh's vertices or faces."""
    if mesh.visual.kind not in ("vertex", "face"):
        return Material()
    colors = mesh.visual.vertex_colors if mesh.visual.kind == "vertex" else mesh.visual.face_colors
    r, g, b = decode_srgb(np.asarray(colors, np.uint8)[:, :3]).mean(axis=0)
    return Material(base_color=(float(r), float(g), float(b)))


def read_mtl_of(path: Path, warnings: list[str]) -> dict[str, Material]:
    """Return the materials of an .obj file by name. Raises SceneError for all pictures that cannot be read."""
    materials: dict[str, Material] = {}
    faults: list[str] = []
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("mtllib"):
            file = path.parent / line.removeprefix("mtllib").strip()
            if file.is_file():
                for name, values in _mtl_values(file).items():
                    materials[name] = _mtl_material(name, values, file, faults)
            else:
                warnings.append(f"{path}: its material file {file} does not exist; it is drawn grey")
    if faults:
        lines = "".join(f"\n  {fault}" for fault in dict.fromkeys(faults))
        raise SceneError(
            f"{path}: {len(set(faults))} pictures cannot be read; put the files back or fix the .mtl file:{lines}"
        )
    return materials


def _mtl_values(file: Path) -> dict[str, dict[str, list[str]]]:
    """Return the statements of each material, keys in lower case."""
    found: dict[str, dict[str, list[str]]] = {}
    current: dict[str, list[str]] = {}
    for line in file.read_text(errors="replace").splitlines():
        key, _, rest = line.strip().partition(" ")
        if key == "newmtl":
            current = found.setdefault(rest.strip(), {})
        elif key and not key.startswith("#"):
            current[key.lower()] = rest.split()
    return found


def _mtl_material(name: str, values: dict[str, list[str]], file: Path, faults: list[str]) -> Material:
    def number(key: str, default: float) -> float:
        return (_numbers(values.get(key, [])) or [default])[0]

    def color(key: str, default: float) -> tuple[float, float, float]:
        parts = _numbers(values.get(key, []))
        r, g, b = parts[:3] if len(parts) >= 3 else (default,) * 3
        return r, g, b

    def picture(*keys: str, srgb: bool = False, gray: bool = False) -> Texture | None:
        given = next((values[key] for key in keys if values.get(key)), None)
        return None if given is None else _mtl_picture(given, file, name, faults, srgb=srgb, gray=gray)

    shininess = number("ns", -1.0)
    return Material(
        base_color=color("kd", 0.5),
        base_color_texture=picture("map_kd", srgb=True),
        roughness=number("pr", math.sqrt(2 / (shininess + 2)) if shininess >= 0 else 0.5),
        roughness_texture=picture("map_pr", gray=True),
        metallic=number("pm", 0.0),
        metallic_texture=picture("map_pm", gray=True),
        ior=max(number("ni", 1.5), 1.0),
        normal_texture=picture("norm", "map_kn"),
        opacity=number("d", 1.0 - number("tr", 0.0)),
        opacity_texture=picture("map_d", gray=True),
        emission=color("ke", 0.0),
        name=name,
    )


def _numbers(words: Sequence[str]) -> list[float]:
    """Return words as numbers, or nothing where one of them is none."""
    try:
        return [float(word) for word in words]
    except ValueError:
        return []


def _mtl_picture(
    given: list[str], file: Path, name: str, faults: list[str], *, srgb: bool, gray: bool
) -> Texture | None:
    """Return the picture at the end of a `map_` statement; its options are left out."""
    path = file.parent / " ".join(given).replace("\\", "/")
    if not path.is_file():
        path = file.parent / given[-1].replace("\\", "/")
    if not path.is_file():
        faults.append(f"material '{name}' of {file}: no file {path}")
        return None
    try:
        pixels = decode(path.read_bytes(), str(path))
    except ValueError as error:
        faults.append(f"material '{name}' of {file}: {error}")
        return None
    if pixels.dtype != np.uint8:
        pixels = (np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8)
    pixels = pixels[..., :1] if gray or pixels.shape[2] < 3 else pixels[..., :3]
    return Texture(np.ascontiguousarray(pixels), srgb, name=str(path))
