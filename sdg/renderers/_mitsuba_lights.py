"""Emitters of a Mitsuba scene, in slots, so that lights come and go without another kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdg.mesh import Mesh

from ._lights import Emitters, area_emitter, black_triangle
from ._mitsuba_mesh import make_mesh


def slots_for(count: int) -> int:
    """Return 0 or the power of two, from 4 up, that holds `count`."""
    return 0 if count == 0 else max(4, 1 << (count - 1).bit_length())


def strengths(found: Emitters, center: np.ndarray) -> tuple[list[float], list[float], float]:
    """Return about the irradiance [W/m2] that each area light, each distant light and the sky bring to `center`."""
    area = [float(np.mean(strength)) * _solid_angle(mesh, center) for mesh, strength in found.area]
    distant = [float(np.mean(strength)) for _, strength in found.distant]
    sky = 0.0 if found.environment is None else float(found.environment.mean()) * np.pi
    return area, distant, sky


def radiance_limit(found: Emitters, center: np.ndarray, *, factor: float = 4.0) -> float:
    """Return the most that one path may carry [W/(sr m2)]: `factor` times what white paper at `center` would show.

    Automatic exposure puts that paper near 0.6 of white, so what is cut off is deep in the shoulder of the tone curve.
    """
    area, distant, sky = strengths(found, center)
    total = sum(area) + sum(distant) + sky
    return factor * total / np.pi


def make_emitters(mi: Any, found: Emitters, center: np.ndarray) -> dict[str, Any]:
    """Return emitters by name; their sampling weights follow the light that they bring to `center`."""
    brought, distant, sky = strengths(found, center)
    floor = 0.05 * max([*brought, *distant, sky, 1e-9])
    parts: dict[str, Any] = {}
    black = mi.load_dict({"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.0}})
    for slot in range(slots_for(len(found.area))):
        there = slot < len(found.area)
        mesh, strength = found.area[slot] if there else (black_triangle(center), np.zeros(3))
        props = mi.Properties()
        props["bsdf"] = black
        weight = float(max(brought[slot], floor)) if there else 0.0
        props["emitter"] = area_emitter(mi, strength, weight)
        parts[f"light{slot:03d}"] = make_mesh(mi, f"light{slot:03d}", mesh.vertices, mesh.triangles, props, None, None)
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
        "bitmap": mi.Bitmap(np.ascontiguousarray(picture, np.float32)),
        "to_world": mi.ScalarTransform4f(np.array([[0, 0, -1, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])),
        "sampling_weight": float(max(sky, floor)) if sky > 0 or not (brought or distant) else 0.0,
    }
    return parts


def _solid_angle(mesh: Mesh, center: np.ndarray) -> float:
    """Return about the solid angle [sr] of a small mesh seen from `center`."""
    distance = float(np.linalg.norm(mesh.vertices.mean(axis=0) - center))
    return mesh.area / max(distance * distance, mesh.area, 1e-9)
