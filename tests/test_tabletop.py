"""The procedural table-top: complete, plausible and cheap."""

from __future__ import annotations

import numpy as np
import pytest

from sdg.mesh import box, face_normals, merge, sphere
from sdg.outlines import extruded, hull_mesh, triangulate
from sdg.physics.colliders import Colliders
from sdg.physics.mujoco import World
from sdg.scene import Scene
from sdg.scenes.tabletop import Tabletop
from sdg.shapes import auto_smooth, box_projected, is_closed, rounded_box, split_pieces, tube, uv_density


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Tabletop().load()


def test_classes_and_ids(scene: Scene) -> None:
    labelled = [body for body in scene.bodies.values() if body.labelled]
    assert {"table", "bin", "mug", "hammer", "banana"} <= {body.semantic_class for body in labelled}
    assert len({body.instance_id for body in labelled}) == len(labelled) == 19
    assert all(not scene.bodies[name].labelled for name in ("floor", "wall_0", "window", "shelf"))
    assert scene.region is not None and scene.region[0, 2] == pytest.approx(0.74)
    assert set(scene.cameras) == {"camera"} and {light.kind for light in scene.lights.values()} == {"rect", "dome"}


def test_bodies_are_well_formed(scene: Scene) -> None:
    for body in scene.bodies.values():
        mesh = body.mesh
        assert mesh.uvs is not None, body.name
        assert np.isfinite(mesh.vertices).all() and np.isfinite(mesh.uvs).all(), body.name
        assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-4), body.name
        assert mesh.material_indices is None or mesh.material_indices.max() < len(body.materials), body.name
        faces = face_normals(mesh.vertices, mesh.triangles)
        agree = np.einsum("ij,ij->i", faces, mesh.normals[mesh.triangles].mean(axis=1)) > 0
        area = np.linalg.norm(faces, axis=1)
        assert area[agree].sum() > 0.95 * area.sum(), f"{body.name}: triangles turned inside out"


def test_objects_are_realistic_and_light(scene: Scene) -> None:
    for body in scene.bodies.values():
        if body.rigid_body.motion != "dynamic":
            continue
        extent = np.ptp(body.mesh.bounds, axis=0)
        assert 0.04 < extent.max() < 0.35 and 0.01 < (body.rigid_body.mass or 0) < 1, body.name
        assert len(body.mesh.triangles) <= 7200, body.name
        assert np.allclose(body.mesh.bounds.mean(axis=0), 0, atol=1e-6), body.name
        low, high = body.mesh.bounds
        for point in body.keypoints.values():
            assert (np.array(point) > low - 2e-3).all() and (np.array(point) < high + 2e-3).all(), body.name


def test_objects_stand_on_the_table_without_touching(scene: Scene) -> None:
    world = World(scene, Colliders(), margin=0.01)
    for a, b, distance in world.contacts():
        assert distance > -1e-4, (a, b)
    lowest = min(scene.bodies[name].world_vertices()[:, 2].min() for name in world.moving)
    assert lowest == pytest.approx(0.74, abs=1e-6)


def test_colliders_follow_the_meshes(scene: Scene) -> None:
    """A mug's handle and inside stay open: its collider is much smaller than its hull, but not its box."""
    colliders = Colliders()
    for name in ("mug", "bowl", "cup", "plate", "hammer", "banana"):
        body = scene.bodies[name]
        parts = colliders(body)
        points = np.concatenate([part.points for part in parts])
        assert np.allclose([points.min(axis=0), points.max(axis=0)], body.mesh.bounds, atol=2.5e-3), name
        assert sum(part.volume for part in parts) < 0.75 * hull_mesh(body.mesh.vertices.astype(float)).volume, name


def test_options() -> None:
    scene = Tabletop(objects=("mug", "can"), copies=2, bin=False, room=False).load()
    assert list(scene.bodies) == ["table", "mug", "mug_1", "can", "can_1"]
    pixels = [scene.bodies[name].materials[1].base_color_texture for name in ("can", "can_1")]
    assert pixels[0] is not None and pixels[1] is not None
    assert not np.array_equal(pixels[0].pixels, pixels[1].pixels)
    with pytest.raises(ValueError, match="did you mean 'mug'"):
        Tabletop(objects=("mugg",))


def test_same_options_make_the_same_scene() -> None:
    first, second = (Tabletop(objects=("mug", "book"), room=False, seed=3).load() for _ in range(2))
    for a, b in zip(first.bodies.values(), second.bodies.values(), strict=True):
        assert a.mesh.digest == b.mesh.digest and np.array_equal(a.object_to_world, b.object_to_world)


def test_rounded_box_and_tube_are_closed() -> None:
    solid = rounded_box((0.2, 0.1, 0.06), 0.01, steps=4)
    assert is_closed(solid) and solid.volume == pytest.approx(0.2 * 0.1 * 0.06, rel=0.03)
    assert np.allclose(solid.bounds, [[-0.1, -0.05, -0.03], [0.1, 0.05, 0.03]])
    rod = tube(np.array([(0, 0, 0), (0.5, 0, 0), (1, 0, 0)]), 0.05, segments=64)
    assert is_closed(rod) and rod.volume == pytest.approx(np.pi * 0.05**2 * (1 + 4 / 3 * 0.05), rel=0.02)


def test_extrusion_of_a_concave_outline() -> None:
    corner = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)
    assert len(triangulate(corner)) == 4
    solid = extruded(corner, 0.5)
    assert is_closed(solid) and solid.volume == pytest.approx(1.5)
    assert extruded(corner, 0.5, bevel=0.05).volume < 1.5


def test_mesh_helpers() -> None:
    pieces = split_pieces(merge([box((1, 1, 1)), sphere(0.3)]))
    assert sorted(round(piece.volume, 1) for piece in pieces) == [0.1, 1.0]
    smooth = auto_smooth(box((1, 1, 1)), 3.0)
    assert np.allclose(np.abs(smooth.normals), 1 / np.sqrt(3), atol=1e-6)
    assert uv_density(box_projected(box((2, 2, 2)))) == pytest.approx(1.0)
