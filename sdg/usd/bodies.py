"""From groups of prims to bodies; copies share their meshes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sdg import transforms
from sdg.mesh import Mesh, merge
from sdg.scene import Body, Material, RigidBody, Shape
from sdg.shapes import transformed

from .geometry import Unusable, material_subsets, read_mesh
from .groups import Group, Piece
from .implicit import implicit_key, read_implicit
from .materials import Bound, Materials
from .physics import Physics


@dataclass
class Read:
    """A prim that was read: its mesh [m] in its own frame, its materials, its exact shape if it is one."""

    mesh: Mesh
    materials: list[Bound]
    shape: Shape | None = None


@dataclass
class BodyMaker:
    """Makes bodies. `to_world` [4, 4] maps stage units to the world, `unit` is one of them [m]."""

    time: Any
    to_world: np.ndarray
    unit: float
    materials: Materials
    physics: Physics
    warnings: list[str]
    cages: list[str] = field(default_factory=list)
    _reads: dict[tuple[Any, ...], Read | None] = field(default_factory=dict)
    _made: dict[tuple[Any, ...], tuple[Mesh, list[Material]]] = field(default_factory=dict)
    _moved: dict[tuple[Any, ...], Mesh] = field(default_factory=dict)
    _same: dict[str, Mesh] = field(default_factory=dict)

    def make(self, group: Group) -> Body | None:
        """Return the body of a group, or None with a warning where nothing of it can be drawn."""
        frame = self.to_world @ group.matrix
        frame[:3, :3] /= self.unit
        if not np.isfinite(frame).all() or np.linalg.cond(frame[:3, :3]) > 1e7:
            self.warnings.append(f"{group.name}: it is left out: its transform is singular (a scale of 0?)")
            return None
        pose, stretch = transforms.decompose(frame)
        scale, baked = _split(stretch)
        drawn = [piece for piece in group.pieces if piece.drawn]
        found = [(piece, read) for piece in drawn or group.pieces if (read := self._read(piece)) is not None]
        if not found:
            return None
        mesh, materials = self._merged(found, baked)
        rigid = self.physics.read(group, stretch if baked is None else np.eye(3), lambda piece: self._one(piece, baked))
        return Body(
            group.name,
            mesh,
            pose,
            scale,
            list(materials),
            semantic_class=group.label if drawn else "",
            rigid_body=rigid if baked is None else _with_center(rigid, stretch),
            shape=found[0][1].shape
            if len(found) == 1 and baked is None and _is_identity(found[0][0].relative)
            else None,
            visible=bool(drawn),
        )

    def _read(self, piece: Piece) -> Read | None:
        """Read a prim once for all of its copies that wear the same materials."""
        bound = self.materials.of(piece.prim, material_subsets(piece.prim))
        key = (implicit_key(piece.prim, self.time) or piece.key, *(id(one) for one in bound))
        if key not in self._reads:
            try:
                self._reads[key] = self._read_new(piece.prim, bound)
            except (Unusable, TypeError, ValueError) as error:  # the last two: attributes of foreign types
                self.warnings.append(f"{piece.prim.GetPath()}: it is left out: {error}")
                self._reads[key] = None
        return self._reads[key]

    def _read_new(self, prim: Any, bound: list[Bound]) -> Read:
        from pxr import UsdGeom

        if not prim.IsA(UsdGeom.Mesh):
            mesh, shape = read_implicit(prim, self.time, unit=self.unit)
            return Read(mesh, bound, shape)
        scheme = UsdGeom.Mesh(prim).GetSubdivisionSchemeAttr()
        if scheme.HasAuthoredValue() and scheme.Get(self.time) in ("catmullClark", "loop"):
            self.cages.append(str(prim.GetPath()))
        mesh, warnings = read_mesh(prim, self.time, unit=self.unit, uv_names=[one.uv_name or "st" for one in bound])
        self.warnings += [f"{prim.GetPath()}: {warning}" for warning in warnings]
        return Read(mesh, bound)

    def _merged(self, found: list[tuple[Piece, Read]], baked: np.ndarray | None) -> tuple[Mesh, list[Material]]:
        moves = [self._move(piece, baked) for piece, _ in found]
        key = tuple((id(read), move.tobytes()) for (_, read), move in zip(found, moves, strict=True))
        if key not in self._made:
            parts = [(read, move) for (_, read), move in zip(found, moves, strict=True)]
            mesh, materials = merge_parts(parts)
            self._made[key] = self._same.setdefault(mesh.digest, mesh), materials
        return self._made[key]

    def _move(self, piece: Piece, baked: np.ndarray | None) -> np.ndarray:
        """Return the map [4, 4] from the metres of a prim's frame to those of the body's mesh."""
        move = piece.relative.copy()
        move[:3, 3] *= self.unit
        return move if baked is None else transforms.transform(baked) @ move

    def _one(self, piece: Piece, baked: np.ndarray | None) -> Mesh | None:
        """Return the mesh of one prim in the frame of the body's mesh."""
        read = self._read(piece)
        move = self._move(piece, baked)
        if read is None or not np.linalg.det(move[:3, :3]):
            return None
        key = (id(read), move.tobytes())
        if key not in self._moved:
            self._moved[key] = transformed(read.mesh, move)
        return self._moved[key]


def _split(stretch: np.ndarray) -> tuple[tuple[float, float, float], np.ndarray | None]:
    """Return a stretch [3, 3] as the scale of a body, or as a map to be baked into its mesh where it shears."""
    diagonal = np.diag(stretch)
    if np.abs(stretch - np.diag(diagonal)).max() > 1e-6 * np.abs(diagonal).max():
        return (1.0, 1.0, 1.0), np.round(stretch, 9)
    x, y, z = (float(np.sign(s)) if abs(abs(s) - 1) < 1e-6 else float(s) for s in diagonal)
    return (x, y, z), None


def _is_identity(matrix: np.ndarray) -> bool:
    return bool(np.abs(matrix - np.eye(4)).max() < 1e-9)


def _with_center(rigid: RigidBody, stretch: np.ndarray) -> RigidBody:
    if rigid.center_of_mass is None:
        return rigid
    x, y, z = (float(value) for value in stretch @ np.array(rigid.center_of_mass))
    return replace(rigid, center_of_mass=(x, y, z))


def merge_parts(parts: Sequence[tuple[Read, np.ndarray]]) -> tuple[Mesh, list[Material]]:
    """Return one mesh of several prims, each moved by a [4, 4], and the materials that it uses."""
    materials: list[Material] = []
    meshes = []
    with_uvs = any(read.mesh.uvs is not None for read, _ in parts)
    for read, move in parts:
        mesh = read.mesh
        if not _is_identity(move):
            mesh = transformed(mesh, move)
        chosen = np.zeros(len(mesh.triangles), np.int64) if mesh.material_indices is None else mesh.material_indices
        numbers = np.zeros(len(read.materials), np.int64)
        for number in np.unique(chosen):
            material = read.materials[number].material
            if material not in materials:
                materials.append(material)
            numbers[number] = materials.index(material)
        uvs = np.zeros((len(mesh.vertices), 2), np.float32) if mesh.uvs is None and with_uvs else mesh.uvs
        meshes.append(Mesh(mesh.vertices, mesh.triangles, mesh.normals, uvs, numbers[chosen].astype(np.int32)))
    one = merge(meshes) if len(meshes) > 1 else meshes[0]
    if len(materials) == 1:
        one = Mesh(one.vertices, one.triangles, one.normals, one.uvs)
    return one, materials
