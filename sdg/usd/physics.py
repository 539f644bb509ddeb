"""UsdPhysics: how bodies move and collide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sdg.mesh import Mesh
from sdg.scene import RigidBody

if TYPE_CHECKING:
    from .groups import Group, Piece

Collider = Literal["hull", "box", "sphere", "decomposition", "mesh", "none"]
_APPROXIMATIONS: dict[str, Collider] = {
    "convexHull": "hull",
    "convexDecomposition": "decomposition",
    "boundingCube": "box",
    "boundingSphere": "sphere",
    "sphereFill": "decomposition",
    "none": "mesh",
    "meshSimplification": "mesh",
    "sdf": "mesh",
}
_CONVEX = ("hull", "box", "sphere")


def motion_of(prim: Any, time: Any) -> Literal["dynamic", "kinematic"] | None:
    """Return how a rigid body that starts at a prim moves, or None."""
    from pxr import UsdPhysics

    if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        return None
    body = UsdPhysics.RigidBodyAPI(prim)
    if body.GetRigidBodyEnabledAttr().Get(time) is False:
        return None
    return "kinematic" if body.GetKinematicEnabledAttr().Get(time) else "dynamic"


def read_gravity(stage: Any, time: Any, to_world: np.ndarray) -> tuple[float, float, float]:
    """Return the gravity [m/s2] in the world of the first physics scene; by default 9.81 downwards."""
    from pxr import UsdPhysics

    unit = float(np.linalg.norm(to_world[:3, 0]))
    direction, strength = np.array([0.0, 0.0, -1.0]), 9.81
    for prim in stage.Traverse():
        if prim.IsA(UsdPhysics.Scene):
            scene = UsdPhysics.Scene(prim)
            given = np.array(scene.GetGravityDirectionAttr().Get(time) or (0, 0, 0), float)
            if np.linalg.norm(given) > 0:
                direction = to_world[:3, :3] @ given / (unit * np.linalg.norm(given))
            magnitude = scene.GetGravityMagnitudeAttr().Get(time)
            if magnitude is not None and np.isfinite(magnitude) and magnitude >= 0:
                strength = float(magnitude) * unit
            break
    x, y, z = (float(value) for value in direction * strength)
    return x, y, z


def warn_of_joints(stage: Any, warnings: list[str]) -> None:
    """Say that joints are not simulated, where there are any."""
    from pxr import UsdPhysics

    joints = [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]
    if joints:
        warnings.append(
            f"{len(joints)} joints, such as {joints[0].GetPath()}, are not simulated: their bodies move freely"
        )


@dataclass
class Physics:
    """Reads the rigid bodies of a stage. `unit` [m], `mass_unit` [kg]; `any_collider`: whether the stage has colliders."""

    time: Any
    unit: float
    mass_unit: float
    any_collider: bool
    warnings: list[str]

    def read(self, group: Group, stretch: np.ndarray, piece_mesh: Callable[[Piece], Mesh | None]) -> RigidBody:
        """Return the rigid body of a group.

        `stretch` [3, 3] is applied to the group's frame; `piece_mesh` gives the mesh of a piece in the body's frame.
        """
        body = RigidBody(group.motion)
        colliding = [piece for piece in group.pieces if self._collides(piece)]
        self._set_collider(body, group, colliding, piece_mesh)
        self._set_mass(body, group, colliding, stretch)
        self._set_contact(body, colliding[0].prim if colliding else group.prim)
        return body

    def _collides(self, piece: Piece) -> bool:
        from pxr import UsdPhysics

        if piece.collider is None:
            return False
        return UsdPhysics.CollisionAPI(piece.collider).GetCollisionEnabledAttr().Get(self.time) is not False

    def _kind(self, piece: Piece, motion: str) -> Collider:
        """Return how one prim collides; only static bodies collide with their exact triangles."""
        from pxr import UsdPhysics

        kind = str(piece.prim.GetTypeName())
        if kind != "Mesh":
            return {"Cube": "box", "Sphere": "sphere", "Plane": "mesh"}.get(kind, "hull")  # type: ignore[return-value]
        owner = piece.prim if piece.prim.HasAPI(UsdPhysics.MeshCollisionAPI) else piece.collider
        wanted = UsdPhysics.MeshCollisionAPI(owner).GetApproximationAttr()
        found = _APPROXIMATIONS.get(str(wanted.Get(self.time)) if wanted else "none", "hull")
        return "hull" if found == "mesh" and motion != "static" else found

    def _set_collider(
        self, body: RigidBody, group: Group, colliding: Sequence[Piece], piece_mesh: Callable[[Piece], Mesh | None]
    ) -> None:
        drawn = [piece for piece in group.pieces if piece.drawn] or colliding
        if not colliding:
            body.collider = "hull" if group.motion != "static" else ("none" if self.any_collider else "mesh")
            if group.motion == "dynamic" and self.any_collider:
                self.warnings.append(f"{group.name}: a rigid body without a collider; its convex hull collides")
            return
        kinds = [self._kind(piece, group.motion) for piece in colliding]
        if len(drawn) == 1 and list(colliding) == drawn:
            body.collider = kinds[0]
        elif group.motion == "static" and "mesh" in kinds:
            body.collider = "mesh"
        else:
            body.collider = "decomposition"
            if all(kind in _CONVEX for kind in kinds):
                body.pieces = tuple(mesh for piece in colliding if (mesh := piece_mesh(piece)) is not None)

    def _set_mass(self, body: RigidBody, group: Group, colliding: Sequence[Piece], stretch: np.ndarray) -> None:
        mass, density, center = self._mass_of(group.prim)
        parts = [self._mass_of(piece.prim) for piece in colliding if piece.prim != group.prim]
        if mass is None and parts and all(part[0] is not None for part in parts):
            mass = sum(part[0] or 0.0 for part in parts)
        body.mass = mass
        for value in (density, *(part[1] for part in parts), self._material(colliding, "density")):
            if value:
                body.density = value * self.mass_unit / self.unit**3
                break
        if center is not None:
            x, y, z = (float(value) for value in stretch @ center * self.unit)
            body.center_of_mass = (x, y, z)

    def _mass_of(self, prim: Any) -> tuple[float | None, float | None, np.ndarray | None]:
        """Return mass [kg], density [units of the stage] and centre of mass [3] of a prim, each None where not given."""
        from pxr import UsdPhysics

        if not prim.HasAPI(UsdPhysics.MassAPI):
            return None, None, None
        api = UsdPhysics.MassAPI(prim)
        mass, density = api.GetMassAttr().Get(self.time) or 0.0, api.GetDensityAttr().Get(self.time) or 0.0
        center = np.array(api.GetCenterOfMassAttr().Get(self.time) or (np.inf,) * 3, float)
        return mass * self.mass_unit or None, density or None, center if np.isfinite(center).all() else None

    def _material(self, colliding: Sequence[Piece], name: str) -> float | None:
        return self._contact(colliding[0].prim, name) if colliding else None

    def _contact(self, prim: Any, name: str) -> float | None:
        from pxr import UsdPhysics, UsdShade

        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        if not material or not material.GetPrim().HasAPI(UsdPhysics.MaterialAPI):
            return None
        attribute = material.GetPrim().GetAttribute(f"physics:{name}")
        return float(attribute.Get(self.time)) if attribute and attribute.HasAuthoredValue() else None

    def _set_contact(self, body: RigidBody, prim: Any) -> None:
        static, dynamic = self._contact(prim, "staticFriction"), self._contact(prim, "dynamicFriction")
        if static is not None or dynamic is not None:
            body.static_friction = float(dynamic if static is None else static)  # type: ignore[arg-type]
            body.dynamic_friction = float(static if dynamic is None else dynamic)  # type: ignore[arg-type]
        restitution = self._contact(prim, "restitution")
        if restitution is not None:
            body.restitution = min(max(restitution, 0.0), 1.0)
