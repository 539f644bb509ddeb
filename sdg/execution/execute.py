"""From a job to a folder of shards: resumes what is there, works in processes, ends with the manifest."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sdg.errors import OutputError
from sdg.job import Job
from sdg.run import open_studio

from .card import croissant, readme
from .events import Event, Report, RunError, Stop, listening
from .files import exclusive, output_errors, replace, sweep
from .fingerprint import described, versions
from .local import Pool, Task
from .manifest import keep_record, make_manifest, make_record, read_record, refuse_change, refuse_strangers, write_json
from .shards import Shards
from .work import facts, make_shard, sample_key


def _ignore(event: Event) -> None:
    """Do nothing with an event."""


def execute(
    job: Job,
    output: Path,
    *,
    job_path: Path | None = None,
    workers: int = 1,
    on_event: Callable[[Event], None] = _ignore,
) -> Report:
    """Make every sample of `job` that `output` does not hold yet, and commit it in shards.

    `job_path`: the file of the job, which plug-ins beside it need in worker processes. `workers`: how many processes;
    0: this one. SIGINT and SIGTERM stop after the current samples: see `Report.signal`. Raises OutputError, JobError,
    SceneError, and RunError when some shard cannot be made, after everything else was made.
    """
    with output_errors(output):
        output.mkdir(parents=True, exist_ok=True)
        with exclusive(output) as lock, listening() as stop:
            return _Run(job, output, on_event, stop).run(job_path, workers, lock)


class _Run:
    """One run of a job into a folder whose lock it holds."""

    def __init__(self, job: Job, output: Path, on_event: Callable[[Event], None], stop: Stop) -> None:
        self.job, self.output, self.on_event, self.stop = job, output, on_event, stop
        self.start = time.monotonic()
        self.report = Report(output)
        self.seen: set[int] = set()
        self.described, self.versions = described(job), versions()
        self.record = read_record(output)

    def run(self, job_path: Path | None, workers: int, lock: int) -> Report:
        """Look at what is there, make the rest, write the manifest."""
        if self.record is None:
            refuse_strangers(self.output)
        else:
            refuse_change(self.output, self.record, {"job": self.described, "versions": self.versions})
        failed: dict[int, str] = {}
        try:
            todo = self._resume()
            if todo and workers == 0:
                self._work_here(todo)
            elif todo:
                failed = self._work_in_processes(todo, Task(job_path, self.job.describe(), self.output), workers, lock)
        except KeyboardInterrupt:
            pass  # the second signal: stop at once
        finally:
            self.report.seconds = time.monotonic() - self.start
        self._end(failed)
        return self.report

    def _resume(self) -> list[int]:
        """Sweep what a killed run left, count what it finished, and return the numbers of the shards to make."""
        sweep(self.output)
        if self.record is None:
            Shards(self.output, "").staging.sweep(keep=set())
            return list(range(self.job.shard_count))
        shards, todo = Shards(self.output, self.record["digest"]), []
        for shard in range(self.job.shard_count):
            if shards.sidecar(shard) is None:
                todo.append(shard)
            else:
                self.report.reused += len(self.job.shard_samples(shard))
                self.report.shards += 1
                self.on_event(Event("shard", shard, reused=True))
        shards.staging.sweep(keep={sample_key(index) for shard in todo for index in self.job.shard_samples(shard)})
        return todo

    def _opened(self, facts: dict[str, Any]) -> str:
        """Keep or compare what an open studio says of the job; return the job's digest."""
        record = make_record(self.described, self.versions, facts)
        with output_errors(self.output):
            if self.record is None:
                keep_record(self.output, record)
                self.record = record
        refuse_change(self.output, self.record, record)
        return str(record["digest"])

    def _work_here(self, todo: list[int]) -> None:
        with open_studio(self.job) as studio:
            for text in studio.scene.warnings:
                self._notify(Event("warning", text=text))
            shards = Shards(self.output, self._opened(facts(studio)))
            self._notify(Event("started"))
            for shard in todo:
                if not make_shard(studio, shards, shard, self._notify, self.stop):
                    return

    def _work_in_processes(self, todo: list[int], task: Task, workers: int, lock: int) -> dict[int, str]:
        pool = Pool(task, lock, workers, self._opened, self._notify, self.stop)
        try:
            pool.run(todo)
        finally:
            self.report.retried = pool.retried
        return pool.failed

    def _notify(self, event: Event) -> None:
        """Count an event and hand it on; a sample that a second worker found finished is told once."""
        report, now = self.report, time.monotonic() - self.start
        if event.kind == "sample":
            if event.sample in self.seen:
                return
            self.seen.add(event.sample)
            report.reused += event.reused
            report.made += not event.reused
            report.rejected += 0 if event.reused else event.rejections
            report.first_sample = report.first_sample or now
        elif event.kind == "shard":
            report.shards += 1
            report.first_shard = report.first_shard or now
            self.seen.difference_update(self.job.shard_samples(event.shard))
        self.on_event(event)

    def _end(self, failed: dict[int, str]) -> None:
        """Write the manifest if everything is there. Raises RunError for shards that no worker could make."""
        report = self.report
        sweep(self.output)
        sweep(self.output / ".staging")  # of workers that were killed
        if failed:
            error = RunError(_explain(failed, report))
            error.report = report
            raise error
        if self.record is None or report.shards < self.job.shard_count:
            report.signal = self.stop.signal
            return
        manifest = make_manifest(self.output, self.record, self.job.shard_count)
        members = self.job.writer.members(manifest["cameras"], self.job.annotations)
        if members and [member.extension for member in members] != manifest["members"]:
            raise OutputError(f"the writer describes other members than it writes: {', '.join(manifest['members'])}")
        with output_errors(self.output):
            replace(self.output / "README.md", [readme(manifest, members).encode()])
            write_json(self.output / "croissant.json", croissant(manifest, members))
            write_json(self.output / "manifest.json", manifest)
            staging = Shards(self.output, "").staging
            staging.sweep(keep=set())  # of a worker that was killed between its commit and its clearing up
            staging.close()
        report.complete = True


def _explain(failed: dict[int, str], report: Report) -> str:
    lines = [f"shard {shard}: {text}" for shard, text in sorted(failed.items())]
    return (
        f"{len(failed)} of {len(failed) + report.shards} shards could not be made; {report.shards} are finished.\n"
        + "\n".join(lines)
        + "\nThe finished samples are kept: run the same command again to try the rest once more."
    )
