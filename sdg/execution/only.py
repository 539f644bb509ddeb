"""One sample alone, as loose files: the same bytes as in its shard."""

from __future__ import annotations

from pathlib import Path

from sdg.errors import JobError
from sdg.job import Job
from sdg.run import open_studio

from . import tar
from .files import output_errors, replace


def remake(job: Job, index: int, folder: Path) -> list[Path]:
    """Make sample number `index` and write its members as `<key>.<extension>` into `folder`; return the paths."""
    if not 0 <= index < job.samples:
        raise JobError(f"the job has no sample {index}: its samples are 0 to {job.samples - 1}")
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with open_studio(job) as studio:
        sample = studio.sample(index)
        files = job.writer.files(sample)
    paths = []
    for extension, data in sorted(files.items()):
        tar.check_name(sample.key, extension)
        paths.append(folder / f"{sample.key}.{extension}")
        with output_errors(folder):
            replace(paths[-1], [data])
    return paths
