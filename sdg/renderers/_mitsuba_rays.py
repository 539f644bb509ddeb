"""Single rays in a Mitsuba scene: first hits for labels, and guides for the denoiser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdg.annotations import BACKGROUND
from sdg.scene import Camera
from sdg.sensors.tone import decode_srgb

from ._pack import Geometry, Tables


@dataclass
class FirstHits:
    """What the ray of each pixel centre hits: z [h, w] [m], normals in camera axes and linear albedo [h, w, 3], ids [h, w].

    `lights`: a ray went through the surface of a light.
    """

    depth: np.ndarray
    normals: np.ndarray
    albedo: np.ndarray
    instance: np.ndarray
    lights: bool


class RayCaster:
    """Casts rays into `scene`; `offsets` [shape id]: number of a shape's first triangle in `geometry`, -1 for lights."""

    def __init__(
        self, scene: Any, offsets: np.ndarray, geometry: Geometry, tables: Tables, instance_ids: Sequence[int]
    ) -> None:
        import drjit as dr
        import mitsuba as mi

        self.mi, self.dr = mi, dr
        self.scene, self.offsets, self.geometry, self.tables = scene, offsets, geometry, tables
        self.instance_ids = instance_ids
        self.curve = decode_srgb(np.arange(256, dtype=np.uint8)).astype(np.float64)
        self.lights_met = False

    def first_hits(self, camera: Camera) -> FirstHits:
        """Cast one ray through each pixel centre; cut-outs let it through, lights are not seen."""
        self.lights_met = False
        hit, depth, normals, albedo = self._trace(camera.rays().reshape(-1, 3), camera)
        kind = np.uint16 if max(self.instance_ids, default=0) < 1 << 16 else np.uint32
        ids = np.array([*self.instance_ids, BACKGROUND], kind)  # the last one is for -1: no hit
        instance = ids[np.where(hit >= 0, self.geometry.body[hit], -1)]
        size = (camera.height, camera.width)
        ids_seen = instance.reshape(size)
        return FirstHits(
            depth.reshape(size), normals.reshape(*size, 3), albedo.reshape(*size, 3), ids_seen, self.lights_met
        )

    def guides(self, camera: Camera, hits: FirstHits) -> tuple[np.ndarray, np.ndarray]:
        """Return albedo and normals [h, w, 3] float32, filtered over the pixel where they vary, for the denoiser.

        Guides with hard edges cost 4 dB, so pixels that differ from a neighbour get the mean of 2 x 2 rays.
        """
        albedo, normals = hits.albedo.clip(0, 1), hits.normals.copy()
        rows, columns = np.nonzero(_varying(np.concatenate([albedo, normals / 2], axis=-1)))
        if len(rows):
            step = np.array([1 / camera.fx, 1 / camera.fy, 1.0])
            grid = np.array([(x, y, 0) for y in (-0.25, 0.25) for x in (-0.25, 0.25)]) * step
            rays = (camera.rays()[rows, columns][:, None] + grid).reshape(-1, 3)
            _, _, fine_normals, fine_albedo = self._trace(rays, camera)
            albedo[rows, columns] = fine_albedo.clip(0, 1).reshape(-1, 4, 3).mean(axis=1)
            normals[rows, columns] = fine_normals.reshape(-1, 4, 3).mean(axis=1)
        return np.ascontiguousarray(albedo, np.float32), np.ascontiguousarray(normals, np.float32)

    def _trace(self, rays: np.ndarray, camera: Camera) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return triangle (-1: none), z [m], normal and albedo of rays [n, 3] in camera axes with z = 1."""
        from ._kernels import resolve

        geometry, tables = self.geometry, self.tables
        depth, opacity = np.zeros(len(rays)), np.ones(len(rays))
        normals, albedo = np.zeros((len(rays), 3), np.float32), np.zeros((len(rays), 3), np.float32)
        rotation = camera.world_to_camera[:3, :3]
        vertices = geometry.vertices.astype(np.float64) @ rotation.T + camera.world_to_camera[:3, 3]
        turned = geometry.normals.astype(np.float64) @ rotation.T
        hit = self._cast(rays, camera, np.full(len(rays), camera.near))
        for _ in range(64):
            resolve(
                rays, hit, vertices, turned, geometry.uvs, geometry.triangles, geometry.material, tables.materials, tables.slots,
                tables.uses, tables.uv_maps, tables.texels, self.curve, depth, normals, albedo, opacity,
            )  # fmt: skip
            through = np.flatnonzero((hit >= 0) & (opacity < 0.5))
            if not len(through):
                break
            hit[through] = self._cast(rays[through], camera, depth[through] * (1 + 1e-5) + 1e-5)
            missed = through[hit[through] < 0]
            depth[missed], normals[missed], albedo[missed], opacity[missed] = 0, 0, 0, 1
        return hit, depth, normals, albedo

    def _cast(self, rays: np.ndarray, camera: Camera, start: np.ndarray) -> np.ndarray:
        """Return the triangle that each ray [n, 3] (camera axes, z = 1) hits beyond z = start [n] [m], -1 for none."""
        mi, dr = self.mi, self.dr
        directions = rays @ camera.camera_to_world[:3, :3].T
        origins = camera.camera_to_world[:3, 3] + directions * start[:, None]
        hit = np.full(len(rays), -1, np.int64)
        todo = np.arange(len(rays))
        while len(todo):
            o, d = np.ascontiguousarray(origins[todo].T), np.ascontiguousarray(directions[todo].T)
            ray = mi.Ray3f(mi.Point3f(o), dr.normalize(mi.Vector3f(d)))
            found = self.scene.ray_intersect_preliminary(ray, coherent=True)
            results = dr.reinterpret_array(mi.UInt32, found.shape), found.is_valid(), found.t, found.prim_index
            dr.eval(*results)  # together: one kernel, one cast
            shape, valid, t, triangle = (np.array(result) for result in results)
            offset = self.offsets[np.where(valid, shape, 0)]
            body = valid & (offset >= 0)
            hit[todo[body]] = offset[body] + triangle[body]
            light = np.flatnonzero(valid & (offset < 0))
            self.lights_met |= len(light) > 0
            length = np.linalg.norm(directions[todo[light]], axis=1)
            todo = todo[light]
            origins[todo] += directions[todo] * ((t[light].astype(np.float64) * (1 + 1e-5) + 1e-5) / length)[:, None]
        return hit


def _varying(values: np.ndarray, *, least: float = 0.02) -> np.ndarray:
    """Return which pixels of `values` [h, w, c] differ from a direct neighbour by more than `least`."""
    varying = np.zeros(values.shape[:2], bool)
    for axis in (0, 1):
        step = np.abs(np.diff(values, axis=axis)).max(axis=-1) > least
        before, after = [slice(None)] * 2, [slice(None)] * 2
        before[axis], after[axis] = slice(None, -1), slice(1, None)
        varying[tuple(before)] |= step
        varying[tuple(after)] |= step
    return varying
