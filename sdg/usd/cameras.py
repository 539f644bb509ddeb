"""UsdGeom cameras."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdg import transforms
from sdg.scene import Camera

from .geometry import Unusable

HEIGHT = 720
"""Image height [px] of a camera of a stage, which itself has no resolution."""


def read_camera(prim: Any, to_world: np.ndarray, time: Any, *, unit: float) -> Camera:
    """Return the pinhole of a perspective camera. `to_world` and `unit`: see read_light. Raises Unusable."""
    from pxr import UsdGeom

    camera = UsdGeom.Camera(prim)
    if camera.GetProjectionAttr().Get(time) != UsdGeom.Tokens.perspective:
        raise Unusable("it is orthographic; only perspective cameras can be used")
    film = np.array([camera.GetHorizontalApertureAttr().Get(time), camera.GetVerticalApertureAttr().Get(time)], float)
    shift = np.array(
        [camera.GetHorizontalApertureOffsetAttr().Get(time), camera.GetVerticalApertureOffsetAttr().Get(time)]
    )
    focal = float(camera.GetFocalLengthAttr().Get(time))
    if not (np.isfinite([*film, *shift, focal]).all() and min(*film, focal) > 0):
        raise Unusable(f"its focal length is {focal} and its aperture {film[0]} x {film[1]}")
    size = np.array([max(1, round(HEIGHT * film[0] / film[1])), HEIGHT])
    fx, fy = size * focal / film
    # The film moves by its offset, so the optical axis moves the other way; rows count downwards.
    cx, cy = size * (0.5 + np.array([-1.0, 1.0]) * shift / film)
    rigid, _ = transforms.decompose(to_world)
    made = Camera(
        int(size[0]), int(size[1]), float(fx), float(fy), float(cx), float(cy), rigid @ np.diag([1.0, -1.0, -1.0, 1.0])
    )
    clipping = camera.GetClippingRangeAttr()
    if clipping.HasAuthoredValue():
        made.near = max(float(clipping.Get(time)[0]) * unit, 1e-4)
    return made
