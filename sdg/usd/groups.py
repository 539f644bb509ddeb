"""Which prims make one body together: a walk over a stage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from .geometry import Unusable
from .implicit import KINDS as IMPLICIT
from .instancer import point_instances
from .lights import KINDS as LIGHTS
from .materials import path_of
from .physics import motion_of
from .semantics import Rules, authored_label

Motion = Literal["static", "dynamic", "kinematic"]


@dataclass(frozen=True)
class Piece:
    """A prim that is drawn, or collides unseen; `relative` [4, 4] maps its frame to the group's in stage units."""

    prim: Any
    key: str
    relative: np.ndarray
    drawn: bool
    collider: Any = None


@dataclass
class Group:
    """Prims that make one body; `matrix` [4, 4] maps the group's frame to the stage."""

    name: str
    prim: Any
    matrix: np.ndarray
    label: str
    motion: Motion
    whole: bool
    """Whether it holds together: a rigid body, a component or a copy; nothing but bodies and other labels leave it."""
    pieces: list[Piece] = field(default_factory=list)


@dataclass(frozen=True)
class State:
    """What a prim inherits; `renamed`: the path of a prototype and what stands in its place in names."""

    matrix: np.ndarray
    relative: np.ndarray
    visible: bool = True
    purpose: str = "default"
    label: str = ""
    ruled: bool = False
    group: Group | None = None
    collider: Any = None
    renamed: tuple[str, str] | None = None


@dataclass
class Walk:
    """Collects groups, lights and cameras of a stage; `lights` and `cameras` hold (prim, matrix to the stage)."""

    time: Any
    purposes: tuple[str, ...]
    labels: Rules
    dynamic: Rules
    groups: list[Group] = field(default_factory=list)
    lights: list[tuple[Any, np.ndarray]] = field(default_factory=list)
    cameras: list[tuple[Any, np.ndarray]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from pxr import Usd, UsdGeom

        self._transforms = UsdGeom.XformCache(self.time)
        self._below = Usd.TraverseInstanceProxies()
        self._below_prototype = Usd.TraverseInstanceProxies(Usd.PrimIsActive & Usd.PrimIsLoaded)

    def run(self, stage: Any) -> None:
        """Walk over a whole stage."""
        state = State(np.eye(4), np.eye(4))
        for prim in stage.GetPseudoRoot().GetFilteredChildren(self._below):
            self._visit(prim, state)
        self.groups = [group for group in self.groups if group.pieces]

    def _visit(self, prim: Any, state: State, *, placed: bool = False) -> None:
        """Visit a prim and what is below; `placed`: its own transform is in the state already."""
        from pxr import UsdGeom

        if prim.IsA(UsdGeom.Imageable):
            state = self._inherit(prim, state, placed=placed)
            state = self._grouped(prim, state)
            if prim.IsA(UsdGeom.PointInstancer):
                self._visit_points(prim, state)
                return
            self._take(prim, state)
        for child in prim.GetFilteredChildren(self._below_prototype if state.renamed else self._below):
            self._visit(child, state)

    def _inherit(self, prim: Any, state: State, *, placed: bool) -> State:
        from pxr import UsdGeom, UsdPhysics

        imageable = UsdGeom.Imageable(prim)
        matrix, relative = state.matrix, state.relative
        if not placed and prim.IsA(UsdGeom.Xformable):
            local, resets = self._transforms.GetLocalTransformation(prim)
            own = np.array(local).T
            matrix = own if resets else matrix @ own
            relative = relative @ own
            if resets and state.group is not None and np.linalg.det(state.group.matrix[:3, :3]):
                relative = np.linalg.inv(state.group.matrix) @ own
        purpose = imageable.GetPurposeAttr()
        return replace(
            state,
            matrix=matrix,
            relative=relative,
            visible=state.visible and imageable.GetVisibilityAttr().Get(self.time) != UsdGeom.Tokens.invisible,
            purpose=str(purpose.Get(self.time)) if purpose.HasAuthoredValue() else state.purpose,
            collider=prim if prim.HasAPI(UsdPhysics.CollisionAPI) else state.collider,
        )

    # --- groups -----------------------------------------------------------------------------------------------------

    def _grouped(self, prim: Any, state: State) -> State:
        """Return the state with the label and the group that start at a prim, if any do."""
        path = _name(prim, state)
        rule = self.labels(path)
        own = rule if rule is not None else (None if state.ruled else authored_label(prim, self.time))
        label = state.label if own is None else own
        motion = motion_of(prim, self.time)
        if self.dynamic(path) is not None and (state.group is None or state.group.motion == "static"):
            motion = "dynamic"
        state = replace(state, label=label, ruled=state.ruled or rule is not None)
        if not self._starts(prim, state, own, motion):
            return state
        kind = _kind(prim)
        whole = motion is not None or kind == "component" or prim.IsInstance()
        group = Group(path, prim, state.matrix, label, motion or "static", whole)
        if state.group is not None and state.group.motion != "static" and motion is None:
            group.motion = state.group.motion
        self.groups.append(group)
        return replace(state, group=group, relative=np.eye(4))

    def _starts(self, prim: Any, state: State, own: str | None, motion: Motion | None) -> bool:
        if motion is not None:
            return True
        kind, group = _kind(prim), state.group
        gathers = kind not in ("group", "assembly")
        if group is None:
            labelled = own is not None and gathers and not prim.IsPseudoRoot()
            return labelled or kind == "component" or prim.IsInstance() or _is_drawable(prim)
        if own is not None and own != group.label:
            if group.motion == "static":
                return gathers
            self.warnings.append(
                f"{prim.GetPath()}: its label '{own}' is lost, it is part of the rigid body {group.name}"
            )
        return kind == "component" and not group.whole

    def _take(self, prim: Any, state: State) -> None:
        """Put a prim itself into its group, or among the lights or cameras."""
        from pxr import UsdGeom

        kind = str(prim.GetTypeName())
        drawn = state.visible and state.purpose in self.purposes
        if kind == "Camera":
            self.cameras.append((prim, state.matrix))
        elif kind in LIGHTS:
            self.lights += [(prim, state.matrix)] if state.visible else []
        elif _is_drawable(prim):
            if state.group is not None and (drawn or state.collider is not None):
                state.group.pieces.append(Piece(prim, path_of(prim), state.relative, drawn, state.collider))
        elif drawn and (prim.IsA(UsdGeom.Gprim) or kind.endswith("Light")):
            self.left_out.setdefault(kind, []).append(str(prim.GetPath()))

    # --- point instancers -------------------------------------------------------------------------------------------

    def _visit_points(self, prim: Any, state: State) -> None:
        """Repeat the groups of the prototypes for every point."""
        name = _name(prim, state)
        try:
            prototypes, points = point_instances(prim, self.time)
        except Unusable as error:
            self.warnings.append(f"{name}: it is left out: {error}")
            return
        templates: dict[int, list[Group]] = {}
        for number, which, matrix in points:
            if which not in templates:
                templates[which] = self._template(prototypes[which], state)
            self.groups += self._repeated(templates[which], f"{name}[{number}]", state.matrix @ matrix)

    def _template(self, prototype: Any, state: State) -> list[Group]:
        """Return the groups of a prototype, in its own frame and with names relative to it."""
        outer, self.groups = self.groups, []
        lights, cameras = len(self.lights), len(self.cameras)
        root = Group("", prototype, np.eye(4), state.label, "static", whole=True)
        self.groups.append(root)
        inner = replace(state, matrix=np.eye(4), relative=np.eye(4), group=root, renamed=(str(prototype.GetPath()), ""))
        root.label = authored_label(prototype, self.time) or state.label if not state.ruled else state.label
        self._visit(prototype, inner, placed=True)
        made, self.groups = [group for group in self.groups if group.pieces], outer
        del self.lights[lights:], self.cameras[cameras:]
        return made

    def _repeated(self, template: Iterable[Group], name: str, matrix: np.ndarray) -> list[Group]:
        label, dynamic = self.labels(name), self.dynamic(name) is not None
        return [
            replace(
                group,
                name=name + group.name,
                matrix=matrix @ group.matrix,
                label=group.label if label is None else label,
                motion="dynamic" if dynamic else group.motion,
            )
            for group in template
        ]


def _name(prim: Any, state: State) -> str:
    path = str(prim.GetPath())
    return path if state.renamed is None else state.renamed[1] + path.removeprefix(state.renamed[0])


def _kind(prim: Any) -> str:
    from pxr import Kind, Usd

    kind = Usd.ModelAPI(prim).GetKind()
    return next((known for known in ("component", "assembly", "group") if kind and Kind.Registry.IsA(kind, known)), "")


def _is_drawable(prim: Any) -> bool:
    kind = str(prim.GetTypeName())
    return kind == "Mesh" or kind in IMPLICIT
