"""YAML with line numbers and without PyYAML's traps: `1e-3` is a number, a repeated key an error, a tag an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .errors import JobError

Place = tuple[str | int, ...]


@dataclass
class Source:
    """The data of a YAML file and the line of each part of it."""

    path: Path
    data: Any
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        """Return the line of a part, or of the nearest part around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with YAML 1.2 numbers and truth values."""

    yaml_implicit_resolvers = {
        first: [pair for pair in pairs if not pair[0].endswith((":float", ":int", ":bool", ":timestamp"))]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^(?:[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"),
    list("-+0123456789."),
)
_Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))
_Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: _number(node.value))


def _number(text: str) -> float:
    return float(text.replace(".inf", "inf").replace(".Inf", "inf").replace(".INF", "inf").replace(".nan", "nan"))


def read_yaml(path: Path) -> Source:
    """Read a YAML file. Raises JobError with file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise JobError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise JobError(f"{path}: is not a UTF-8 text file") from None
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise JobError(f"{path}: is empty")
        source = Source(path, None)
        faults: list[str] = []
        _walk(node, (), source, faults)
        if faults:
            raise JobError("\n".join(faults))
        source.data = loader.construct_document(node)
        return source
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise JobError(f"{where}: {getattr(error, 'problem', None) or error}") from None
    except ValueError as error:
        raise JobError(f"{path}: {error}") from None
    except RecursionError:
        raise JobError(f"{path}: is nested too deeply") from None
    finally:
        loader.dispose()


def _walk(node: yaml.Node, place: Place, source: Source, faults: list[str]) -> None:
    """Note the line of every part; find repeated keys and tags."""
    source.lines[place] = node.start_mark.line + 1
    if len(source.lines) > 100_000:
        raise JobError(f"{source.path}: is too large or refers to itself")
    if not node.tag.startswith("tag:yaml.org,2002:") or node.tag.startswith("tag:yaml.org,2002:python"):
        faults.append(f"{source.path}:{node.start_mark.line + 1}: tags such as '{node.tag}' are not allowed")
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(getattr(key, "value", ""))
            if name in seen:
                faults.append(f"{source.path}:{key.start_mark.line + 1}: key '{name}' is repeated")
            seen.add(name)
            _walk(value, (*place, name), source, faults)
            source.lines[(*place, name)] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            _walk(value, (*place, number), source, faults)
