"""From a USD file to a scene. Start reading here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sdg.annotations import UNLABELLED
from sdg.errors import SceneError
from sdg.scene import Scene

from .bodies import BodyMaker
from .cameras import read_camera
from .geometry import Unusable
from .groups import Walk
from .lights import read_light
from .materials import Materials
from .physics import Physics, read_gravity, warn_of_joints
from .semantics import Rules
from .stage import check_rules, open_stage, quiet, reasons, stage_to_world, time_code, unit_of
from .textures import Textures


def read_scene(
    file: Path,
    *,
    variants: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, str],
    dynamic: tuple[str, ...],
    purposes: tuple[str, ...],
    time: float | None,
    largest_texture: int,
) -> Scene:
    """Read a USD file; the options are those of `sdg.scenes.usd.Usd`. Raises SceneError."""
    from pxr import Tf

    said: list[str] = []
    try:
        with quiet(said), np.errstate(invalid="ignore", over="ignore"):
            stage, warnings = open_stage(file, variants)
            rules = Rules(dict(labels)), Rules(dict.fromkeys(dynamic, ""))
            walk = Walk(time_code(stage, time), purposes, *rules, warnings=warnings)
            walk.run(stage)
            check_rules(walk.labels, "labels", file, stage)
            check_rules(walk.dynamic, "dynamic", file, stage)
            scene = _scene_of(stage, walk, Textures(largest_texture), file)
    except Tf.ErrorException as error:
        raise SceneError(f"{file} cannot be read: {reasons(error)}") from None
    scene.warnings += _summary(line for line in map(_essence, said) if not line.startswith(_COMPOSITION))
    return scene


_COMPOSITION = ("Could not open asset", "Could not load sublayer", "Unresolved ")
"""What `open_stage` reports itself."""


def _essence(said: str) -> str:
    """Return what USD says without the prim and the moment at which it noticed."""
    inside = re.match(r"In <[^>]*>: (.*?)(?: \([^()]*on stage .*\))?$", said, re.DOTALL)
    return inside.group(1) if inside else said


def _summary(said: Iterable[str]) -> list[str]:
    """Return one line for all that differ only in the prim or file that they name."""
    alike: dict[str, list[str]] = {}
    for line in sorted(set(said)):
        alike.setdefault(re.sub(r"[(<@][^)>@]*[)>@]", "", line), []).append(line)
    more = [(lines[0], f" (and {len(lines) - 1} more like it)" if len(lines) > 1 else "") for lines in alike.values()]
    return [f"USD: {line}{rest}" for line, rest in more]


def _scene_of(stage: Any, walk: Walk, textures: Textures, file: Path) -> Scene:
    to_world, unit, warnings = stage_to_world(stage), unit_of(stage), walk.warnings
    scene = Scene(gravity=read_gravity(stage, walk.time, to_world))
    _add_bodies(scene, stage, walk, textures, to_world)
    to_metres = np.diag([1 / unit, 1 / unit, 1 / unit, 1.0])
    for prim, matrix in walk.lights:
        scene.lights[str(prim.GetPath())] = read_light(
            prim, to_world @ matrix @ to_metres, walk.time, textures, unit=unit
        )
    for prim, matrix in walk.cameras:
        try:
            scene.cameras[str(prim.GetPath())] = read_camera(prim, to_world @ matrix @ to_metres, walk.time, unit=unit)
        except Unusable as error:
            warnings.append(f"{prim.GetPath()}: the camera is left out: {error}")
    for kind, paths in walk.left_out.items():
        warnings.append(f"{len(paths)} {kind} prims, such as {paths[0]}, cannot be drawn and are left out")
    if textures.faults:
        lines = "".join(f"\n  {line}" for line in dict.fromkeys(textures.faults))
        raise SceneError(
            f"{file}: {len(textures.faults)} textures cannot be read; put the files back or fix the paths:{lines}"
        )
    scene.warnings = list(dict.fromkeys([*warnings, *textures.warnings]))
    if not scene.bodies:
        lines = "".join(f"\n  {line}" for line in scene.warnings)
        raise SceneError(f"{file} holds nothing that can be drawn (purposes: {', '.join(walk.purposes)}){lines}")
    return scene


def _add_bodies(scene: Scene, stage: Any, walk: Walk, textures: Textures, to_world: np.ndarray) -> None:
    from pxr import UsdPhysics

    unit = unit_of(stage)
    any_collider = any(piece.collider is not None for group in walk.groups for piece in group.pieces)
    physics = Physics(walk.time, unit, UsdPhysics.GetStageKilogramsPerUnit(stage), any_collider, walk.warnings)
    maker = BodyMaker(walk.time, to_world, unit, Materials(walk.time, textures, walk.warnings), physics, walk.warnings)
    identity = UNLABELLED
    for group in walk.groups:
        body = maker.make(group)
        if body is None:
            continue
        if body.labelled:
            identity += 1
            body.instance_id = identity
        scene.bodies[body.name] = body
    if maker.cages:
        cages = f"{len(maker.cages)} subdivision surfaces, such as {maker.cages[0]},"
        walk.warnings.append(f"{cages} are drawn as their control cages")
    warn_of_joints(stage, walk.warnings)
