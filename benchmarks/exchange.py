"""A scene as one npz file that another renderer's script can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sdg.renderers._lights import radiance
from sdg.scene import Body, Camera, Material, Scene


def write_scene(path: Path, scene: Scene, camera: Camera) -> None:
    """Write world-space meshes, materials, rect and dome lights, and a camera."""
    arrays: dict[str, np.ndarray] = {}
    materials: list[Material] = []
    bodies = [_body(arrays, number, body, materials) for number, body in enumerate(scene.visible_bodies())]
    textures: list[Any] = []
    options = {
        "bodies": bodies,
        "materials": [_material(arrays, material, textures) for material in materials],
        "lights": [
            {
                "kind": light.kind,
                "radiance": radiance(light).tolist(),
                "object_to_world": light.object_to_world.tolist(),
                "width": light.width,
                "height": light.height,
            }
            for light in scene.lights.values()
        ],
        "camera": {
            "width": camera.width,
            "height": camera.height,
            "fx": camera.fx,
            "camera_to_world": camera.camera_to_world.tolist(),
        },
    }
    np.savez(path, options=np.array(json.dumps(options)), **arrays)  # type: ignore[arg-type]


def _body(arrays: dict[str, np.ndarray], number: int, body: Body, materials: list[Material]) -> dict[str, Any]:
    mesh = body.mesh
    arrays[f"vertices{number}"] = body.world_vertices().astype(np.float32)
    arrays[f"triangles{number}"] = mesh.triangles
    arrays[f"uvs{number}"] = np.zeros((len(mesh.vertices), 2), np.float32) if mesh.uvs is None else mesh.uvs
    arrays[f"normals{number}"] = (mesh.normals @ body.object_to_world[:3, :3].T).astype(np.float32)
    arrays[f"slots{number}"] = (
        np.zeros(len(mesh.triangles), np.int32) if mesh.material_indices is None else mesh.material_indices
    )
    first = len(materials)
    materials.extend(body.materials)
    return {"name": body.name, "materials": list(range(first, len(materials)))}


def _material(arrays: dict[str, np.ndarray], material: Material, textures: list[Any]) -> dict[str, Any]:
    texture = material.base_color_texture
    options = None
    if texture is not None:
        arrays[f"texture{len(textures)}"] = texture.pixels
        options = {
            "number": len(textures),
            "srgb": texture.srgb,
            "uv_scale": texture.uv_scale,
            "uv_rotation": texture.uv_rotation,
            "uv_offset": texture.uv_offset,
        }
        textures.append(texture)
    return {
        "base_color": material.base_color,
        "roughness": material.roughness,
        "metallic": material.metallic,
        "ior": material.ior,
        "specular": material.specular,
        "texture": options,
    }
