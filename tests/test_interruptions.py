"""Runs that are killed or stopped lose nothing that was finished, and go on to equal bytes."""

from __future__ import annotations

import contextlib
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

from sdg.execution.events import listening
from sdg.execution.execute import execute
from tests.fakes import HERE, contents, make_job, write_job

SLOW = {"seconds": 0.03}
LONG: dict[str, Any] = {"slow": SLOW, "samples": 40, "light": True}


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


def test_a_limit_on_file_sizes_is_a_clean_stop(tmp_path: Path) -> None:
    write_job(tmp_path / "job.yaml")
    driver = Driver(tmp_path / "job.yaml", tmp_path / "out", 0, file_limit=60_000)
    code, text = driver.end()
    assert code == 1 and "ulimit -f" in text and "Traceback" not in text
    names = contents(tmp_path / "out")
    assert len([name for name in names if name.endswith(".sample")]) == 4
    assert not [name for name in names if name.endswith((".tmp", ".tar"))]
    assert execute(make_job(), tmp_path / "out", workers=0).reused == 4
    execute(make_job(), tmp_path / "undisturbed", workers=0)
    assert contents(tmp_path / "out") == contents(tmp_path / "undisturbed")
