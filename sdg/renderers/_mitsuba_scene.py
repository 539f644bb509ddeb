"""A scene in Mitsuba: uploaded once per sample, seen by any number of cameras."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdg.annotations import BACKGROUND
from sdg.mesh import Mesh
from sdg.scene import Body, Camera, Scene
from sdg.sensors.tone import decode_srgb

from . import _lights
from ._pack import Geometry, Tables, pack_bodies, pack_tables
from ._hidden_lights import make_hider_class
from ._surface import make_surface_class


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


def special(body: Body) -> bool:
    """Say whether a body needs its own mesh: it is glass or emits light."""
    return any(material.transmission > 0 or any(material.emission) for material in body.materials)


def slots_for(count: int) -> int:
    """Return 0 or the power of two, from 4 up, that holds `count`: lights come and go without another kernel."""
    return 0 if count == 0 else max(4, 1 << (count - 1).bit_length())


class Stage:
    """Holds one Mitsuba scene and what it was made of."""

    def __init__(self) -> None:
        import drjit as dr
        import mitsuba as mi

        self.mi, self.dr = mi, dr
        self.surface_class = make_surface_class(mi, dr) if "scalar" not in mi.variant() else None
        self.hider_class = make_hider_class(mi, dr)
        self.curve = decode_srgb(np.arange(256, dtype=np.uint8)).astype(np.float64)
        self.clear()

    def clear(self) -> None:
        """Forget the scene."""
        self.made: tuple[Any, ...] = ()
        self.scene: Any = None
        self.offsets = np.zeros(0, np.int64)
        self.lights_met = False

    def show(self, scene: Scene) -> None:
        """Upload `scene`, unless it equals what is there."""
        tables, numbers = pack_tables(scene)
        bodies = scene.visible_bodies()
        ordered = [b for b in bodies if not special(b)] + [b for b in bodies if special(b)]
        geometry = pack_bodies(ordered, numbers)
        emitters = _lights.collect(list(scene.lights.values()))
        made = (geometry, tables, emitters, [b.instance_id for b in ordered])
        if self.made and _equal(made, self.made):
            return
        self.clear()
        self._build(ordered, geometry, tables, emitters)
        self.made = made

    # --- building ---------------------------------------------------------------------------------------------------

    def _build(self, bodies: Sequence[Body], geometry: Geometry, tables: Tables, emitters: _lights.Emitters) -> None:
        parts: dict[str, Any] = {"type": "scene"}
        common = sum(not special(body) for body in bodies)
        groups = [(0, common)] * (common > 0) + [(n, n + 1) for n in range(common, len(bodies))]
        for low, high in groups:
            chosen = np.flatnonzero((geometry.body >= low) & (geometry.body < high))
            if len(chosen):
                first, last = int(chosen[0]), int(chosen[-1]) + 1
                parts[f"bodies{first:09d}"] = self._bodies(bodies[low], geometry, tables, first, last, special(bodies[low]))
        center = geometry.vertices.mean(axis=0) if len(geometry.vertices) else np.zeros(3)
        parts.update(self._emitters(emitters, center))
        self.scene = self.mi.load_dict(parts)
        shapes = self.scene.shapes()
        ids = [int(np.array(self.dr.reinterpret_array(self.mi.UInt32, self.mi.ShapePtr(shape)))[0]) for shape in shapes]
        names = [shape.id() for shape in shapes]
        self.offsets = np.full(max(ids, default=0) + 1, -1, np.int64)
        for name, number in zip(names, ids, strict=True):
            if name.startswith("bodies"):
                self.offsets[number] = int(name.removeprefix("bodies"))

    def _bodies(self, body: Body, g: Geometry, tables: Tables, first: int, last: int, alone: bool) -> Any:
        """Return the mesh of triangles first..last."""
        triangles = g.triangles[first:last]
        low, high = int(triangles.min()), int(triangles.max()) + 1
        material = body.materials[0] if body.materials else None
        props = self.mi.Properties()
        if alone and material is not None and material.transmission > 0:
            props["bsdf"] = self._glass(material)
        else:
            props["bsdf"] = self._surface(tables, g.material[first:last])
        if alone and material is not None and any(material.emission):
            props["emitter"] = self._glow(material)
        mesh = self._mesh(f"bodies{first:09d}", g.vertices[low:high], triangles - low, props, g.normals[low:high], g.uvs[low:high])
        return mesh

    def _mesh(
        self, name: str, vertices: np.ndarray, triangles: np.ndarray, props: Any, normals: np.ndarray | None, uvs: np.ndarray | None
    ) -> Any:
        mesh = self.mi.Mesh(
            name,
            len(vertices),
            len(triangles),
            props=props,
            has_vertex_normals=normals is not None,
            has_vertex_texcoords=uvs is not None,
        )
        values = self.mi.traverse(mesh)
        values["vertex_positions"] = np.ascontiguousarray(vertices, np.float32).ravel()
        values["faces"] = np.ascontiguousarray(triangles, np.uint32).ravel()
        if normals is not None:
            values["vertex_normals"] = np.ascontiguousarray(normals, np.float32).ravel()
        if uvs is not None:
            values["vertex_texcoords"] = np.ascontiguousarray(uvs, np.float32).ravel()
        values.update()
        return mesh

    def _surface(self, tables: Tables, material: np.ndarray) -> Any:
        used = (tables.slots[np.unique(material)] >= 0).any(axis=0)
        rows = tables.materials[np.unique(material)]
        props = self.mi.Properties()
        for slot, there in enumerate(used):
            props[f"slot{slot}"] = bool(there)
        props["cutout"] = bool(used[4] or (rows[:, 6] < 1).any())
        assert self.surface_class is not None
        surface = self.surface_class(props)
        surface.set_tables(tables, material)
        return surface

    def _glass(self, material: Any) -> Any:
        """Return clear or, above a roughness of 0.05, frosted glass."""
        rough = material.roughness > 0.05
        options = {"type": "roughdielectric" if rough else "dielectric", "int_ior": max(float(material.ior), 1.0001)}
        tint = {"type": "rgb", "value": [float(c) for c in material.base_color]}
        options |= {"specular_transmittance": tint} | ({"alpha": float(material.roughness) ** 2} if rough else {})
        return self.mi.load_dict(options)

    def _glow(self, material: Any) -> Any:
        options: dict[str, Any] = {"type": "rgb", "value": [float(c) for c in material.emission]}
        if material.emission_texture is not None:
            pixels = material.emission_texture.pixels
            linear = decode_srgb(pixels) if material.emission_texture.srgb else pixels.astype(np.float32)
            linear = np.ascontiguousarray(linear * np.asarray(material.emission, np.float32))
            options = {"type": "bitmap", "bitmap": self.mi.Bitmap(linear), "raw": True}
        return self.mi.load_dict({"type": "area", "radiance": options})

    def _emitters(self, found: _lights.Emitters, center: np.ndarray) -> dict[str, Any]:
        """Return emitters by name; their sampling weights follow the light that they bring to `center`."""
        brought = [np.mean(strength) * _solid_angle(mesh, center) for mesh, strength in found.area]
        distant = [float(np.mean(strength)) for _, strength in found.distant]
        sky = 0.0 if found.environment is None else float(found.environment.mean()) * np.pi
        floor = 0.05 * max([*brought, *distant, sky, 1e-9])
        parts: dict[str, Any] = {}
        black = self.mi.load_dict({"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.0}})
        for slot in range(slots_for(len(found.area))):
            there = slot < len(found.area)
            mesh, strength = found.area[slot] if there else (_lights.black_triangle(center), np.zeros(3))
            props = self.mi.Properties()
            props["bsdf"] = black
            weight = float(max(brought[slot], floor)) if there else 0.0
            props["emitter"] = _lights.area_emitter(self.mi, strength, weight)
            parts[f"light{slot:03d}"] = self._mesh(f"light{slot:03d}", mesh.vertices, mesh.triangles, props, None, None)
        for slot in range(slots_for(len(found.distant))):
            there = slot < len(found.distant)
            direction, irradiance = found.distant[slot] if there else (np.array([0, 0, -1.0]), np.zeros(3))
            parts[f"distant{slot:03d}"] = {
                "type": "directional",
                "direction": [float(c) for c in direction],
                "irradiance": {"type": "rgb", "value": [float(c) for c in irradiance]},
                "sampling_weight": float(max(distant[slot], floor)) if there else 0.0,
            }
        picture = np.full((2, 4, 3), 0.0, np.float32) if found.environment is None else found.environment
        parts["environment"] = {
            "type": "envmap",
            "bitmap": self.mi.Bitmap(np.ascontiguousarray(picture, np.float32)),
            "to_world": self.mi.ScalarTransform4f(np.array([[0, 0, -1, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])),
            "sampling_weight": float(max(sky, floor)) if sky > 0 or not (brought or distant) else 0.0,
        }
        return parts

    # --- looking ----------------------------------------------------------------------------------------------------

    def color(self, camera: Camera, settings: Any, seed: int, *, hide_lights: bool) -> np.ndarray:
        """Return path-traced radiance [h, w, 3] float32; the box filter makes it independent of the number of threads."""
        mi, count = self.mi, settings.samples_per_pixel
        sensor = mi.load_dict(
            {
                "type": "perspective",
                "fov": float(2 * np.degrees(np.arctan(camera.width / 2 / camera.fx))),
                "fov_axis": "x",
                "principal_point_offset_x": 0.5 - camera.cx / camera.width,
                "principal_point_offset_y": 0.5 - camera.cy / camera.height,
                "near_clip": camera.near,
                "far_clip": 1e6,
                "to_world": mi.ScalarTransform4f(camera.camera_to_world @ np.diag([-1.0, -1.0, 1.0, 1.0])),
                "film": {
                    "type": "hdrfilm",
                    "width": camera.width,
                    "height": camera.height,
                    "rfilter": {"type": "box"},
                    "pixel_format": "rgb",
                },
                "sampler": {"type": sampler_for(count), "sample_count": count},
            }
        )
        integrator = mi.load_dict({"type": "path", "max_depth": settings.max_depth, "rr_depth": 1000})
        if hide_lights:
            integrator = self.hider_class(integrator, mi.Bool(self.offsets < 0))
        picture = mi.render(self.scene, sensor=sensor, integrator=integrator, spp=count, seed=seed)
        return np.array(picture, np.float32)

    def first_hits(self, camera: Camera) -> FirstHits:
        """Cast one ray through each pixel centre; cut-outs let it through, lights are not seen."""
        instance_ids = self.made[3]
        self.lights_met = False
        hit, depth, normals, albedo = self._trace(camera.rays().reshape(-1, 3), camera)
        ids = np.array([*instance_ids, BACKGROUND], np.int64)
        instance = ids[np.where(hit >= 0, self.made[0].body[hit], -1)]
        kind = np.uint16 if ids.max() < 1 << 16 else np.uint32
        size = (camera.height, camera.width)
        ids_seen = instance.astype(kind).reshape(size)
        return FirstHits(depth.reshape(size), normals.reshape(*size, 3), albedo.reshape(*size, 3), ids_seen, self.lights_met)

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

        geometry, tables = self.made[0], self.made[1]
        depth, opacity = np.zeros(len(rays)), np.ones(len(rays))
        normals, albedo = np.zeros((len(rays), 3)), np.zeros((len(rays), 3))
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
            o, d = origins[todo].T, directions[todo].T
            ray = mi.Ray3f(mi.Point3f(np.ascontiguousarray(o)), dr.normalize(mi.Vector3f(np.ascontiguousarray(d))))
            found = self.scene.ray_intersect_preliminary(ray, coherent=True)
            shape = np.array(dr.reinterpret_array(mi.UInt32, found.shape))
            valid = np.array(found.is_valid())
            t = np.array(found.t, np.float64)
            offset = self.offsets[np.where(valid, shape, 0)]
            body = valid & (offset >= 0)
            hit[todo[body]] = offset[body] + np.array(found.prim_index)[body]
            light = np.flatnonzero(valid & (offset < 0))
            self.lights_met |= len(light) > 0
            length = np.linalg.norm(directions[todo[light]], axis=1)
            todo = todo[light]
            origins[todo] += directions[todo] * ((t[light] * (1 + 1e-5) + 1e-5) / length)[:, None]
        return hit


def sampler_for(count: int) -> str:
    """Return the best sampler for `count` samples: multi-jittered (3 dB less noise at 4) where they fill a grid."""
    return "multijitter" if count % int(count**0.5) == 0 else "independent"


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


def _solid_angle(mesh: Mesh, center: np.ndarray) -> float:
    """Return about the solid angle [sr] of a small mesh seen from `center`."""
    from sdg.mesh import face_normals

    area = float(np.linalg.norm(face_normals(mesh.vertices, mesh.triangles), axis=1).sum() / 2)
    distance = float(np.linalg.norm(mesh.vertices.mean(axis=0) - center))
    return area / max(distance * distance, area, 1e-9)


def _equal(a: Any, b: Any) -> bool:
    """Compare nested lists, tuples, dataclasses and arrays."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and bool(np.array_equal(a, b))
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(_equal(getattr(a, name), getattr(b, name)) for name in a.__dataclass_fields__)
    return bool(a == b)
