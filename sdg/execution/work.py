"""What one worker does: samples of one shard, each kept as soon as it is made, then the shard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sdg.errors import JobError
from sdg.job import Job
from sdg.run import Studio

from .events import Event
from .files import output_errors
from .fingerprint import scene_digest
from .shards import Shards
from .staging import Packed, pack_sample

SINGLE_VALUES = ("annotations", "samples", "seed", "max_rejections")


def sample_key(index: int) -> str:
    """Return the key of sample number `index`."""
    return f"{index:09d}"


def pack_index(studio: Studio, index: int) -> Packed:
    """Make sample number `index` and return its files as a piece of a tar archive."""
    sample = studio.sample(index)
    files = studio.job.writer.files(sample)
    return pack_sample(sample.key, files, rejections=len(sample.meta.get("rejections", ())))


def make_shard(
    studio: Studio, shards: Shards, shard: int, notify: Callable[[Event], None], stopping: Callable[[], bool]
) -> bool:
    """Make and commit one shard; return False when it was stopped before, its finished samples kept."""
    numbers = studio.job.shard_samples(shard)
    if shards.sidecar(shard) is not None:  # a worker committed it and was killed before it could say so
        notify(Event("shard", shard))
        return True
    for index in numbers:
        if stopping():
            return False
        notify(Event("begin", shard, index))
        sample = shards.staging.get(sample_key(index))
        reused = sample is not None
        sample = sample or _make(studio, shards, index)
        notify(Event("sample", shard, index, rejections=sample.rejections, reused=reused))
    keys = {sample_key(index): index for index in numbers}
    with output_errors(shards.folder):
        shards.commit(shard, list(keys), lambda key: shards.staging.get(key) or _make(studio, shards, keys[key]))
    notify(Event("shard", shard))
    return True


def _make(studio: Studio, shards: Shards, index: int) -> Packed:
    sample = pack_index(studio, index)
    with output_errors(shards.folder):
        shards.staging.put(sample)
    return sample


def facts(studio: Studio) -> dict[str, Any]:
    """Return what only an open studio knows of its job: digest of the scene, versions of the renderer, names."""
    return {
        "scene": scene_digest(studio.scene),
        "renderer": studio.job.renderer.versions(),
        "classes": list(studio.scene.classes),
        "cameras": list(studio.scene.cameras),
    }


def reopen(path: str | None, described: dict[str, Any]) -> Job:
    """Return in another process the job that describes itself as `described`.

    `path`: its job file, which plug-ins beside it need; options may have been changed since it was read.
    """
    if path is None:
        return Job.model_validate(described)
    job = Job.load(Path(path))
    now, changed = job.describe(), {}
    for name, value in described.items():
        if now[name] != value:
            changed[name] = _changed(job, name, value)
    job = job.model_copy(update=changed)
    if job.describe() != described:
        raise JobError(f"'{path}' was changed while the run went on; run again")
    return job


def _changed(job: Job, name: str, value: Any) -> Any:
    """Return the value of the job's field `name` from its description."""
    if name in SINGLE_VALUES:
        return tuple(value) if isinstance(value, list) else value
    plugin = getattr(job, name)
    if name in ("scene", "renderer", "writer") and plugin.type_name() == value["type"]:
        return type(plugin).model_validate({option: v for option, v in value.items() if option != "type"})
    return plugin
