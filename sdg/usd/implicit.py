"""From the implicit shapes of UsdGeom (Cube, Sphere, ...) to meshes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdg import mesh as shapes
from sdg import transforms
from sdg.mesh import Mesh, make_mesh
from sdg.scene import Shape

from .geometry import Unusable

# Turns +z to the axis and keeps the handedness: x, y, z become y, z, x or z, x, y.
_TURNS = {
    "X": np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], float),
    "Y": np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], float),
    "Z": np.eye(3),
}
KINDS = ("Cube", "Sphere", "Cylinder", "Cylinder_1", "Capsule", "Capsule_1", "Cone", "Plane")


_SIZES = ("size", "radius", "radiusBottom", "radiusTop", "height", "width", "length", "axis")


def implicit_key(prim: Any, time: Any) -> tuple[Any, ...]:
    """Return what makes the mesh of an implicit prim, () for other prims; equal keys mean equal meshes."""
    kind = str(prim.GetTypeName())
    return (
        (kind, *(prim.GetAttribute(name).Get(time) for name in _SIZES if prim.HasAttribute(name)))
        if kind in KINDS
        else ()
    )


def read_implicit(prim: Any, time: Any, *, unit: float) -> tuple[Mesh, Shape | None]:
    """Return the mesh [m] of an implicit prim in its own frame, and the shape where sdg knows it. Raises Unusable."""
    kind = str(prim.GetTypeName())

    def size(name: str) -> float:
        value = float(prim.GetAttribute(name).Get(time)) * unit
        if not (math.isfinite(value) and value > 0):
            raise Unusable(f"its {name} is {value / unit}")
        return value

    if kind == "Cube":
        edge = (size("size"),) * 3
        return shapes.box(edge), Shape("box", edge)
    if kind == "Sphere":
        radius = size("radius")
        return shapes.sphere(radius), Shape("sphere", (radius,) * 3)
    axis = str(prim.GetAttribute("axis").Get(time) or "Z")
    if kind == "Plane":
        width, length = size("width"), size("length")
        x, y = (width, length) if axis == "Z" else (length, width)
        return _turned(shapes.plane(x, y), axis), Shape("plane", (x, y, 0.0)) if axis == "Z" else None
    height = size("height")
    if kind == "Cone":
        return _turned(_tapered(size("radius"), 0.0, height), axis), None
    bottom, top = (size("radius"),) * 2 if not kind.endswith("_1") else (size("radiusBottom"), size("radiusTop"))
    made = _tapered(bottom, top, height) if kind.startswith("Cylinder") else _capsule(bottom, top, height)
    return _turned(made, axis), None


def _turned(mesh: Mesh, axis: str) -> Mesh:
    turn = transforms.transform(_TURNS[axis])
    return make_mesh(
        transforms.apply(turn, mesh.vertices), mesh.triangles, normals=mesh.normals @ turn[:3, :3].T, uvs=mesh.uvs
    )


def _tapered(bottom: float, top: float, height: float) -> Mesh:
    """Return a closed cylinder or cone along z with sharp rims."""
    z = height / 2
    side = shapes.lathe([(bottom, -z), (top, z)])
    angle = 2 * math.pi * side.uvs[:, 0] if side.uvs is not None else np.zeros(len(side.vertices))
    normals = np.stack([np.cos(angle) * height, np.sin(angle) * height, np.full(len(angle), bottom - top)], axis=1)
    parts = [make_mesh(side.vertices, side.triangles, normals=normals, uvs=side.uvs)]
    parts.append(shapes.lathe([(0, -z), (bottom, -z)]))
    return shapes.merge([*parts, shapes.lathe([(top, z), (0, z)])] if top > 0 else parts)


def _capsule(bottom: float, top: float, height: float) -> Mesh:
    """Return a cylinder of `height` along z between two half spheres."""
    angle = np.linspace(0, math.pi / 2, 13)
    low = np.stack([bottom * np.sin(angle), -height / 2 - bottom * np.cos(angle)], axis=1)
    high = np.stack([top * np.cos(angle), height / 2 + top * np.sin(angle)], axis=1)
    low[0, 0] = high[-1, 0] = 0.0
    return shapes.lathe(np.concatenate([low, high]))
