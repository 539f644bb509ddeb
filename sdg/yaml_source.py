"""YAML with line numbers and without PyYAML's traps: `1e-3` is a number, a repeated key an error, a tag an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from .errors import JobError

Place = tuple[str | int, ...]


@dataclass
class Source:
    """The data of a YAML file and the line of each part of it."""

    path: Path
    data: Any
    lines: dict[Place, int] = field(default_factory=dict)

    def place(self, loc: Sequence[str | int], *, missing: bool = False) -> Place:
        """Return the parts of `loc` that the file holds, and with `missing` the last one, which it should hold."""
        place: Place = ()
        for part in loc:
            for name in (part, str(part)):
                if (*place, name) in self.lines:
                    place = (*place, name)
                    break
        return (*place, loc[-1]) if missing else place

    def line(self, place: Place) -> int:
        """Return the line of a part, or of the nearest part around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with YAML 1.2 numbers and truth values."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if not pair[0].endswith((":float", ":int", ":bool", ":timestamp"))]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_TAG = "tag:yaml.org,2002:"
_TRUTH = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_WHOLE = re.compile(r"^[-+]?[0-9]+$")
_FLOAT = re.compile(
    r"^(?:[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
_Loader.add_implicit_resolver(_TAG + "bool", _TRUTH, list("tTfF"))
_Loader.add_implicit_resolver(_TAG + "int", _WHOLE, list("-+0123456789"))
_Loader.add_implicit_resolver(_TAG + "float", _FLOAT, list("-+0123456789."))
_Loader.add_constructor(_TAG + "int", lambda _, node: _whole(node))
_Loader.add_constructor(_TAG + "float", lambda _, node: _number(node))


def _whole(node: Any) -> int:
    try:
        return int(node.value)
    except ValueError:
        raise ConstructorError(None, None, "this is not a usable whole number", node.start_mark) from None


def _number(node: Any) -> float:
    """Return the number, also of `.inf` and `.nan`: the fields that hold it refuse those by name and line."""
    return float(node.value.lower().replace(".inf", "inf").replace(".nan", "nan"))


def read_yaml(path: Path) -> Source:
    """Read a YAML file. Raises JobError with file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise JobError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise JobError(f"{path}: is not a UTF-8 text file") from None
    try:
        return _parse(path, text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise JobError(f"{path}:{line}: the character #x{int(error.character):04x} is not allowed") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise JobError(f"{path}:{line}: {', '.join(filter(None, (error.context, error.problem)))}") from None
    except RecursionError:
        raise JobError(f"{path}: is nested too deeply or refers to itself") from None


def _parse(path: Path, text: str) -> Source:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise JobError(f"{path}: is empty")
        source = Source(path, None)
        faults: list[str] = []
        _walk(loader, node, (), source, faults)
        if faults:
            raise JobError("\n".join(faults))
        source.data = loader.construct_document(node)
        return source
    finally:
        loader.dispose()


def _walk(loader: _Loader, node: yaml.Node, place: Place, source: Source, faults: list[str]) -> None:
    """Note the line of every part; find repeated keys and tags."""
    line = node.start_mark.line + 1
    if len(source.lines) > 100_000:
        raise JobError(f"{source.path}: is too large or refers to itself")
    if not _plain(loader, node):
        faults.append(f"{source.path}:{line}: tags such as '{node.tag}' are not allowed")
    if isinstance(node, yaml.MappingNode):
        for merged in _merged(node):
            _walk(loader, merged, place, source, faults)
        _walk_keys(loader, node, place, source, faults)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            _walk(loader, value, (*place, number), source, faults)
    source.lines[place] = line


def _walk_keys(loader: _Loader, node: yaml.MappingNode, place: Place, source: Source, faults: list[str]) -> None:
    seen: set[str] = set()
    for key, value in node.value:
        line = key.start_mark.line + 1
        name = str(key.value)
        if name in seen:
            faults.append(f"{source.path}:{line}: key '{name}' is repeated")
        seen.add(name)
        if not key.tag.endswith(":merge"):
            _walk(loader, value, (*place, name), source, faults)
            source.lines[(*place, name)] = line


def _merged(node: yaml.MappingNode) -> list[yaml.Node]:
    """Return the mappings that `<<: *name` takes over; the last of equal keys is listed last, as it holds."""
    found = [value for key, value in node.value if key.tag.endswith(":merge")]
    lists = [value.value[::-1] if isinstance(value, yaml.SequenceNode) else [value] for value in found]
    return [mapping for mappings in lists for mapping in mappings]


def _plain(loader: _Loader, node: yaml.Node) -> bool:
    """Return whether a node's tag is the one that it has when the file names none, or that of a text."""
    if isinstance(node, yaml.ScalarNode):
        resolve: Any = loader.resolve
        return node.tag in (_TAG + "str", resolve(yaml.ScalarNode, node.value, (True, False)))
    return bool(node.tag == _TAG + ("map" if isinstance(node, yaml.MappingNode) else "seq"))
