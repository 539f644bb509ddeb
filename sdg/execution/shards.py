"""Shards: named by number, committed once, never overwritten.

A shard is committed when its sidecar is in place: temporary file -> fsync -> link (no clobber) -> sidecar by replace.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sdg.errors import OutputError

from . import tar
from .files import create, replace
from .staging import Packed, Staging


def shard_name(shard: int) -> str:
    """Return the name of a shard without its suffix."""
    return f"shard-{shard:06d}"


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Shards:
    """The shards of one job (`job`: its digest) in one folder."""

    folder: Path
    job: str

    @cached_property
    def staging(self) -> Staging:
        """The samples that wait for the rest of their shard."""
        return Staging(self.folder / ".staging", self.job)

    def tar_path(self, shard: int) -> Path:
        """Return where a shard is."""
        return self.folder / f"{shard_name(shard)}.tar"

    def sidecar_path(self, shard: int) -> Path:
        """Return where the index of a shard is."""
        return self.folder / f"{shard_name(shard)}.json"

    def sidecar(self, shard: int) -> dict[str, Any] | None:
        """Return the index of a committed shard, or None. Raises OutputError where something else is in its place."""
        side, archive = self.sidecar_path(shard), self.tar_path(shard)
        if not side.exists() or not archive.exists():
            return None
        try:
            data: dict[str, Any] = json.loads(side.read_bytes())
            good = data["job"] == self.job and data["bytes"] == archive.stat().st_size
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            raise OutputError(
                f"'{archive}' and '{side.name}' are damaged or belong to another job. "
                "Delete the two files and run again: the shard is made again."
            )
        return data

    def commit(self, shard: int, samples: Sequence[str], waiting: Callable[[str], Packed]) -> None:
        """Make a shard of the samples with these keys, one after the other; `waiting` returns a sample."""
        archive, packing = self.tar_path(shard), _Packing(shard, self.job)
        try:
            create(archive, packing.chunks(waiting(key) for key in samples))
        except FileExistsError:
            if file_sha256(archive) != packing.sha256.hexdigest():
                raise OutputError(
                    f"'{archive}' exists with other content: the job is not deterministic, or the file is damaged. "
                    "It was left as it is; delete it to have it made again, or choose another output."
                ) from None
        replace(self.sidecar_path(shard), [packing.sidecar()])
        for key in samples:
            self.staging.remove(key)


class _Packing:
    """Collects the index of a shard while its bytes pass by."""

    def __init__(self, shard: int, job: str) -> None:
        self.shard, self.job = shard, job
        self.sha256, self.size = hashlib.sha256(), 0
        self.index: list[dict[str, Any]] = []
        self.files: dict[str, dict[str, Any]] = {}
        self.members: set[str] | None = None

    def chunks(self, samples: Iterator[Packed]) -> Iterator[bytes]:
        for sample in samples:
            self._add(sample)
            yield self._counted(sample.data)
        yield self._counted(tar.END)

    def _counted(self, data: bytes) -> bytes:
        self.sha256.update(data)
        self.size += len(data)
        return data

    def _add(self, sample: Packed) -> None:
        self.members = set(sample.members) if self.members is None else self.members
        if set(sample.members) != self.members:
            other = ", ".join(sorted(self.members ^ set(sample.members)))
            raise OutputError(f"the writer gave sample {sample.key} other members than the one before: {other}")
        for extension, (offset, size, sha256) in sample.members.items():
            place = {"offset": self.size + offset, "length": size, "sha256": sha256}
            self.files[f"{sample.key}.{extension}"] = place
        self.index.append(
            {
                "key": sample.key,
                "offset": self.size,
                "size": len(sample.data),
                "sha256": sample.sha256,
                "rejections": sample.rejections,
            }
        )

    def sidecar(self) -> bytes:
        """Return the index: `index` by sample; `files` and `filesize` are what other readers of tar indexes expect."""
        name, digest = f"{shard_name(self.shard)}.tar", self.sha256.hexdigest()
        head = {"shard": name, "job": self.job, "samples": len(self.index), "bytes": self.size, "sha256": digest}
        body = {"filesize": self.size, "members": sorted(self.members or ()), "index": self.index, "files": self.files}
        return json.dumps({**head, **body}, separators=(",", ":")).encode() + b"\n"
