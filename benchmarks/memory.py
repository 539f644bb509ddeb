"""Memory and start-up of one long process: `python -m benchmarks.memory [--samples 300]`.

Makes samples of the quickstart job (small pictures, everything else as it is) in one process and prints the resident
memory after the first 50 samples and at the end, and the time from the command's start to the first committed sample.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import psutil

from sdg.job import Job
from sdg.run import open_studio


def resident_mib() -> float:
    """Return this process's resident memory [MiB]."""
    return float(psutil.Process().memory_info().rss) / 2**20


def small(job: Job, width: int, height: int, samples: int) -> Job:
    """Return a job with smaller pictures and fewer paths."""
    cameras = {
        name: camera.model_copy(update={"width": width, "height": height}) for name, camera in job.cameras.items()
    }
    renderer = job.renderer.model_copy(update={"quality": "preview"})
    return job.model_copy(update={"cameras": cameras, "renderer": renderer, "samples": samples})


def measure(job: Job, *, settled_after: int) -> list[float]:
    """Make every sample of `job` and return the resident memory after each one from `settled_after` on."""
    course = []
    with open_studio(job) as studio, tempfile.TemporaryDirectory() as folder:
        for index in range(job.samples):
            sample = studio.sample(index)
            for name, data in job.writer.files(sample).items():
                Path(folder, name).write_bytes(data)
            if index + 1 >= settled_after:
                course.append(resident_mib())
            if (index + 1) % 50 == 0:
                print(f"{index + 1:4d} samples: {resident_mib():.0f} MiB", flush=True)
    return course


def start_up(path: Path) -> float:
    """Return seconds from the start of `sdg run` to the first committed sample, in a process of its own."""
    import subprocess
    import sys

    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "out")
        start = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "sdg", "run", str(path), "-o", str(output)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while not list(output.glob(".staging/*")) and process.poll() is None:
                time.sleep(0.02)
            return time.monotonic() - start
        finally:
            process.terminate()
            process.wait(60)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--job", type=Path, default=Path(__file__).parents[1] / "jobs" / "quickstart.yaml")
    parser.add_argument("--samples", type=int, default=300)
    options = parser.parse_args()
    cold, warm = start_up(options.job), start_up(options.job)
    print(f"start to first committed sample: {cold:.1f} s, again (kernels cached): {warm:.1f} s", flush=True)
    course = measure(small(Job.load(options.job), 160, 120, options.samples), settled_after=50)
    change = max(abs(value / course[0] - 1) for value in course)
    print(f"after 50 samples {course[0]:.0f} MiB, at the end {course[-1]:.0f} MiB, largest change {100 * change:.1f} %")


if __name__ == "__main__":
    main()
