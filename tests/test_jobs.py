"""Every job in jobs/ runs: small, with one sample, and with the ray caster; one of them with Mitsuba too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdg.job import Job
from sdg.plugin import find
from sdg.randomizer import Randomizer
from sdg.run import load_scene, open_studio
from sdg.writers.webdataset import decode

JOBS = sorted((Path(__file__).parents[1] / "jobs").glob("*.yaml"))


def small(path: Path, *, renderer: str) -> Job:
    """Return a job with tiny pictures, another renderer, and randomizers that are content with a few pixels."""
    job = Job.load(path)
    options: dict[str, Any] = {"quality": "preview"} if renderer == "mitsuba" else {}
    cameras = {name: camera.model_copy(update={"width": 64, "height": 48}) for name, camera in job.cameras.items()}
    randomizers = tuple(_content(randomizer) for randomizer in job.randomizers)
    chosen = find("sdg.renderers", renderer).model_validate(options)
    return job.model_copy(update={"cameras": cameras, "randomizers": randomizers, "renderer": chosen})


def _content(randomizer: Randomizer) -> Randomizer:
    """Return a randomizer that asks for fewer pixels and makes fewer textures."""
    fewer = {"min_visible": 4, "variants": 1, "resolution": 64, "shapes": 3, "looks": 3}
    known = {name: value for name, value in fewer.items() if name in type(randomizer).model_fields}
    return randomizer.model_copy(update=known)


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_every_job_makes_a_labelled_sample(path: Path) -> None:
    check(small(path, renderer="raycast"))


def test_the_quickstart_is_path_traced() -> None:
    check(small(JOBS[0].with_name("quickstart.yaml"), renderer="mitsuba"))


def check(job: Job) -> None:
    scene = load_scene(job)
    assert scene.warnings == []
    with open_studio(job, scene) as studio:
        sample = studio.sample(0)
    decoded = decode(job.writer.files(sample))
    for name, camera in scene.cameras.items():
        prefix = "" if len(scene.cameras) == 1 else f"{name}."
        rgb, instance = decoded[f"{prefix}rgb"], decoded[f"{prefix}instance"]
        assert rgb.shape == (camera.height, camera.width, 3) and rgb.std() > 5
        assert len(np.unique(instance)) > 2 and (decoded[f"{prefix}depth"] > 0).mean() > 0.2
        assert (decoded[f"{prefix}objects"]["visible_fraction"] > 0).any()
