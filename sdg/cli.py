"""The command line: one command per file of `sdg.commands`."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from . import __version__
from .commands import check, doctor, preview, run, schema, stats, verify
from .errors import OutputError, SdgError
from .execution.events import RunError

COMMANDS = (run, check, preview, verify, stats, doctor, schema)

EXIT_CODES = """\
exit codes:
  0    done
  1    a fault was found: in a data set, on this machine, or some shards could not be made
  2    the command line, the job or something that it names cannot be used
  3    the output cannot be written, or holds something else
  70   an error of sdg itself; SDG_DEBUG=1 shows where
  130  stopped by Ctrl-C (SIGINT); finished samples are kept
  143  stopped by SIGTERM; finished samples are kept
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="sdg",
        description="Randomized, ray-traced, exactly labelled training data for robots that see.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"sdg {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    options = parser().parse_args(arguments)
    try:
        code = int(options.command(options))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return _fail("stopped by Ctrl-C", 130)
    except Exception as error:
        if os.environ.get("SDG_DEBUG"):
            traceback.print_exc()
        return _fail(*_explained(error))


def _explained(error: Exception) -> tuple[str, int]:
    if isinstance(error, OutputError):
        return str(error), 3
    if isinstance(error, RunError):
        return str(error), 1
    if isinstance(error, SdgError | ImportError):
        return str(error), 2
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}", 3
    kind = "out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
    return f"an error of sdg itself: {kind} (SDG_DEBUG=1 shows where)", 70


def _fail(text: str, code: int) -> int:
    print("\n".join(f"sdg: {line}" if n == 0 else line for n, line in enumerate(text.splitlines())), file=sys.stderr)
    return code
