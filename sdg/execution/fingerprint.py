"""What decides the bytes of a data set: the job, the files and the code it names, its scene, and versions."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from sdg.job import Job
from sdg.mesh import Mesh
from sdg.plugin import Plugin
from sdg.scene import Scene, Texture

from .shards import file_sha256

PACKAGES = ("numpy", "opencv-python-headless", "mujoco", "usd-core", "mitsuba", "drjit")


def versions() -> dict[str, str]:
    """Return the versions of sdg and of the packages that decide what it writes."""
    from sdg import __version__

    found = {"sdg": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def described(job: Job) -> dict[str, Any]:
    """Return the job as JSON-able data that is the same in every folder: paths are replaced by what they hold."""
    data: dict[str, Any] = _with_contents(job.describe(), job.model_dump())
    code = {plugin.type_name(): digest for plugin in _plugins(job) if (digest := _code_digest(plugin))}
    return data | ({"code": code} if code else {})


def _with_contents(data: Any, live: Any) -> Any:
    if isinstance(live, Path):
        return {"name": live.name, "sha256": content_sha256(live)}
    if isinstance(live, dict):
        return {name: _with_contents(value, live[name]) if name in live else value for name, value in data.items()}
    if isinstance(live, list | tuple):
        return [_with_contents(value, item) for value, item in zip(data, live, strict=True)]
    return data


def content_sha256(path: Path) -> str:
    """Return the sha256 of a file, or of the names and contents of all files in a folder."""
    if not path.is_dir():
        return file_sha256(path)
    state = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            state.update(f"{file.relative_to(path).as_posix()}\0{file_sha256(file)}\n".encode())
    return state.hexdigest()


def _plugins(job: Job) -> list[Plugin]:
    return [job.scene, job.renderer, job.writer, *job.randomizers]


def _code_digest(plugin: Plugin) -> str:
    """Return the sha256 of the file with a user's own plug-in, or '' for one that comes with sdg."""
    if type(plugin).__module__.startswith("sdg."):
        return ""
    for value in vars(type(plugin)).values():
        code = getattr(value, "__code__", None)
        if code is not None and Path(code.co_filename).is_file():
            return file_sha256(Path(code.co_filename))
    return ""


def scene_digest(scene: Scene) -> str:
    """Return a hash of everything in a scene that can be seen, labelled or simulated."""
    return _Digest().of(scene).hex()


class _Digest:
    """Hashes values of dataclasses, arrays and containers; what is shared is hashed once."""

    def __init__(self) -> None:
        self.known: dict[int, bytes] = {}

    def of(self, value: Any) -> bytes:
        if isinstance(value, Mesh):
            return value.digest.encode()
        if not is_dataclass(value) and not isinstance(value, np.ndarray):
            return self._hash(value)
        if id(value) not in self.known:
            self.known[id(value)] = self._hash(value)
        return self.known[id(value)]

    def _hash(self, value: Any) -> bytes:
        state = hashlib.sha256(type(value).__name__.encode())
        if isinstance(value, np.ndarray):
            state.update(f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
        elif is_dataclass(value):
            # Warnings and the names of textures may hold paths.
            left_out = {Scene: "warnings", Texture: "name"}.get(type(value))
            for field in fields(value):
                if field.name != left_out:
                    state.update(field.name.encode() + self.of(getattr(value, field.name)))
        elif isinstance(value, dict):
            for name, item in value.items():
                state.update(self.of(name) + self.of(item))
        elif isinstance(value, list | tuple):
            for item in value:
                state.update(self.of(item))
        else:
            state.update(repr(value).encode())
        return state.digest()
