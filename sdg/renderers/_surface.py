"""The one surface model of the Mitsuba renderer: every material of a scene in one BSDF.

Materials and textures are rows of tables that a hit looks up by its triangle. So a scene has one mesh and one BSDF
however many bodies and materials it has, and its kernel is compiled once for a job.

Model: a diffuse base under a GGX reflection (Trowbridge-Reitz with height-correlated Smith shadowing, Walter 2007,
Heitz 2014) with Schlick's Fresnel term; metals reflect their base colour. roughness r means alpha = r^2, as in
UsdPreviewSurface. Both sides of a surface look the same.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from ._pack import Tables

ALPHA_MIN = 0.002


def make_surface_class(mi: ModuleType, dr: ModuleType) -> type[Any]:
    """Return the BSDF class for the active Mitsuba variant."""

    class Surface(mi.BSDF):  # type: ignore[name-defined]
        """Tables of materials; `first` is the number of the mesh's first triangle in them."""

        def __init__(self, props: Any) -> None:
            super().__init__(props)
            both = mi.BSDFFlags.FrontSide | mi.BSDFFlags.BackSide
            self.m_components = [mi.BSDFFlags.DiffuseReflection | both, mi.BSDFFlags.GlossyReflection | both]
            if props.get("cutout", False):
                self.m_components = [*self.m_components, mi.BSDFFlags.Null | both]
            self.m_flags = self.m_components[0]
            for component in self.m_components[1:]:
                self.m_flags |= component
            self.cutout = props.get("cutout", False)
            self.used = [props.get(f"slot{n}", False) for n in range(5)]
            self.ggx = mi.MicrofacetType.GGX

        def set_tables(self, tables: Tables, material: np.ndarray) -> None:
            """Take the tables, and the material number of each triangle of the mesh."""
            self.materials = mi.Float(np.ascontiguousarray(tables.materials).ravel())
            self.slots = mi.Int32(np.ascontiguousarray(tables.slots).ravel())
            self.uses = mi.UInt32(np.ascontiguousarray(tables.uses).ravel())
            self.uv_maps = mi.Float(np.ascontiguousarray(tables.uv_maps).ravel())
            self.texels = mi.UInt32(tables.texels)
            self.material = mi.UInt32(material.astype(np.uint32))
            dr.make_opaque(self.materials, self.slots, self.uses, self.uv_maps, self.texels, self.material)

        # --- looking up ---------------------------------------------------------------------------------------------

        def _value(self, number: Any, column: int, active: Any) -> Any:
            return dr.gather(mi.Float, self.materials, number * 8 + column, active)

        def _texture(self, number: Any, slot: int, uv: Any, active: Any) -> tuple[Any, Any]:
            """Return the bilinear texture value (linear, three channels) and whether there is a texture."""
            use = dr.gather(mi.Int32, self.slots, number * 5 + slot, active)
            active = active & (use >= 0)
            use = mi.UInt32(dr.maximum(use, 0))
            info = [dr.gather(mi.UInt32, self.uses, use * 5 + n, active) for n in range(5)]
            row = [dr.gather(mi.Float, self.uv_maps, use * 6 + n, active) for n in range(6)]
            u = dr.fma(row[0], uv.x, dr.fma(row[1], uv.y, row[2]))
            v = 1 - dr.fma(row[3], uv.x, dr.fma(row[4], uv.y, row[5]))
            width, height = mi.Int32(info[1]), mi.Int32(info[2])
            x, y = dr.fma(u, mi.Float(width), -0.5), dr.fma(v, mi.Float(height), -0.5)
            x0, y0 = dr.floor(x), dr.floor(y)
            fx, fy = x - x0, y - y0
            ix, iy = mi.Int32(x0), mi.Int32(y0)
            columns = [_wrap(mi, dr, ix + n, width, info[3]) for n in (0, 1)]
            rows = [_wrap(mi, dr, iy + n, height, info[3]) for n in (0, 1)]
            srgb = info[4] == 1
            value = mi.Color3f(0)
            for j, wy in ((0, 1 - fy), (1, fy)):
                for i, wx in ((0, 1 - fx), (1, fx)):
                    texel = dr.gather(mi.UInt32, self.texels, info[0] + mi.UInt32(rows[j] * width + columns[i]), active)
                    value += wx * wy * _decode(mi, dr, texel, srgb)
            return value, active

        def _scalar(self, number: Any, column: int, slot: int, uv: Any, active: Any) -> Any:
            value = self._value(number, column, active)
            if self.used[slot]:
                texture, there = self._texture(number, slot, uv, active)
                value = dr.select(there, texture.x, value)
            return value

        def _look_up(self, si: Any, active: Any) -> tuple[Any, ...]:
            """Return material number, base colour, alpha, metallic and dielectric F0 at a hit."""
            number = dr.gather(mi.UInt32, self.material, si.prim_index, active)
            base = mi.Color3f(*(self._value(number, n, active) for n in range(3)))
            if self.used[0]:
                texture, there = self._texture(number, 0, si.uv, active)
                base = dr.select(there, texture, base)
            rough = self._scalar(number, 3, 1, si.uv, active)
            metallic = self._scalar(number, 4, 2, si.uv, active)
            return number, base, dr.maximum(rough * rough, ALPHA_MIN), metallic, self._value(number, 5, active)

        def _opacity(self, number: Any, si: Any, active: Any) -> Any:
            opacity = self._scalar(number, 6, 4, si.uv, active)
            threshold = self._value(number, 7, active)
            return dr.select(threshold > 0, dr.select(opacity >= threshold, 1.0, 0.0), opacity)

        def _frame(self, number: Any, si: Any, active: Any) -> Any:
            """Return the frame of the normal map in the frame of the shading normal."""
            texture, there = self._texture(number, 3, si.uv, active)
            normal = dr.normalize(
                mi.Vector3f(2 * texture.x - 1, 2 * texture.y - 1, dr.maximum(2 * texture.z - 1, 0.05))
            )
            tangent = si.to_local(si.dp_du)
            tangent = dr.normalize(mi.Vector3f(tangent.x, tangent.y, 0))
            usable = there & dr.all(dr.isfinite(tangent)) & (dr.squared_norm(si.dp_du) > 0)
            side = mi.Vector3f(-tangent.y, tangent.x, 0)
            normal = tangent * normal.x + side * normal.y + mi.Vector3f(0, 0, normal.z)
            return mi.Frame3f(dr.select(usable, normal, mi.Vector3f(0, 0, 1)))

        # --- the model ----------------------------------------------------------------------------------------------

        def _lobes(self, base: Any, metallic: Any, f0: Any, cos: Any) -> tuple[Any, Any, Any]:
            """Return diffuse albedo, F0 of the reflection, and the probability to sample the reflection."""
            diffuse = base * (1 - metallic) * (1 - f0)
            reflection = dr.lerp(mi.Color3f(f0), base, metallic)
            grazing = (1 - cos) ** 5
            strength = dr.mean(reflection) + (1 - dr.mean(reflection)) * grazing
            return diffuse, reflection, dr.clip(strength / (strength + dr.mean(diffuse) + 1e-6), 0.1, 0.95)

        def _evaluate(self, wi: Any, wo: Any, base: Any, alpha: Any, metallic: Any, f0: Any) -> tuple[Any, Any]:
            """Return f cos and the density for directions above the surface."""
            diffuse, reflection, chance = self._lobes(base, metallic, f0, wi.z)
            half = dr.normalize(wi + wo)
            ggx = mi.MicrofacetDistribution(self.ggx, alpha, alpha, True)
            d, g = ggx.eval(half), ggx.G(wi, wo, half)
            fresnel = reflection + (1 - reflection) * (1 - dr.clip(dr.dot(wi, half), 0, 1)) ** 5
            value = fresnel * (d * g / (4 * wi.z)) + diffuse * (dr.inv_pi * wo.z)
            density = (
                chance * ggx.pdf(wi, half) / (4 * dr.maximum(dr.dot(wi, half), 1e-6)) + (1 - chance) * dr.inv_pi * wo.z
            )
            return value, density

        def _sided(self, number: Any, si: Any, wo: Any, active: Any) -> tuple[Any, Any, Any, Any, Any]:
            """Return wi, wo in the frame of evaluation on the side of wi, the sign of that side, frame, validity."""
            sign = dr.select(si.wi.z >= 0, mi.Float(1), mi.Float(-1))
            wi = mi.Vector3f(si.wi.x, si.wi.y, si.wi.z * sign)
            wo = None if wo is None else mi.Vector3f(wo.x, wo.y, wo.z * sign)
            valid = active & (wi.z > 1e-5)
            frame = None
            if wo is not None:
                valid &= wo.z > 1e-5
            if self.used[3]:
                frame = self._frame(number, si, active)
                wi = frame.to_local(wi)
                wi.z = dr.maximum(wi.z, 1e-3)
                wi = dr.normalize(wi)
                if wo is not None:
                    wo = frame.to_local(wo)
                    valid &= wo.z > 1e-5
            return wi, wo, sign, frame, valid

        def _eval_pdf(self, found: tuple[Any, ...], si: Any, wo: Any, active: Any) -> tuple[Any, Any]:
            number, base, alpha, metallic, f0 = found
            wi, wo, _, _, valid = self._sided(number, si, wo, active)
            value, density = self._evaluate(wi, wo, base, alpha, metallic, f0)
            if self.cutout:
                opacity = self._opacity(number, si, active)
                value, density = value * opacity, density * opacity
            return dr.select(valid, value, 0), dr.select(valid, density, 0)

        def _sample(self, found: tuple[Any, ...], si: Any, sample1: Any, sample2: Any, active: Any) -> tuple[Any, Any]:
            number, base, alpha, metallic, f0 = found
            bs = dr.zeros(mi.BSDFSample3f)
            opacity = mi.Float(1)
            through = mi.Mask(False)
            if self.cutout:
                opacity = self._opacity(number, si, active)
                through = sample1 >= opacity
                sample1 = sample1 / dr.maximum(opacity, 1e-6)
            wi, _, sign, frame, valid = self._sided(number, si, None, active)
            _, _, chance = self._lobes(base, metallic, f0, wi.z)
            ggx = mi.MicrofacetDistribution(self.ggx, alpha, alpha, True)
            half, _ = ggx.sample(wi, sample2)
            wo = dr.select(
                sample1 < chance, mi.reflect(wi, mi.Normal3f(half)), mi.warp.square_to_cosine_hemisphere(sample2)
            )
            value, density = self._evaluate(wi, wo, base, alpha, metallic, f0)
            valid &= (wo.z > 1e-5) & (density > 0)
            if frame is not None:
                wo = frame.to_world(wo)
                valid &= wo.z > 1e-5
            bs.wo = mi.Vector3f(wo.x, wo.y, wo.z * sign)
            bs.pdf = density * opacity
            bs.eta = 1
            bs.sampled_type = mi.UInt32(+mi.BSDFFlags.GlossyReflection)
            bs.sampled_component = 1
            weight = dr.select(valid, value / density, 0)
            if self.cutout:
                bs.wo = dr.select(through, -si.wi, bs.wo)
                bs.pdf = dr.select(through, 1 - opacity, bs.pdf)
                bs.sampled_type = dr.select(through, mi.UInt32(+mi.BSDFFlags.Null), bs.sampled_type)
                bs.sampled_component = dr.select(through, mi.UInt32(2), bs.sampled_component)
                weight = dr.select(through & active, mi.Color3f(1), weight)
            return bs, weight

        # --- Mitsuba's interface ------------------------------------------------------------------------------------

        def sample(self, ctx: Any, si: Any, sample1: Any, sample2: Any, active: Any = True) -> tuple[Any, Any]:
            return self._sample(self._look_up(si, active), si, sample1, sample2, active)

        def eval(self, ctx: Any, si: Any, wo: Any, active: Any = True) -> Any:
            return self._eval_pdf(self._look_up(si, active), si, wo, active)[0]

        def pdf(self, ctx: Any, si: Any, wo: Any, active: Any = True) -> Any:
            return self._eval_pdf(self._look_up(si, active), si, wo, active)[1]

        def eval_pdf(self, ctx: Any, si: Any, wo: Any, active: Any = True) -> tuple[Any, Any]:
            return self._eval_pdf(self._look_up(si, active), si, wo, active)

        def eval_pdf_sample(
            self, ctx: Any, si: Any, wo: Any, sample1: Any, sample2: Any, active: Any = True
        ) -> tuple[Any, Any, Any, Any]:
            found = self._look_up(si, active)
            return (*self._eval_pdf(found, si, wo, active), *self._sample(found, si, sample1, sample2, active))

        def eval_null_transmission(self, si: Any, active: Any = True) -> Any:
            number = dr.gather(mi.UInt32, self.material, si.prim_index, active)
            return mi.Color3f(1 - self._opacity(number, si, active) if self.cutout else 0)

        def traverse(self, callback: Any) -> None:
            """Expose nothing: the tables are replaced as a whole."""

        def to_string(self) -> str:
            return "Surface[]"

    return Surface


def _wrap(mi: ModuleType, dr: ModuleType, index: Any, size: Any, mode: Any) -> Any:
    """Return a texel index inside of 0..size-1 by wrap mode: 0 repeat, 1 clamp, 2 mirror."""
    repeated = index - size * mi.Int32(dr.floor(mi.Float(index) / mi.Float(size)))
    repeated = dr.clip(repeated, 0, size - 1)
    period = 2 * size
    folded = index - period * mi.Int32(dr.floor(mi.Float(index) / mi.Float(period)))
    mirrored = dr.select(folded < size, folded, period - 1 - folded)
    clamped = dr.clip(index, 0, size - 1)
    return dr.select(mode == 0, repeated, dr.select(mode == 1, clamped, dr.clip(mirrored, 0, size - 1)))


def _decode(mi: ModuleType, dr: ModuleType, texel: Any, srgb: Any) -> Any:
    """Return a texel as linear colour; the sRGB curve by a cubic, within 0.0025 of the exact one."""
    value = mi.Color3f(mi.Float(texel & 255), mi.Float((texel >> 8) & 255), mi.Float((texel >> 16) & 255)) * (1 / 255)
    curve = value * (value * (value * 0.305306011 + 0.682171111) + 0.012522878)
    return dr.select(srgb, curve, value)
