"""A worker process: takes numbers of shards over a socket, makes them, and says what happened."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import traceback
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from sdg.errors import SdgError
from sdg.run import open_studio

from .events import Event
from .shards import Shards
from .work import facts, make_shard, reopen


def main(descriptor: int, parent: int) -> None:
    """Serve the parent process on the socket `descriptor`; die with it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the parent decides when to stop
    _die_with_parent(parent)
    connection = Connection(descriptor)
    _Worker(connection).run(json.loads(connection.recv_bytes()))


def _die_with_parent(parent: int) -> None:
    """Ask Linux for SIGKILL when the parent ends; elsewhere the closed socket does it, as soon as Python runs."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


class _Worker:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.orders: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self.stop = threading.Event()

    def run(self, task: dict[str, Any]) -> None:
        """Do what `task` says; every error that is not a dying process goes to the parent as a text."""
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._work(task)
            self._say({"event": "done"})
        except MemoryError:
            raise
        except (SdgError, ImportError) as error:
            self._say({"event": "error", "type": type(error).__name__, "text": str(error)})
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({place.filename}:{place.lineno} in {place.name})"
            self._say({"event": "error", "type": "crash", "text": text, "details": traceback.format_exc()})

    def _work(self, task: dict[str, Any]) -> None:
        job = reopen(task["path"], task["job"])
        with open_studio(job) as studio:
            self._say({"event": "ready", "facts": facts(studio), "warnings": studio.scene.warnings})
            while (order := self.orders.get()) is not None:
                shards = Shards(Path(task["output"]), order["digest"])
                if make_shard(studio, shards, order["shard"], self._notify, self.stop.is_set):
                    self._say({"event": "free"})

    def _listen(self) -> None:
        """Read orders; a closed socket means that the parent is gone."""
        while True:
            try:
                order = json.loads(self.connection.recv_bytes())
            except (EOFError, OSError):
                os._exit(1)
            if order["do"] == "stop":
                self.stop.set()
            self.orders.put(order if order["do"] == "shard" else None)

    def _notify(self, event: Event) -> None:
        self._say({"event": "event", **{"value": asdict(event)}})

    def _say(self, message: dict[str, Any]) -> None:
        self.connection.send_bytes(json.dumps(message).encode())
