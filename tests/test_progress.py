"""What a long run shows, with and without a terminal."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from sdg.commands import _progress
from sdg.commands._progress import Progress, duration


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def event(kind: str = "sample", **values: Any) -> Any:
    return SimpleNamespace(**{"kind": kind, "shard": 0, "text": "", "rejections": 0, "reused": False, **values})


def test_progress_is_a_line_every_ten_seconds_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    monkeypatch.setattr(_progress, "time", clock)
    with Progress(100, per_shard=lambda shard: 20) as progress:
        progress(event("shard", reused=True))
        for _ in range(6):
            clock.now += 4.0
            progress(event(rejections=1))
        progress(event("warning", text="a texture is missing"))
    assert capsys.readouterr().err.splitlines() == [
        "23 of 100 samples, 0.25 per second, 5 min 8 s left, 3 rejected",
        "26 of 100 samples, 0.25 per second, 4 min 56 s left, 6 rejected",
        "sdg: warning: a texture is missing",
    ]


def test_quiet_progress_shows_warnings_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(1, quiet=True) as progress:
        progress(event())
        progress(event("retry", text="worker 1 was ended by SIGKILL"))
    assert capsys.readouterr().err == "sdg: retry: worker 1 was ended by SIGKILL\n"


def test_progress_is_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    master, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream, os.fdopen(master, "rb", buffering=0) as screen:
        with Progress(3, stream=stream) as progress:
            progress(event())
            progress(event(rejections=2))
        print("the end", file=stream, flush=True)
        shown = ""
        while "the end" not in shown:
            shown += screen.read(65536).decode()
    assert "2/3" in shown and "2 rejected" in shown and "per second" in shown


def test_durations_are_for_people() -> None:
    assert [duration(s) for s in (8.31, 59.99, 125, 11040)] == ["8.3 s", "60.0 s", "2 min 5 s", "3 h 4 min"]
