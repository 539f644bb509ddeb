"""From surface shaders to materials: UsdPreviewSurface exactly, other models by the names of their inputs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sdg.scene import Material, Texture

from .networks import shader_kind, value_of
from .textures import Lookup, Textures, Use

# Names of inputs in standard_surface, OpenPBR, glTF PBR, OmniPBR, OmniGlass, OmniSurface and PxrSurface, best first.
_NAMES = {
    "base_color": (
        *("diffuse_texture", "base_color", "diffuse_color_constant", "diffuse_reflection_color_image"),
        *("diffuse_reflection_color", "baseColor", "diffuseColor", "diffuse_color", "glass_color", "color"),
    ),
    "base_weight": ("base", "base_weight", "diffuse_reflection_weight"),
    "tint": ("diffuse_tint",),
    "roughness": (
        *("reflectionroughness_texture", "reflection_roughness_constant", "specular_roughness", "roughness"),
        *("specular_reflection_roughness", "frosting_roughness", "specularRoughness"),
    ),
    "metallic": ("metallic_texture", "metallic_constant", "metalness", "base_metalness", "metallic"),
    "specular": ("specular", "specular_weight"),
    "ior": ("specular_IOR", "specular_ior", "ior", "glass_ior", "specular_reflection_ior"),
    "opacity": ("opacity_texture", "opacity_constant", "opacity", "geometry_opacity", "alpha", "presence"),
    "transmission": ("transmission", "transmission_weight", "specular_transmission_weight"),
    "emission": ("emissive_color_texture", "emission_color", "emissive_color", "emissive", "emissiveColor"),
    "emission_weight": ("emission", "emission_luminance", "emissive_intensity", "emission_weight", "emissive_strength"),
    "normal": ("normalmap_texture", "normal", "geometry_normal"),
}
# What of OmniPBR is off unless a switch or an influence is on.
_SWITCHES = {
    "emissive_color_texture": "enable_emission",
    "emissive_color": "enable_emission",
    "opacity_texture": "enable_opacity_texture",
    "opacity_constant": "enable_opacity",
    "reflectionroughness_texture": "reflection_roughness_texture_influence",
    "metallic_texture": "metallic_texture_influence",
}


@dataclass
class Surface:
    """Collects the values of a material while its shader is read."""

    shader: Any
    time: Any
    textures: Textures
    values: dict[str, Any] = field(default_factory=dict)
    uv_name: str = ""

    def get(self, *names: str) -> Any:
        """Return the first value that one of these inputs has."""
        for name in names:
            switch = _SWITCHES.get(name)
            if switch is None or value_of(self.shader, switch, self.time):
                value = value_of(self.shader, name, self.time)
                if value is not None:
                    return value
        return None

    def number(self, name: str, value: Any) -> None:
        """Take a number or a picture of numbers."""
        if isinstance(value, Lookup):
            one = value if len(value.channels) == 1 else _only(value, "r")
            self._texture(f"{name}_texture", one, "value")
        elif isinstance(value, float | tuple):
            self.values[name] = float(np.mean(value))

    def color(self, name: str, value: Any, *, use: Use = "color") -> None:
        """Take a colour or a picture."""
        if isinstance(value, Lookup):
            if self._texture(f"{name}_texture", value, use) and use == "color":
                self.uv_name = value.uv_name or self.uv_name
        elif isinstance(value, float | tuple):
            self.values[name] = as_color(value)

    def _texture(self, name: str, lookup: Lookup, use: Use) -> Texture | None:
        texture = self.textures(lookup, use)
        if texture is not None:
            self.values[name] = texture
            self.uv_name = self.uv_name or lookup.uv_name
        return texture

    def made(self, name: str) -> Material:
        return Material(**self.values, name=name)


def as_color(value: float | tuple[float, ...]) -> tuple[float, float, float]:
    """Return r, g, b of a number or of a tuple that may hold alpha."""
    r, g, b = (value, value, value) if isinstance(value, float) else (*value, *value[-1:] * 3)[:3]
    return float(r), float(g), float(b)


def _only(lookup: Lookup, channel: str) -> Lookup:
    return replace(lookup, channels=channel)


def read_preview(surface: Surface) -> None:
    """Read the inputs of a UsdPreviewSurface; its clear coat and displacement are left out."""
    surface.values["base_color"] = (0.18, 0.18, 0.18)
    surface.color("base_color", surface.get("diffuseColor"))
    emission = surface.get("emissiveColor")
    surface.color("emission", emission)
    if isinstance(emission, Lookup):
        surface.values["emission"] = (1.0, 1.0, 1.0)
    for name in ("metallic", "roughness", "ior", "opacity"):
        surface.number(name, surface.get(name))
    surface.values["opacity_threshold"] = float(surface.get("opacityThreshold") or 0.0)
    surface.color("normal", _lookup_only(surface.get("normal")), use="normal")
    if surface.get("useSpecularWorkflow"):
        _read_specular(surface)


def _read_specular(surface: Surface) -> None:
    """Approximate the specular workflow: a bright reflection makes a metal, a dark one a weaker dielectric."""
    specular = surface.get("specularColor")
    surface.values.pop("metallic_texture", None)
    surface.values["metallic"] = 0.0
    if isinstance(specular, Lookup):
        surface.textures.warnings.append(f"{surface.shader.GetPath()}: a picture of specular colours is left out")
        return
    color = as_color(specular) if isinstance(specular, float | tuple) else (0.0, 0.0, 0.0)
    if np.mean(color) > 0.2 and "base_color_texture" not in surface.values:
        surface.values |= {"metallic": 1.0, "base_color": color}
    else:
        surface.values |= {"specular": float(np.mean(color)) / 0.04, "ior": 1.5}


def _lookup_only(value: Any) -> Lookup | None:
    return value if isinstance(value, Lookup) else None


def read_named(surface: Surface) -> bool:
    """Read the well-known inputs of any other surface shader; return whether there were any."""
    found = {name: surface.get(*names) for name, names in _NAMES.items()}
    if all(value is None for value in found.values()) and "Glass" not in shader_kind(surface.shader):
        return False
    base = found["base_color"]
    for factor in (found["base_weight"], found["tint"]):
        if isinstance(factor, float | tuple):
            base = _times(0.8 if base is None else base, factor)
    surface.values["base_color"] = (0.8, 0.8, 0.8)
    surface.color("base_color", base)
    for name in ("roughness", "metallic", "opacity", "specular", "ior", "transmission"):
        value = found[name]
        if name in ("specular", "ior", "transmission"):
            value = None if isinstance(value, Lookup) else value
        surface.number(name, value)
    _read_packed(surface)
    _read_emission(surface, found["emission"], found["emission_weight"])
    surface.color("normal", _lookup_only(found["normal"]), use="normal")
    surface.values["opacity_threshold"] = float(surface.get("opacity_threshold", "alpha_cutoff") or 0.0)
    if "Glass" in shader_kind(surface.shader):
        surface.values["transmission"] = 1.0
    return True


def _times(value: Any, factor: float | tuple[float, ...]) -> Any:
    if isinstance(value, Lookup):
        return replace(
            value, scale=tuple(float(s * f) for s, f in zip(value.scale, (*as_color(factor), 1.0), strict=True))
        )
    return tuple(float(v) for v in np.array(as_color(value)) * as_color(factor))


def _read_packed(surface: Surface) -> None:
    """Read OmniPBR's picture of occlusion, roughness and metallic."""
    packed = surface.get("ORM_texture")
    if isinstance(packed, Lookup) and surface.get("enable_ORM_texture"):
        surface.number("roughness", _only(packed, "g"))
        surface.number("metallic", _only(packed, "b"))


def _read_emission(surface: Surface, color: Any, weight: Any) -> None:
    """Read an emission: without a weight only glTF and simple models shine."""
    default = 0.0 if "surface" in shader_kind(surface.shader) and "gltf" not in shader_kind(surface.shader) else 1.0
    strength = weight if isinstance(weight, float) else default
    if strength <= 0 or color is None:
        return
    surface.color("emission", color)
    shown = as_color(color) if isinstance(color, float | tuple) else (1.0, 1.0, 1.0)
    surface.values["emission"] = tuple(float(c * strength) for c in shown)
