"""Scenes of mesh files."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import AliasChoices, Field

from sdg import transforms
from sdg.annotations import UNLABELLED
from sdg.mesh import plane
from sdg.mesh_files import MeshFile, read_mesh_file
from sdg.plugin import InputPath, Options
from sdg.scene import Body, Light, Material, RigidBody, Scene, SceneSource, Shape

Vector = tuple[float, float, float]
_GROUND = 20.0


class MeshBody(Options):
    """One body from a mesh file (.obj, .ply, .stl, .glb, .gltf)."""

    file: InputPath
    name: str = Field("", description="default: the name of the file")
    semantic_class: str = Field(
        "",
        validation_alias=AliasChoices("class", "semantic_class"),
        serialization_alias="class",
        description="its class; default: unlabelled",
    )
    position: Vector = Field((0.0, 0.0, 0.0), description="in the world [m]")
    rotation: Vector = Field((0.0, 0.0, 0.0), description="roll, pitch, yaw: about x, then y, then z [rad]")
    scale: float | Vector = Field(1.0, description="from units of the file to metres, before the rotation")
    mass: float | None = Field(None, gt=0, description="[kg]; default: from the volume and 1000 kg/m3")
    dynamic: bool = Field(False, description="whether it moves when the scene settles")

    def make(self, file: MeshFile) -> Body:
        """Return the body."""
        roll, pitch, yaw = (
            transforms.axis_angle(axis, angle) for axis, angle in zip(np.eye(3), self.rotation, strict=True)
        )
        x, y, z = (self.scale,) * 3 if isinstance(self.scale, float) else self.scale
        motion: Literal["dynamic", "static"] = "dynamic" if self.dynamic else "static"
        return Body(
            self.name or self.file.stem,
            file.mesh,
            transforms.transform(yaw @ pitch @ roll, self.position),
            (x, y, z),
            list(file.materials),
            self.semantic_class,
            rigid_body=RigidBody(motion, self.mass, collider="decomposition" if self.dynamic else "mesh"),
        )


class Mesh(SceneSource):
    """Put mesh files into a scene, on a ground and under a sky and a sun."""

    bodies: list[MeshBody] = Field(min_length=1)
    ground: bool = Field(True, description="whether there is a grey ground at z = 0, 20 m wide")
    light: bool = Field(True, description="whether there are a white sky and a sun")

    def load(self) -> Scene:
        """Read the files. Raises SceneError."""
        scene = Scene()
        files: dict[Any, MeshFile] = {}
        for body in self.bodies:
            if body.file not in files:
                files[body.file] = read_mesh_file(body.file)
                scene.warnings += files[body.file].warnings
            scene.add(body.make(files[body.file]))
        if self.ground:
            scene.add(_ground())
        if self.light:
            scene.lights["sky"] = Light("dome", intensity=0.5)
            sun = transforms.axis_angle((0, 0, 1), 0.6) @ transforms.axis_angle((1, 0, 0), 0.7)
            scene.lights["sun"] = Light("distant", transforms.transform(sun), intensity=2.0)
        return scene


def _ground() -> Body:
    return Body(
        "ground",
        plane(_GROUND, _GROUND),
        materials=[Material(base_color=(0.4, 0.4, 0.4), roughness=0.8, name="ground")],
        instance_id=UNLABELLED,
        rigid_body=RigidBody(collider="mesh"),
        shape=Shape("plane", (_GROUND, _GROUND, 0.0)),
    )
