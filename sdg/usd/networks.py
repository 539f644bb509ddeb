"""Following the connections of shading networks to values and pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .pictures import UDIM
from .textures import Lookup, Wrap

_IMAGES = ("ND_image_", "ND_tiledimage_", "ND_gltf_image", "ND_gltf_colorimage", "ND_UsdUVTexture", "UsdUVTexture")
_DEEP = 24
_WRAPS: dict[str, Wrap] = {"clamp": "clamp", "black": "clamp", "constant": "clamp", "mirror": "mirror"}


def value_of(shader: Any, name: str, time: Any, depth: int = 0) -> Any:
    """Return what feeds an input of a shader: a number, a tuple, a string, a `Lookup`, or None."""
    attribute = producer(shader.GetInput(name))
    if attribute is None or depth > _DEEP:
        return None
    if attribute.GetName().startswith("outputs:"):
        return _node_value(_shader(attribute.GetPrim()), attribute.GetBaseName(), time, depth + 1)
    value = attribute.Get(time)
    if type(value).__name__ == "AssetPath":
        path = asset_path(attribute, value, time)
        return Lookup(path, str(shader.GetPath()), color_space=_color_space(attribute)) if path else None
    return plain(value)


def producer(shade_input: Any) -> Any:
    """Return the attribute that gives an input its value, or None."""
    from pxr import UsdShade

    if not shade_input:
        return None
    found = UsdShade.Utils.GetValueProducingAttributes(shade_input)
    return found[0] if found else None


def plain(value: Any) -> Any:
    """Return a USD value as a float, a string or a tuple of floats."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return float(value)
    try:
        return tuple(float(part) for part in value)
    except TypeError:
        return None


def asset_path(attribute: Any, value: Any, time: Any) -> str:
    """Return where the file of an asset-valued attribute is, or would be; '' for none."""
    from pxr import Sdf, UsdShade

    if not value.path:
        return ""
    stack = attribute.GetPropertyStack(time)
    if UDIM in value.path and stack:
        found = UsdShade.UdimUtils.ResolveUdimPath(value.path, stack[0].layer)
        return str(found or Sdf.ComputeAssetPathRelativeToLayer(stack[0].layer, value.path))
    if value.resolvedPath or not stack:
        return str(value.resolvedPath or value.path)
    wanted = str(Sdf.ComputeAssetPathRelativeToLayer(stack[0].layer, value.path))
    beside = wanted == value.path and not os.path.isabs(wanted) and "://" not in wanted and stack[0].layer.realPath
    return os.path.join(os.path.dirname(stack[0].layer.realPath), wanted) if beside else wanted


def shader_kind(shader: Any) -> str:
    """Return the identifier of a shader, or the name within its MDL module."""
    kind = shader.GetShaderId()
    for name in ("info:mdl:sourceAsset:subIdentifier", "info:mdl:sourceAsset"):
        attribute = shader.GetPrim().GetAttribute(name)
        if not kind and attribute and attribute.HasValue():
            value = attribute.Get()
            kind = value if isinstance(value, str) else value.path.rsplit("/", 1)[-1].removesuffix(".mdl")
    return str(kind or "")


def _shader(prim: Any) -> Any:
    from pxr import UsdShade

    return UsdShade.Shader(prim)


def _color_space(attribute: Any) -> str:
    return str(attribute.GetColorSpace()) if attribute.HasColorSpace() else "auto"


# --- nodes ----------------------------------------------------------------------------------------------------------


def _node_value(node: Any, output: str, time: Any, depth: int) -> Any:
    kind = shader_kind(node)
    if kind.startswith(_IMAGES):
        return _image(node, kind, output, time, depth)
    if "PrimvarReader" in kind or "geompropvalue" in kind:
        return value_of(node, "fallback", time, depth) or value_of(node, "default", time, depth)
    if kind.startswith("ND_constant"):
        return value_of(node, "value", time, depth)
    if kind.startswith("ND_multiply_"):
        return _product(value_of(node, "in1", time, depth), value_of(node, "in2", time, depth))
    if kind.startswith(("ND_separate", "ND_extract", "ND_swizzle")):
        return _one_channel(value_of(node, "in", time, depth), _channel_name(node, output, time))
    return next(_inputs_of(node, time, depth), None)


def _inputs_of(node: Any, time: Any, depth: int) -> Iterator[Any]:
    """Yield what feeds a node of an unknown kind: pictures, the main input first, then a value of its `in`."""
    names = [str(given.GetBaseName()) for given in node.GetInputs()]
    names.sort(key=lambda name: name not in ("in", "in1", "input", "base", "fg", "base_color"))
    for name in names:
        value = value_of(node, name, time, depth) if node.GetInput(name).HasConnectedSource() else None
        if isinstance(value, Lookup):
            yield value
    yield value_of(node, "in", time, depth) if "in" in names else None


def _product(one: Any, other: Any) -> Any:
    if isinstance(other, Lookup):
        one, other = other, one
    if other is None or isinstance(other, Lookup | str):
        return one
    if one is None or isinstance(one, str):
        return other
    if isinstance(one, Lookup):
        factor = (
            *np.broadcast_to(np.array(other, float), (3,) if np.ndim(other) == 0 else np.shape(other)),
            1.0,
            1.0,
            1.0,
        )[:4]
        scale, bias = np.array(one.scale) * factor, np.array(one.bias) * factor
        return replace(one, scale=tuple(map(float, scale)), bias=tuple(map(float, bias)))
    return plain(np.array(one) * np.array(other)) if np.ndim(one) or np.ndim(other) else one * other


def _channel_name(node: Any, output: str, time: Any) -> str:
    index, names = value_of(node, "index", time), value_of(node, "channels", time)
    if isinstance(index, float):
        return "rgba"[min(int(index), 3)]
    if isinstance(names, str) and names:
        return names.translate(str.maketrans("xyzw", "rgba"))[:3]
    return output.removeprefix("out")[:1].translate(str.maketrans("xyzw", "rgba")) or "r"


def _one_channel(value: Any, channel: str) -> Any:
    if isinstance(value, Lookup):
        return replace(value, channels=channel)
    if isinstance(value, tuple) and channel in tuple("rgba"[: len(value)]):
        return value["rgba".index(channel)]
    return value


def _image(node: Any, kind: str, output: str, time: Any, depth: int) -> Any:
    """Return the lookup of a node that reads a picture, or its fallback where it names none."""
    file = producer(node.GetInput("file"))
    value = file.Get(time) if file is not None else None
    path = asset_path(file, value, time) if type(value).__name__ == "AssetPath" else ""
    if not path:
        return value_of(node, "fallback", time, depth) or value_of(node, "default", time, depth)
    affine, uv_name = _texcoord(node, "st" if "UsdUVTexture" in kind else "texcoord", time, depth)
    if kind.startswith("ND_tiledimage_"):
        tiling, offset = _pair(node, "uvtiling", time, 1.0), _pair(node, "uvoffset", time, 0.0)
        affine = np.array([[tiling[0], 0, -offset[0]], [0, tiling[1], -offset[1]], [0, 0, 1.0]]) @ affine
    wrap = str(value_of(node, "wrapS", time) or value_of(node, "uaddressmode", time) or "repeat")
    return Lookup(
        path,
        str(node.GetPath()),
        channels=output if output in ("r", "g", "b", "a") else ("r" if kind.endswith("_float") else "rgb"),
        color_space=str(value_of(node, "sourceColorSpace", time) or _color_space(file)),
        wrap=_WRAPS.get(wrap, "repeat"),
        scale=_four(value_of(node, "scale", time), 1.0),
        bias=_four(value_of(node, "bias", time), 0.0),
        affine=tuple(map(float, affine[:2].ravel())),
        uv_name=uv_name,
    )


def _four(value: Any, default: float) -> tuple[float, ...]:
    return value if isinstance(value, tuple) and len(value) == 4 else (default,) * 4


def _pair(node: Any, name: str, time: Any, default: float) -> tuple[float, float]:
    value = value_of(node, name, time)
    return (value[0], value[1]) if isinstance(value, tuple) and len(value) == 2 else (default, default)


def _texcoord(node: Any, name: str, time: Any, depth: int) -> tuple[np.ndarray, str]:
    """Return the map [3, 3] from the mesh's texture coordinates to those of a node, and their name or ''."""
    attribute = producer(node.GetInput(name))
    if attribute is None or depth > _DEEP or not attribute.GetName().startswith("outputs:"):
        return np.eye(3), ""
    source = _shader(attribute.GetPrim())
    kind = shader_kind(source)
    if "PrimvarReader" in kind or "geompropvalue" in kind:
        found = value_of(source, "varname", time) or value_of(source, "geomprop", time)
        return np.eye(3), str(found or "")
    if kind == "UsdTransform2d" or "UsdTransform2d" in kind:
        before, uv_name = _texcoord(source, "in", time, depth + 1)
        return _transform_2d(source, time) @ before, uv_name
    if kind.startswith("ND_place2d"):
        before, uv_name = _texcoord(source, "texcoord", time, depth + 1)
        return _place_2d(source, time) @ before, uv_name
    if kind.startswith("ND_multiply_vector2"):
        before, uv_name = _texcoord(source, "in1", time, depth + 1)
        factor = value_of(source, "in2", time)
        return np.diag(
            [*np.broadcast_to(factor if isinstance(factor, float | tuple) else 1.0, 2), 1.0]
        ) @ before, uv_name
    return np.eye(3), ""


def _transform_2d(node: Any, time: Any) -> np.ndarray:
    """Return the map of a UsdTransform2d: scale, then rotate [deg] counter-clockwise, then translate."""
    angle = np.radians(value_of(node, "rotation", time) or 0.0)
    scale, shift = _pair(node, "scale", time, 1.0), _pair(node, "translation", time, 0.0)
    return _rotation(angle, shift) @ np.diag([*scale, 1.0])


def _place_2d(node: Any, time: Any) -> np.ndarray:
    """Return the map of MaterialX's place2d: about a pivot, divide by scale, rotate [deg], subtract the offset."""
    angle = np.radians(value_of(node, "rotate", time) or 0.0)
    scale, offset = _pair(node, "scale", time, 1.0), _pair(node, "offset", time, 0.0)
    pivot = np.array(_pair(node, "pivot", time, 0.0))
    size = np.where(np.abs(scale) > 1e-12, scale, 1.0)
    return np.asarray(
        _rotation(0, pivot - offset) @ _rotation(angle, (0, 0)) @ np.diag([*(1 / size), 1.0]) @ _rotation(0, -pivot)
    )


def _rotation(angle: float, shift: Any) -> np.ndarray:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, shift[0]], [sin, cos, shift[1]], [0, 0, 1.0]])
