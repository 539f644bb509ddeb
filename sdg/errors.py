"""The errors that a user can cause; the commands print them as one message, without a traceback."""

import difflib
from collections.abc import Iterable


class SdgError(Exception):
    """A fault in what the user gave: the text says what was given, what was expected and what to do."""


class JobError(SdgError):
    """A job that cannot run; the text holds one fault per line."""


class SceneError(SdgError):
    """A scene or an asset that cannot be used; the text names the file and the prim."""


class SampleRejected(Exception):
    """This draw makes no usable sample; the sample is drawn again under the counted rule of `make_sample`."""


class OutputError(SdgError):
    """An output folder that cannot be written or holds something else."""


def nearest(given: str, known: Iterable[str]) -> str:
    """Say which known names exist and which one is nearest to `given`."""
    names = sorted(known)
    if not names:
        return "there are none"
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"{hint}there are: {', '.join(names[:40])}{', ...' if len(names) > 40 else ''}"
