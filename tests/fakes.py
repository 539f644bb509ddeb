"""Small plug-ins for tests: balls that the ray caster renders in no time, and ways to misbehave."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from sdg import Draws, Randomizer, Scene, SceneSource
from sdg.errors import SampleRejected, SdgError
from sdg.execution.events import Event
from sdg.execution.execute import execute
from sdg.job import Job
from sdg.mesh import make_mesh
from sdg.scene import Body, Camera, Material, Shape
from sdg.transforms import look_at

HERE = Path(__file__)


class Balls(SceneSource):
    """Three balls over a floor, seen by `cameras` cameras of `width` x 12 pixels.

    Without labels nothing is compiled or loaded from the cache of compiled code: a process starts faster.
    """

    width: int = 16
    cameras: int = 1
    labelled: bool = True

    def load(self) -> Scene:
        scene = Scene()
        for number in range(3):
            body = Body(
                f"/World/ball_{number}",
                octahedron(0.2),
                semantic_class=("red", "blue")[number % 2] if self.labelled else "",
            )
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
            if "ball" in name:
                body.object_to_world[:3, 3] += draw.note(name, draw.rng.normal(size=3) * 0.1)


class Slow(Randomizer):
    """Takes its time for every sample."""

    seconds: float = 0.02

    def apply(self, scene: Scene, draw: Draws) -> None:
        time.sleep(self.seconds)


class Trouble(Randomizer):
    """Misbehaves in the samples that draw less than `below`."""

    how: str = "abort"
    below: float = 1.0

    def apply(self, scene: Scene, draw: Draws) -> None:
        if draw.note("trouble", float(draw.rng.random())) >= self.below:
            return
        if self.how == "abort":
            print("the engine says: cannot select", flush=True)
            os.abort()
        if self.how == "crash":
            raise ZeroDivisionError("a bug in a plug-in")
        raise SampleRejected("this never works")


def job_data(**changes: Any) -> dict[str, Any]:
    """Return a small job as its YAML file would give it; `trouble`, `slow`: options of those randomizers; `light`: no labels."""
    data: dict[str, Any] = {
        "scene": {"type": f"{HERE}:Balls", "labelled": not changes.pop("light", False)},
        "randomizers": [{"type": f"{HERE}:Shift", "name": "shift"}],
        "renderer": {"type": "raycast"},
        "writer": {"type": "webdataset", "samples_per_shard": 4},
        "samples": 10,
        "seed": 7,
    }
    for name in ("slow", "trouble"):
        if name in changes:
            data["randomizers"].append({"type": f"{HERE}:{name.title()}", "name": name, **changes.pop(name)})
    return {**data, **changes}


def make_job(**changes: Any) -> Job:
    """Return a small job."""
    return Job.model_validate(job_data(**changes))


def write_job(path: Path, **changes: Any) -> Job:
    """Write a small job to a file (JSON is YAML) and return it."""
    path.write_text(json.dumps(job_data(**changes)))
    return Job.load(path)


def contents(output: Path) -> dict[str, bytes]:
    """Return every file in an output folder."""
    return {path.relative_to(output).as_posix(): path.read_bytes() for path in output.rglob("*") if path.is_file()}


def say(event: Event) -> None:
    """Print an event as a line of JSON."""
    print(json.dumps(vars(event)), flush=True)


def main(job: str, output: str, workers: str, file_limit: str = "0") -> int:
    """Run a job as a command does; `file_limit` [bytes] limits the size of files."""
    if int(file_limit):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(file_limit), int(file_limit)))
    try:
        report = execute(Job.load(Path(job)), Path(output), job_path=Path(job), workers=int(workers), on_event=say)
    except SdgError as error:
        print(error, file=sys.stderr)
        return 1
    print(report.message, file=sys.stderr)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
