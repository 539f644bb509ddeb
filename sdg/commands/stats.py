"""`sdg stats DATASET`: what a data set holds, in numbers."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from sdg.stats import Stats, table

from ._reading import samples, views


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    text = "count classes, boxes, occlusion, depth, brightness and empty pictures of a data set"
    parser = commands.add_parser("stats", help=text, description=text)
    parser.add_argument("dataset", type=Path, metavar="DATASET", help="the output folder of a run")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Read every sample and print the table."""
    stats = Stats()
    for sample in samples(options.dataset):
        stats.add(sample["meta"], views(sample))
    result = stats.result()
    print(json.dumps(result, indent=2) if options.json else table(result))
    return 0
