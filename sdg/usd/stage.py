"""Opening stages: variants, units, and faults of composition as one message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sdg.errors import SceneError, nearest

from .mtlx import take_in
from .pictures import LFS
from .semantics import Rules

_MISSING = ("ErrorInvalidAssetPath", "ErrorUnresolvedPrimPath", "ErrorInvalidSublayerPath")


@contextmanager
def quiet(said: list[str]) -> Iterator[None]:
    """Keep USD's own warnings off the terminal and add them to `said`."""
    from pxr import UsdUtils

    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    finally:
        said += [str(diagnostic.commentary) for diagnostic in delegate.TakeUncoalescedDiagnostics()]


def open_stage(file: Path, variants: Mapping[str, Mapping[str, str]]) -> tuple[Any, list[str]]:
    """Open a stage with some variants chosen; also return warnings. Raises SceneError for all unresolved arcs at once."""
    from pxr import Tf, Usd

    with file.open("rb") as opened:
        if opened.read(len(LFS)) == LFS:
            raise SceneError(f"{file} is only a pointer of Git LFS; run `git lfs pull`")
    try:
        stage = Usd.Stage.Open(str(file))
        stage.Reload()  # files that changed since this process read them
    except Tf.ErrorException as error:
        raise SceneError(f"{file} cannot be opened as USD: {reasons(error) or 'it is no USD file'}") from None
    for path in sorted(variants, key=lambda path: path.count("/")):
        for name, variant in variants[path].items():
            _choose(stage, file, path, name, variant)
    take_in(stage.GetCompositionErrors())
    errors = sorted(stage.GetCompositionErrors(), key=str)  # USD composes on several threads
    lost = [str(error) for error in errors if type(error).__name__ in _MISSING and not _is_foreign(error)]
    if lost:
        lines = "".join(f"\n  {line}" for line in dict.fromkeys(lost))
        raise SceneError(
            f"{file} refers to {len(lost)} things that cannot be found; put the files back or fix the paths:{lines}"
        )
    return stage, [*(str(error) for error in errors), *_other_units(stage)]


def reasons(error: Any) -> str:
    """Return what USD says in an exception."""
    return "; ".join(str(getattr(part, "commentary", part)) for part in error.args)


def time_code(stage: Any, time: float | None) -> Any:
    """Return a time code, by default the first one of the stage."""
    from pxr import Usd

    if time is not None:
        return Usd.TimeCode(time)
    return Usd.TimeCode(stage.GetStartTimeCode()) if stage.HasAuthoredTimeCodeRange() else Usd.TimeCode.EarliestTime()


def _other_units(stage: Any) -> list[str]:
    """Say which layers are written in other units than the stage; USD itself converts nothing."""
    root = stage.GetPseudoRoot()
    lines = []
    for name in ("metersPerUnit", "upAxis"):
        own = root.GetMetadata(name)
        for layer in stage.GetUsedLayers():
            given = layer.pseudoRoot.GetInfo(name) if layer.pseudoRoot.HasInfo(name) else own
            if given != own:
                lines.append(
                    f"{layer.identifier} has {name} {given} and the stage {own}; it is taken as it is, as in USD"
                )
    return lines


def _is_foreign(error: Any) -> bool:
    """Return whether a file is there but in a format that this USD library does not read, such as .mtlx."""
    return "annot determine file format" in str(error)


def _choose(stage: Any, file: Path, path: str, name: str, variant: str) -> None:
    from pxr import Sdf, Usd

    prim = stage.GetPrimAtPath(path) if Sdf.Path.IsValidPathString(path)[0] else None
    if not prim:
        paths = [str(other.GetPath()) for other in stage.Traverse() if other.GetVariantSets().GetNames()]
        raise SceneError(f"variants: {file} has no prim '{path}'; prims with variants: {nearest(path, paths)}")
    sets = prim.GetVariantSets()
    if name not in sets.GetNames():
        raise SceneError(f"variants: prim '{path}' has no variant set '{name}'; {nearest(name, sets.GetNames())}")
    choices = sets.GetVariantSet(name).GetVariantNames()
    if variant not in choices:
        raise SceneError(
            f"variants: set '{name}' of prim '{path}' has no variant '{variant}'; {nearest(variant, choices)}"
        )
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        sets.GetVariantSet(name).SetVariantSelection(variant)


def stage_to_world(stage: Any) -> np.ndarray:
    """Return the map [4, 4] from stage units to metres with z up."""
    from pxr import UsdGeom

    matrix = np.eye(4)
    if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y:
        matrix[:3, :3] = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    matrix[:3, :3] *= unit_of(stage)
    return matrix


def unit_of(stage: Any) -> float:
    """Return the length of one unit of the stage [m]. Raises SceneError."""
    from pxr import UsdGeom

    unit = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not (np.isfinite(unit) and unit > 0):
        raise SceneError(f"{stage.GetRootLayer().identifier}: metersPerUnit is {unit}; it must be more than 0")
    return unit


def check_rules(rules: Rules, option: str, file: Path, stage: Any) -> None:
    """Raise SceneError for globs that matched no prim."""
    if not rules.unused:
        return
    from pxr import Usd

    paths = [str(prim.GetPath()) for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())][1:]
    lines = "".join(f"\n  '{pattern}': {nearest(pattern, paths)}" for pattern in sorted(rules.unused))
    raise SceneError(f"{option}: these match no prim of {file} (`*` stays within one name, `**` crosses names):{lines}")
