"""What a long run shows: a bar in a terminal, else a line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, Self, TextIO

INTERVAL = 10.0
"""Seconds between two lines where there is no terminal."""


class Event(Protocol):
    """What `sdg.execution` tells about a run."""

    @property
    def kind(self) -> str: ...
    @property
    def shard(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def rejections(self) -> int: ...
    @property
    def reused(self) -> bool: ...


class Progress:
    """Counts the samples of a run and shows the count, the rate and the time that is left, on stderr.

    `per_shard` says how many samples a shard has, for shards that are there from an earlier run.
    """

    def __init__(
        self,
        total: int,
        *,
        quiet: bool = False,
        stream: TextIO | None = None,
        per_shard: Callable[[int], int] = lambda _: 0,
    ) -> None:
        self.total, self.per_shard = total, per_shard
        self.stream = sys.stderr if stream is None else stream
        self.made = self.reused = self.rejected = 0
        self.begun = self.shown = time.monotonic()
        self.bar: Any = _bar(total, self.stream) if not quiet and self.stream.isatty() else None
        self.lines = not quiet and self.bar is None

    def __enter__(self) -> Self:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar:
            self.bar.stop()

    def __call__(self, event: Event) -> None:
        """Take one event of the run."""
        if event.text and event.kind in ("warning", "retry", "error"):
            self._say(f"sdg: {event.kind}: {event.text}")
        if event.kind == "shard" and event.reused:
            self.count(self.per_shard(event.shard), reused=True)
        elif event.kind == "sample":
            self.count(reused=event.reused, rejections=event.rejections)

    def count(self, samples: int = 1, *, reused: bool = False, rejections: int = 0) -> None:
        """Count samples."""
        self.made += 0 if reused else samples
        self.reused += samples if reused else 0
        self.rejected += rejections
        if self.bar:
            note = f"{self.rejected} rejected" if self.rejected else ""
            self.bar.update(self.bar.task_ids[0], completed=self.made + self.reused, rate=self._rate(), note=note)
        elif self.lines and time.monotonic() - self.shown >= INTERVAL:
            self.shown = time.monotonic()
            self._say(self.line())

    def line(self) -> str:
        """Return the state of the run in one line."""
        done = self.made + self.reused
        seconds = time.monotonic() - self.begun
        left = duration((self.total - done) * seconds / self.made) if self.made else "unknown"
        rejected = f", {self.rejected} rejected" if self.rejected else ""
        return f"{done} of {self.total} samples, {self._rate()}, {left} left{rejected}"

    def _rate(self) -> str:
        return f"{self.made / max(time.monotonic() - self.begun, 1e-9):.2f} per second"

    def _say(self, text: str) -> None:
        if self.bar:
            self.bar.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=self.stream, flush=True)


def _bar(total: int, stream: TextIO) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    rate, note = TextColumn("{task.fields[rate]}"), TextColumn("{task.fields[note]}")
    columns = (BarColumn(), MofNCompleteColumn(), rate, TextColumn("left"), TimeRemainingColumn(), note)
    bar = RichProgress(*columns, console=Console(file=stream), transient=True)
    bar.add_task("samples", total=total, rate="starting", note="")
    return bar


def duration(seconds: float) -> str:
    """Return a time for people: 8.3 s, 2 min 5 s, 3 h 4 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
