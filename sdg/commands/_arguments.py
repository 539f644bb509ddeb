"""Arguments that several commands take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path


def add_job(parser: argparse.ArgumentParser) -> None:
    """Add the job file as the first argument."""
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file, e.g. jobs/quickstart.yaml")


def whole(least: int) -> Callable[[str], int]:
    """Return an argparse type: a whole number from `least` up."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least} up is needed, not '{text}'")
        return int(text)

    return parse
