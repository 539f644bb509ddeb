"""Semantic labels of prims: UsdSemantics, the older schema, and the rules of a job."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any


def authored_label(prim: Any, time: Any) -> str | None:
    """Return the class that a prim itself carries, or None.

    `semantics:labels:class` comes before other taxonomies, those before the older `semantic:<name>:params:...`.
    """
    names = [name for name in prim.GetAuthoredPropertyNames() if name.startswith("semantic")]
    if not names:
        return None
    prefix = "semantics:labels:"
    for name in sorted((n for n in names if n.startswith(prefix)), key=lambda n: (n != f"{prefix}class", n)):
        labels = prim.GetAttribute(name).Get(time)
        if labels:
            return str(labels[0])
    old = [name for name in names if name.startswith("semantic:") and name.endswith(":params:semanticData")]
    for name in sorted(old, key=lambda n: (_old_type(prim, n, time) != "class", n)):
        data = prim.GetAttribute(name).Get(time)
        if data:
            return str(data)
    return None


def _old_type(prim: Any, data_name: str, time: Any) -> str:
    attribute = prim.GetAttribute(data_name.removesuffix("semanticData") + "semanticType")
    return str(attribute.Get(time)) if attribute else ""


def glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob of prim paths: `*` and `?` stay within one name, `**` crosses names."""
    parts = re.split(r"(\*\*|\*|\?)", pattern)
    return re.compile("".join({"**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part)) for part in parts))


@dataclass
class Rules:
    """Globs of prim paths with a value each; the last one that matches decides. `unused`: globs that matched nothing."""

    values: dict[str, str]
    unused: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.unused = set(self.values)
        self._patterns = [(pattern, glob(pattern)) for pattern in self.values]

    def __call__(self, path: str) -> str | None:
        """Return the value of the rule for a prim path, or None."""
        value = None
        for pattern, compiled in self._patterns:
            if compiled.fullmatch(path):
                self.unused.discard(pattern)
                value = self.values[pattern]
        return value
