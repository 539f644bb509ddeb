"""What a run says while it goes on and when it ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Literal

from sdg.errors import SdgError

Kind = Literal["started", "begin", "sample", "shard", "warning", "retry", "error"]


@dataclass(frozen=True)
class Event:
    """Something that happened in worker number `worker`.

    started: a worker is ready. begin, sample: a sample is begun, is safe on the disk. shard: a shard is committed.
    `reused`: it was there before this run. warning, retry, error: see `text`. -1: no shard or sample.
    """

    kind: Kind
    shard: int = -1
    sample: int = -1
    worker: int = 0
    text: str = ""
    rejections: int = 0
    reused: bool = False


@dataclass
class Report:
    """What a run did.

    `made`, `reused`: samples of this run, of earlier ones. `rejected`: draws that made no usable sample. `retried`:
    how often a worker died and its shard was given to another. `seconds`, `first_sample`, `first_shard`: [s] from the
    start to the end, to the first sample and the first shard on the disk (None: there was none). `signal`: what stopped
    the run, or 0. `complete`: every shard and the manifest are there.
    """

    output: Path
    made: int = 0
    reused: int = 0
    rejected: int = 0
    retried: int = 0
    shards: int = 0
    seconds: float = 0.0
    first_sample: float | None = None
    first_shard: float | None = None
    signal: int = 0
    complete: bool = False

    @property
    def exit_code(self) -> int:
        """0, or 128 + the number of the signal that stopped the run."""
        return 128 + self.signal if self.signal else 0

    @property
    def message(self) -> str:
        """Say in one line how the run ended."""
        if not self.signal:
            return f"{self.made + self.reused} samples in {self.shards} shards in '{self.output}'"
        name = signal.Signals(self.signal).name
        return (
            f"stopped by {name}: {self.made + self.reused} finished samples are kept in '{self.output}'. "
            "Run the same command again to go on."
        )


class RunError(SdgError):
    """A run that could not finish; everything that could be made is kept. `report`: what was done until then."""

    report: Report | None = None


@dataclass
class Stop:
    """Whether the run was asked to stop, and by which signal."""

    signal: int = 0

    def __call__(self) -> bool:
        return self.signal != 0

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.signal:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def listening() -> Iterator[Stop]:
    """Take SIGINT and SIGTERM as a wish to stop after the current sample; the second one raises KeyboardInterrupt."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # A shell starts what runs in the background with SIGINT ignored: it stays so.
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for number in before:
            signal.signal(number, stop._handle)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
