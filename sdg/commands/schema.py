"""`sdg schema`: what a job file may hold, for editors and for the documentation."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from sdg.schema import job_schema, reference


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    text = "write the JSON schema of a job file, which editors use to complete and check it"
    parser = commands.add_parser("schema", help=text, description=text)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")
    parser.add_argument("--markdown", action="store_true", help="a reference for people instead (docs/job.md)")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Write the schema."""
    schema = job_schema()
    text = reference(schema) if options.markdown else json.dumps(schema, indent=2) + "\n"
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, encoding="utf-8")
    return 0
