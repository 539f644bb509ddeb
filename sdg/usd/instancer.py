"""Points of a UsdGeom.PointInstancer."""

from __future__ import annotations

from typing import Any

import numpy as np

from .geometry import Unusable


def point_instances(prim: Any, time: Any) -> tuple[list[Any], list[tuple[int, int, np.ndarray]]]:
    """Return the prototypes, and (number, prototype, [4, 4] from the prototype to the instancer) of each shown point.

    Raises Unusable.
    """
    from pxr import Usd, UsdGeom

    instancer = UsdGeom.PointInstancer(prim)
    if time.IsEarliestTime():  # from there velocities would carry the points to infinity
        attributes = (instancer.GetPositionsAttr(), instancer.GetOrientationsAttr(), instancer.GetScalesAttr())
        samples = [sample for attribute in attributes for sample in attribute.GetTimeSamples()]
        time = Usd.TimeCode(min(samples)) if samples else Usd.TimeCode.Default()
    stage = prim.GetStage()
    prototypes = [stage.GetPrimAtPath(path) for path in instancer.GetPrototypesRel().GetForwardedTargets()]
    which = np.array(instancer.GetProtoIndicesAttr().Get(time) or [], np.int64)
    if not prototypes or not all(prototypes):
        raise Unusable("it has no prototypes" if not prototypes else "one of its prototypes does not exist")
    if len(which) and (which.min() < 0 or which.max() >= len(prototypes)):
        raise Unusable(f"protoIndices run from {which.min()} to {which.max()}, but it has {len(prototypes)} prototypes")
    positions = instancer.GetPositionsAttr().Get(time) or []
    if len(positions) != len(which):
        raise Unusable(f"it has {len(which)} protoIndices, but {len(positions)} positions")
    tokens = UsdGeom.PointInstancer
    matrices = instancer.ComputeInstanceTransformsAtTime(time, time, tokens.IncludeProtoXform, tokens.IgnoreMask)
    if len(matrices) != len(which):
        raise Unusable("its positions, orientations and scales do not have equal counts")
    shown = instancer.ComputeMaskAtTime(time)
    numbers = [n for n in range(len(which)) if not shown or shown[n]]
    return prototypes, [(n, int(which[n]), np.array(matrices[n]).T) for n in numbers]
