"""`sdg run JOB`: make every sample of a job that its output does not hold yet."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sdg.job import Job

from ._arguments import add_job, whole
from ._progress import Progress, duration


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    text = "make the samples of a job; a run that was stopped goes on where it stopped"
    parser = commands.add_parser("run", help=text, description=text)
    add_job(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="default: out/ and the name of the job")
    parser.add_argument(
        "--workers", type=whole(0), default=1, metavar="N", help="rendering processes, 0: none but this; default: 1"
    )
    parser.add_argument("--only", type=whole(0), metavar="N", help="make sample N alone, as plain files in OUT")
    parser.add_argument("--quiet", action="store_true", help="print nothing but warnings and errors")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Run the job, draw the contact sheet, say what was done."""
    job = Job.load(options.job)
    if options.only is not None:
        return _only(job, options)
    from sdg.execution.execute import execute

    output = options.output or Path("out", options.job.stem)
    with Progress(job.samples, quiet=options.quiet, per_shard=lambda n: len(job.shard_samples(n))) as progress:
        report = execute(job, output, job_path=options.job, workers=options.workers, on_event=progress)
    sheet = None if report.signal else _draw_sheet(output)
    if report.signal or not options.quiet:
        print(_summary(report, sheet))
    return int(report.exit_code)


def _only(job: Job, options: argparse.Namespace) -> int:
    from sdg.execution.only import remake

    folder = options.output or Path("out", f"{options.job.stem}-only")
    paths = remake(job, options.only, folder)
    if not options.quiet:
        print("\n".join(str(path) for path in paths))
    return 0


def _draw_sheet(output: Path) -> Path | None:
    """Draw the contact sheet of the first samples, where the writer's format can be read back."""
    from sdg.contact_sheet import draw, encode

    from ._reading import tiles

    found = tiles(output, limit=24)
    if not found:
        return None
    path = output / "contact_sheet.jpg"
    path.write_bytes(encode(draw(found), ".jpg"))
    return path


def _summary(report: Any, sheet: Path | None) -> str:
    lines = [report.message]
    parts = [f"{report.made} made in {duration(report.seconds)}"]
    if report.made and report.seconds > 0:
        parts.append(f"{report.made / report.seconds:.2f} per second")
    if report.first_sample is not None:
        parts.append(f"first sample on the disk after {duration(report.first_sample)}")
    parts += [f"{report.reused} kept from before"] if report.reused else []
    parts += [f"{report.rejected} draws rejected"] if report.rejected else []
    parts += [f"{report.retried} shards retried"] if report.retried else []
    lines.append(", ".join(parts))
    lines += [f"contact sheet: {sheet}"] if sheet else []
    return "\n".join(lines)
