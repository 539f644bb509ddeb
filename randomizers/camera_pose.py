"""Look at the scene from a new place."""

from __future__ import annotations

import math
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from sdg import transforms
from sdg.distributions import Distribution, NonNegative, Number, Positive, within
from sdg.errors import SampleRejected, nearest
from sdg.placement import box_of, region_of, select, shell_point, unmatched
from sdg.randomizer import Draws, Randomizer
from sdg.scene import Body, Camera, Scene
from sdg.sight import Sight


class CameraPose(Randomizer):
    """Put cameras on a shell around a target, looking at it.

    A pose is drawn again, at most `tries` times, when the camera is inside of a body or too near to one, when something
    unlabelled hides the target, or when it sees too little of the bodies that count; then the sample is rejected.
    """

    cameras: tuple[str, ...] = Field(("*",), description="names of the cameras; * and ?")
    target: Literal["region", "bodies", "body"] | tuple[float, float, float] = Field(
        "region",
        description="region: its centre; bodies: the centre of those that count; body: a uniform choice of them; or a point [m]",
    )
    bodies: tuple[str, ...] | None = Field(
        None, description="names or classes of the labelled bodies that count; default: the dynamic ones, else all"
    )
    distance: Positive = Field([0.7, 1.4], description="from the target [m], uniform")  # type: ignore[assignment]
    elevation: Number = Field([0.35, 1.25], description="above the horizon [rad], uniform")  # type: ignore[assignment]
    azimuth: Number = Field([0.0, 2 * math.pi], description="from +x about z [rad], uniform")  # type: ignore[assignment]
    jitter: NonNegative = Field(
        [0.0, 0.05], description="length of a uniform direction added to the target [m], uniform"
    )  # type: ignore[assignment]
    roll: Number = Field({"normal": [0.0, 0.05]}, description="about the optical axis [rad], normal")  # type: ignore[assignment]
    field_of_view: Annotated[Positive, within(0.01, 3.0)] | None = Field(
        None, description="horizontal [rad], for a principal point in the middle; default: as it is"
    )
    clearance: float = Field(0.15, ge=0, description="least distance to any surface [m]")
    line_of_sight: bool = Field(True, description="whether nothing unlabelled may stand before the target")
    min_visible: int = Field(400, ge=0, description="least number of pixels of the bodies that count, all together")
    tries: int = Field(50, gt=0, description="poses tried for each camera")

    def check(self, scene: Scene) -> list[str]:
        faults = [
            f"no camera '{pattern}'; {nearest(pattern, scene.cameras)}"
            for pattern in self.cameras
            if not any(fnmatchcase(name, pattern) for name in scene.cameras)
        ]
        labelled = [body for body in scene.bodies.values() if body.labelled]
        return faults + unmatched(scene, self.bodies or (), among=labelled, what="labelled body")

    def apply(self, scene: Scene, draw: Draws) -> None:
        sight = Sight(scene)
        counting = self._counting(scene)
        for name, camera in scene.cameras.items():
            if any(fnmatchcase(name, pattern) for pattern in self.cameras):
                scene.cameras[name] = self._move(scene, sight, counting, name, camera, draw)

    def _counting(self, scene: Scene) -> list[Body]:
        labelled = [body for body in scene.visible_bodies() if body.labelled]
        if self.bodies is not None:
            chosen = {body.name for body in select(scene, self.bodies)}
            return [body for body in labelled if body.name in chosen]
        return [body for body in labelled if body.rigid_body.motion == "dynamic"] or labelled

    def _move(self, scene: Scene, sight: Sight, counting: list[Body], name: str, camera: Camera, draw: Draws) -> Camera:
        reasons: dict[str, int] = {}
        labelled = {body.name for body in scene.bodies.values() if body.labelled}
        for number in range(self.tries):
            attempt = Draws(draw.rng)
            moved, target = self._propose(scene, counting, camera, attempt)
            fault = self._fault(sight, labelled, counting, moved, target)
            if fault is None:
                for key, value in attempt.record.items():
                    draw.note(f"{name}.{key}", value)
                draw.note(f"{name}.tries", number + 1)
                return moved
            reasons[fault] = reasons.get(fault, 0) + 1
        told = ", ".join(
            f"{fault} ({count} times)" for fault, count in sorted(reasons.items(), key=lambda item: -item[1])
        )
        raise SampleRejected(f"camera '{name}' found no pose in {self.tries} tries: {told}")

    def _propose(self, scene: Scene, counting: list[Body], camera: Camera, draw: Draws) -> tuple[Camera, np.ndarray]:
        """Return the moved camera and its target."""
        middle = self._middle(scene, counting, draw)
        target = middle + draw("jitter", self.jitter) * draw.note(
            "jitter_direction", transforms.random_direction(draw.rng)
        )
        elevation, azimuth = draw("elevation", self.elevation), draw("azimuth", self.azimuth)
        eye = shell_point(middle, draw("distance", self.distance), elevation, azimuth)
        pose = transforms.look_at(eye, target, roll=draw("roll", self.roll))
        return replace(camera, camera_to_world=pose, **self._lens(camera, draw)), middle

    def _middle(self, scene: Scene, counting: list[Body], draw: Draws) -> np.ndarray:
        if self.target == "region":
            return np.asarray(region_of(scene).mean(axis=0))
        if not isinstance(self.target, str):
            return np.array(self.target)
        if not counting:
            raise SampleRejected("there is no labelled body for a camera to look at")
        if self.target == "bodies":
            return np.asarray(box_of(counting).mean(axis=0))
        body = counting[int(draw.rng.integers(len(counting)))]
        draw.note("target", body.name)
        return body.bounding_sphere()[0]

    def _lens(self, camera: Camera, draw: Draws) -> dict[str, Any]:
        if self.field_of_view is None:
            return {}
        option: Distribution = self.field_of_view
        factor = camera.width / 2 / math.tan(draw("field_of_view", option) / 2) / camera.fx
        return {"fx": camera.fx * factor, "fy": camera.fy * factor}

    def _fault(
        self, sight: Sight, labelled: set[str], counting: list[Body], camera: Camera, target: np.ndarray
    ) -> str | None:
        """Say why a pose cannot be used."""
        eye = camera.camera_to_world[:3, 3]
        clear = sight.clearance(eye, max(self.clearance, 1e-3), target=target)
        if clear < self.clearance or clear == 0:
            return "inside of a body or too near to one"
        names = {body.name for body in counting}
        if self.line_of_sight and sight.first_obstacle(eye, target, ignore=labelled) < np.inf:
            return "the target is hidden"
        if self.min_visible and sight.visible_pixels(camera, names) < self.min_visible:
            return f"fewer than {self.min_visible} pixels of the bodies that count are in sight"
        return None
