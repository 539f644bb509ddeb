"""WebDataset: each label of a sample is a plain file of the sample's key, in the shards that most trainers read."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from sdg.annotations import ANNOTATIONS
from sdg.labels.objects import Objects
from sdg.sample import Sample, View
from sdg.scene import Camera
from sdg.writer import Member, Writer

CONVENTIONS = "camera axes: x right, y down, z forward; world: right-handed, z up; metres; pixel centres at +0.5"
OBJECT_FIELDS = {
    "boxes": ("box_tight", "box_loose", "box_amodal"),
    "boxes_3d": ("box_3d_size", "box_3d_center", "box_3d_corners"),
    "poses": ("object_to_camera", "scale"),
    "visibility": ("visible_fraction", "truncation", "visible_pixels", "inside_pixels", "amodal_pixels"),
}
"""Annotation -> arrays in `objects.npz`; `names`, `instance_id` and `class_id` are always there."""
MATRICES = {"object_to_camera": ("float64", 3), "box_3d_corners": ("float32", 3), "scale": ("float64", 2)}
COUNTS = ("visible_pixels", "inside_pixels", "amodal_pixels")
SCALARS = ("visible_fraction", "truncation")


class Webdataset(Writer):
    """Files that a plain loader reads. A job with one camera leaves the camera's name out: `rgb.jpg`, `depth.png`."""

    rgb: Literal["jpg", "webp", "png"] = Field("jpg", description="jpg (quality 95, 4:4:4), webp (lossless) or png")
    depth_scale: float = Field(0.001, gt=0, description="metres in one unit of depth.png and distance.png")

    def files(self, sample: Sample) -> dict[str, bytes]:
        """Return the members of one sample; depth that 16 bits cannot hold becomes 0 and is counted in `meta.json`."""
        files, clipped = {}, 0
        for name, view in sample.views.items():
            prefix = "" if len(sample.views) == 1 else f"{name}."
            for extension, data, lost in self._view_files(view, sample.annotations):
                files[prefix + extension] = data
                clipped += lost
        files["meta.json"] = _json(self._meta(sample, clipped))
        return files

    def _view_files(self, view: View, annotations: Sequence[str]) -> list[tuple[str, bytes, int]]:
        files = [(f"{name}.{self._suffix(name)}", *self._encode(name, array)) for name, array in view.frame.items()]
        if "amodal" in annotations:
            files.append(("amodal.npz", write_npz(_packed(view.objects.amodal)), 0))
        files.append(("objects.npz", write_npz(_object_arrays(view.objects, annotations)), 0))
        files.append(("camera.json", _json(_camera(view.camera)), 0))
        return files

    def _suffix(self, name: str) -> str:
        return self.rgb if name == "rgb" else "png"

    def _encode(self, name: str, array: np.ndarray) -> tuple[bytes, int]:
        """Return the file of one picture and how many of its values were lost."""
        if name in ("depth", "distance"):
            units, lost = to_units(array, self.depth_scale)
            return _encode_image("png", units), lost
        if name == "normals":
            return _encode_image("png", (np.rint(array * 127) + 128).astype(np.uint8)), 0
        if array.dtype != ANNOTATIONS[name].dtype:
            raise TypeError(f"{name} is {array.dtype}, not {ANNOTATIONS[name].dtype}")
        return _encode_image(self._suffix(name), array), 0

    def _meta(self, sample: Sample, clipped: int) -> dict[str, Any]:
        """Return the record of a sample: always these fields and types; what varies in shape is JSON in a string."""
        return {
            "key": sample.key,
            "index": sample.index,
            "seed": sample.meta.get("seed", 0),
            "attempt": sample.meta.get("attempt", 0),
            "rejections": _text(sample.meta.get("rejections", [])),
            "draws": _text(sample.meta.get("draws", {})),
            "cameras": list(sample.views),
            "classes": list(sample.classes),
            "depth_scale": self.depth_scale,
            "depth_clipped": clipped,
        }

    def members(self, cameras: Sequence[str], annotations: Sequence[str]) -> list[Member]:
        """Describe the members of every sample."""
        found = []
        for camera in cameras:
            prefix = "" if len(cameras) == 1 else f"{camera}."
            found += [self._picture(prefix, name) for name in annotations if ANNOTATIONS[name].shape.startswith("h w")]
            if "amodal" in annotations:
                feature = _struct(amodal=_list("uint8", 3), shape=_list("int32"))
                meaning = ANNOTATIONS["amodal"].meaning + "; bits along each row, most significant first"
                found.append(Member(f"{prefix}amodal.npz", meaning, "-", feature))
            found.append(_objects_member(prefix, annotations))
            found.append(_camera_member(prefix))
        return sorted([*found, _meta_member()], key=lambda member: member.extension)

    def _picture(self, prefix: str, name: str) -> Member:
        annotation, unit = ANNOTATIONS[name], ANNOTATIONS[name].unit
        if name in ("depth", "distance"):
            unit = f"{self.depth_scale:g} m, uint16"
        if name == "normals":
            unit = "(value - 128) / 127, uint8"
        return Member(f"{prefix}{name}.{self._suffix(name)}", annotation.meaning, unit, {"dtype": "image"})


def to_units(metres: np.ndarray, scale: float) -> tuple[np.ndarray, int]:
    """Return uint16 units of `scale` [m], 0 for no hit, and how many hits 16 bits cannot hold: they become 0 too."""
    hit = np.isfinite(metres) & (metres > 0)
    units = np.rint(np.where(hit, metres, 0).astype(np.float64) / scale)
    units[units > np.iinfo(np.uint16).max] = 0
    return units.astype(np.uint16), int((hit & (units == 0)).sum())


def _object_arrays(objects: Objects, annotations: Sequence[str]) -> dict[str, np.ndarray]:
    arrays = {"names": np.array(objects.names, dtype=np.str_).reshape(len(objects))}
    fields = ["instance_id", "class_id", *(f for a, group in OBJECT_FIELDS.items() if a in annotations for f in group)]
    return arrays | {name: getattr(objects, name) for name in fields}


def _packed(masks: np.ndarray) -> dict[str, np.ndarray]:
    return {"amodal": np.packbits(masks, axis=-1), "shape": np.array(masks.shape, np.int32)}


def _camera(camera: Camera) -> dict[str, Any]:
    return {
        "K": camera.matrix.ravel().tolist(),
        "width": camera.width,
        "height": camera.height,
        "camera_to_world": camera.camera_to_world.ravel().tolist(),
        "world_to_camera": camera.world_to_camera.ravel().tolist(),
        "near": camera.near,
        "conventions": CONVENTIONS,
    }


def _encode_image(suffix: str, pixels: np.ndarray) -> bytes:
    import cv2

    options = {
        "jpg": [cv2.IMWRITE_JPEG_QUALITY, 95, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444],
        "webp": [cv2.IMWRITE_WEBP_QUALITY, 101],
        "png": [],
    }
    done, data = cv2.imencode(f".{suffix}", pixels[..., ::-1] if pixels.ndim == 3 else pixels, options[suffix])
    if not done:
        raise ValueError(f"cannot encode {pixels.dtype} {pixels.shape} as {suffix}")
    return bytes(data)


def _json(data: Any) -> bytes:
    return (_text(data) + "\n").encode()


def _text(data: Any) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def write_npz(arrays: dict[str, np.ndarray]) -> bytes:
    """Return an .npz file whose bytes depend on the arrays alone; there are no pickles in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in sorted(arrays):
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(arrays[name]), version=(1, 0), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, content.getvalue(), zipfile.ZIP_DEFLATED, 6)
    return file.getvalue()


def decode(members: dict[str, bytes]) -> dict[str, Any]:
    """Return the arrays and records of one sample by member name without its suffix, e.g. `rgb`, `left.depth`, `meta`.

    Pictures and ids keep their values exactly; `depth` and `distance` are float32 [m], 0: no hit; `normals` float32,
    0: no hit; `amodal` [n, h, w] bool; `draws` and `rejections` of `meta` are parsed. Other names are left out.
    """
    decoded = {name.rpartition(".")[0]: decode_member(name, data) for name, data in members.items() if "." in name}
    scale = decoded["meta"]["depth_scale"]
    for name, value in decoded.items():
        kind = name.rpartition(".")[2]
        if kind in ("depth", "distance"):
            decoded[name] = (value * np.float64(scale)).astype(np.float32)
        elif kind == "normals":
            decoded[name] = (value.astype(np.float32) - 128) / 127
        elif kind == "amodal":
            decoded[name] = np.unpackbits(value["amodal"], axis=-1, count=value["shape"][2]).astype(bool)
        elif kind == "meta":
            decoded[name] = {**value, **{field: json.loads(value[field]) for field in ("draws", "rejections")}}
    return decoded


def decode_member(name: str, data: bytes) -> Any:
    """Return what one file holds, as it is stored: colours as RGB, ids and depth as uint16, .npz as a dict of arrays."""
    suffix = name.rpartition(".")[2]
    if suffix == "json":
        return json.loads(data)
    if suffix == "npz":
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return dict(arrays)
    if suffix not in ("jpg", "png", "webp"):
        return data
    import cv2

    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError(f"{name} is not a picture")
    return np.ascontiguousarray(pixels[..., ::-1]) if pixels.ndim == 3 else pixels


def _objects_member(prefix: str, annotations: Sequence[str]) -> Member:
    columns = {"names": _list("string"), "instance_id": _list("uint16"), "class_id": _list("uint16")}
    for annotation, fields in OBJECT_FIELDS.items():
        for field in fields if annotation in annotations else ():
            dtype, depth = MATRICES.get(field, ("float32", 2))
            if field in COUNTS + SCALARS:
                dtype, depth = ("int32" if field in COUNTS else "float32"), 1
            columns[field] = _list(dtype, depth)
    meaning = f"the objects in sight, one array per label: {', '.join(columns)}"
    return Member(f"{prefix}objects.npz", meaning, "px, m", _struct(**columns))


def _camera_member(prefix: str) -> Member:
    matrices = {name: _list("float64") for name in ("K", "camera_to_world", "world_to_camera")}
    sizes = {"width": "int64", "height": "int64", "near": "float64", "conventions": "string"}
    feature = _struct(**matrices, **{name: {"dtype": dtype} for name, dtype in sizes.items()})
    return Member(f"{prefix}camera.json", "K and poses, row by row", "px, m", feature)


def _meta_member() -> Member:
    texts = {name: {"dtype": "string"} for name in ("key", "rejections", "draws")}
    numbers = {name: {"dtype": "int64"} for name in ("index", "seed", "attempt", "depth_clipped")}
    lists = {"cameras": _list("string"), "classes": _list("string")}
    feature = _struct(**texts, **numbers, depth_scale={"dtype": "float64"}, **lists)
    return Member("meta.json", "everything that was drawn (`draws`: JSON), and why draws were rejected", "-", feature)


def _struct(**fields: dict[str, Any]) -> dict[str, Any]:
    return {"struct": [{"name": name, **feature} for name, feature in fields.items()]}


def _list(dtype: str, depth: int = 1) -> dict[str, Any]:
    return {"list": dtype if depth == 1 else _list(dtype, depth - 1)}
