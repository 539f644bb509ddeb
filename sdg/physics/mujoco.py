"""MuJoCo behind the seam of physics: bodies in, contacts and settled poses out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sdg import transforms
from sdg.errors import SceneError
from sdg.scene import Body, RigidBody, Scene

from .colliders import Colliders, Part

TIMESTEP = 0.002
"""Duration of one step [s]."""
_REACH = 0.5
_FAR = 1000.0


class World:
    """The visible bodies of a scene in MuJoCo: static ones fixed, dynamic ones free, kinematic ones where they are put.

    `margin` [m]: contacts are reported from this distance on. What is static and farther than `_REACH` to the side of
    the scene's region and of all free bodies is left out. Raises SceneError for a body that cannot collide.
    """

    def __init__(self, scene: Scene, colliders: Colliders, *, margin: float = 0.0) -> None:
        import mujoco

        self._mj = mujoco
        spec = _new_spec(mujoco, scene)
        moving: list[Body] = []
        meshes: set[str] = set()
        zone = _zone(scene)
        for body in scene.visible_bodies():
            parts = _near(body, colliders, zone)
            if parts:
                _add_body(mujoco, spec, body, parts, meshes, margin)
                moving += [body] if body.rigid_body.motion == "dynamic" else []
        self.model = _compile(spec)
        if _set_centers_of_mass(spec, self.model, moving):
            self.model = _compile(spec)
        self.data = mujoco.MjData(self.model)
        self.moving = [body.name for body in moving]
        self._ids = {name: self.model.body(name).id for name in self.moving}
        self._joint = {name: int(self.model.body(name).jntadr[0]) for name in self.moving}
        self.names = {
            self.model.body(body.name).id: body.name for body in scene.bodies.values() if self._has(body.name)
        }

    def _has(self, name: str) -> bool:
        return bool(self._mj.mj_name2id(self.model, self._mj.mjtObj.mjOBJ_BODY, name) >= 0)

    def place(self, name: str, object_to_world: np.ndarray) -> None:
        """Put a free body at a pose, at rest."""
        start = self.model.jnt_qposadr[self._joint[name]]
        self.data.qpos[start : start + 3] = object_to_world[:3, 3]
        self.data.qpos[start + 3 : start + 7] = transforms.rotation_to_quaternion(object_to_world[:3, :3])
        first = self.model.jnt_dofadr[self._joint[name]]
        self.data.qvel[first : first + 6] = 0

    def put_away(self, names: Iterable[str]) -> None:
        """Put free bodies where they touch nothing."""
        for name in names:
            self.place(name, transforms.transform(None, (_FAR + 50 * self._ids[name], _FAR, _FAR)))

    def pose(self, name: str) -> np.ndarray:
        """Return object_to_world [4, 4] of a free body."""
        start = self.model.jnt_qposadr[self._joint[name]]
        values = self.data.qpos[start : start + 7]
        return transforms.transform(transforms.quaternion_to_rotation(values[3:]), values[:3])

    def positions(self) -> np.ndarray:
        """Return the places [n, 3] of the free bodies' frames in the world."""
        return np.array([self.pose(name)[:3, 3] for name in self.moving]).reshape(-1, 3)

    def speeds(self) -> np.ndarray:
        """Return linear [m/s] and angular [rad/s] speed [n, 2] of the free bodies."""
        first = [self.model.jnt_dofadr[self._joint[name]] for name in self.moving]
        velocity = np.array([self.data.qvel[start : start + 6] for start in first]).reshape(-1, 2, 3)
        return np.asarray(np.linalg.norm(velocity, axis=2))

    def contacts(self) -> list[tuple[str, str, float]]:
        """Return the touching bodies and their distance [m] (negative: penetration) at the present poses."""
        self._mj.mj_kinematics(self.model, self.data)
        self._mj.mj_collision(self.model, self.data)
        owner = self.model.geom_bodyid
        return [
            (self.names[owner[contact.geom[0]]], self.names[owner[contact.geom[1]]], float(contact.dist))
            for contact in self.data.contact
        ]

    def calm(self, linear: float, angular: float) -> None:
        """Slow all free bodies down by `linear` and `angular` [1/s] and let nothing rebound any more."""
        for name in self.moving:
            first, body = self.model.jnt_dofadr[self._joint[name]], self._ids[name]
            self.model.dof_damping[first : first + 3] = linear * self.model.body_mass[body]
            self.model.dof_damping[first + 3 : first + 6] = angular * self.model.body_inertia[body].mean()
        self.model.geom_solref[:] = _spring(0.0)

    def step(self, count: int) -> list[str]:
        """Simulate `count` steps; return what the solver complained about."""
        with _caught_warnings(self._mj) as caught:
            self._mj.mj_step(self.model, self.data, count)
        return caught


def _zone(scene: Scene) -> np.ndarray:
    """Return the box [2, 3] around the region and all free bodies, grown sideways and endless below."""
    free = [body.bounding_sphere() for body in scene.visible_bodies() if body.rigid_body.motion == "dynamic"]
    corners = [center + sign * radius for center, radius in free for sign in (-1, 1)]
    if scene.region is not None:
        corners += list(np.asarray(scene.region, float))
    if not corners:
        return np.array([[-np.inf] * 3, [np.inf] * 3])
    zone = np.stack([np.min(corners, axis=0) - _REACH, np.max(corners, axis=0) + _REACH])
    zone[0, 2] = -np.inf
    return zone


def _near(body: Body, colliders: Colliders, zone: np.ndarray) -> list[Part]:
    """Return the parts of a body that reach into `zone`, all of them if it can move."""
    if body.rigid_body.motion == "dynamic":
        return colliders(body)
    center, radius = body.bounding_sphere()
    if (center + radius < zone[0]).any() or (center - radius > zone[1]).any():
        return []
    near = []
    for part in colliders(body):
        middle = transforms.apply(body.mesh_to_world, (part.points.min(axis=0) + part.points.max(axis=0))[None] / 2)[0]
        reach = float(np.linalg.norm(np.ptp(part.points, axis=0) * body.scale)) / 2
        if not ((middle + reach < zone[0]).any() or (middle - reach > zone[1]).any()):
            near.append(part)
    return near


def _new_spec(mujoco: Any, scene: Scene) -> Any:
    """Return an empty model with settings under which piles rest: elliptic cones, several contacts per pair, 2 ms."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.boundmass, spec.compiler.boundinertia = 1e-6, 1e-12
    option = spec.option
    option.timestep, option.impratio, option.iterations = TIMESTEP, 10.0, 30
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.gravity = scene.gravity
    if hasattr(mujoco.mjtEnableBit, "mjENBL_MULTICCD"):  # on by default from 4 on
        option.enableflags |= mujoco.mjtEnableBit.mjENBL_MULTICCD
    return spec


def _compile(spec: Any) -> Any:
    try:
        return spec.compile()
    except ValueError as error:
        raise SceneError(f"physics cannot use the scene: {' '.join(str(error).split())}") from None


def _add_body(mujoco: Any, spec: Any, body: Body, parts: list[Part], meshes: set[str], margin: float) -> None:
    pose = body.object_to_world
    made = spec.worldbody.add_body(
        name=body.name, pos=pose[:3, 3], quat=transforms.rotation_to_quaternion(pose[:3, :3])
    )
    rigid = body.rigid_body
    if rigid.motion == "dynamic":
        made.add_freejoint()
    scale = np.asarray(body.scale)
    total = sum(part.volume for part in parts) or 1.0
    for number, part in enumerate(parts):
        share = {"density": rigid.density} if rigid.mass is None else {"mass": rigid.mass * part.volume / total}
        geometry = _geometry(
            mujoco, spec, part, scale, f"{body.mesh.digest} {scale.tolist()} {len(rigid.pieces)} {number}", meshes
        )
        made.add_geom(**geometry, **share, **_surface(rigid), margin=margin, name=f"{body.name}#{number}")


def _geometry(mujoco: Any, spec: Any, part: Part, scale: np.ndarray, name: str, meshes: set[str]) -> dict[str, Any]:
    if part.kind == "hull":
        if name not in meshes:
            points = (part.points * scale).astype(np.float32)
            spec.add_mesh(
                name=name, uservert=points.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX, maxhullvert=64
            )
            meshes.add(name)
        return {"type": mujoco.mjtGeom.mjGEOM_MESH, "meshname": name}
    low, high = np.sort(part.points * scale, axis=0)
    middle, half = (low + high) / 2, (high - low) / 2
    if part.kind == "sphere":
        return {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [half.mean(), 0, 0], "pos": middle}
    return {"type": mujoco.mjtGeom.mjGEOM_BOX, "size": half, "pos": middle}


def _surface(rigid: RigidBody) -> dict[str, Any]:
    """Return how a surface grips and rebounds; where two touch, the moving body's values count."""
    return {
        "friction": (rigid.dynamic_friction, 0.005, 0.0001),
        "solref": _spring(rigid.restitution),
        "solimp": (0.95, 0.99, 0.001, 0.5, 2),
        "condim": 4,
        "priority": int(rigid.motion == "dynamic"),
    }


def _spring(restitution: float) -> tuple[float, float]:
    """Return solref in its direct form (-stiffness, -damping), which rebounds without adding energy.

    The share of the speed that is kept comes out at most 0.12 above `restitution`, because contacts begin on whole steps.
    """
    frequency, damping = 1 / (3 * TIMESTEP), 1.0
    if restitution > 1e-3:
        log = math.log(min(restitution, 0.98))
        damping = -log / math.hypot(math.pi, log)
    return -(frequency**2), -2 * damping * frequency


def _set_centers_of_mass(spec: Any, model: Any, bodies: list[Body]) -> bool:
    """Move the centres of mass that are given, keeping mass and inertia; return whether any was."""
    given = [body for body in bodies if body.rigid_body.center_of_mass is not None]
    for body in given:
        made, found = spec.body(body.name), model.body(body.name)
        made.explicitinertial = True
        made.mass, made.inertia, made.iquat = float(found.mass[0]), found.inertia, found.iquat
        made.ipos = np.asarray(body.rigid_body.center_of_mass, float)
    return bool(given)


@contextmanager
def _caught_warnings(mujoco: Any) -> Iterator[list[str]]:
    """Collect the solver's warnings instead of letting it write a log file into the working folder."""
    caught: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: caught.append(str(text)))
    try:
        yield caught
    finally:
        mujoco.set_mju_user_warning(before)
