"""Whole runs: equal bytes however the work is split; changed jobs, broken plug-ins and full disks stop cleanly."""

from __future__ import annotations

import errno
import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sdg.errors import JobError, OutputError
from sdg.execution.events import Event, RunError
from sdg.execution.execute import execute
from sdg.execution.files import exclusive
from sdg.execution.only import remake
from sdg.execution.verify import verify
from sdg.execution.work import reopen
from tests.fakes import contents, make_job, write_job

SLOW = {"seconds": 0.03}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the small job, made in this process."""
    output = tmp_path_factory.mktemp("reference") / "out"
    report = execute(make_job(), output, workers=0)
    assert report.complete and (report.made, report.shards, report.exit_code) == (10, 3, 0)
    return contents(output)


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
        assert b"pytest-of" not in data, name  # the output lies in such a folder


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
