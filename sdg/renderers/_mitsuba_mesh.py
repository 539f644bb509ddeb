"""Meshes of a Mitsuba scene."""

from __future__ import annotations

from typing import Any

import numpy as np


def make_mesh(
    mi: Any,
    name: str,
    vertices: np.ndarray,
    triangles: np.ndarray,
    props: Any,
    normals: np.ndarray | None,
    uvs: np.ndarray | None,
) -> Any:
    mesh = mi.Mesh(
        name,
        len(vertices),
        len(triangles),
        props=props,
        has_vertex_normals=normals is not None,
        has_vertex_texcoords=uvs is not None,
    )
    values = mi.traverse(mesh)
    values["vertex_positions"] = np.ascontiguousarray(vertices, np.float32).ravel()
    values["faces"] = np.ascontiguousarray(triangles, np.uint32).ravel()
    if normals is not None:
        values["vertex_normals"] = np.ascontiguousarray(normals, np.float32).ravel()
    if uvs is not None:
        values["vertex_texcoords"] = np.ascontiguousarray(uvs, np.float32).ravel()
    values.update()
    return mesh
