"""The JSON schema of a job file, with every plug-in that comes with sdg, and the reference made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .annotations import ANNOTATIONS
from .job import Job
from .plugin import find, names

Schema = dict[str, Any]

PLUGINS = {
    "scene": "sdg.scenes",
    "randomizers": "sdg.randomizers",
    "renderer": "sdg.renderers",
    "writer": "sdg.writers",
}
"""Field of a job -> the package with its types."""
SHARED = ("Number", "Count")
"""Titles of schemas that many options share; they are written once, under `$defs`."""


def job_schema() -> Schema:
    """Return the JSON schema of a job file."""
    schema = Job.model_json_schema(mode="validation")
    definitions: Schema = {"CameraOptions": schema["$defs"]["CameraOptions"]}
    for field, package in PLUGINS.items():
        chosen = _one_of(package, definitions)
        place = schema["properties"][field]
        kept = {name: place[name] for name in ("description",) if name in place}
        kind = {"type": "array", "items": chosen} if field == "randomizers" else chosen
        schema["properties"][field] = {**kept, **kind}
    schema["properties"]["annotations"]["items"] = {"enum": list(ANNOTATIONS)}
    del schema["$defs"]
    schema = _shared(schema, definitions)
    definitions |= {name: _shared(value, definitions) for name, value in list(definitions.items())}
    schema["$defs"] = dict(sorted(definitions.items()))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "A job of sdg"}


def _one_of(package: str, definitions: Schema) -> Schema:
    """Return the schema of a plug-in by its `type`: one that comes with sdg, or a user's own."""
    known = []
    for type_name in names(package):
        plugin = find(package, type_name)
        options = plugin.model_json_schema(mode="validation")
        definitions.update(options.pop("$defs", {}))
        required = ["type", *options.get("required", [])]
        kind = {"const": type_name, "description": (plugin.__doc__ or "").partition("\n")[0]}
        options["properties"] = {"type": kind, **options["properties"]}
        name = f"{package.removeprefix('sdg.')}.{type_name}"
        definitions[name] = {**options, "title": type_name, "required": required}
        known.append({"$ref": f"#/$defs/{name}"})
    own = {"type": "object", "properties": {"type": {"type": "string", "pattern": ":"}}, "required": ["type"]}
    short = {"type": "string", "anyOf": [{"enum": names(package)}, {"pattern": ":"}]}
    return {"anyOf": [*known, {**own, "description": "your own: my_module:Class or ./file.py:Class"}, short]}


def _shared(value: Any, definitions: Schema) -> Any:
    """Return a schema in which each of SHARED is a reference to `definitions`."""
    if isinstance(value, list):
        return [_shared(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("title") in SHARED and "anyOf" in value:
        definitions.setdefault(value["title"], {"description": f"a {value['title']} to draw", "anyOf": value["anyOf"]})
        rest = {name: value[name] for name in ("description", "default") if name in value}
        return {"$ref": f"#/$defs/{value['title']}", **rest}
    return {name: _shared(item, definitions) for name, item in value.items() if name != "$defs"}


WORDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true \\| false",
    "object": "mapping",
}
SIGNS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
HEAD = """\
# Job reference

Every option of a job file. Made by `sdg schema --markdown`; do not edit.

Relative paths start at the folder of the job file. Unknown keys are errors. Units are SI: metres, seconds, kilograms,
radians; pixels where it says so.

For completion and checks while you type, write the schema once with `sdg schema -o job.schema.json` and put this at the
top of a job: `# yaml-language-server: $schema=job.schema.json`.

**Numbers to draw.** Where the type is *Number*, give a constant (`0.5`), a uniform range (`[0.2, 0.8]`) or one of
`{uniform: [low, high]}`, `{log_uniform: [low, high]}`, `{normal: [mean, std], low: ..., high: ...}` (drawn again until
it lies between low and high), `{choice: [...], weights: [...]}`, `{whole: [low, high]}`. A *Count* is a whole number:
`3`, `[1, 5]` (both ends included) or `{choice: [...], weights: [...]}`.

**Types of your own.** `type: my_lab.fog:Fog` is an importable class, `type: ./fog.py:Fog` a class in a file beside the
job. A plug-in without options may be written as its type alone: `renderer: raycast`.
"""


def reference(schema: Schema) -> str:
    """Return the reference of a job file as Markdown."""
    parts = [HEAD, "## Job\n", *_options(schema), "## Cameras\n", "Each entry of `cameras`, by name.\n"]
    parts += _options(schema["$defs"]["CameraOptions"])
    for field, package in PLUGINS.items():
        parts.append(f"## {field.capitalize()}\n")
        for type_name in names(package):
            parts += [f"### {type_name}\n", _documentation(package, type_name)]
            parts += _options(schema["$defs"][f"{package.removeprefix('sdg.')}.{type_name}"])
    return "\n".join(parts).rstrip() + "\n"


def _documentation(package: str, type_name: str) -> str:
    import inspect

    return inspect.cleandoc(find(package, type_name).__doc__ or "") + "\n"


def _options(schema: Schema) -> list[str]:
    rows = list(_rows(schema))
    if not rows:
        return ["No options.\n"]
    return ["| option | type | default | meaning |", "|---|---|---|---|", *rows, ""]


def _rows(schema: Schema) -> Iterator[str]:
    required = schema.get("required", [])
    for name, option in schema["properties"].items():
        if name == "type" and "const" in option:
            continue
        default = "required" if name in required else _value(option.get("default"))
        meaning = option.get("description", "").replace("|", "\\|")
        yield f"| `{name}` | {_type(option)} | {default} | {meaning} |"


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict) and set(value) in ({"constant"}, {"uniform"}, {"whole"}):
        value = next(iter(value.values()))
    return f"`{json.dumps(_rounded(value))}`"


def _rounded(value: Any) -> Any:
    """Return a value with its numbers as people write them: 3.1416."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return {name: _rounded(item) for name, item in value.items()} if isinstance(value, dict) else value


def _type(option: Schema) -> str:
    """Return the type of an option in words."""
    if "$ref" in option:
        return f"*{option['$ref'].rpartition('/')[2]}*"
    if "enum" in option or "const" in option:
        return " \\| ".join(f"`{value}`" for value in option.get("enum", [option.get("const")]))
    if "anyOf" in option:
        kinds = [_type(kind) for kind in option["anyOf"] if kind.get("type") != "null"]
        return (
            "*a type*" if len(kinds) > 4 or any("." in kind for kind in kinds) else " \\| ".join(dict.fromkeys(kinds))
        )
    kind = option.get("type", "any")
    if kind == "array":
        items = option.get("prefixItems")
        inner = _type(option.get("items") or (items[0] if items else {}))
        count = f"{len(items)} " if items else ""
        return f"list of {count}{inner}"
    if kind == "object" and isinstance(option.get("additionalProperties"), dict):
        return f"mapping of {_type(option['additionalProperties'])}"
    return _bounded(kind, option)


def _bounded(kind: str, option: Schema) -> str:
    bounds = [f"{sign} {option[name]:g}" for name, sign in SIGNS.items() if name in option]
    return " ".join([WORDS.get(kind, kind), ", ".join(bounds)]).rstrip()


def label_table() -> str:
    """Return the table of annotations as Markdown."""
    rows = [f"| `{name}` | {a.dtype} | {a.shape} | {a.unit} | {a.meaning} |" for name, a in ANNOTATIONS.items()]
    return "\n".join(["| annotation | dtype | shape | unit | meaning |", "|---|---|---|---|---|", *rows])
