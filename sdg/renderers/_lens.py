"""The camera of the colour pass: any K, the same rays as the labels."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from sdg.scene import Camera


def make_lens_class(mi: ModuleType, dr: ModuleType) -> type[Any]:
    """Return the sensor class for the active Mitsuba variant."""

    class Lens(mi.Sensor):  # type: ignore[name-defined]
        """Sends rays through the points of the picture by fx, fy, cx, cy."""

        def set_camera(self, camera: Camera) -> None:
            """Take lens and pose of `camera`."""
            k = [camera.width / camera.fx, camera.cx / camera.fx, camera.height / camera.fy, camera.cy / camera.fy]
            self.lens = [mi.Float(float(value)) for value in k]
            pose = np.asarray(camera.camera_to_world, np.float64)
            self.axes = [mi.Vector3f(*(float(value) for value in pose[:3, axis])) for axis in range(3)]
            self.eye = mi.Point3f(*(float(value) for value in pose[:3, 3]))
            self.near = mi.Float(float(camera.near))
            dr.make_opaque(self.lens, self.axes, self.eye, self.near)

        def _direction(self, position: Any) -> Any:
            x = dr.fma(position.x, self.lens[0], -self.lens[1])
            y = dr.fma(position.y, self.lens[2], -self.lens[3])
            return self.axes[0] * x + self.axes[1] * y + self.axes[2]

        def sample_ray(
            self, time: Any, sample1: Any, position: Any, aperture: Any, active: Any = True
        ) -> tuple[Any, Any]:
            direction = self._direction(position)
            ray = mi.Ray3f(self.eye + direction * self.near, dr.normalize(direction))
            return ray, mi.Color3f(1)

        def sample_ray_differential(
            self, time: Any, sample1: Any, position: Any, aperture: Any, active: Any = True
        ) -> tuple[Any, Any]:
            ray, weight = self.sample_ray(time, sample1, position, aperture, active)
            return mi.RayDifferential3f(ray), weight

        def bbox(self) -> Any:
            return mi.BoundingBox3f()

        def to_string(self) -> str:
            return "Lens[]"

    return Lens
