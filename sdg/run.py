"""The main path: a job in, shards of labelled samples out. Start reading here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .annotations import RENDERED
from .errors import JobError, SampleRejected, nearest
from .job import Job
from .labels import label_view
from .random import rng_for
from .randomizer import Draws
from .renderer import Render
from .sample import Sample, View
from .scene import Scene


@dataclass
class Studio:
    """An open renderer with a job's scene: makes any sample of the job. One per process."""

    job: Job
    scene: Scene
    render: Render

    def sample(self, index: int) -> Sample:
        """Return sample number `index`."""
        return make_sample(self.job, self.scene, self.render, index)


@contextmanager
def open_studio(job: Job, scene: Scene | None = None) -> Iterator[Studio]:
    """Load the scene of `job` and start its renderer."""
    scene = load_scene(job) if scene is None else scene
    with job.renderer.open() as render:
        yield Studio(job, scene, render)


def make_sample(job: Job, scene: Scene, render: Render, index: int) -> Sample:
    """Return sample number `index` of `job`: the same on every machine and in every order.

    A draw that can make no usable sample is rejected and drawn again, at most `job.max_rejections` times; the reasons
    are recorded in the sample.
    """
    rejections: list[str] = []
    for attempt in range(job.max_rejections + 1):
        try:
            return _attempt(job, scene, render, index, attempt, rejections)
        except SampleRejected as rejected:
            rejections.append(str(rejected))
    raise JobError(
        f"sample {index} was rejected {len(rejections)} times, the last time because: {rejections[-1]}. "
        "Widen the randomizers' ranges or raise `max_rejections`."
    )


def _attempt(job: Job, scene: Scene, render: Render, index: int, attempt: int, rejections: list[str]) -> Sample:
    scene = scene.copy()
    draws: dict[str, Any] = {}
    for randomizer in job.randomizers:
        draw = Draws(rng_for(job.seed, index, randomizer.stream, attempt))
        randomizer.apply(scene, draw)
        draws[randomizer.stream] = draw.record
    rendered = tuple(name for name in RENDERED if name in job.annotations or name in ("depth", "instance"))
    views = {}
    for name, camera in scene.cameras.items():
        frame = render(scene, camera, rendered, rng_for(job.seed, index, f"camera:{name}", attempt))
        views[name] = View(camera, *label_view(scene, camera, frame, job.annotations))
    meta = {"index": index, "seed": job.seed, "attempt": attempt, "rejections": list(rejections), "draws": draws}
    return Sample(index, views, meta, job.annotations, tuple(scene.classes))


def load_scene(job: Job) -> Scene:
    """Load the scene of `job` with the job's cameras and class ids. Raises JobError with every fault at once."""
    scene = job.scene.load()
    faults = _take_cameras(job, scene)
    classes = {body.semantic_class for body in scene.bodies.values() if body.labelled}
    for randomizer in job.randomizers:
        classes.update(randomizer.semantic_classes())
    scene.classes = sorted(classes)
    for randomizer in job.randomizers:
        faults += [f"randomizer '{randomizer.stream}': {fault}" for fault in randomizer.check(scene)]
    if not scene.bodies:
        faults.append("the scene holds no body that can be rendered")
    if not scene.cameras:
        faults.append("there is no camera: the scene has none and the job names none under `cameras`")
    if faults:
        raise JobError("\n".join(faults))
    return scene


def _take_cameras(job: Job, scene: Scene) -> list[str]:
    """Put the job's cameras in the place of the scene's."""
    if not job.cameras:
        scene.cameras = {plain_name(name, taken): camera for taken, (name, camera) in enumerate(scene.cameras.items())}
        return []
    faults, cameras = [], {}
    for name, options in job.cameras.items():
        camera = options.make()
        if options.prim is not None:
            found = scene.cameras.get(options.prim)
            if found is None:
                faults.append(
                    f"camera '{name}': the scene has no camera '{options.prim}'; {nearest(options.prim, scene.cameras)}"
                )
                continue
            camera.camera_to_world = found.camera_to_world.copy()
            if options.fx is None and options.field_of_view is None:
                # The horizontal field of view is kept; other proportions than the film's show more or less above and below.
                camera.fx = camera.fy = found.fx * camera.width / found.width
        cameras[name] = camera
    scene.cameras = cameras
    return faults


def plain_name(name: str, number: int) -> str:
    """Return a name for files from a prim path: its last part in lower case."""
    last = "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789_-" else "_" for c in name.rsplit("/", 1)[-1].lower())
    return last if number == 0 else f"{last}_{number}"
