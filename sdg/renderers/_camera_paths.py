"""Path tracing as a camera wants it: the surfaces of lights are not seen, and single paths cannot outshine a pixel."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def make_camera_paths_class(mi: ModuleType, dr: ModuleType) -> type[Any]:
    """Return the integrator class for the active Mitsuba variant."""

    class CameraPaths(mi.SamplingIntegrator):  # type: ignore[name-defined]
        """Traces the paths of `inner`; `is_light` [shape ids] says which shapes are lights, or None where none is in sight.

        A path's radiance is scaled down to `limit`: rare paths from a glossy surface to a lamp carry a thousand times a
        pixel's light and would need thousands of paths to average out.
        """

        def __init__(self, inner: Any, limit: float, is_light: Any = None) -> None:
            super().__init__(mi.Properties())
            self.inner, self.is_light = inner, is_light
            self.limit = mi.Float(limit)
            dr.make_opaque(self.limit)

        def sample(
            self, scene: Any, sampler: Any, ray: Any, medium: Any = None, active: Any = True
        ) -> tuple[Any, Any, list[Any]]:
            if self.is_light is not None:
                ray.o = self._behind_lights(scene, ray, active)
            radiance, valid, extra = self.inner.sample(scene, sampler, ray, medium, active)
            return radiance * dr.minimum(1, self.limit / dr.maximum(dr.max(radiance), 1e-12)), valid, extra

        def _behind_lights(self, scene: Any, ray: Any, active: Any) -> Any:
            """Return the origin of each ray, moved behind the lights that it would hit first."""

            def step(origin: Any, looking: Any) -> tuple[Any, Any]:
                found = scene.ray_intersect_preliminary(mi.Ray3f(origin, ray.d), True, looking)
                number = dr.reinterpret_array(mi.UInt32, found.shape)
                hit = looking & found.is_valid()
                light = hit & dr.gather(mi.Bool, self.is_light, number, hit)
                moved = origin + ray.d * (found.t * (1 + 1e-5) + 1e-5)
                return dr.select(light, moved, origin), light

            origin, _ = dr.while_loop(
                state=(mi.Point3f(ray.o), mi.Bool(active)),
                cond=lambda _, looking: looking,
                body=step,
                labels=("origin", "looking"),
            )
            return origin

    return CameraPaths
