"""Path tracing in which the camera does not see the surfaces of lights, as in USD renderers with light visibility off."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def make_hider_class(mi: ModuleType, dr: ModuleType) -> type[Any]:
    """Return the integrator class for the active Mitsuba variant."""

    class Hider(mi.SamplingIntegrator):  # type: ignore[name-defined]
        """Starts the paths of `inner` behind the lights; `is_light` [ids] says which shapes are lights."""

        def __init__(self, inner: Any, is_light: Any) -> None:
            super().__init__(mi.Properties())
            self.inner, self.is_light = inner, is_light

        def sample(
            self, scene: Any, sampler: Any, ray: Any, medium: Any = None, active: Any = True
        ) -> tuple[Any, Any, list[Any]]:
            def in_light(origin: Any, looking: Any) -> tuple[Any, Any]:
                found = scene.ray_intersect_preliminary(mi.Ray3f(origin, ray.d), True, looking)
                number = dr.reinterpret_array(mi.UInt32, found.shape)
                light = (
                    looking & found.is_valid() & dr.gather(mi.Bool, self.is_light, number, looking & found.is_valid())
                )
                moved = origin + ray.d * (found.t * (1 + 1e-5) + 1e-5)
                return dr.select(light, moved, origin), light

            origin, _ = dr.while_loop(
                state=(mi.Point3f(ray.o), mi.Bool(active)),
                cond=lambda _, looking: looking,
                body=in_light,
                labels=("origin", "looking"),
            )
            ray.o = origin
            return tuple(self.inner.sample(scene, sampler, ray, medium, active))

    return Hider
