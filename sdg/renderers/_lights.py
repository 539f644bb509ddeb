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
    return world, max(world.area, 1e-12)


def _flipped(mesh: Mesh) -> Mesh:
    """Return a mesh that faces the other way."""
    return shapes.make_mesh(mesh.vertices, mesh.triangles[:, ::-1])


def environment(light: Light, strength: np.ndarray, height: int) -> np.ndarray:
    """Return a latitude-longitude map [h, w, 3] of radiance in the world.

    Row 0 looks to +z, column 0 to +x, and columns turn to -y, to the right as seen from inside.
    """
    if light.texture is None:
        return np.broadcast_to(strength.astype(np.float32), (height, 2 * height, 3)).copy()
    pixels = light.texture.pixels
    linear = decode_srgb(pixels) if light.texture.srgb else np.asarray(pixels, np.float32)
    linear = linear.reshape(*linear.shape[:2], -1)
    if linear.shape[2] < 3:
        linear = np.repeat(linear[..., :1], 3, axis=2)
    return turned_map(linear[..., :3] * strength.astype(np.float32), light.object_to_world[:3, :3])


def turned_map(picture: np.ndarray, dome_to_world: np.ndarray) -> np.ndarray:
    """Return a map of the dome's own directions as one of the world's, by bilinear lookup."""
    rotation = dome_to_world / np.linalg.norm(dome_to_world, axis=0)
    if np.allclose(rotation, np.eye(3), atol=1e-7):
        return np.ascontiguousarray(picture, np.float32)
    import cv2

    height, width = picture.shape[:2]
    polar = (np.arange(height) + 0.5) / height * np.pi
    azimuth = -(np.arange(width) + 0.5) / width * 2 * np.pi
    world = np.empty((height, width, 3))
    world[..., 0] = np.sin(polar)[:, None] * np.cos(azimuth)
    world[..., 1] = np.sin(polar)[:, None] * np.sin(azimuth)
    world[..., 2] = np.cos(polar)[:, None]
    x, y, z = np.moveaxis(world @ rotation, -1, 0)  # the transpose turns world directions into the dome's
    column = (-np.arctan2(y, x) / (2 * np.pi)) % 1 * width - 0.5
    row = np.arccos(np.clip(z, -1, 1)) / np.pi * height - 0.5
    padded = cv2.copyMakeBorder(np.ascontiguousarray(picture, np.float32), 0, 0, 1, 1, cv2.BORDER_WRAP)
    maps = (column + 1).astype(np.float32), row.astype(np.float32)
    return np.asarray(cv2.remap(padded, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))


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
