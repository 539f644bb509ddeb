"""Let a scene come to rest."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdg.scene import Scene

from .colliders import Colliders
from .mujoco import TIMESTEP, World

_BLOCK = 10


@dataclass(frozen=True)
class SettleOptions:
    """When a scene is at rest, and how long it may take.

    Every free body is slower than `linear` [m/s] and `angular` [rad/s] for `hold` [s]; at most `seconds` [s] are
    simulated; after `damp_after` [s] everything is slowed down, ever more. `bounds` [2, 3] in the world: bodies whose box's
    centre ends outside are out of bounds.
    """

    seconds: float = 6.0
    linear: float = 0.01
    angular: float = 0.15
    hold: float = 0.25
    damp_after: float = 1.5
    bounds: np.ndarray | None = None


@dataclass
class SettleReport:
    """What came of it: `deepest_penetration` [m], `speeds` are linear [m/s] and angular [rad/s]."""

    at_rest: bool
    seconds: float
    deepest_penetration: float
    out_of_bounds: list[str] = field(default_factory=list)
    speeds: dict[str, tuple[float, float]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def settle(scene: Scene, colliders: Colliders, options: SettleOptions) -> SettleReport:
    """Simulate the dynamic bodies of `scene` until they rest and write their poses back."""
    world = World(scene, colliders)
    if not world.moving:
        return SettleReport(at_rest=True, seconds=0.0, deepest_penetration=0.0)
    seconds, at_rest, warnings = _simulate(world, options)
    if not warnings:
        for name in world.moving:
            scene.bodies[name].object_to_world = world.pose(name)
    ids = set(world.moving)
    depths = [-distance for a, b, distance in world.contacts() if a in ids or b in ids]
    speeds = {name: (float(v), float(w)) for name, (v, w) in zip(world.moving, world.speeds(), strict=True)}
    left = [name for name in world.moving if _is_outside(scene, name, options.bounds)]
    return SettleReport(at_rest, seconds, max(depths, default=0.0), left, speeds, warnings)


def _simulate(world: World, options: SettleOptions) -> tuple[float, bool, list[str]]:
    """Return the simulated time [s], whether everything rests, and the solver's complaints."""
    quiet, steps, calmed = 0.0, 0, 0
    limit = np.array([options.linear, options.angular])
    while steps * TIMESTEP < options.seconds:
        warnings = world.step(_BLOCK)
        steps += _BLOCK
        if warnings:
            return steps * TIMESTEP, False, warnings
        fast = (world.speeds() >= limit).any(axis=1) & ~_have_left(world, options.bounds)
        quiet = 0.0 if fast.any() else quiet + _BLOCK * TIMESTEP
        if quiet >= options.hold:
            return steps * TIMESTEP, True, []
        late = int(2 * (steps * TIMESTEP - options.damp_after)) + 1
        if late > calmed:  # ever more, every half second
            world.calm(1.0 * late, 10.0 * late)
            calmed = late
    return steps * TIMESTEP, False, []


def _have_left(world: World, bounds: np.ndarray | None) -> np.ndarray:
    places = world.positions()
    if bounds is None:
        return np.zeros(len(places), bool)
    return np.asarray(((places < bounds[0]) | (places > bounds[1])).any(axis=1))


def _is_outside(scene: Scene, name: str, bounds: np.ndarray | None) -> bool:
    center, _ = scene.bodies[name].bounding_sphere()
    if not np.isfinite(center).all():
        return True
    return bounds is not None and bool(((center < bounds[0]) | (center > bounds[1])).any())
