"""A small ray caster in NumPy: exact spheres, boxes and planes; the fake behind the renderer's seam and the truth in tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from sdg.annotations import BACKGROUND
from sdg.labels.geometry import camera_vertices, first_hits
from sdg.mesh import face_normals
from sdg.renderer import Frame, Render, Renderer
from sdg.scene import Body, Camera, Scene
from sdg.sensors.tone import encode_srgb


class Raycast(Renderer):
    """First hits with plain shading: no shadows, no textures, no noise. Bodies with a `shape` are intersected exactly."""

    @contextmanager
    def open(self) -> Iterator[Render]:
        yield render


def render(scene: Scene, camera: Camera, annotations: Sequence[str], rng: np.random.Generator) -> Frame:
    """Render what `sdg.annotations.RENDERED` names."""
    rays = camera.rays()
    depth = np.full(rays.shape[:2], np.inf)
    normals = np.zeros(rays.shape)
    instance = np.full(depth.shape, BACKGROUND, np.uint16)
    albedo = np.zeros(rays.shape)
    for body in scene.visible_bodies():
        z, normal = _hit(body, camera, rays)
        nearer = (z < depth) & (z >= camera.near)
        depth[nearer], normals[nearer], instance[nearer] = z[nearer], normal[nearer], body.instance_id
        albedo[nearer] = body.materials[0].base_color if body.materials else 0.5
    facing = np.einsum("hwc,hwc->hw", normals, -rays) / np.linalg.norm(rays, axis=-1)
    normals *= np.where(facing < 0, -1.0, 1.0)[..., None]
    made: Frame = {
        "rgb": encode_srgb(albedo * (0.2 + 0.8 * np.abs(facing))[..., None] * np.isfinite(depth)[..., None]),
        "albedo": encode_srgb(albedo),
        "depth": np.where(np.isfinite(depth), depth, 0).astype(np.float32),
        "normals": normals.astype(np.float32),
        "instance": instance,
    }
    return {name: made[name] for name in annotations}


def _hit(body: Body, camera: Camera, rays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return z [h, w] (inf: no hit) and the unit normal [h, w, 3] in camera axes."""
    if body.shape is None:
        return _hit_mesh(body, camera)
    camera_to_shape = np.linalg.inv(camera.world_to_camera @ body.mesh_to_world)
    origin, directions = camera_to_shape[:3, 3], rays @ camera_to_shape[:3, :3].T
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = {"sphere": _hit_sphere, "box": _hit_box, "plane": _hit_plane}[body.shape.kind]
        z, normal = hit(origin, directions, np.asarray(body.shape.size))
    normal = normal @ camera_to_shape[:3, :3]  # normals transform by the inverse transpose
    return z, normal / np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-30)


def _hit_sphere(origin: np.ndarray, rays: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b, c = np.einsum("hwc,hwc->hw", rays, rays), rays @ origin, origin @ origin - size[0] ** 2
    root = np.sqrt(b * b - a * c)
    z = np.where((-b - root) > 0, (-b - root) / a, (-b + root) / a)
    z = np.where(np.isfinite(z) & (z > 0), z, np.inf)
    return z, origin + rays * np.where(np.isfinite(z), z, 0)[..., None]


def _hit_box(origin: np.ndarray, rays: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, second = (-size / 2 - origin) / rays, (size / 2 - origin) / rays
    enter, leave = np.minimum(first, second), np.maximum(first, second)
    axis_in, axis_out = enter.argmax(axis=-1), leave.argmin(axis=-1)
    near, far = enter.max(axis=-1), leave.min(axis=-1)
    z = np.where(near > 0, near, far)
    z = np.where((near <= far) & (z > 0), z, np.inf)
    normal = np.eye(3)[np.where(near > 0, axis_in, axis_out)]
    points = origin + rays * np.where(np.isfinite(z), z, 0)[..., None]
    return z, normal * np.sign(points)


def _hit_plane(origin: np.ndarray, rays: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    z = -origin[2] / rays[..., 2]
    points = origin + rays * np.where(np.isfinite(z), z, 0)[..., None]
    inside = (np.abs(points[..., :2]) <= size[:2] / 2).all(axis=-1)
    return np.where(inside & (z > 0) & np.isfinite(z), z, np.inf), np.broadcast_to((0.0, 0.0, 1.0), rays.shape)


def _hit_mesh(body: Body, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    vertices = camera_vertices(body, camera)
    z, triangle = first_hits(vertices, body.mesh.triangles, camera)
    faces = face_normals(vertices, body.mesh.triangles)
    faces /= np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-30)
    return z, np.where((triangle >= 0)[..., None], faces[triangle], 0.0)
