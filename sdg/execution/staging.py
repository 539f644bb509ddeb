"""Finished samples that wait for the rest of their shard: a run that is killed loses at most the current sample."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import tar
from .files import canonical, replace, sweep


@dataclass(frozen=True)
class Packed:
    """One sample as a piece of a tar archive.

    members: extension -> offset in `data`, size, sha256. `sha256`: of `data`.
    """

    key: str
    data: bytes
    sha256: str
    members: dict[str, tuple[int, int, str]]
    rejections: int = 0

    def record(self, job: str) -> dict[str, Any]:
        """Return everything but the data."""
        members = {name: list(place) for name, place in self.members.items()}
        rest = {"sha256": self.sha256, "members": members, "rejections": self.rejections}
        return {"job": job, "key": self.key, **rest}


def pack_sample(key: str, files: dict[str, bytes], *, rejections: int = 0) -> Packed:
    """Return the members of one sample as a piece of a tar archive."""
    data, offsets = tar.pack(key, files)
    members = {
        extension: (offsets[extension], len(content), hashlib.sha256(content).hexdigest())
        for extension, content in sorted(files.items())
    }
    return Packed(key, data, hashlib.sha256(data).hexdigest(), members, rejections)


@dataclass(frozen=True)
class Staging:
    """The folder of waiting samples of one job (`job`: its digest)."""

    folder: Path
    job: str

    def path(self, key: str) -> Path:
        """Return where the sample `key` waits."""
        return self.folder / f"{key}.sample"

    def put(self, sample: Packed) -> None:
        """Keep a finished sample on the disk."""
        self.folder.mkdir(exist_ok=True)
        replace(self.path(sample.key), [canonical(sample.record(self.job)), sample.data])

    def get(self, key: str) -> Packed | None:
        """Return a waiting sample, or None where there is no whole one of this job; a bad one is removed."""
        try:
            head, _, data = self.path(key).read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        with contextlib.suppress(ValueError, KeyError, TypeError):
            record = json.loads(head)
            digest = hashlib.sha256(data).hexdigest()
            if (record["job"], record["key"], record["sha256"]) == (self.job, key, digest):
                members = {name: (place[0], place[1], place[2]) for name, place in record["members"].items()}
                return Packed(key, data, record["sha256"], members, record["rejections"])
        self.remove(key)
        return None

    def remove(self, key: str) -> None:
        """Forget a sample, whose shard is committed."""
        self.path(key).unlink(missing_ok=True)

    def sweep(self, *, keep: set[str]) -> None:
        """Remove temporary files and every sample whose key is not in `keep`."""
        sweep(self.folder)
        for path in self.folder.glob("*.sample") if self.folder.is_dir() else ():
            if path.stem not in keep:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder if nothing waits in it."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()
