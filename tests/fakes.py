"""Small plug-ins for tests: balls that the ray caster renders in no time, and ways to misbehave."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from sdg import Draws, Randomizer, Scene, SceneSource
from sdg.errors import SampleRejected
from sdg.job import Job
from sdg.mesh import make_mesh
from sdg.scene import Body, Camera, Material, Shape
from sdg.transforms import look_at

HERE = Path(__file__)


class Balls(SceneSource):
    """Three balls over a floor, seen by `cameras` cameras of `width` x 12 pixels."""

    width: int = 16
    cameras: int = 1

    def load(self) -> Scene:
        scene = Scene()
        for number in range(3):
            body = Body(f"/World/ball_{number}", octahedron(0.2), semantic_class=("red", "blue")[number % 2])
            body.object_to_world[:3, 3] = [0.4 * number - 0.4, 0.0, 0.2]
            body.shape = Shape("sphere", (0.2, 0.2, 0.2))
            body.materials = [Material(base_color=(0.2 + 0.3 * number, 0.4, 0.3))]
            scene.add(body)
        floor = Body("/World/floor", octahedron(1.0), shape=Shape("plane", (2.0, 2.0, 0.0)))
        scene.add(floor)
        for number in range(self.cameras):
            pose = look_at((0.1 * number, -1.5, 1.0), (0.0, 0.0, 0.1))
            scene.cameras[f"cam{number}"] = Camera(self.width, 12, 14.0, 14.0, self.width / 2, 6.0, pose)
        return scene


def octahedron(radius: float) -> Any:
    """Return a mesh with six corners."""
    corners = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]) * radius
    faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    return make_mesh(corners, np.array(faces))


class Shift(Randomizer):
    """Moves every ball a little; rejects about one draw in eight."""

    rejects: bool = True

    def apply(self, scene: Scene, draw: Draws) -> None:
        if self.rejects and draw.rng.random() < 0.125:
            raise SampleRejected("a draw that the test rejects")
        for name, body in scene.bodies.items():
            if body.labelled:
                body.object_to_world[:3, 3] += draw.note(name, draw.rng.normal(size=3) * 0.1)


class Slow(Randomizer):
    """Takes its time for every sample."""

    seconds: float = 0.02

    def apply(self, scene: Scene, draw: Draws) -> None:
        time.sleep(self.seconds)


class Trouble(Randomizer):
    """Misbehaves when ball 0 is drawn in the way of `at`: the fraction of samples that it hits."""

    how: str = "abort"
    at: float = 0.0

    def apply(self, scene: Scene, draw: Draws) -> None:
        if draw.note("trouble", float(draw.rng.random())) >= self.at:
            return
        if self.how == "abort":
            print("the engine says: cannot select fminimum", flush=True)
            os.abort()
        if self.how == "crash":
            raise ZeroDivisionError("a bug in a plug-in")
        raise OSError(5, "a texture cannot be read")


def job_data(**changes: Any) -> dict[str, Any]:
    """Return a small job as its YAML file would give it; `trouble`, `slow`: options of those randomizers."""
    data: dict[str, Any] = {
        "scene": {"type": f"{HERE}:Balls"},
        "randomizers": [{"type": f"{HERE}:Shift"}],
        "renderer": {"type": "raycast"},
        "writer": {"type": "webdataset", "samples_per_shard": 4},
        "samples": 10,
        "seed": 7,
    }
    for name in ("slow", "trouble"):
        if name in changes:
            data["randomizers"].append({"type": f"{HERE}:{name.title()}", **changes.pop(name)})
    return {**data, **changes}


def make_job(**changes: Any) -> Job:
    """Return a small job."""
    return Job.model_validate(job_data(**changes))
