"""Small USD files for tests, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sdg.mesh import Mesh, face_normals
from sdg.scene import Scene
from sdg.scenes.usd import Usd

CUBE_POINTS = "[(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]"
CUBE_FACES = "[0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7]"


def cube(name: str = "Cube", extra: str = "", *, scheme: str = "none") -> str:
    """Return a mesh prim: a closed cube from -1 to 1 with outward faces of four corners."""
    return f"""
def Mesh "{name}"
{{
    uniform token subdivisionScheme = "{scheme}"
    point3f[] points = {CUBE_POINTS}
    int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
    int[] faceVertexIndices = {CUBE_FACES}
    {extra}
}}
"""


def write(
    folder: Path, text: str, *, name: str = "scene.usda", up: str = "Z", unit: float = 1.0, default: str = ""
) -> Path:
    """Write a .usda file and return its path; a `}` may stand on any line."""
    prim = f'defaultPrim = "{default}"' if default else ""
    path = folder / name
    path.write_text(
        f'#usda 1.0\n(\n    metersPerUnit = {unit}\n    upAxis = "{up}"\n    {prim}\n)\n' + text.replace("}", "\n}\n")
    )
    return path


def read(folder: Path, text: str, *, up: str = "Z", unit: float = 1.0, **options: Any) -> Scene:
    """Write a .usda file and load it as a scene."""
    return Usd(file=write(folder, text, up=up, unit=unit), **options).load()


def outward(mesh: Mesh, center: tuple[float, float, float] = (0, 0, 0)) -> bool:
    """Return whether faces and normals of a convex mesh point away from a point inside of it."""
    middle = mesh.vertices[mesh.triangles].mean(axis=1) - np.asarray(center)
    faces = np.einsum("ij,ij->i", face_normals(mesh.vertices, mesh.triangles), middle)
    shading = np.einsum("ijk,ik->ij", mesh.normals[mesh.triangles], middle)
    return bool((faces > 0).all() and (shading > 0).all())


def moved(name: str, inside: str, *, reset: bool = False, **operations: tuple[float, float, float]) -> str:
    """Return an Xform prim around others with `translate`, `rotate` (XYZ, degrees) and `scale`, in the given order."""
    names = {
        "translate": "double3 xformOp:translate",
        "rotate": "float3 xformOp:rotateXYZ",
        "scale": "float3 xformOp:scale",
    }
    lines = [f"{names[key]} = {value}" for key, value in operations.items()]
    order = ['"!resetXformStack!"'] * reset + [f'"{names[key].split()[1]}"' for key in operations]
    return (
        f'def Xform "{name}"\n{{\n'
        + "\n".join(lines)
        + f"\nuniform token[] xformOpOrder = [{', '.join(order)}]\n{inside}\n}}\n"
    )
