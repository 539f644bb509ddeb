"""Let bodies fall until they rest."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, PrivateAttr

from sdg.errors import SampleRejected, SceneError
from sdg.physics.colliders import Colliders
from sdg.physics.settling import SettleOptions, SettleReport, settle
from sdg.placement import box_of, region_of
from sdg.randomizer import Draws, Randomizer
from sdg.scene import Scene


class Settle(Randomizer):
    """Simulate the dynamic bodies with MuJoCo until all of them rest. Draws nothing.

    A sample is rejected when its bodies are not at rest in time, the solver complains or bodies are pressed into each
    other. A body that leaves the region (sideways or below) is taken away, or the sample is rejected.
    """

    seconds: float = Field(6.0, gt=0, le=120, description="longest simulated time [s]")
    linear: float = Field(0.01, gt=0, description="a body rests below this speed [m/s]")
    angular: float = Field(0.15, gt=0, description="a body rests below this angular speed [rad/s]")
    hold: float = Field(0.25, ge=0, description="how long bodies must rest [s]")
    not_at_rest: Literal["reject", "accept"] = Field("reject", description="what happens when time is up")
    max_penetration: float = Field(0.004, gt=0, description="deepest penetration of an accepted sample [m]")
    on_leave: Literal["remove", "reject"] = Field("remove", description="what happens to bodies that leave the region")
    margin: float = Field(0.05, ge=0, description="how far [m] outside of the region a body's centre may come to rest")

    _colliders: Colliders = PrivateAttr(default_factory=Colliders)

    def apply(self, scene: Scene, draw: Draws) -> None:
        options = SettleOptions(self.seconds, self.linear, self.angular, self.hold, bounds=self._bounds(scene))
        removed: list[str] = []
        while True:
            report = self._settle(scene, options)
            if not report.out_of_bounds:
                break
            if self.on_leave == "reject":
                raise SampleRejected(
                    f"{len(report.out_of_bounds)} bodies left the region, {report.out_of_bounds[0]} among them"
                )
            # What lay against a body that is taken away must be let fall again.
            removed += report.out_of_bounds
            for name in report.out_of_bounds:
                del scene.bodies[name]
        draw.note("removed", removed)
        draw.note("seconds", round(report.seconds, 6))
        draw.note("deepest_penetration", round(report.deepest_penetration, 9))
        draw.note("at_rest", report.at_rest)

    def _settle(self, scene: Scene, options: SettleOptions) -> SettleReport:
        try:
            report = settle(scene, self._colliders, options)
        except SceneError as error:
            raise SampleRejected(str(error)) from None
        if report.warnings:
            raise SampleRejected(f"the physics solver gave up: {report.warnings[0]}")
        if not report.at_rest and self.not_at_rest == "reject":
            inside = {name: speed for name, speed in report.speeds.items() if name not in report.out_of_bounds}
            name = max(inside, key=lambda name: max(inside[name][0] / self.linear, inside[name][1] / self.angular))
            raise SampleRejected(
                f"not at rest after {self.seconds:g} s: {name} still moves at {inside[name][0]:.3g} m/s "
                f"and {inside[name][1]:.3g} rad/s"
            )
        if report.deepest_penetration > self.max_penetration:
            raise SampleRejected(f"bodies are {report.deepest_penetration * 1000:.1f} mm deep in each other")
        return report

    def _bounds(self, scene: Scene) -> np.ndarray | None:
        """Return the region and what is above it, grown by the margin."""
        if scene.region is None and not scene.visible_bodies():
            return None
        bounds = region_of(scene) if scene.region is not None else box_of(scene.visible_bodies())
        grown = bounds + np.array([[-1.0], [1.0]]) * self.margin
        grown[1, 2] = np.inf
        return np.asarray(grown)
