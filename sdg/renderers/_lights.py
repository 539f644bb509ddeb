"""Lights of a scene as Mitsuba emitters.

Every area light is a small mesh, so that meshes are the only kind of shape and one kernel serves all scenes of a job.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from sdg import mesh as shapes
from sdg import transforms
from sdg.mesh import Mesh
from sdg.scene import Light
from sdg.sensors.blackbody import blackbody_rgb
from sdg.sensors.tone import decode_srgb


@dataclass
class Emitters:
    """What the lights become: area lights as (mesh in the world, radiance), distant ones, and one environment."""

    area: list[tuple[Mesh, np.ndarray]]
    distant: list[tuple[np.ndarray, np.ndarray]]
    environment: np.ndarray | None


def radiance(light: Light) -> np.ndarray:
    """Return colour times strength [3]: W/(sr m2) for area and dome lights, W/m2 for distant ones."""
    color = np.asarray(light.color, float)
    if light.color_temperature is not None:
        color = color * blackbody_rgb(light.color_temperature)
    return np.asarray(color * light.intensity * 2.0**light.exposure)


def collect(lights: list[Light], *, environment_height: int = 128) -> Emitters:
    """Convert lights; several domes are added up into one environment map."""
    found = Emitters([], [], None)
    for light in lights:
        strength = radiance(light)
        if not strength.any():
            continue
        if light.kind == "dome":
            picture = environment(light, strength, environment_height)
            found.environment = picture if found.environment is None else add_maps(found.environment, picture)
        elif light.kind == "distant":
            direction = -light.object_to_world[:3, 2]
            found.distant.append((direction / np.linalg.norm(direction), strength))
        else:
            surface, area = light_mesh(light)
            found.area.append((surface, strength / area if light.normalize else strength))
    return found


def light_mesh(light: Light) -> tuple[Mesh, float]:
    """Return the surface of an area light in the world, shining from its front side, and its area [m2]."""
    if light.kind == "rect":
        flat = shapes.plane(light.width, light.height)
        surface = _flipped(flat)
    elif light.kind == "disk":
        surface = _flipped(shapes.lathe([(light.radius, 0), (0, 0)], segments=24))
    elif light.kind == "sphere":
        surface = shapes.sphere(light.radius, segments=16)
    else:
        tube = shapes.cylinder(light.radius, light.length, segments=16)
        turned = transforms.transform(transforms.axis_angle((0, 1, 0), math.pi / 2))
        surface = shapes.make_mesh(transforms.apply(turned, tube.vertices), tube.triangles)
    world = shapes.make_mesh(transforms.apply(light.object_to_world, surface.vertices), surface.triangles)
    if np.linalg.det(light.object_to_world[:3, :3]) < 0:
        world = _flipped(world)
    area = float(np.linalg.norm(shapes.face_normals(world.vertices, world.triangles), axis=1).sum() / 2)
    return world, max(area, 1e-12)


def _flipped(mesh: Mesh) -> Mesh:
    """Return a mesh that faces the other way."""
    return shapes.make_mesh(mesh.vertices, mesh.triangles[:, ::-1])


def environment(light: Light, strength: np.ndarray, height: int) -> np.ndarray:
    """Return a latitude-longitude map [h, w, 3] of radiance: row 0 looks to +z of the dome, column 0 to +x, turning to +y."""
    if light.texture is None:
        return np.broadcast_to(strength.astype(np.float32), (height, 2 * height, 3)).copy()
    pixels = light.texture.pixels
    linear = decode_srgb(pixels) if light.texture.srgb else np.asarray(pixels, np.float32)
    linear = linear.reshape(*linear.shape[:2], -1)
    if linear.shape[2] < 3:
        linear = np.repeat(linear[..., :1], 3, axis=2)
    return np.asarray(linear[..., :3] * strength.astype(np.float32))


def add_maps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Add two maps at the finer one's size."""
    fine, coarse = (a, b) if a.shape[0] >= b.shape[0] else (b, a)
    rows = np.arange(fine.shape[0]) * coarse.shape[0] // fine.shape[0]
    columns = np.arange(fine.shape[1]) * coarse.shape[1] // fine.shape[1]
    return np.asarray(fine + coarse[rows][:, columns])


def black_triangle(center: np.ndarray) -> Mesh:
    """Return a tiny triangle that fills the place of a light which is not there."""
    return shapes.make_mesh(center + 1e-6 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))


def area_emitter(mi: ModuleType, strength: np.ndarray, weight: float) -> Any:
    """Return the emitter of one area light."""
    values = [float(value) for value in strength]
    return mi.load_dict({"type": "area", "radiance": {"type": "rgb", "value": values}, "sampling_weight": weight})
