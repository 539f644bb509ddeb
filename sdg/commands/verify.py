"""`sdg verify DATASET`: read every byte of a data set and name every fault."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    text = "read every byte of a data set; name shard and sample of every fault"
    parser = commands.add_parser("verify", help=text, description=text)
    parser.add_argument("dataset", type=Path, metavar="DATASET", help="the output folder of a run")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print one line per fault; return 1 if there is any."""
    from sdg.execution.verify import verify

    faults = verify(options.dataset)
    for fault in faults:
        print(fault)
    if faults:
        print(f"sdg: {len(faults)} faults in '{options.dataset}'", file=sys.stderr)
        return 1
    print(f"'{options.dataset}' is whole")
    return 0
