"""A scene, free of any engine: metres, kilograms, seconds, radians; world right-handed with z up."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from . import transforms
from .annotations import UNLABELLED
from .mesh import Mesh
from .plugin import Plugin


@dataclass(frozen=True, eq=False)
class Texture:
    """An image on a surface; never changed, so that materials and samples can share it.

    pixels [h, w, c] uint8 (or float32 for light), row 0 at the top (v = 1), c = 1 or 3; `srgb`: the values are
    sRGB-encoded colours. The texture is looked up at `uv_scale * rotate(uv, uv_rotation [rad]) + uv_offset`.
    """

    pixels: np.ndarray
    srgb: bool = True
    wrap: Literal["repeat", "clamp", "mirror"] = "repeat"
    uv_scale: tuple[float, float] = (1.0, 1.0)
    uv_rotation: float = 0.0
    uv_offset: tuple[float, float] = (0.0, 0.0)
    name: str = ""


@dataclass(frozen=True, eq=False)
class Material:
    """A surface, by the inputs that UsdPreviewSurface and OpenPBR share; colours are linear RGB.

    A texture replaces the value beside it. `specular` scales the reflection of a dielectric with index of refraction
    `ior` (1: as it is). `opacity` below `opacity_threshold` cuts the surface out (threshold 0: blended, see renderer);
    `transmission` 1 is clear glass. `emission` [W/(sr m2)], relative like the lights.
    """

    base_color: tuple[float, float, float] = (0.5, 0.5, 0.5)
    base_color_texture: Texture | None = None
    roughness: float = 0.5
    roughness_texture: Texture | None = None
    metallic: float = 0.0
    metallic_texture: Texture | None = None
    specular: float = 1.0
    ior: float = 1.5
    normal_texture: Texture | None = None
    opacity: float = 1.0
    opacity_texture: Texture | None = None
    opacity_threshold: float = 0.0
    transmission: float = 0.0
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)
    emission_texture: Texture | None = None
    name: str = ""

    def changed(self, **values: Any) -> Material:
        """Return this material with some values changed."""
        return replace(self, **values)


@dataclass
class RigidBody:
    """How a body moves and collides.

    `motion`: static (never moves), dynamic (simulated) or kinematic. mass [kg] or, where it is None, density [kg/m3]
    times the volume of the collider. `collider`: hull (convex hull), box, sphere, decomposition (several hulls), mesh
    (static bodies only), none. center_of_mass [3] in the object's frame or None: of the collider. `pieces`: convex
    meshes in the frame of the body's mesh, which a decomposition takes in its place.
    """

    motion: Literal["static", "dynamic", "kinematic"] = "static"
    mass: float | None = None
    density: float = 1000.0
    static_friction: float = 0.6
    dynamic_friction: float = 0.5
    restitution: float = 0.1
    collider: Literal["hull", "box", "sphere", "decomposition", "mesh", "none"] = "hull"
    center_of_mass: tuple[float, float, float] | None = None
    pieces: tuple[Mesh, ...] = ()


@dataclass(frozen=True)
class Shape:
    """The exact shape that a mesh approximates: a sphere of radius size[0], a box or a plane (facing +z) of size [m]."""

    kind: Literal["sphere", "box", "plane"]
    size: tuple[float, float, float]


@dataclass
class Body:
    """A thing: a mesh at a pose with materials, a label and physics.

    object_to_world [4, 4] is rigid; `scale` [3] stretches the mesh in the object's frame before it (negative: mirrored).
    An empty `semantic_class` means unlabelled. `instance_id` is stable over all samples of a job.
    """

    name: str
    mesh: Mesh
    object_to_world: np.ndarray = field(default_factory=lambda: np.eye(4))
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    materials: list[Material] = field(default_factory=lambda: [Material()])
    semantic_class: str = ""
    instance_id: int = UNLABELLED
    rigid_body: RigidBody = field(default_factory=RigidBody)
    shape: Shape | None = None
    keypoints: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    symmetries: list[dict[str, Any]] = field(default_factory=list)
    visible: bool = True

    @property
    def labelled(self) -> bool:
        return bool(self.semantic_class)

    @property
    def mesh_to_world(self) -> np.ndarray:
        """The affine [4, 4] of the mesh, scale included."""
        return self.object_to_world @ np.diag([*self.scale, 1.0])

    def world_vertices(self) -> np.ndarray:
        """Return the vertices [v, 3] in the world, float64."""
        return transforms.apply(self.mesh_to_world, self.mesh.vertices.astype(np.float64))

    def bounding_sphere(self) -> tuple[np.ndarray, float]:
        """Return centre [3] in the world and radius of a sphere around the body's box."""
        low, high = self.mesh.bounds * np.asarray(self.scale)
        center = transforms.apply(self.object_to_world, (low + high)[None] / 2)[0]
        return center, float(np.linalg.norm(high - low) / 2)


@dataclass
class Light:
    """A light by the terms of UsdLux; it shines along -z of its own frame (rect, disk, distant).

    Emitted radiance = color * blackbody(color_temperature [K]) * intensity * 2**exposure [W/(sr m2), relative]. Sizes [m]:
    rect width x height; disk and sphere radius; cylinder radius and length along x. `distant`: `angle` [rad] is the sun's
    apparent diameter and the intensity is irradiance [W/m2]. `dome`: `texture` is a latitude-longitude map: its top is +z,
    its first column +x, and columns turn to -y (to the right as seen from inside).
    """

    kind: Literal["dome", "distant", "rect", "disk", "sphere", "cylinder"]
    object_to_world: np.ndarray = field(default_factory=lambda: np.eye(4))
    intensity: float = 1.0
    exposure: float = 0.0
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    color_temperature: float | None = None
    width: float = 1.0
    height: float = 1.0
    radius: float = 0.5
    length: float = 1.0
    angle: float = 0.0092
    normalize: bool = False
    texture: Texture | None = None


@dataclass
class Camera:
    """A pinhole camera: x right, y down, z forward; pixel (0, 0) has its centre at (0.5, 0.5).

    fx, fy, cx, cy [px] are free. `exposure` [stops], or None: exposed automatically from the picture's own luminance.
    Nothing nearer than `near` [m] along z is seen.
    """

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    camera_to_world: np.ndarray = field(default_factory=lambda: np.eye(4))
    exposure: float | None = None
    near: float = 0.01

    @property
    def matrix(self) -> np.ndarray:
        """K [3, 3]."""
        return np.array([[self.fx, 0, self.cx], [0, self.fy, self.cy], [0, 0, 1.0]])

    @property
    def world_to_camera(self) -> np.ndarray:
        return transforms.rigid_inverse(self.camera_to_world)

    def rays(self) -> np.ndarray:
        """Return the ray of each pixel centre [h, w, 3] in camera axes, with z = 1."""
        x = (np.arange(self.width) + 0.5 - self.cx) / self.fx
        y = (np.arange(self.height) + 0.5 - self.cy) / self.fy
        rays = np.ones((self.height, self.width, 3))
        rays[..., 0], rays[..., 1] = x[None, :], y[:, None]
        return rays


@dataclass
class Scene:
    """Bodies, lights and cameras by name (a USD prim path where there is one).

    `classes` lists the semantic classes of the whole job in the order of their ids, from `UNLABELLED` + 1.
    `region` [2, 3]: the box in which randomizers place things by default, in the world.
    """

    bodies: dict[str, Body] = field(default_factory=dict)
    lights: dict[str, Light] = field(default_factory=dict)
    cameras: dict[str, Camera] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)
    region: np.ndarray | None = None
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    warnings: list[str] = field(default_factory=list)

    def copy(self) -> Scene:
        """Return a scene that may be changed without changing this one; meshes and textures are shared."""
        twin = replace(self, bodies={}, lights={}, cameras={}, classes=list(self.classes), warnings=list(self.warnings))
        for name, body in self.bodies.items():
            twin.bodies[name] = replace(
                body,
                object_to_world=body.object_to_world.copy(),
                materials=list(body.materials),
                rigid_body=replace(body.rigid_body),
            )
        twin.lights = {
            name: replace(light, object_to_world=light.object_to_world.copy()) for name, light in self.lights.items()
        }
        twin.cameras = {name: copy.copy(camera) for name, camera in self.cameras.items()}
        return twin

    def class_id(self, semantic_class: str) -> int:
        """Return the id of a class, or the id of unlabelled geometry for ''."""
        return self.classes.index(semantic_class) + UNLABELLED + 1 if semantic_class else UNLABELLED

    def add(self, body: Body) -> None:
        """Add a body under a free name and, if it is labelled, a free instance id."""
        if body.name in self.bodies:
            number = next(n for n in range(1, len(self.bodies) + 2) if f"{body.name}_{n}" not in self.bodies)
            body.name = f"{body.name}_{number}"
        if body.labelled:
            body.instance_id = max((b.instance_id for b in self.bodies.values()), default=UNLABELLED) + 1
        self.bodies[body.name] = body

    def visible_bodies(self) -> list[Body]:
        """Return the bodies that a camera can see."""
        return [body for body in self.bodies.values() if body.visible]


class SceneSource(Plugin, ABC):
    """Where a job's scene comes from."""

    @abstractmethod
    def load(self) -> Scene:
        """Read or make the scene. Raises SceneError."""
