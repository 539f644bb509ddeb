"""Is a data set whole and unchanged? Names shard and key of every fault."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from sdg.errors import OutputError

from . import tar
from .manifest import read_json, read_record, root_digest
from .shards import file_sha256, shard_name
from .work import sample_key

MISSING = "is missing"
EMPTY: Mapping[str, Any] = {"files": {}}


@dataclass(frozen=True)
class Fault:
    """One fault; `shard`: name of a file, '' for the whole data set; `key`: of a sample or of one of its members."""

    shard: str
    key: str
    text: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.shard, self.key, self.text) if part)


def verify(output: Path, *, on_shard: Callable[[int, int], None] = lambda shard, of: None) -> list[Fault]:
    """Check every byte of a data set; `on_shard(number, of)` is called after each shard. Raises OutputError."""
    record = read_record(output)
    if record is None:
        raise OutputError(f"'{output}' holds no data set of sdg: there is no job.json in it")
    samples, each = record["job"]["samples"], record["job"]["writer"]["samples_per_shard"]
    groups = [range(first, min(first + each, samples)) for first in range(0, samples, each)]
    manifest = read_json(output / "manifest.json")
    known = {} if manifest is None else {shard["name"]: shard for shard in manifest["shards"]}
    faults = list(_strangers(output, len(groups)))
    for number, group in enumerate(groups):
        check = _ShardCheck(output, number, [sample_key(index) for index in group], record["digest"], known)
        faults += check.faults()
        on_shard(number, len(groups))
    return list(_whole(record, manifest, groups, faults)) + faults


def _whole(
    record: dict[str, Any], manifest: dict[str, Any] | None, groups: Sequence[range], faults: Sequence[Fault]
) -> Iterator[Fault]:
    """Check what concerns no single shard."""
    if manifest is None:
        lost = {fault.shard for fault in faults if fault.text.startswith(MISSING)}
        there = sum(len(group) for number, group in enumerate(groups) if f"{shard_name(number)}.tar" not in lost)
        total = record["job"]["samples"]
        yield Fault("", "", f"there is no manifest.json: {there} of {total} samples are there; run the job again")
        return
    if manifest["job"] != record["digest"]:
        yield Fault("manifest.json", "", "is of another job than job.json")
    if [shard["name"] for shard in manifest["shards"]] != [f"{shard_name(n)}.tar" for n in range(len(groups))]:
        yield Fault("manifest.json", "", f"does not list the {len(groups)} shards of the job")
    if manifest["root"] != root_digest([shard["sha256"] for shard in manifest["shards"]]):
        yield Fault("manifest.json", "", "is damaged: its root digest is not that of its shards")


def _strangers(output: Path, count: int) -> Iterator[Fault]:
    expected = {f"{shard_name(number)}{suffix}" for number in range(count) for suffix in (".tar", ".json")}
    for path in sorted(output.glob("shard-*")):
        if path.name not in expected:
            yield Fault(path.name, "", "is not part of the data set")


class _ShardCheck:
    """The check of one shard that should hold the samples `keys`."""

    def __init__(self, output: Path, number: int, keys: list[str], job: str, known: dict[str, Any]) -> None:
        self.path, self.side_path = (output / f"{shard_name(number)}{suffix}" for suffix in (".tar", ".json"))
        self.name, self.keys, self.job = self.path.name, keys, job
        self.listed: dict[str, Any] = known.get(self.name, {})
        self.side: dict[str, Any] | None = None
        self.found: dict[str, tar.Entry] = {}

    def faults(self) -> Iterator[Fault]:
        """Check the sidecar, the sha256, then look for the places of the faults."""
        if not self.path.exists():
            yield Fault(self.name, f"{self.keys[0]} to {self.keys[-1]}", MISSING)
            return
        yield from self._sidecar_faults()
        digest = file_sha256(self.path)
        wanted = {source["sha256"] for source in (self.listed, self.side or {}) if source}
        with self.path.open("rb") as file:
            found = list(self._structure_faults(file))
            if wanted - {digest}:
                found += self._content_faults(file, {fault.key for fault in found})
        if wanted - {digest} and not found:
            found = [Fault(self.name, "", f"its sha256 is {digest}, not {' or '.join(sorted(wanted - {digest}))}")]
        yield from found

    def _sidecar_faults(self) -> Iterator[Fault]:
        if not self.side_path.exists():
            yield Fault(self.side_path.name, "", f"{MISSING}: the index of {self.name}")
            return
        if self.listed and file_sha256(self.side_path) != self.listed["sidecar_sha256"]:
            yield Fault(self.side_path.name, "", "was changed: its sha256 is not the one in manifest.json")
            return
        try:
            side = json.loads(self.side_path.read_bytes())
            keys, _ = [sample["key"] for sample in side["index"]], (side["sha256"], side["files"], side["members"])
        except (ValueError, KeyError, TypeError):
            yield Fault(self.side_path.name, "", "is damaged: it is no index of a shard")
            return
        self.side = side
        if side["job"] != self.job:
            yield Fault(self.side_path.name, "", "is of another job than job.json")
        yield from (Fault(self.side_path.name, key, MISSING) for key in self.keys if key not in keys)

    def _structure_faults(self, file: BinaryIO) -> Iterator[Fault]:
        """Follow the archive: cut or damaged places, samples and members that are missing, twice or too many."""
        samples: dict[str, list[str]] = {}
        last = ""
        for entry in self._entries(file):
            if entry.fault:
                yield Fault(self.name, entry.name or last, entry.fault if entry.name else f"after it: {entry.fault}")
            if entry.size < 0:
                break
            self.found[entry.name] = entry
            key, _, extension = entry.name.partition(".")
            if key in samples and key != last.partition(".")[0]:
                yield Fault(self.name, key, "is there twice")
            samples.setdefault(key, []).append(extension)
            last = entry.name
        members = self._members(samples)
        for key in sorted({*samples, *self.keys}):
            yield from self._sample_faults(key, samples.get(key), members)

    def _entries(self, file: BinaryIO) -> Iterator[tar.Entry]:
        """Follow the archive, past damaged headers where the sidecar says how it goes on; size -1: no further."""
        length = self.path.stat().st_size
        position: int | None = 0
        places = {place["offset"] - tar.BLOCK: (name, place) for name, place in (self.side or EMPTY)["files"].items()}
        while position is not None:
            start, position = position, None
            for entry in tar.walk(file, length, start):
                if entry.fault == tar.BAD_HEADER and entry.offset in places:
                    name, place = places[entry.offset]
                    yield tar.Entry(name, place["offset"], place["length"], tar.BAD_HEADER)
                    position = place["offset"] + place["length"] + len(tar.padding(place["length"]))
                else:
                    yield replace(entry, size=-1) if entry.fault else entry

    def _members(self, samples: dict[str, list[str]]) -> list[str]:
        """Return the extensions that every sample has to have."""
        if self.side is not None:
            return list(self.side["members"])
        counts = Counter(tuple(sorted(set(extensions))) for extensions in samples.values())
        return list(counts.most_common(1)[0][0]) if counts else []

    def _sample_faults(self, key: str, extensions: list[str] | None, members: Sequence[str]) -> Iterator[Fault]:
        if extensions is None:
            yield Fault(self.name, key, MISSING)
        elif key not in self.keys:
            yield Fault(self.name, key, "does not belong to this shard")
        else:
            counts = Counter(extensions)
            yield from (Fault(self.name, f"{key}.{name}", MISSING) for name in members if name not in counts)
            for name, count in counts.items():
                if name not in members:
                    yield Fault(self.name, f"{key}.{name}", "is a member that other samples do not have")
                elif count > 1:
                    yield Fault(self.name, f"{key}.{name}", "is there twice")

    def _content_faults(self, file: BinaryIO, known: set[str]) -> Iterator[Fault]:
        """Compare each member that is there with its digest in the sidecar."""
        for name, place in (self.side or EMPTY)["files"].items():
            if name in self.found and name not in known:
                file.seek(self.found[name].offset)
                if hashlib.sha256(file.read(self.found[name].size)).hexdigest() != place["sha256"]:
                    yield Fault(self.name, name, "was changed: its sha256 is not the one in the sidecar")
