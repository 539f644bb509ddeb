"""Read the samples of a data set back, as the commands show them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from sdg.contact_sheet import Tile
from sdg.errors import SdgError
from sdg.plugin import find

Decoded: TypeAlias = dict[str, Any]
"""One sample by member name without its suffix: `rgb`, `left.depth`, `objects`, `meta`."""


def samples(dataset: Path) -> Iterator[Decoded]:
    """Read the samples of every committed shard, in order. Raises SdgError."""
    decode = decoder(dataset)
    sidecars = sorted(dataset.glob("shard-*.json"))
    if not sidecars:
        raise SdgError(f"'{dataset}' holds no shards; give the output folder of `sdg run`")
    for sidecar in sidecars:
        for members in _members(sidecar):
            yield decode(members)


def _members(sidecar: Path) -> Iterator[dict[str, bytes]]:
    archive = sidecar.with_suffix(".tar")
    try:
        index = json.loads(sidecar.read_bytes())
        with archive.open("rb") as file:
            for sample in index["index"]:
                members = {}
                for extension in index["members"]:
                    place = index["files"][f"{sample['key']}.{extension}"]
                    file.seek(place["offset"])
                    members[extension] = file.read(place["length"])
                yield members
    except OSError as error:
        raise SdgError(f"'{archive}' cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise SdgError(f"'{sidecar}' is damaged; `sdg verify {sidecar.parent}` says more") from None


def decoder(dataset: Path) -> Callable[[dict[str, bytes]], Decoded]:
    """Return the function that decodes the samples of a data set: `decode` of its writer's module. Raises SdgError."""
    record = dataset / "job.json"
    try:
        writer = json.loads(record.read_bytes())["job"]["writer"]["type"]
        module = importlib.import_module(find("sdg.writers", writer).__module__)
    except FileNotFoundError:
        raise SdgError(f"'{dataset}' is not a data set of sdg: it has no job.json") from None
    except OSError as error:
        raise SdgError(f"'{record}' cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise SdgError(f"'{record}' cannot be used: {error}") from None
    decode: Callable[[dict[str, bytes]], Decoded] | None = getattr(module, "decode", None)
    if decode is None:
        raise SdgError(f"the format of writer '{writer}' cannot be read back: its module has no function `decode`")
    return decode


def views(sample: Decoded) -> Iterator[Decoded]:
    """Return what each camera of a decoded sample saw: `rgb`, `depth`, `objects`, ..."""
    cameras = sample["meta"]["cameras"]
    for camera in cameras:
        prefix = "" if len(cameras) == 1 else f"{camera}."
        yield {name.removeprefix(prefix): value for name, value in sample.items() if name.startswith(prefix)}


def tiles(dataset: Path, *, limit: int) -> list[Tile]:
    """Return the first pictures of a data set; none where its job asks for no colour or its format cannot be read."""
    try:
        decoder(dataset)
    except SdgError:
        return []
    found: list[Tile] = []
    for sample in samples(dataset):
        classes = sample["meta"]["classes"]
        found += [_tile(view, classes) for view in views(sample) if "rgb" in view]
        if len(found) >= limit or not found:
            break
    return found[:limit]


def _tile(view: Decoded, classes: list[str]) -> Tile:
    objects = view.get("objects", {})
    depth, instance, normals = (view.get(name) for name in ("depth", "instance", "normals"))
    return Tile(view["rgb"], depth, instance, normals, objects.get("box_tight"), objects.get("class_id"), classes)
