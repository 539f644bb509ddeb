"""The cards of a data set: README.md (people, Hugging Face) and croissant.json (Croissant 1.0)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdg.annotations import UNLABELLED
from sdg.writer import Member


def readme(manifest: dict[str, Any], members: Sequence[Member]) -> str:
    """Return README.md: typed features for Hugging Face's `datasets`, the members with units, the classes."""
    import yaml

    features = [{"name": member.extension, **member.feature} for member in members]
    own = [{"name": name, "dtype": "string"} for name in ("__key__", "__url__")]
    front = {
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": "shard-*.tar"}]}],
        **({"dataset_info": {"features": own + features}} if members else {}),
    }
    classes = "\n".join(f"| {UNLABELLED + 1 + n} | {name} |" for n, name in enumerate(manifest["classes"]))
    cameras = ", ".join(manifest["cameras"])
    rows = "\n".join(f"| `{member.extension}` | {member.meaning} | {member.unit} |" for member in members)
    return f"""---
{yaml.safe_dump(front, sort_keys=False)}---

# Synthetic data set

{manifest["samples"]} samples in {len(manifest["shards"])} shards (WebDataset: plain tar archives), made with sdg
{manifest["versions"]["sdg"]} from the job in `job.json`, seed {manifest["seed"]}. Cameras: {cameras}.
Every `shard-*.json` is the index of its shard: offsets, sizes and sha256 of each member. `manifest.json` lists the
shards with their sha256; `sdg verify` checks all of it.

| member | what it holds | unit |
|---|---|---|
{rows}

Lengths are metres, angles radians. Camera axes: x right, y down, z forward; pixel (0, 0) has its centre at (0.5, 0.5).
Read 16-bit pictures without conversion (OpenCV: `IMREAD_UNCHANGED`): many loaders cut them to 8 bits by default.

| id | class |
|---|---|
| 0 | background |
| {UNLABELLED} | unlabelled |
{classes}
"""


def croissant(manifest: dict[str, Any], members: Sequence[Member]) -> dict[str, Any]:
    """Return croissant.json: every shard with its sha256, and one set of files per member."""
    shards = [
        {
            "@type": "cr:FileObject",
            "@id": shard["name"],
            "name": shard["name"],
            "contentUrl": shard["name"],
            "contentSize": f"{shard['bytes']} B",
            "encodingFormat": "application/x-tar",
            "sha256": shard["sha256"],
        }
        for shard in manifest["shards"]
    ]
    sources = [{"@id": shard["name"]} for shard in manifest["shards"]]
    sets = [
        {
            "@type": "cr:FileSet",
            "@id": member.extension,
            "name": member.extension,
            "description": f"{member.meaning} [{member.unit}]",
            "containedIn": sources,
            "encodingFormat": _mime(member.extension),
            "includes": f"*.{member.extension}",
        }
        for member in members
    ]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": f"sdg-{manifest['job'][:12]}",
        "description": f"{manifest['samples']} synthetic, labelled samples made by sdg {manifest['versions']['sdg']}",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "version": "1.0.0",
        "distribution": shards + sets,
        "recordSet": [_records(member) for member in members if _is_picture(member) or _is_json(member)],
    }


def _is_picture(member: Member) -> bool:
    return member.feature.get("dtype") == "image"


def _is_json(member: Member) -> bool:
    return member.extension.endswith(".json")


def _records(member: Member) -> dict[str, Any]:
    """Return the record set of one kind of file."""
    name = f"records/{member.extension}"
    field = {
        "@type": "cr:Field",
        "@id": f"{name}/content",
        "name": "content",
        "description": f"{member.meaning} [{member.unit}]",
        "dataType": "sc:ImageObject" if _is_picture(member) else "sc:Text",
        "source": {"fileSet": {"@id": member.extension}, "extract": {"fileProperty": "content"}},
    }
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": [field]}


def _mime(extension: str) -> str:
    suffix = extension.rpartition(".")[2]
    known = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp", "json": "application/json"}
    return known.get(suffix, "application/octet-stream")


CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The names of Croissant 1.0, as its specification gives them."""
