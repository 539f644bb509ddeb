"""What an output folder says of itself: `job.json` from the start, `manifest.json` when everything is there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sdg.errors import OutputError
from sdg.job import digest_of

from .files import canonical, create, replace
from .shards import Shards, file_sha256, shard_name

FORMAT = "sdg shards 1"
OWN = (".lock", ".staging", "job.json", "lost+found")


def read_json(path: Path) -> dict[str, Any] | None:
    """Return what a JSON file holds, or None where there is no such file. Raises OutputError."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        raise OutputError(f"'{path}' is damaged: it is not JSON") from None
    if not isinstance(data, dict):
        raise OutputError(f"'{path}' is damaged: it holds no object")
    return data


def read_record(output: Path) -> dict[str, Any] | None:
    """Return `job.json` of an output folder, or None where no run has begun. Raises OutputError."""
    record = read_json(output / "job.json")
    if record is not None and record.get("digest") != _digest(record):
        raise OutputError(f"'{output / 'job.json'}' is damaged: its digest is not that of its content")
    return record


def _digest(record: dict[str, Any]) -> str:
    return digest_of({name: record.get(name) for name in ("job", "scene", "renderer", "versions")})


def make_record(described: dict[str, Any], versions: dict[str, str], facts: dict[str, Any]) -> dict[str, Any]:
    """Return the content of `job.json`; `facts` is what an open studio says of its job."""
    record = {"format": FORMAT, "job": described, "versions": versions, **facts}
    return {**record, "digest": _digest(record)}


def keep_record(output: Path, record: dict[str, Any]) -> None:
    """Write `job.json`, once. Raises OutputError when the folder holds another job."""
    try:
        create(output / "job.json", [json.dumps(record, indent=1, sort_keys=True).encode() + b"\n"])
    except FileExistsError:
        refuse_change(output, read_record(output) or {}, record)


def refuse_change(output: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise OutputError with every value of `new` that differs from the record of the folder."""
    changes = [f"  {line}" for name in new if name != "digest" for line in differences(old.get(name), new[name], name)]
    if changes:
        raise OutputError(
            f"output '{output}' holds samples of another job:\n"
            + "\n".join(changes)
            + "\nGo on with what was run before, or give another output folder for this job."
        )


def differences(old: Any, new: Any, place: str) -> list[str]:
    """Say where two JSON values differ: one line per place, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = [*old, *(name for name in new if name not in old)]
        return [
            line
            for name in names
            for line in differences(old.get(name, _Missing()), new.get(name, _Missing()), f"{place}.{name}")
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for number, (a, b) in pairs for line in differences(a, b, f"{place}.{number}")]
    return [] if old == new else [f"{place.removeprefix('job.')}: was {_short(old)}, is now {_short(new)}"]


class _Missing:
    """Stands for a value that is not there."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Missing)


def _short(value: Any) -> str:
    if isinstance(value, _Missing):
        return "not there"
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def refuse_strangers(output: Path) -> None:
    """Raise OutputError when a folder without `job.json` holds something that this program did not put there."""
    others = sorted(path.name for path in output.iterdir() if path.name not in OWN and not path.name.endswith(".tmp"))
    if others:
        names = ", ".join(others[:5]) + (", ..." if len(others) > 5 else "")
        raise OutputError(f"output '{output}' is not empty and holds no job.json: {names}. Give a new or empty folder.")


def make_manifest(output: Path, record: dict[str, Any], shard_count: int) -> dict[str, Any]:
    """Return the content of `manifest.json` from `job.json` and the sidecars of all shards."""
    shards, store, members, rejections = [], Shards(output, record["digest"]), None, 0
    for number in range(shard_count):
        side = store.sidecar(number)
        if side is None:
            raise OutputError(f"'{output}' has no {shard_name(number)}: run the job again")
        if members is not None and side["members"] != members:
            raise OutputError(f"the samples of {side['shard']} have other members than those before")
        members = side["members"]
        rejections += sum(sample["rejections"] for sample in side["index"])
        shards.append(
            {name: side[name] for name in ("sha256", "bytes", "samples")}
            | {"name": side["shard"], "sidecar_sha256": file_sha256(store.sidecar_path(number))}
        )
    return {
        "format": FORMAT,
        **{name: record[name] for name in ("scene", "renderer", "versions", "classes", "cameras")},
        "job": record["digest"],
        "seed": record["job"]["seed"],
        "samples": record["job"]["samples"],
        "samples_per_shard": record["job"]["writer"]["samples_per_shard"],
        "rejections": rejections,
        "members": members,
        "shards": shards,
        "root": root_digest([shard["sha256"] for shard in shards]),
    }


def root_digest(digests: list[str]) -> str:
    """Return the sha256 over the digests of all shards."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def write_json(path: Path, data: dict[str, Any], *, readable: bool = True) -> None:
    """Put JSON at `path`, in the place of what is there."""
    replace(path, [json.dumps(data, indent=1, sort_keys=True).encode() + b"\n" if readable else canonical(data)])
