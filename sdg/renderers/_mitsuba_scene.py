"""A scene in Mitsuba: uploaded once per sample, seen by any number of cameras."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdg.scene import Camera, Material, Scene
from sdg.sensors.tone import decode_srgb

from ._camera_paths import make_camera_paths_class
from ._lens import make_lens_class
from ._lights import Emitters, collect
from ._mitsuba_lights import make_emitters, radiance_limit
from ._mitsuba_mesh import make_mesh
from ._mitsuba_rays import RayCaster
from ._pack import Geometry, Group, Tables, arrange, equal, pack_bodies, pack_tables, special, uv_map
from ._surface import make_surface_class


class Stage:
    """Holds one Mitsuba scene and what it was made of."""

    def __init__(self) -> None:
        import drjit as dr
        import mitsuba as mi

        self.mi, self.dr = mi, dr
        self.surface_class = make_surface_class(mi, dr)
        self.paths_class = make_camera_paths_class(mi, dr)
        self.lens_class = make_lens_class(mi, dr)
        self.clear()

    def clear(self) -> None:
        """Forget the scene."""
        self.made: tuple[Any, ...] = ()
        self.scene: Any = None
        self.rays: Any = None  # holds the scene too: while an old one lives, a new one needs another kernel

    def show(self, scene: Scene) -> None:
        """Upload `scene`, unless it equals what is there."""
        tables, materials = pack_tables(scene)
        numbers = {id(material): number for number, material in enumerate(materials)}
        bodies = scene.visible_bodies()
        geometry, groups = arrange(pack_bodies(bodies, numbers), [special(material) for material in materials])
        emitters = collect(list(scene.lights.values()))
        looks = [materials[group.material] for group in groups if group.material is not None]
        made = (geometry, tables, emitters, looks, [body.instance_id for body in bodies])
        if self.made and equal(made, self.made):
            return
        self.clear()
        self._build(geometry, groups, tables, materials, emitters)
        self.rays = RayCaster(self.scene, self._offsets(), geometry, tables, made[-1])
        self.made = made

    def _build(
        self,
        geometry: Geometry,
        groups: Sequence[Group],
        tables: Tables,
        materials: Sequence[Material],
        emitters: Emitters,
    ) -> None:
        parts: dict[str, Any] = {"type": "scene"}
        for group in groups:
            look = None if group.material is None else materials[group.material]
            name = f"bodies{group.first:09d}"
            parts[name] = self._part(name, geometry, group, tables, look)
        center = geometry.vertices.mean(axis=0) if len(geometry.vertices) else np.zeros(3)
        parts.update(make_emitters(self.mi, emitters, center))
        glow = max((max(material.emission) for material in materials), default=0.0)
        self.limit = max(radiance_limit(emitters, center), 2 * glow)
        self.scene = self.mi.load_dict(parts)

    def _offsets(self) -> np.ndarray:
        """Return the number of each shape's first triangle by shape id; -1 for lights."""
        first = {}
        for shape in self.scene.shapes():
            pointer = self.dr.reinterpret_array(self.mi.UInt32, self.mi.ShapePtr(shape))
            name = shape.id()
            first[int(np.array(pointer)[0])] = int(name.removeprefix("bodies")) if name.startswith("bodies") else -1
        offsets = np.full(max(first, default=0) + 1, -1, np.int64)
        offsets[list(first)] = list(first.values())
        return offsets

    def _part(self, name: str, g: Geometry, group: Group, tables: Tables, look: Material | None) -> Any:
        """Return the mesh of one group of triangles; `look` is its special material."""
        chosen = slice(group.first, group.last)
        used, triangles = np.unique(g.triangles[chosen], return_inverse=True)
        props = self.mi.Properties()
        glass = look is not None and look.transmission > 0
        props["bsdf"] = self._glass(look) if glass else self._surface(tables, g.material[chosen])
        if look is not None and any(look.emission):
            props["emitter"] = self._glow(look)
        return make_mesh(
            self.mi, name, g.vertices[used], triangles.reshape(-1, 3), props, normals=g.normals[used], uvs=g.uvs[used]
        )

    def _surface(self, tables: Tables, material: np.ndarray) -> Any:
        used = (tables.slots[np.unique(material)] >= 0).any(axis=0)
        rows = tables.materials[np.unique(material)]
        props = self.mi.Properties()
        for slot, there in enumerate(used):
            props[f"slot{slot}"] = bool(there)
        props["cutout"] = bool(used[4] or (rows[:, 6] < 1).any())
        surface = self.surface_class(props)
        surface.set_tables(tables, material)
        return surface

    def _glass(self, material: Any) -> Any:
        """Return clear or, above a roughness of 0.05, frosted glass."""
        rough = material.roughness > 0.05
        options: dict[str, Any] = {"type": "roughdielectric" if rough else "dielectric"}
        options["int_ior"] = max(float(material.ior), 1.0001)
        tint = {"type": "rgb", "value": [float(c) for c in material.base_color]}
        options |= {"specular_transmittance": tint} | ({"alpha": float(material.roughness) ** 2} if rough else {})
        return self.mi.load_dict(options)

    def _glow(self, material: Any) -> Any:
        """Return the emitter of a body that shines."""
        options: dict[str, Any] = {"type": "rgb", "value": [float(c) for c in material.emission]}
        texture = material.emission_texture
        if texture is not None:
            linear = decode_srgb(texture.pixels) if texture.srgb else texture.pixels.astype(np.float32)
            linear = linear.reshape(*linear.shape[:2], -1) * np.asarray(material.emission, np.float32)
            rows = np.ascontiguousarray(linear[::-1], np.float32)  # Mitsuba's rows start at v = 0
            to_uv = np.eye(3, dtype=np.float32)
            to_uv[:2] = np.reshape(uv_map(texture), (2, 3))
            options = {"type": "bitmap", "bitmap": self.mi.Bitmap(rows), "raw": True}
            options |= {"to_uv": self.mi.ScalarTransform3f(to_uv), "wrap_mode": texture.wrap}
        return self.mi.load_dict({"type": "area", "radiance": options})

    # --- looking ----------------------------------------------------------------------------------------------------

    def color(self, camera: Camera, settings: Any, seed: int, *, hide_lights: bool) -> np.ndarray:
        """Return path-traced radiance [h, w, 3] float32; the box filter makes it independent of the number of threads."""
        mi, count = self.mi, settings.samples_per_pixel
        film = {"type": "hdrfilm", "width": camera.width, "height": camera.height, "pixel_format": "rgb"}
        film["rfilter"] = {"type": "box"}
        props = mi.Properties()
        props["film"] = mi.load_dict(film)
        props["sampler"] = mi.load_dict({"type": sampler_for(count), "sample_count": count})
        sensor = self.lens_class(props)
        sensor.set_camera(camera)
        integrator = mi.load_dict({"type": "path", "max_depth": settings.max_depth, "rr_depth": 1000})
        is_light = mi.Bool(self.rays.offsets < 0) if hide_lights else None
        integrator = self.paths_class(integrator, self.limit, is_light)
        picture = mi.render(self.scene, sensor=sensor, integrator=integrator, spp=count, seed=seed)
        return np.array(picture, np.float32)


def sampler_for(count: int) -> str:
    """Return the best sampler for `count` samples: multi-jittered (3 dB less noise at 4) where they fill a grid."""
    return "multijitter" if count % int(count**0.5) == 0 else "independent"
