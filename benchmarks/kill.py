"""Byte equality under violence: `python -m benchmarks.kill [--job JOB] [--kills 10]`.

Runs a job undisturbed with one worker, again with one and with two, once with kill -9 of the whole process group at random
times and resumed each time, and one sample alone; compares every byte of shards, sidecars and manifest.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from sdg.job import Job
from sdg.random import rng_for


def digests(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file of a data set, work files and pictures for people left out."""
    return {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.suffix in (".tar", ".json") and not path.name.startswith(".")
    }


def start(job: Path, output: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start `sdg run` in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "sdg", "run", str(job), "-o", str(output), "--quiet", *arguments], start_new_session=True
    )


def finish(job: Path, output: Path, *arguments: str) -> float:
    """Run to the end; return the seconds it took."""
    before = time.monotonic()
    code = start(job, output, *arguments).wait()
    if code:
        raise SystemExit(f"sdg run ended with {code}")
    return time.monotonic() - before


def torment(job: Path, output: Path, kills: int, longest: float) -> int:
    """Kill the run `kills` times at random moments, then let it finish; return how many kills hit it alive."""
    rng, hits = rng_for(0, 0, "benchmarks.kill"), 0
    for _ in range(kills):
        process = start(job, output, "--workers", "2")
        time.sleep(1.0 + 2 * longest / kills * float(rng.random()))
        hits += process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    finish(job, output, "--workers", "2")
    return hits


def alone(job: Path, whole: Path, folder: Path, index: int) -> bool:
    """Say whether a sample made alone equals its members in the shard."""
    finish(job, folder, "--only", str(index))
    loaded = Job.load(job)
    shard = index // loaded.writer.samples_per_shard
    key = f"{index:09d}"
    with tarfile.open(whole / f"shard-{shard:06d}.tar") as tar:
        members = {m.name: tar.extractfile(m).read() for m in tar if m.name.startswith(key)}  # type: ignore[union-attr]
    made = {path.name: path.read_bytes() for path in folder.iterdir()}
    return bool(members) and members == made


def main() -> None:
    """Print one line per comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--job", type=Path, default=Path(__file__).parent / "kill.yaml")
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        seconds = finish(options.job, folder / "first", "--workers", "1")
        truth = digests(folder / "first")
        print(f"{len(truth)} files, undisturbed run {seconds:.1f} s", flush=True)
        for name, workers in (("again with 1 worker", "1"), ("with 2 workers", "2")):
            finish(options.job, folder / name, "--workers", workers)
            print(f"{name}: {'equal' if digests(folder / name) == truth else 'DIFFERENT'}", flush=True)
        hits = torment(options.job, folder / "killed", options.kills, seconds)
        same = digests(folder / "killed") == truth
        print(f"kill -9 hit {hits} of {options.kills} times, resumed: {'equal' if same else 'DIFFERENT'}", flush=True)
        index = Job.load(options.job).samples - 1
        same = alone(options.job, folder / "first", folder / "only", index)
        print(f"sample {index} alone: {'equal' if same else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
