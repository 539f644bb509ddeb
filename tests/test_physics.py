"""Physics: bodies rest where they should, and what goes wrong is reported."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sdg.errors import SceneError
from sdg.mesh import Mesh, box, cylinder, lathe, make_mesh, merge, plane, sphere
from sdg.physics.colliders import Colliders, decompose
from sdg.physics.mujoco import TIMESTEP, World
from sdg.physics.settling import SettleOptions, settle
from sdg.scene import Body, RigidBody, Scene
from sdg.shapes import moved, rounded_box
from sdg.transforms import axis_angle, transform


def ground() -> Body:
    return Body("ground", plane(4, 4))


def dynamic(name: str, mesh: Mesh, height: float, **options: object) -> Body:
    return Body(name, mesh, transform(None, (0, 0, height)), rigid_body=RigidBody(motion="dynamic", **options))  # type: ignore[arg-type]


def scene_of(*bodies: Body) -> Scene:
    scene = Scene()
    for body in bodies:
        scene.add(body)
    return scene


def closed_tray() -> Mesh:
    """Return one connected, concave mesh: a pan with thick walls."""
    return lathe([(0, 0), (0.15, 0), (0.15, 0.08), (0.13, 0.08), (0.13, 0.02), (0, 0.02)], segments=24, smooth=False)


@pytest.mark.parametrize(
    ("mesh", "collider", "half"),
    [
        (box((0.1, 0.08, 0.06)), "hull", 0.03),
        (rounded_box((0.1, 0.08, 0.06), 0.004), "hull", 0.03),
        (box((0.1, 0.08, 0.06)), "box", 0.03),
        (cylinder(0.04, 0.1), "hull", 0.05),
        (sphere(0.05), "sphere", 0.05),
        (merge([box((0.1, 0.1, 0.02)), moved(box((0.02, 0.02, 0.04)), (0, 0, 0.03))]), "decomposition", 0.01),
    ],
)
def test_bodies_rest_on_the_ground_within_a_tenth_of_a_millimetre(mesh: Mesh, collider: str, half: float) -> None:
    scene = scene_of(ground(), dynamic("thing", mesh, half + 0.05, collider=collider))
    report = settle(scene, Colliders(), SettleOptions())
    assert report.at_rest and not report.warnings and report.seconds < 2.5
    assert scene.bodies["thing"].object_to_world[2, 3] == pytest.approx(half, abs=1e-4)
    assert report.deepest_penetration < 1e-4 and report.speeds["thing"][0] < 0.01


def test_a_scaled_and_a_mirrored_body_rest_at_their_size() -> None:
    body = dynamic("thing", box((0.1, 0.1, 0.1)), 0.3)
    body.scale = (1.0, -1.0, 2.0)
    scene = scene_of(ground(), body)
    settle(scene, Colliders(), SettleOptions())
    assert body.object_to_world[2, 3] == pytest.approx(0.1, abs=1e-4)


def test_settling_twice_gives_the_same_bytes() -> None:
    poses = []
    for _ in range(2):
        bodies = [dynamic(f"thing_{n}", rounded_box((0.05, 0.07, 0.09), 0.01), 0.1 + 0.1 * n) for n in range(4)]
        scene = scene_of(ground(), *bodies)
        settle(scene, Colliders(), SettleOptions())
        poses.append(np.stack([body.object_to_world for body in bodies]).tobytes())
    assert poses[0] == poses[1]


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.6, 0.8])
def test_rebound_follows_restitution_and_adds_no_energy(restitution: float) -> None:
    drop = 0.5
    ball = dynamic("ball", sphere(0.05), 0.05 + drop, collider="sphere", restitution=restitution)
    world = World(scene_of(ground(), ball), Colliders())
    heights = []
    for _ in range(int(1.2 / TIMESTEP)):
        world.step(1)
        heights.append(world.pose("ball")[2, 3] - 0.05)
    touch = int(np.argmin(heights[: int(0.4 / TIMESTEP)]))
    rebound = max(heights[touch:]) / drop
    assert restitution - 0.05 < np.sqrt(max(rebound, 0)) < min(restitution + 0.12, 0.9)


@pytest.mark.parametrize(("friction", "slides"), [(0.2, True), (0.6, False)])
def test_friction_holds_on_a_slope_of_20_degrees(friction: float, slides: bool) -> None:
    tilt = axis_angle((0, 1, 0), np.radians(20))
    slope = Body("slope", plane(4, 4), transform(tilt))
    brick = dynamic("brick", box((0.1, 0.1, 0.04)), 0, dynamic_friction=friction)
    brick.object_to_world = transform(tilt, tilt @ np.array([0, 0, 0.0201]))
    world = World(scene_of(slope, brick), Colliders())
    world.step(300)
    travelled = np.linalg.norm(world.pose("brick")[:3, 3] - brick.object_to_world[:3, 3])
    expected = 0.5 * 9.81 * (np.sin(np.radians(20)) - friction * np.cos(np.radians(20))) * 0.6**2
    assert travelled == pytest.approx(expected, rel=0.1) if slides else travelled < 2e-3


def test_mass_density_and_centre_of_mass() -> None:
    heavy = dynamic("heavy", box((0.1, 0.1, 0.1)), 1, mass=2.5)
    light = dynamic("light", box((0.1, 0.1, 0.1)), 2, density=500.0)
    pieces = dynamic("pieces", merge([box((0.1, 0.1, 0.1)), moved(box((0.1, 0.1, 0.1)), (0.3, 0, 0))]), 3, mass=3.0)
    pieces.rigid_body.collider = "decomposition"
    shifted = dynamic("shifted", box((0.1, 0.1, 0.1)), 4, mass=1.0, center_of_mass=(0.02, 0.0, -0.01))
    model = World(scene_of(heavy, light, pieces, shifted), Colliders()).model
    masses = {name: float(model.body(name).mass[0]) for name in ("heavy", "light", "pieces", "shifted")}
    assert masses == pytest.approx({"heavy": 2.5, "light": 0.5, "pieces": 3.0, "shifted": 1.0})
    assert model.body("pieces").ipos == pytest.approx([0.15, 0, 0], abs=1e-6)
    assert model.body("shifted").ipos == pytest.approx([0.02, 0, -0.01], abs=1e-6)


def test_a_ball_falls_into_a_concave_body_and_not_onto_its_hull() -> None:
    pan = Body("pan", closed_tray(), rigid_body=RigidBody(collider="mesh"))
    scene = scene_of(ground(), pan, dynamic("ball", sphere(0.02), 0.2, collider="sphere"))
    report = settle(scene, Colliders(), SettleOptions())
    assert report.at_rest and scene.bodies["ball"].object_to_world[2, 3] == pytest.approx(0.04, abs=1e-3)


def test_decomposition_is_kept_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_coacd(mesh: object, **options: object) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(part.vertices.astype(float) * 1.5, part.triangles) for part in (box((0.3, 0.3, 0.02)), sphere(0.1))]

    fake = SimpleNamespace(run_coacd=run_coacd, Mesh=lambda *arrays: arrays, set_log_level=lambda level: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "coacd", fake)
    first = decompose(closed_tray(), "pan")
    assert len(first) == 2 and np.concatenate(first)[:, 0].max() == pytest.approx(0.15)  # kept inside of the mesh
    monkeypatch.setitem(sys.modules, "coacd", None)
    again = decompose(closed_tray(), "pan")
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert [path.suffix for path in (tmp_path / "sdg" / "hulls").iterdir()] == [".npz"]
    with pytest.raises(ImportError, match=r"sdg-pipeline\[colliders\]"):
        decompose(moved(closed_tray(), (0, 0, 1)), "pan")


@pytest.mark.slow
def test_decomposition_of_a_pan_leaves_it_open() -> None:
    parts = decompose(closed_tray(), "pan", max_hulls=8)
    for points in parts:
        assert np.abs(points[:, :2]).max() <= 0.1501
    pan = dynamic("pan", closed_tray(), 0.05, collider="decomposition")
    scene = scene_of(ground(), pan, dynamic("ball", sphere(0.02), 0.3, collider="sphere"))
    assert settle(scene, Colliders(), SettleOptions()).at_rest
    assert scene.bodies["ball"].object_to_world[2, 3] < 0.06


def test_bodies_that_leave_are_named() -> None:
    roller = dynamic("roller", box((0.1, 0.1, 0.1)), 0.5)
    roller.object_to_world[0, 3] = 3.0  # beside the ground
    scene = scene_of(ground(), dynamic("stays", box((0.1, 0.1, 0.1)), 0.06), roller)
    bounds = np.array([[-2.0, -2.0, -0.1], [2.0, 2.0, np.inf]])
    report = settle(scene, Colliders(), SettleOptions(bounds=bounds))
    assert report.out_of_bounds == ["roller"] and report.at_rest


def test_time_is_bounded() -> None:
    scene = scene_of(dynamic("falls", box((0.1, 0.1, 0.1)), 0.5))
    report = settle(scene, Colliders(), SettleOptions(seconds=0.5))
    assert not report.at_rest and report.seconds == pytest.approx(0.5, abs=0.021)


def test_kinematic_and_colliderless_bodies_do_not_move() -> None:
    lift = Body("lift", box((1, 1, 0.1)), transform(None, (0, 0, 1)), rigid_body=RigidBody(motion="kinematic"))
    ghost = dynamic("ghost", box((0.1, 0.1, 0.1)), 0.5, collider="none")
    scene = scene_of(ground(), lift, ghost, dynamic("rider", box((0.1, 0.1, 0.1)), 1.2))
    settle(scene, Colliders(), SettleOptions())
    heights = {name: body.object_to_world[2, 3] for name, body in scene.bodies.items()}
    assert heights["lift"] == 1 and heights["ghost"] == 0.5 and heights["rider"] == pytest.approx(1.1, abs=1e-3)


def test_degenerate_meshes_are_refused_by_name() -> None:
    line = make_mesh(np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0)]), np.array([[0, 1, 2]]))
    with pytest.raises(SceneError, match="body 'line' cannot collide: its mesh has no volume"):
        World(scene_of(dynamic("line", line, 0)), Colliders())
    broken = make_mesh(np.array([(0, 0, np.nan), (1, 0, 0), (0, 1, 0)]), np.array([[0, 1, 2]]))
    with pytest.raises(SceneError, match="body 'broken' cannot collide: its mesh holds vertices that are not numbers"):
        World(scene_of(dynamic("broken", broken, 0)), Colliders())


def test_an_exploding_simulation_is_told_and_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scene = scene_of(ground(), dynamic("thing", box((0.1, 0.1, 0.1)), 0.5))
    scene.gravity = (0.0, 0.0, -1e12)
    report = settle(scene, Colliders(), SettleOptions())
    assert report.warnings and not report.at_rest
    assert list(tmp_path.iterdir()) == []


def test_colliders_are_kept_and_bounded() -> None:
    colliders = Colliders(size=2)
    bodies = [dynamic(f"b{n}", rounded_box((0.1, 0.1, 0.1 + 0.01 * n), 0.02), 0) for n in range(3)]
    first = colliders(bodies[0])
    assert colliders(bodies[0]) is first
    colliders(bodies[1]), colliders(bodies[2])
    assert colliders(bodies[0]) is not first


def test_static_meshes_far_away_or_far_too_fine_cost_little() -> None:
    far = Body("far", closed_tray(), transform(None, (9, 0, 0)), rigid_body=RigidBody(collider="mesh"))
    fine = lathe([(0, 0), (0.15, 0), (0.15, 0.08), (0.13, 0.08), (0.13, 0.02), (0, 0.02)], segments=2000)
    pan = Body("pan", fine, rigid_body=RigidBody(collider="mesh"))
    scene = scene_of(ground(), far, pan, dynamic("ball", sphere(0.02), 0.2, collider="sphere"))
    world = World(scene, Colliders())
    assert world.model.ngeom < 700 and "far" not in world.names.values()
    settle(scene, Colliders(), SettleOptions())
    assert scene.bodies["ball"].object_to_world[2, 3] == pytest.approx(0.04, abs=4e-3)


def test_a_room_of_one_mesh_is_hollow() -> None:
    room = merge([box((4, 4, 2))])
    inside_out = make_mesh(room.vertices, room.triangles[:, ::-1])
    shell = Body("room", inside_out, transform(None, (0, 0, 1)), rigid_body=RigidBody(collider="mesh"))
    scene = scene_of(shell, dynamic("thing", box((0.1, 0.1, 0.1)), 0.5))
    report = settle(scene, Colliders(), SettleOptions())
    assert report.at_rest and scene.bodies["thing"].object_to_world[2, 3] == pytest.approx(0.05, abs=1e-3)
