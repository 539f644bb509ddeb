"""Worker processes on this machine: each holds an engine, takes shards, and is replaced when it dies."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from sdg import errors
from sdg.errors import SdgError

from .events import Event, RunError, Stop

RETRIES = 3
START = """import sys, json
sys.path[:] = json.loads(sys.argv[1])
from sdg.execution.worker import main
main(int(sys.argv[2]), int(sys.argv[3]))
"""


@dataclass(frozen=True)
class Task:
    """What a worker needs to make the samples of a job; `described`: the job's own description."""

    path: Path | None
    described: dict[str, Any]
    output: Path

    def message(self) -> dict[str, Any]:
        """Return the first message to a worker."""
        path = None if self.path is None else str(self.path)
        return {"path": path, "job": self.described, "output": str(self.output)}


class Process:
    """The parent's end of one worker. `shard`: what it is making; `sample`: the one it began last."""

    def __init__(self, number: int, task: Task, lock: int) -> None:
        self.number = number
        self.shard: int | None = None
        self.sample = -1
        self.ready = False
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-c", START, json.dumps(sys.path), str(theirs.fileno()), str(os.getpid())]
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                pass_fds=[theirs.fileno(), lock],
                process_group=0,  # Ctrl-C in a terminal reaches the parent alone
            )
        self.connection = Connection(ours.detach())
        self.say(task.message())

    def say(self, message: dict[str, Any]) -> None:
        """Send a message; one to a dead worker is lost, and its end is seen when its socket is read."""
        with contextlib.suppress(OSError):
            self.connection.send_bytes(json.dumps(message).encode())

    def hear(self) -> dict[str, Any] | None:
        """Return the next message, or None when the worker is gone."""
        try:
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
            return message
        except (EOFError, OSError):
            return None

    def end(self, *, patience: float = 0.0) -> None:
        """Wait `patience` seconds for the process to end, then kill it."""
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.connection.close()
        self.last_words = self._last_words()
        self.log.close()

    def _last_words(self) -> str:
        """Say how the process ended and what it printed last."""
        code = self.process.returncode
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        if code == -signal.SIGKILL:
            how += " (by the system, if memory ran out)"
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - 2000))
        printed = self.log.read().decode(errors="replace").strip().splitlines()[-8:]
        return f"{how}" + ("; it printed:\n  " + "\n  ".join(printed) if printed else "")


@dataclass
class Pool:
    """Hands shards to `count` workers until none is left, a worker reports an error, or `stop` says so.

    `opened(facts)` takes what an open studio says of its job and returns the job's digest. `failed`: shard -> why.
    """

    task: Task
    lock: int
    count: int
    opened: Callable[[dict[str, Any]], str]
    notify: Callable[[Event], None]
    stop: Stop
    todo: deque[int] = field(default_factory=deque)
    failed: dict[int, str] = field(default_factory=dict)
    retried: int = 0

    def __post_init__(self) -> None:
        self.workers: list[Process] = []
        self.deaths: Counter[int | None] = Counter()
        self.error: SdgError | None = None
        self.started = 0
        self.warned = False

    def run(self, shards: Iterable[int]) -> None:
        """Make these shards. Raises the first SdgError of a worker, after the others have kept their current sample."""
        self.todo.extend(shards)
        told = False
        try:
            while True:
                if self._ending and not told:
                    self._tell_all_to_stop()
                    told = True
                if not self._ending:
                    self._start_missing()
                if not self.workers:
                    break
                self._listen()
        finally:
            for worker in self.workers:
                worker.process.kill()
            for worker in self.workers:
                worker.end()
        if self.error is not None:
            raise self.error

    @property
    def _ending(self) -> bool:
        return self.stop() or self.error is not None

    def _tell_all_to_stop(self) -> None:
        for worker in self.workers:
            if worker.shard is None and not worker.ready:
                worker.process.kill()  # still opening its scene: it has nothing to keep
            worker.say({"do": "stop"})

    def _start_missing(self) -> None:
        """Start as many workers as there is work for."""
        idle = sum(worker.shard is None for worker in self.workers)
        for _ in range(min(self.count - len(self.workers), len(self.todo) - idle)):
            self.workers.append(Process(self.started, self.task, self.lock))
            self.started += 1

    def _listen(self) -> None:
        sources = {worker.connection: worker for worker in self.workers}
        for source in wait(list(sources), timeout=0.2):
            worker = sources[source]  # type: ignore[index]
            message = worker.hear()
            if message is None:
                self._gone(worker)
            else:
                self._handle(worker, message)

    def _handle(self, worker: Process, message: dict[str, Any]) -> None:
        kind = message["event"]
        if kind == "event":
            event = Event(**{**message["value"], "worker": worker.number})
            worker.sample = event.sample
            self.notify(event)
        elif kind == "ready":
            self._opened(worker, message)
        elif kind == "free":
            worker.shard = None
            self._give(worker)
        elif kind == "error":
            self._failed(worker, message)

    def _opened(self, worker: Process, message: dict[str, Any]) -> None:
        worker.ready = True
        self.deaths[None] = 0
        for text in () if self.warned else message["warnings"]:
            self.notify(Event("warning", worker=worker.number, text=text))
        self.warned = True
        try:
            self.digest = self.opened(message["facts"])
        except SdgError as error:
            self.error = self.error or error
            return
        self.notify(Event("started", worker=worker.number))
        self._give(worker)

    def _give(self, worker: Process) -> None:
        if self.todo and not self._ending:
            worker.shard = self.todo.popleft()
            worker.say({"do": "shard", "shard": worker.shard, "digest": self.digest})
        else:
            worker.say({"do": "stop"})

    def _failed(self, worker: Process, message: dict[str, Any]) -> None:
        """Keep the first error that a worker reports; it stops the run."""
        kind = getattr(errors, message["type"], RunError)
        text = message["text"]
        if message["type"] == "crash":
            where = f"sample {worker.sample}" if worker.shard is not None else "the scene"
            text = f"{where} cannot be made: {text}"
        shard = -1 if worker.shard is None else worker.shard
        self.notify(Event("error", shard, worker.sample, worker.number, message.get("details", text)))
        self.error = self.error or kind(text)
        worker.shard = None

    def _gone(self, worker: Process) -> None:
        worker.end(patience=10.0)
        self.workers.remove(worker)
        if worker.shard is None and (self._ending or worker.ready):
            return  # at its end, or killed between two shards: nothing is lost, and _start_missing replaces it
        if self._ending:
            return
        self.deaths[worker.shard] += 1
        given_up = self.deaths[worker.shard] > RETRIES
        if worker.shard is None:
            text = f"a worker {worker.last_words}"
            if given_up:
                self.error = RunError(f"no worker can open the job: {text}")
                return
        else:
            text = f"a worker {worker.last_words}\n  while it made sample {worker.sample} of shard {worker.shard}"
            if given_up:
                self.failed[worker.shard] = text
                self.notify(Event("error", worker.shard, worker.sample, worker.number, text))
                return
            self.todo.appendleft(worker.shard)
        self.retried += 1
        self.notify(Event("retry", -1 if worker.shard is None else worker.shard, worker.sample, worker.number, text))
