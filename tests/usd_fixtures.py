"""Small USD files for tests, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np

from sdg.mesh import Mesh, face_normals
from sdg.scene import Material, Scene
from sdg.scenes.usd import Usd

PICTURE = np.arange(4 * 4 * 4, dtype=np.uint8).reshape(4, 4, 4) * 4
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


def save(folder: Path, name: str = "t.png", pixels: np.ndarray = PICTURE) -> np.ndarray:
    """Write R, G, B, A or R, G, B pixels as a picture file."""
    order = [2, 1, 0, 3][: pixels.shape[2]] if pixels.ndim == 3 else None
    cv2.imwrite(str(folder / name), pixels if order is None else pixels[..., order])
    return pixels


def material(inputs: str, nodes: str = "", *, kind: str = "UsdPreviewSurface", output: str = "outputs:surface") -> str:
    """Return a bound cube and the material /M with one surface shader."""
    return (
        cube(extra="rel material:binding = </M>")
        + f'def Material "M" {{ token {output}.connect = </M/S.outputs:surface>\n'
        + f'def Shader "S" {{ uniform token info:id = "{kind}"\n{inputs}\n token outputs:surface }} {nodes} }}'
    )


def texture(name: str = "T", inputs: str = "", *, file: str = "t.png") -> str:
    """Return a UsdUVTexture shader."""
    outputs = "float3 outputs:rgb\n float outputs:r\n float outputs:g\n float outputs:a"
    return (
        f'def Shader "{name}" {{ uniform token info:id = "UsdUVTexture"\n'
        f"asset inputs:file = @{file}@\n{inputs}\n{outputs}\n }}\n"
    )


def made(folder: Path, text: str) -> Material:
    """Return the only material of the only body."""
    (body,) = read(folder, text).bodies.values()
    (one,) = body.materials
    return one
