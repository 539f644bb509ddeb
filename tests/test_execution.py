"""Whole runs with worker processes: equal bytes however the work is split, killed, stopped or resumed."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from sdg.errors import JobError, OutputError
from sdg.execution.events import Event, RunError, listening
from sdg.execution.execute import execute
from sdg.execution.files import exclusive
from sdg.execution.only import remake
from sdg.execution.verify import verify
from sdg.execution.work import reopen
from tests.fakes import HERE, contents, make_job, write_job

SLOW = {"seconds": 0.03}
LONG: dict[str, Any] = {"slow": SLOW, "samples": 40, "light": True}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the small job, made in this process."""
    output = tmp_path_factory.mktemp("reference") / "out"
    report = execute(make_job(), output, workers=0)
    assert report.complete and (report.made, report.shards, report.exit_code) == (10, 3, 0)
    return contents(output)


@pytest.fixture(scope="module")
def slow_reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a longer job."""
    output = tmp_path_factory.mktemp("slow") / "out"
    execute(make_job(**LONG), output, workers=0)
    return contents(output)


class Driver:
    """A run in its own process; `events`: what it said."""

    def __init__(self, job: Path, output: Path, workers: int, *, file_limit: int = 0) -> None:
        command = [sys.executable, str(HERE), str(job), str(output), str(workers), str(file_limit)]
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent)}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        self.events: list[dict[str, Any]] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            yield self.events[-1]

    def wait_for(self, kind: str, count: int = 1) -> None:
        """Wait for `count` new events of a kind, or for the end."""
        for event in self:
            count -= event["kind"] == kind and not event["reused"]
            if count <= 0:
                return

    def children(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children()
        return []

    def end(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and what was printed as an error."""
        for _ in self:
            pass
        assert self.process.stdout is not None and self.process.stderr is not None
        text = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.wait(20), text

    def made(self) -> list[int]:
        return [event["sample"] for event in self.events if event["kind"] == "sample" and not event["reused"]]


def gone(processes: list[psutil.Process], seconds: float = 5.0) -> bool:
    return not psutil.wait_procs(processes, timeout=seconds)[1]


def test_two_workers_and_one_process_write_equal_bytes(reference: dict[str, bytes], tmp_path: Path) -> None:
    job = write_job(tmp_path / "job.yaml")
    events: list[Event] = []
    report = execute(job, tmp_path / "out", job_path=tmp_path / "job.yaml", workers=2, on_event=events.append)
    assert contents(tmp_path / "out") == reference
    assert verify(tmp_path / "out") == []
    assert (report.made, report.reused, report.shards, report.retried) == (10, 0, 3, 0)
    assert 0 < (report.first_sample or 0) < (report.first_shard or 0) < report.seconds
    assert sorted(event.sample for event in events if event.kind == "sample") == list(range(10))
    assert {event.worker for event in events if event.kind == "shard"} == {0, 1}


def test_a_finished_run_again_changes_nothing(reference: dict[str, bytes], tmp_path: Path) -> None:
    execute(make_job(), tmp_path, workers=0)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("shard-*")}
    report = execute(make_job(), tmp_path, workers=2)
    assert (report.made, report.reused, report.shards, report.complete) == (0, 10, 3, True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("shard-*")} == before
    assert contents(tmp_path) == reference


def test_another_shard_size_gives_equal_samples(reference: dict[str, bytes], tmp_path: Path) -> None:
    execute(make_job(writer={"type": "webdataset", "samples_per_shard": 3}), tmp_path, workers=0)
    assert digests(contents(tmp_path)) == digests(reference)
    assert len(digests(reference)) == 10


def digests(files: dict[str, bytes]) -> dict[str, str]:
    sidecars = [json.loads(data) for name, data in files.items() if name.startswith("shard-") and name.endswith("json")]
    return {sample["key"]: sample["sha256"] for side in sidecars for sample in side["index"]}


def test_one_sample_alone_is_equal_to_that_in_its_shard(reference: dict[str, bytes], tmp_path: Path) -> None:
    paths = remake(make_job(), 5, tmp_path / "only")
    side, data = json.loads(reference["shard-000001.json"]), reference["shard-000001.tar"]
    expected = {
        name: data[place["offset"] :][: place["length"]]
        for name, place in side["files"].items()
        if name.startswith("000000005.")
    }
    assert {path.name: path.read_bytes() for path in paths} == expected == contents(tmp_path / "only")
    with pytest.raises(JobError, match="its samples are 0 to 9"):
        remake(make_job(), 10, tmp_path)


def test_no_host_names_times_or_folders_in_the_output(reference: dict[str, bytes], tmp_path: Path) -> None:
    for name, data in reference.items():
        assert os.uname().nodename.encode() not in data or len(os.uname().nodename) < 5
        assert b"/tmp" not in data, name


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"seed": 8}, "seed: was 7, is now 8"),
        ({"samples": 11}, "samples: was 10, is now 11"),
        ({"slow": SLOW}, "randomizers: was "),
        ({"writer": {"type": "webdataset", "samples_per_shard": 5}}, "writer.samples_per_shard: was 4, is now 5"),
    ],
)
def test_a_changed_job_is_refused(
    reference: dict[str, bytes], tmp_path: Path, changes: dict[str, Any], text: str
) -> None:
    for name, data in reference.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(OutputError, match="holds samples of another job") as caught:
        execute(make_job(**changes), tmp_path, workers=2)
    assert text in str(caught.value) and "give another output folder" in str(caught.value)
    assert contents(tmp_path) == reference


def test_kill_nine_ten_times_then_resume(slow_reference: dict[str, bytes], tmp_path: Path) -> None:
    write_job(tmp_path / "job.yaml", **LONG)
    output, chance, made = tmp_path / "out", random.Random(3), list[int]()
    for processes in (0, 2, 0, 1, 0):
        driver = Driver(tmp_path / "job.yaml", output, processes)
        driver.wait_for("sample", chance.randint(1, 5))
        workers = driver.children()
        time.sleep(chance.random() * 0.05)
        driver.process.kill()
        driver.end()
        made += driver.made()
        assert gone(workers), "workers outlive their parent"
        assert not [shard for shard in output.glob("*.tar") if shard.name not in slow_reference]
    driver = Driver(tmp_path / "job.yaml", output, 2)
    for _ in range(5):
        driver.wait_for("sample", 1)
        time.sleep(chance.random() * 0.05)
        workers = driver.children()
        if workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                chance.choice(workers).kill()
    code, text = driver.end()
    made += driver.made()
    assert code == 0, text
    assert len(set(made)) == len(made), "a finished sample was made again"
    assert contents(output) == slow_reference


@pytest.mark.parametrize(("number", "workers"), [(signal.SIGINT, 2), (signal.SIGTERM, 0)])
def test_a_signal_keeps_the_current_samples(
    slow_reference: dict[str, bytes], tmp_path: Path, number: signal.Signals, workers: int
) -> None:
    write_job(tmp_path / "job.yaml", **LONG)
    driver = Driver(tmp_path / "job.yaml", tmp_path / "out", workers)
    driver.wait_for("sample", 2)
    driver.process.send_signal(number)
    code, text = driver.end()
    assert code == 128 + number
    begun = {event["sample"] for event in driver.events if event["kind"] == "begin"}
    assert set(driver.made()) == begun
    assert f"stopped by {number.name}: {len(begun)} finished samples are kept" in text
    assert not [name for name in contents(tmp_path / "out") if name.endswith((".tmp", ".lock"))]
    report = execute(make_job(**LONG), tmp_path / "out", workers=0)
    assert report.reused == len(begun) and report.made == 40 - len(begun)
    assert contents(tmp_path / "out") == slow_reference


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    write_job(tmp_path / "job.yaml", slow={"seconds": 30}, light=True)
    driver = Driver(tmp_path / "job.yaml", tmp_path / "out", 1)
    driver.wait_for("begin")
    workers = driver.children()
    driver.process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    driver.process.send_signal(signal.SIGINT)
    assert driver.end()[0] == 130
    assert gone(workers)


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with listening() as stop:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            assert stop.signal == signal.SIGTERM
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_second_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdg.execution.execute.exclusive", functools.partial(exclusive, patience=0.05))
    with exclusive(tmp_path), pytest.raises(OutputError, match="another run is writing"):
        execute(make_job(), tmp_path, workers=0)
    assert contents(tmp_path) == {}


def test_a_sample_that_kills_its_worker_stops_only_its_shard(tmp_path: Path) -> None:
    # Of the ten samples only number 9 draws less than 0.14.
    job, events = make_job(light=True, trouble={"how": "abort", "below": 0.14}), list[Event]()
    with pytest.raises(RunError) as caught:
        execute(job, tmp_path, workers=1, on_event=events.append)
    text = str(caught.value)
    assert "1 of 3 shards could not be made; 2 are finished" in text
    assert "SIGABRT" in text and "sample 9 of shard 2" in text and "the engine says: cannot select" in text
    assert [event.kind for event in events].count("retry") == 3
    assert caught.value.report is not None and caught.value.report.retried == 3
    names = contents(tmp_path)
    assert {"shard-000000.tar", "shard-000001.tar", ".staging/000000008.sample"} <= set(names)
    assert not {"shard-000002.tar", "manifest.json"} & set(names)


def test_an_error_in_a_worker_stops_the_run_with_its_text(tmp_path: Path) -> None:
    job = make_job(light=True, trouble={"how": "reject"}, max_rejections=2)
    with pytest.raises(JobError, match="rejected 3 times, the last time because: this never works"):
        execute(job, tmp_path, workers=1)
    assert set(contents(tmp_path)) == {"job.json"}


def test_a_bug_in_a_plugin_names_its_place(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"sample 0 cannot be made: ZeroDivisionError: .*fakes\.py:\d+ in apply"):
        execute(make_job(light=True, trouble={"how": "crash"}), tmp_path, workers=1)


def test_no_space_left_is_a_clean_stop(
    reference: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.fsync, iter(range(1000))

    def full(descriptor: int) -> None:
        if next(calls) >= 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        patch.setattr("sdg.execution.files.sync_folder", lambda folder: None)
        with pytest.raises(OutputError, match=r"no space left .*make room and run the same command again"):
            execute(make_job(), tmp_path, workers=0)
    assert not [name for name in contents(tmp_path) if name.endswith(".tmp")]
    assert execute(make_job(), tmp_path, workers=0).reused > 4
    assert contents(tmp_path) == reference


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_a_disk_that_is_really_full(reference: dict[str, bytes], tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(tmp_path)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this machine allows no mounts")
    try:
        with pytest.raises(OutputError, match="no space left"):
            execute(make_job(), tmp_path / "out", workers=0)
        assert not [name for name in contents(tmp_path / "out") if name.endswith(".tmp")]
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
        with pytest.raises(OutputError, match="cannot be written"):
            execute(make_job(), tmp_path / "out", workers=0)
        subprocess.run(["mount", "-o", "remount,rw,size=2m", str(tmp_path)], check=True)
        assert execute(make_job(), tmp_path / "out", workers=0).reused > 0
        assert contents(tmp_path / "out") == reference
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_limit_on_file_sizes_is_a_clean_stop(reference: dict[str, bytes], tmp_path: Path) -> None:
    write_job(tmp_path / "job.yaml")
    driver = Driver(tmp_path / "job.yaml", tmp_path / "out", 0, file_limit=60_000)
    code, text = driver.end()
    assert code == 1 and "ulimit -f" in text and "Traceback" not in text
    names = contents(tmp_path / "out")
    assert len([name for name in names if name.endswith(".sample")]) == 4
    assert not [name for name in names if name.endswith((".tmp", ".tar"))]
    assert execute(make_job(), tmp_path / "out", workers=0).reused == 4
    assert contents(tmp_path / "out") == reference


def test_an_output_that_cannot_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for output in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(OutputError, match="is not a folder"):
            execute(make_job(), output, workers=0)


def test_options_changed_after_the_file_was_read_reach_the_workers(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job.yaml").model_copy(update={"seed": 99, "samples": 2})
    described = job.describe()
    assert reopen(str(tmp_path / "job.yaml"), described).describe() == described
    write_job(tmp_path / "job.yaml", slow=SLOW)
    with pytest.raises(JobError, match="was changed while the run went on"):
        reopen(str(tmp_path / "job.yaml"), described)
