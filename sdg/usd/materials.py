"""The materials that are bound to prims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdg.scene import Material

from .networks import shader_kind
from .surfaces import Surface, read_named, read_preview
from .textures import Textures

_CONTEXTS = ("", "mtlx", "mdl", "glslfx", "ri", "arnold")
_PREVIEW = ("UsdPreviewSurface", "ND_UsdPreviewSurface_surfaceshader")


@dataclass(frozen=True, eq=False)
class Bound:
    """A material and the name of the texture coordinates that it wants ('' for any)."""

    material: Material
    uv_name: str = ""


def path_of(prim: Any) -> str:
    """Return the path under which all copies of a native instance share a prim."""
    return str(prim.GetPrimInPrototype().GetPath() if prim.IsInstanceProxy() else prim.GetPath())


@dataclass
class Materials:
    """Reads each material of a stage once."""

    time: Any
    textures: Textures
    warnings: list[str]
    _bound: dict[str, Bound | None] = field(default_factory=dict)
    _plain: dict[tuple[float, ...], Bound] = field(default_factory=dict)

    def of(self, prim: Any, subsets: list[Any]) -> list[Bound]:
        """Return the materials of a prim and of its material subsets; the display colour stands in for missing ones."""
        own = self._of_one(prim) or self._display_color(prim)
        return [own, *(self._of_one(subset.GetPrim()) or own for subset in subsets)]

    def _of_one(self, prim: Any) -> Bound | None:
        from pxr import UsdShade

        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial(UsdShade.Tokens.full)
        if not material:
            return None
        path = path_of(material.GetPrim())
        if path not in self._bound:
            self._bound[path] = self._read(material)
        return self._bound[path]

    def _read(self, material: Any) -> Bound | None:
        shaders: list[Any] = []
        for context in _CONTEXTS:
            shader = material.ComputeSurfaceSource(context)[0]
            if shader and shader.GetPath() not in [other.GetPath() for other in shaders]:
                shaders.append(shader)
        shaders.sort(key=lambda shader: shader_kind(shader) not in _PREVIEW)
        for shader in shaders:
            surface = Surface(shader, self.time, self.textures)
            if shader_kind(shader) in _PREVIEW:
                read_preview(surface)
            elif not read_named(surface):
                continue
            return Bound(surface.made(str(material.GetPath())), surface.uv_name)
        if shaders:
            kinds = ", ".join(f"'{shader_kind(shader) or 'without an id'}'" for shader in shaders)
            self.warnings.append(f"{material.GetPath()}: its surface {kinds} is not known; the display colour is used")
        return None

    def _display_color(self, prim: Any) -> Bound:
        color, opacity = (
            self._primvar(prim, "displayColor", (0.5, 0.5, 0.5)),
            self._primvar(prim, "displayOpacity", (1.0,)),
        )
        key = tuple(float(np.float32(value)) for value in (*color, *opacity))
        if key not in self._plain:
            name = "display_color_" + "".join(f"{round(255 * min(max(value, 0), 1)):02x}" for value in key)
            self._plain[key] = Bound(Material(base_color=key[:3], opacity=key[3], name=name))  # type: ignore[arg-type]
        return self._plain[key]

    def _primvar(self, prim: Any, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
        from pxr import UsdGeom

        primvar = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance(name)
        value = primvar.ComputeFlattened(self.time) if primvar and primvar.HasValue() else None
        if value is None or not len(value):
            return default
        values = np.array(value, float).reshape(len(value), -1)
        values = values[np.isfinite(values).all(axis=1)]
        if not len(values) or values.shape[1] != len(default):
            return default
        if np.ptp(values, axis=0).max() > 1e-3:
            self.warnings.append(f"{prim.GetPath()}: its {name} varies over the surface; the mean is used")
        return tuple(values.mean(axis=0))
