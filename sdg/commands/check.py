"""`sdg check JOB`: every fault of a job at once, before anything is rendered."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

from sdg.job import Job
from sdg.run import load_scene
from sdg.scene import Scene

from ._arguments import add_job

BYTES_PER_PIXEL = {
    "rgb": 0.45,
    "albedo": 0.6,
    "depth": 0.35,
    "distance": 0.35,
    "normals": 0.2,
    "instance": 0.02,
    "semantic": 0.02,
    "amodal": 0.015,
}
"""What a pixel takes once it is compressed, as measured on the quickstart job; other scenes vary twofold."""


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    text = "find every fault of a job, with file and line, and load its scene; nothing is rendered"
    parser = commands.add_parser("check", help=text, description=text)
    add_job(parser)
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Load job and scene; print warnings and what the job would make."""
    job = Job.load(options.job)
    scene = load_scene(job)
    for warning in scene.warnings:
        print(f"sdg: warning: {warning}", file=sys.stderr)
    print("\n".join(summary(job, scene)))
    print(f"'{options.job}' is good")
    return 0


def summary(job: Job, scene: Scene) -> list[str]:
    """Return what the job would make, one fact per line."""
    triangles = sum(len(body.mesh.triangles) for body in scene.bodies.values())
    labelled = sum(1 for body in scene.bodies.values() if body.labelled)
    cameras = ", ".join(f"{name} {camera.width}x{camera.height}" for name, camera in scene.cameras.items())
    facts = {
        "scene": f"{len(scene.bodies)} bodies ({labelled} labelled), {triangles} triangles, {len(scene.lights)} lights",
        "classes": ", ".join(scene.classes) or "none: nothing is labelled",
        "cameras": cameras,
        "randomizers": ", ".join(each.stream for each in job.randomizers) or "none: every sample is the same",
        "annotations": ", ".join(job.annotations),
        "output": f"{job.samples} samples in {job.shard_count} shards, about {_readable(estimated_bytes(job, scene))}",
    }
    return [f"{name:<12} {text}" for name, text in facts.items()]


def estimated_bytes(job: Job, scene: Scene) -> float:
    """Return roughly what the data set takes on the disk."""
    pixels = sum(camera.width * camera.height for camera in scene.cameras.values())
    per_pixel = sum(BYTES_PER_PIXEL.get(name, 0.0) for name in job.annotations)
    return job.samples * (pixels * per_pixel + 20_000 * len(scene.cameras))


def _readable(size: float) -> str:
    step = min(int(math.log10(max(size, 1000)) // 3), 4)
    return f"{size / 1000**step:.3g} {('kB', 'MB', 'GB', 'TB')[step - 1]}"
