"""UsdLux lights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sdg import transforms
from sdg.scene import Light

from .networks import asset_path
from .textures import Lookup, Textures

KINDS = {
    "DomeLight": "dome",
    "DomeLight_1": "dome",
    "DistantLight": "distant",
    "RectLight": "rect",
    "DiskLight": "disk",
    "SphereLight": "sphere",
    "CylinderLight": "cylinder",
}
_SMALLEST = 1e-3
"""Radius [m] of lights that have none."""

# A dome of USD has its pole at +y and the left edge of its picture at -z; to the right it turns through +x
# (OpenEXR's latitude-longitude map). The picture of `Light` has its top at +z and its left edge at +x, and turns to -y.
_PICTURE_TO_DOME = np.array([[0, -1, 0], [0, 0, 1], [-1, 0, 0]], float)
_POLES = {
    "Y": np.eye(3),
    "Z": np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float),
}


def read_light(prim: Any, to_world: np.ndarray, time: Any, textures: Textures, *, unit: float) -> Light:
    """Return the light of a prim. `to_world` [4, 4] maps metres of its frame to the world; `unit`: see read_mesh."""
    rigid, stretch = transforms.decompose(to_world)
    size = np.abs(np.diag(stretch)) * unit

    def get(name: str, default: Any) -> Any:
        attribute = prim.GetAttribute(f"inputs:{name}")
        value = attribute.Get(time) if attribute else None
        return default if value is None else value

    light = Light(
        KINDS[str(prim.GetTypeName())],  # type: ignore[arg-type]
        rigid,
        intensity=float(get("intensity", 1.0)),
        exposure=float(get("exposure", 0.0)),
        color=tuple(float(c) for c in get("color", (1, 1, 1))),  # type: ignore[arg-type]
        color_temperature=float(get("colorTemperature", 6500.0)) if get("enableColorTemperature", False) else None,
        normalize=bool(get("normalize", False)),
    )
    if light.kind == "dome":
        _finish_dome(light, prim, time, textures)
    elif light.kind == "distant":
        _finish_distant(light, math.radians(float(get("angle", 0.53))))
    elif light.kind == "rect":
        light.width, light.height = float(get("width", 1.0)) * size[0], float(get("height", 1.0)) * size[1]
    else:
        _finish_round(light, float(get("radius", 0.5)), float(get("length", 1.0)), size)
    return light


def _finish_distant(light: Light, angle: float) -> None:
    """Turn radiance over the sun's disc into irradiance: its projected solid angle is pi sin^2(angle / 2)."""
    light.angle = angle
    if not light.normalize and angle > 0:
        light.intensity *= math.pi * math.sin(min(angle, math.pi) / 2) ** 2
    light.normalize = False


def _finish_round(light: Light, radius: float, length: float, size: Sequence[float] | np.ndarray) -> None:
    """Set radius and length of a disk, sphere or cylinder, scaled by `size` [3] along its axes."""
    across = {"disk": (0, 1), "sphere": (0, 1, 2), "cylinder": (1, 2)}[light.kind]
    light.radius = max(radius * float(np.mean([size[axis] for axis in across])), _SMALLEST)
    light.length = length * float(size[0])


def _finish_dome(light: Light, prim: Any, time: Any, textures: Textures) -> None:
    from pxr import UsdGeom

    attribute = prim.GetAttribute("inputs:texture:file")
    value = attribute.Get(time) if attribute else None
    path = asset_path(attribute, value, time) if value is not None else ""
    if path:
        light.texture = textures(Lookup(path, str(prim.GetPath())), "light")
    kind = prim.GetAttribute("inputs:texture:format")
    if path and kind and kind.Get(time) not in ("automatic", "latlong", None):
        textures.warnings.append(
            f"{prim.GetPath()}: its picture is read as latitude and longitude, not as {kind.Get(time)}"
        )
    pole = prim.GetAttribute("poleAxis")
    axis = str(pole.Get(time)) if pole and pole.Get(time) else "Y"
    if axis == "scene":
        axis = str(UsdGeom.GetStageUpAxis(prim.GetStage()))
    turn = _POLES.get(axis, np.eye(3)) @ _PICTURE_TO_DOME
    light.object_to_world = transforms.transform(light.object_to_world[:3, :3] @ turn, light.object_to_world[:3, 3])
