"""Which bodies of a scene are meant, and where they fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

import numpy as np

from . import transforms
from .errors import SampleRejected, nearest
from .physics.mujoco import World
from .scene import Body, Scene

Propose = Callable[[np.random.Generator], np.ndarray]
"""Draws a pose object_to_world [4, 4]."""


def select(scene: Scene, patterns: Iterable[str]) -> list[Body]:
    """Return the bodies whose name or class matches one of `patterns` (`*` and `?` as in file names)."""
    wanted = tuple(patterns)
    return [body for body in scene.bodies.values() if any(_matches(body, pattern) for pattern in wanted)]


def _matches(body: Body, pattern: str) -> bool:
    return fnmatchcase(body.name, pattern) or (body.labelled and fnmatchcase(body.semantic_class, pattern))


def unmatched(
    scene: Scene, patterns: Iterable[str], *, among: Sequence[Body] | None = None, what: str = "body"
) -> list[str]:
    """Return one fault for each pattern that matches no body."""
    bodies = list(scene.bodies.values()) if among is None else among
    known = {body.name for body in bodies} | {body.semantic_class for body in bodies if body.labelled}
    return [
        f"no {what} has the name or class '{pattern}'; {nearest(pattern, known)}"
        for pattern in patterns
        if not any(_matches(body, pattern) for body in bodies)
    ]


def box_of(bodies: Sequence[Body]) -> np.ndarray:
    """Return the axis-aligned box [2, 3] in the world around bodies."""
    points = np.concatenate([body.world_vertices() for body in bodies])
    return np.stack([points.min(axis=0), points.max(axis=0)])


def region_of(scene: Scene) -> np.ndarray:
    """Return the scene's region [2, 3], or the box around its labelled (else all) bodies."""
    if scene.region is not None:
        return np.asarray(scene.region, float)
    bodies = scene.visible_bodies()
    if not bodies:
        raise SampleRejected("the scene is empty, so there is no region to place anything in")
    return box_of([body for body in bodies if body.labelled] or bodies)


def shell_point(center: np.ndarray, distance: float, elevation: float, azimuth: float) -> np.ndarray:
    """Return the point [3] at `distance` [m] from `center`; elevation [rad] above the horizon, azimuth [rad] from +x."""
    flat = math.cos(elevation)
    return np.asarray(
        center + distance * np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])
    )


def upright(rng: np.random.Generator, rotation: np.ndarray) -> np.ndarray:
    """Return `rotation` [3, 3] turned about the world's z by a uniform angle."""
    return np.asarray(transforms.axis_angle((0, 0, 1), 2 * math.pi * float(rng.random())) @ rotation)


def place_apart(
    world: World,
    names: Sequence[str],
    proposals: Sequence[Propose],
    rng: np.random.Generator,
    *,
    gap: float,
    tries: int,
) -> dict[str, np.ndarray]:
    """Place bodies one after the other so that none comes nearer than `gap` [m] to another; leave out those that do not fit.

    Each body is tried at most `tries` times. The contacts of its collider decide.
    """
    waiting = list(names)
    world.put_away(waiting)
    placed: dict[str, np.ndarray] = {}
    for name, propose in zip(names, proposals, strict=True):
        for _ in range(tries):
            pose = propose(rng)
            world.place(name, pose)
            if all(distance >= gap for a, b, distance in world.contacts() if name in (a, b)):
                placed[name] = pose
                break
        else:
            world.put_away([name])
    return placed
