"""`sdg preview JOB`: a contact sheet of a few small samples, in seconds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sdg.contact_sheet import Tile, draw, encode
from sdg.errors import OutputError
from sdg.job import Job
from sdg.run import load_scene, open_studio
from sdg.sample import Sample
from sdg.scene import Camera

from ._arguments import add_job, whole
from ._progress import Progress

LARGEST = 320
"""Longest side of a picture of a preview [px]."""


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    text = "draw a contact sheet of a few small, quickly rendered samples"
    parser = commands.add_parser("preview", help=text, description=text)
    add_job(parser)
    parser.add_argument("-n", "--samples", type=whole(1), default=8, metavar="N", help="how many; default: 8")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=".jpg or .png; default: preview-JOB.jpg")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Render the first samples of the job in little and write the sheet."""
    path = options.output or Path(f"preview-{options.job.stem}.jpg")
    if path.suffix not in (".jpg", ".png"):
        raise OutputError(f"a contact sheet is a .jpg or a .png file, not '{path}'")
    job = quick(Job.load(options.job))
    scene = load_scene(job)
    for camera in scene.cameras.values():
        shrink(camera)
    tiles: list[Tile] = []
    count = min(options.samples, job.samples)
    with Progress(count) as progress, open_studio(job, scene) as studio:
        for index in range(count):
            sample = studio.sample(index)
            tiles += _tiles(sample)
            progress.count(rejections=len(sample.meta["rejections"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode(draw(tiles), path.suffix))
    print(f"contact sheet: {path}")
    return 0


def quick(job: Job) -> Job:
    """Return the job with the fastest quality of its renderer and the labels that a sheet shows."""
    renderer = job.renderer
    if "quality" in type(renderer).model_fields:
        options = {name: getattr(renderer, name) for name in renderer.model_fields_set}
        options = {name: value for name, value in options.items() if name in ("variant", "name")}
        renderer = type(renderer).model_validate({**options, "quality": "preview"})
    shown = ("rgb", "depth", "normals", "instance", "boxes")
    return job.model_copy(update={"renderer": renderer, "annotations": shown})


def shrink(camera: Camera) -> None:
    """Let a camera see the same in fewer pixels."""
    scale = min(1.0, LARGEST / max(camera.width, camera.height))
    width, height = max(1, round(camera.width * scale)), max(1, round(camera.height * scale))
    for name, ratio in (("x", width / camera.width), ("y", height / camera.height)):
        setattr(camera, f"f{name}", getattr(camera, f"f{name}") * ratio)
        setattr(camera, f"c{name}", getattr(camera, f"c{name}") * ratio)
    camera.width, camera.height = width, height


def _tiles(sample: Sample) -> list[Tile]:
    found = []
    for view in sample.views.values():
        rgb, depth, instance, normals = (view.frame[name] for name in ("rgb", "depth", "instance", "normals"))
        objects = view.objects
        found.append(Tile(rgb, depth, instance, normals, objects.box_tight, objects.class_id, sample.classes))
    return found
