"""A job, as its YAML file says it."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from . import transforms
from .annotations import ANNOTATIONS, DEFAULT
from .errors import JobError, nearest
from .plugin import Options, named_in
from .randomizer import Randomizer
from .renderer import Renderer
from .scene import Camera, SceneSource
from .writer import Writer
from .yaml_source import Place, Source, read_yaml

Vector = tuple[float, float, float]


def _named(type_name: str) -> Any:
    """Return what a job file would hold for a plug-in without options; the field's validator makes the plug-in."""
    return {"type": type_name}


class CameraOptions(Options):
    """A camera of the job: a pinhole at a place, or a camera of the scene with a resolution."""

    width: int = Field(640, gt=0, le=16384, description="image width [px]")
    height: int = Field(480, gt=0, le=16384, description="image height [px]")
    field_of_view: float | None = Field(None, gt=0, lt=math.pi, description="horizontal, [rad]; default 0.9")
    fx: float | None = Field(None, gt=0, description="focal length [px]; instead of field_of_view")
    fy: float | None = Field(None, gt=0, description="focal length [px]; default: fx")
    cx: float | None = Field(None, description="principal point [px], pixel centres at +0.5; default: width / 2")
    cy: float | None = Field(None, description="principal point [px]; default: height / 2")
    position: Vector = Field((0.0, -1.0, 1.0), description="in the world [m]")
    look_at: Vector = Field((0.0, 0.0, 0.0), description="in the world [m]")
    roll: float = Field(0.0, description="about the optical axis [rad]")
    prim: str | None = Field(None, description="name of a camera of the scene, whose pose and lens are taken")
    exposure: float | Literal["auto"] = Field("auto", description="stops, or auto: from the picture's own luminance")

    @model_validator(mode="after")
    def _one_lens(self) -> CameraOptions:
        if self.fx is not None and self.field_of_view is not None:
            raise ValueError("fx and field_of_view say the same thing; give one of them")
        if math.dist(self.position, self.look_at) < 1e-9:
            raise ValueError("position and look_at are the same point")
        return self

    def make(self) -> Camera:
        """Return the camera, not yet taken from the scene."""
        fx = self.fx or self.width / 2 / math.tan((self.field_of_view or 0.9) / 2)
        return Camera(
            self.width,
            self.height,
            fx,
            self.fy or fx,
            self.width / 2 if self.cx is None else self.cx,
            self.height / 2 if self.cy is None else self.cy,
            transforms.look_at(self.position, self.look_at, roll=self.roll),
            None if self.exposure == "auto" else self.exposure,
        )


class Job(Options):
    """What to render, how to vary it, and how it is written."""

    scene: Annotated[SerializeAsAny[SceneSource], named_in("sdg.scenes", SceneSource)] = Field(
        description="where bodies come from"
    )
    cameras: dict[str, CameraOptions] = Field({}, description="by name; default: every camera of the scene")
    annotations: tuple[str, ...] = Field(DEFAULT, min_length=1, description="what is written for every camera")
    randomizers: tuple[Annotated[SerializeAsAny[Randomizer], named_in("sdg.randomizers", Randomizer)], ...] = Field(
        (), description="applied in this order, each with random numbers of its own"
    )
    renderer: Annotated[SerializeAsAny[Renderer], named_in("sdg.renderers", Renderer)] = Field(
        default_factory=lambda: _named("mitsuba"), description="what makes the pictures; default: mitsuba"
    )
    writer: Annotated[SerializeAsAny[Writer], named_in("sdg.writers", Writer)] = Field(
        default_factory=lambda: _named("webdataset"), description="what the samples are written as; default: webdataset"
    )
    samples: int = Field(gt=0, le=10**9, description="how many")
    seed: int = Field(0, ge=0, lt=2**63, description="decides every draw, together with the number of the sample")
    max_rejections: int = Field(20, ge=0, description="how often one sample may be drawn again before the run stops")

    @field_validator("annotations")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in ANNOTATIONS:
                raise ValueError(f"no annotation '{name}'; {nearest(name, ANNOTATIONS)}")
        if len(set(value)) != len(value):
            raise ValueError("an annotation is named twice")
        return value

    @field_validator("cameras")
    @classmethod
    def _plain_names(cls, value: dict[str, CameraOptions]) -> dict[str, CameraOptions]:
        for name in value:
            if not name or not set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-"):
                raise ValueError(f"a camera's name becomes part of file names: only a-z, 0-9, _ and -, not '{name}'")
        return value

    @model_validator(mode="after")
    def _unique_streams(self) -> Job:
        counts = Counter(randomizer.stream for randomizer in self.randomizers)
        twice = [stream for stream, count in counts.items() if count > 1]
        if twice:
            raise ValueError(f"two randomizers named '{twice[0]}' would draw the same numbers; give one another `name`")
        return self

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read a job file; relative paths in it start at its folder. Raises JobError with every fault at once."""
        source = read_yaml(path)
        try:
            return cls.model_validate(source.data, context={"folder": path.parent})
        except ValidationError as error:
            raise JobError(describe(error.errors(include_url=False), source)) from None

    def describe(self) -> dict[str, Any]:
        """Return the job as JSON-able data with every default filled in."""
        data = self.model_dump(mode="json")
        for name in ("scene", "renderer", "writer"):
            data[name] = {"type": getattr(self, name).type_name(), **data[name]}
        data["randomizers"] = [
            {"type": randomizer.type_name(), **options}
            for randomizer, options in zip(self.randomizers, data["randomizers"], strict=True)
        ]
        return data

    @property
    def shard_count(self) -> int:
        return -(-self.samples // self.writer.samples_per_shard)

    def shard_samples(self, shard: int) -> range:
        """Return the numbers of the samples in one shard."""
        first = shard * self.writer.samples_per_shard
        return range(first, min(first + self.writer.samples_per_shard, self.samples))


def describe(faults: Sequence[ErrorDetails], source: Source) -> str:
    """Say each fault in one line: file, line, place, what is wrong, what was given."""
    texts: dict[tuple[Place, str], list[str]] = {}
    for fault in faults:
        place = source.place(fault["loc"], missing=fault["type"] == "missing")
        texts.setdefault((place, _given(fault)), []).append(_wording(fault))
    lines = []
    for (place, given), said in sorted(texts.items(), key=lambda item: source.line(item[0][0])):
        where = ".".join(map(str, place)) or "job"
        lines.append(f"{source.path}:{source.line(place)}: {where}: {' or: '.join(dict.fromkeys(said))}{given}")
    return "\n".join(lines)


_WORDING = {
    "missing": "is missing",
    "tuple_type": "a list is needed",
    "list_type": "a list is needed",
    "dict_type": "a mapping is needed",
    "model_type": "a mapping is needed",
    "invalid_key": "a name is needed, not a number",
}


def _wording(fault: ErrorDetails) -> str:
    return _WORDING.get(fault["type"], fault["msg"].removeprefix("Value error, "))


def _given(fault: ErrorDetails) -> str:
    value = fault["input"]
    if isinstance(value, dict | list) or fault["type"] in ("missing", "unknown_option", "plugin", "path"):
        return ""
    text = "nothing" if value is None else repr(value)
    return f" (given: {text if len(text) <= 60 else text[:57] + '...'})"


def digest_of(data: Any) -> str:
    """Return the sha256 of JSON-able data in canonical form."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
