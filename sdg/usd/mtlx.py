"""MaterialX files that a stage refers to, for USD libraries without MaterialX: they become shading networks in memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sdg.errors import SceneError

Element = ElementTree.Element
_FAULT = re.compile(r"asset @(?P<file>[^@]+\.mtlx)@ for \w+ introduced by @(?P<layer>[^@]+)@<(?P<prim>[^>]+)>")


def take_in(errors: list[Any]) -> None:
    """Put networks in the place of MaterialX files that could not be opened.

    The layers that refer to them are changed in memory only.
    """
    from pxr import Sdf

    found = {match.groups() for error in errors if (match := _FAULT.search(str(error)))}
    networks: dict[str, Any] = {}
    for file, name, path in sorted(found):
        layer = Sdf.Layer.Find(name)
        prim = layer.GetPrimAtPath(path) if layer else None
        if prim is None or not Path(file).is_file():
            continue
        for arcs in (prim.referenceList, prim.payloadList):
            for arc in [arc for arc in arcs.GetAddedOrExplicitItems() if arc.assetPath.endswith(".mtlx")]:
                real = str(Sdf.ComputeAssetPathRelativeToLayer(layer, arc.assetPath))
                networks.setdefault(real, read_mtlx(Path(real)))
                arcs.ReplaceItemEdits(arc, type(arc)(networks[real].identifier, arc.primPath, arc.layerOffset))


def read_mtlx(file: Path) -> Any:
    """Return a layer with each material of a MaterialX document at /MaterialX/Materials/<name>. Raises SceneError."""
    from pxr import Sdf, Usd, UsdGeom

    root = _parse(file)
    layer = Sdf.Layer.CreateAnonymous(f"{file.stem}.usda")
    stage = Usd.Stage.Open(layer)
    stage.SetDefaultPrim(UsdGeom.Scope.Define(stage, "/MaterialX").GetPrim())
    UsdGeom.Scope.Define(stage, "/MaterialX/Materials")
    for element in root.findall("surfacematerial"):
        _Document(file, root, stage, f"/MaterialX/Materials/{element.get('name')}").add(element)
    return layer


def _parse(file: Path, depth: int = 0) -> Element:
    """Return the root element of a document with those of its includes; the prefix xi is often not declared."""
    try:
        text = file.read_text(encoding="utf-8-sig").lstrip().replace("xi:include", "xi_include")
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, OSError, UnicodeDecodeError) as error:
        raise SceneError(f"{file} is no MaterialX document: {error}") from None
    for element in root.findall("xi_include"):
        if (file.parent / element.get("href", "")).is_file() and depth < 16:
            root.extend(_parse(file.parent / element.get("href", ""), depth + 1))
    return root


@dataclass
class _Document:
    """One material of a document on its way into a stage."""

    file: Path
    root: Element
    stage: Any
    path: str
    made: dict[tuple[str, str], Any] = field(default_factory=dict)

    def add(self, material: Element) -> None:
        """Define the material and all nodes that it needs."""
        from pxr import UsdShade

        prim = UsdShade.Material.Define(self.stage, self.path)
        for given in material.findall("input"):
            source = self._source(given, self.root) if given.get("name") == "surfaceshader" else None
            if source is not None:
                prim.CreateSurfaceOutput("mtlx").ConnectToSource(source)

    def _source(self, given: Element, scope: Element) -> Any:
        """Return the output that feeds an input or an output element, or None."""
        if given.get("nodegraph"):
            graph = _named(self.root, given.get("nodegraph"))
            outputs = graph.findall("output") if graph is not None else []
            chosen = next((o for o in outputs if given.get("output") in (None, o.get("name"))), None)
            return None if chosen is None or graph is None else self._source(chosen, graph)
        node = _named(scope, given.get("nodename"))
        if node is None:
            return None
        output = given.get("output") or ("surface" if node.get("type") == "surfaceshader" else "out")
        return self._node(node, scope).CreateOutput(output, _sdf_type(node.get("type", ""))[0])

    def _node(self, node: Element, scope: Element) -> Any:
        from pxr import UsdShade

        key = (scope.get("name", ""), node.get("name", ""))
        if key not in self.made:
            shader = UsdShade.Shader.Define(self.stage, f"{self.path}/{'_'.join(filter(None, key))}")
            self.made[key] = shader
            shader.CreateIdAttr(f"ND_{node.tag}_{node.get('type')}")
            for given in node.findall("input"):
                self._input(shader, given, node, scope)
        return self.made[key]

    def _input(self, shader: Any, given: Element, node: Element, scope: Element) -> None:
        kind, parse = _sdf_type(given.get("type", ""))
        made = shader.CreateInput(given.get("name", ""), kind)
        text = given.get("value")
        source = self._source(given, scope)
        if source is not None:
            made.ConnectToSource(source)
        elif text is not None and given.get("type") == "filename":
            prefix = next((e.get("fileprefix", "") for e in (node, scope, self.root) if "fileprefix" in e.attrib), "")
            places = [self.file.parent / (prefix + text), self.file.parent / text]
            made.Set(str(next((place for place in places if place.exists()), places[0]).absolute()))
            space = given.get("colorspace") or node.get("colorspace") or self.root.get("colorspace") or "raw"
            made.GetAttr().SetColorSpace("raw" if space.startswith("lin") else space)
        elif text is not None:
            made.Set(parse(text))


def _named(scope: Element, name: str | None) -> Element | None:
    return next((element for element in scope if name and element.get("name") == name), None)


def _sdf_type(kind: str) -> tuple[Any, Any]:
    """Return the USD type of a MaterialX type, and what turns text into its values."""
    from pxr import Gf, Sdf

    names = Sdf.ValueTypeNames

    def numbers(make: Any) -> Any:
        return lambda text: make(*(float(part) for part in text.replace(",", " ").split()))

    known = {
        "float": (names.Float, float),
        "integer": (names.Int, int),
        "boolean": (names.Bool, lambda text: text == "true"),
        "color3": (names.Color3f, numbers(Gf.Vec3f)),
        "color4": (names.Color4f, numbers(Gf.Vec4f)),
        "vector2": (names.Float2, numbers(Gf.Vec2f)),
        "vector3": (names.Float3, numbers(Gf.Vec3f)),
        "vector4": (names.Float4, numbers(Gf.Vec4f)),
        "filename": (names.Asset, str),
        "string": (names.String, str),
    }
    return known.get(kind, (names.Token, str))
