"""Every randomizer: the same numbers give the same scene, the base scene stays as it was, options survive JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from scipy import stats

from sdg import Body, Camera, Draws, Light, Randomizer, Scene
from sdg.errors import SampleRejected, SceneError
from sdg.mesh import box, make_mesh, plane, sphere
from sdg.physics.colliders import Colliders
from sdg.physics.mujoco import World
from sdg.placement import select
from sdg.plugin import find, names
from sdg.random import rng_for
from sdg.randomizers.camera_pose import CameraPose
from sdg.randomizers.distractors import Distractors
from sdg.randomizers.lighting import Lighting, level_irradiance
from sdg.randomizers.materials import Materials
from sdg.randomizers.scatter import Scatter
from sdg.randomizers.settle import Settle
from sdg.randomizers.textures import Textures
from sdg.scene import Material, RigidBody, Texture
from sdg.sight import Sight
from sdg.transforms import look_at, transform

ALL = names("sdg.randomizers")


def make(type_name: str, **options: Any) -> Randomizer:
    randomizer = find("sdg.randomizers", type_name)(**options)
    assert isinstance(randomizer, Randomizer)
    return randomizer


def small_scene(count: int = 5) -> Scene:
    """Return a table with a few cubes in the air above it, one of them textured and one without uvs."""
    scene = Scene(region=np.array([[-0.4, -0.4, 0.5], [0.4, 0.4, 0.9]]))
    scene.add(Body("floor", plane(4, 4)))
    scene.add(Body("table", box((1, 1, 0.04)), transform(None, (0, 0, 0.48)), semantic_class="table"))
    for number in range(count):
        mesh = box((0.06, 0.06, 0.06))
        if number == 1:
            mesh = make_mesh(mesh.vertices, mesh.triangles)
        body = Body("cube", mesh, transform(None, (0.12 * number - 0.24, 0, 0.56)), semantic_class="cube")
        body.rigid_body = RigidBody(motion="dynamic")
        if number == 0:
            body.materials = [Material(base_color_texture=Texture(np.full((8, 8, 3), 128, np.uint8)))]
        scene.add(body)
    scene.lights["lamp"] = Light("sphere", transform(None, (0, 0, 2)))
    scene.cameras["main"] = Camera(640, 480, 600, 600, 320, 240, look_at((0, -1.2, 1.2), (0, 0, 0.5)))
    scene.classes = ["cube", "table"]
    return scene


def state(scene: Scene) -> dict[str, Any]:
    """Return everything in a scene as plain, comparable data."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return [str(value.dtype), value.tolist()]
        if hasattr(value, "digest"):
            return value.digest
        if hasattr(value, "__dataclass_fields__"):
            return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, list | tuple) else value

    found = plain(scene)
    assert isinstance(found, dict)
    return found


def applied(randomizer: Randomizer, scene: Scene, sample: int = 0) -> tuple[Scene, dict[str, Any]]:
    changed, draw = scene.copy(), Draws(rng_for(0, sample, randomizer.stream))
    randomizer.apply(changed, draw)
    return changed, draw.record


@pytest.mark.parametrize("type_name", ALL)
def test_every_randomizer(type_name: str) -> None:
    base = small_scene()
    before = state(base)
    randomizer = make(type_name)
    assert randomizer.check(base) == []
    first, record = applied(randomizer, base)
    assert state(base) == before, "the base scene was touched"
    assert state(first) != before, "nothing changed"
    again = type(randomizer).model_validate(json.loads(randomizer.model_dump_json()))
    assert again.model_dump() == randomizer.model_dump()
    second, same_record = applied(again, base)
    assert state(second) == state(first) and same_record == record
    assert json.loads(json.dumps(record, allow_nan=False)) == record and record
    third, _ = applied(randomizer, first)  # what was changed once can be changed again
    assert third.bodies


@pytest.mark.parametrize("type_name", [name for name in ALL if name != "settle"])
def test_other_samples_differ(type_name: str) -> None:
    base, randomizer = small_scene(), make(type_name)
    assert state(applied(randomizer, base, 0)[0]) != state(applied(randomizer, base, 1)[0])


@pytest.mark.parametrize("type_name", ALL)
def test_every_option_is_described(type_name: str) -> None:
    for name, field in find("sdg.randomizers", type_name).model_fields.items():
        assert field.description or field.annotation in (bool,), f"{type_name}.{name}"


@pytest.mark.parametrize(
    ("type_name", "options", "text"),
    [
        ("scatter", {"bodies": ["cubes"]}, "no dynamic body has the name or class 'cubes'; did you mean 'cube'?"),
        ("scatter", {"on": "tabel"}, "no body has the name or class 'tabel'; did you mean 'table'?"),
        ("materials", {"bodies": ["wall_*"]}, "no body has the name or class 'wall_*'; there are: cube, cube_1"),
        ("textures", {"bodies": ["flor"]}, "did you mean 'floor'?"),
        ("camera_pose", {"cameras": ["man"]}, "no camera 'man'; did you mean 'main'?"),
        ("camera_pose", {"bodies": ["floor"]}, "no labelled body has the name or class 'floor'"),
    ],
)
def test_faults_name_what_exists(type_name: str, options: dict[str, Any], text: str) -> None:
    faults = make(type_name, **options).check(small_scene())
    assert len(faults) == 1 and text in faults[0]


def test_unknown_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'marble'"):
        Textures(patterns=("marbel",))


# --- scatter -------------------------------------------------------------------------------------------------------------


def test_scattered_bodies_touch_nothing() -> None:
    scatter, base = Scatter(gap=0.003), small_scene(9)
    for sample in range(5):
        scene, record = applied(scatter, base, sample)
        contacts = World(scene, Colliders(), margin=0.02).contacts()
        assert record["not_placed"] == []
        assert min(distance for a, b, distance in contacts if {a, b} != {"floor", "table"}) >= 0.003 - 1e-6


def test_scatter_is_uniform_in_place_and_orientation() -> None:
    scatter, base = Scatter(bodies=("cube",), count=1, edge=0.0), small_scene(1)
    poses = np.array([next(iter(applied(scatter, base, sample)[1]["placed"].values())) for sample in range(300)])
    boxes = poses[:, :2, 3]
    span = 0.8 - 2 * 0.03 * np.abs(poses[:, :2, :3]).sum(axis=2)
    assert stats.kstest(((boxes + 0.4) / 0.8).ravel(), "uniform").pvalue > 0.001 and (span > 0).all()
    trace = np.clip((np.trace(poses[:, :3, :3], axis1=1, axis2=2) - 1) / 2, -1, 1)
    angle = np.arccos(trace)  # of a uniform rotation: density (1 - cos) / pi
    assert stats.kstest(angle, lambda x: (x - np.sin(x)) / math.pi).pvalue > 0.001
    assert stats.kstest(poses[:, 2, 2], stats.uniform(-1, 2).cdf).pvalue > 0.001  # where the body's z points


def test_scatter_on_a_body_upright_with_counts_and_copies() -> None:
    scatter = Scatter(count=[2, 9], with_replacement=True, on="table", height=0.05, orientation="upright")
    counts = []
    for sample in range(12):
        scene, record = applied(scatter, small_scene(2), sample)
        bodies = select(scene, ["cube*"])
        counts.append(len(bodies))
        assert len({body.instance_id for body in bodies}) == len(bodies) == len(record["placed"])
        for body in bodies:
            assert body.world_vertices()[:, 2].min() == pytest.approx(0.55, abs=1e-9)
            assert body.object_to_world[2, 2] == pytest.approx(1)
    assert min(counts) >= 2 and max(counts) > 5


def test_scatter_tells_what_does_not_fit() -> None:
    base = small_scene(9)
    base.region = np.array([[-0.08, -0.08, 0.52], [0.08, 0.08, 0.6]])
    scene, record = applied(Scatter(edge=0, tries=20), base)
    assert record["not_placed"] and not set(record["not_placed"]) & set(scene.bodies)
    with pytest.raises(SampleRejected, match="no free place for"):
        applied(Scatter(edge=0, tries=20, fewer="reject"), base)


# --- settle --------------------------------------------------------------------------------------------------------------


def test_settled_bodies_rest_on_the_table() -> None:
    scene, record = applied(Settle(), small_scene())
    assert record["at_rest"] and record["removed"] == []
    for body in select(scene, ["cube*"]):
        assert body.object_to_world[2, 3] == pytest.approx(0.53, abs=1e-3)


def test_settle_removes_or_rejects_what_leaves() -> None:
    base = small_scene(2)
    base.bodies["cube_1"].object_to_world[0, 3] = 0.8
    scene, record = applied(Settle(), base)
    assert record["removed"] == ["cube_1"] and "cube_1" not in scene.bodies and "cube" in scene.bodies
    with pytest.raises(SampleRejected, match="1 bodies left the region, cube_1 among them"):
        applied(Settle(on_leave="reject"), base)
    with pytest.raises(SampleRejected, match=r"not at rest after 0.1 s: cube\w* still moves at"):
        applied(Settle(seconds=0.1), base)


# --- camera_pose ---------------------------------------------------------------------------------------------------------


def test_camera_is_never_inside_or_near_a_body_and_sees_enough() -> None:
    base = small_scene()
    base.add(Body("pillar", box((0.5, 0.5, 3.0)), transform(None, (0, -0.9, 1.5))))
    randomizer = CameraPose(distance=[0.4, 1.5], elevation=[-0.3, 1.4], clearance=0.1, min_visible=3000)
    for sample in range(15):
        scene, record = applied(randomizer, base, sample)
        eye = scene.cameras["main"].camera_to_world[:3, 3]
        low, high = np.array([-0.25, -1.15, 0]), np.array([0.25, -0.65, 3])
        assert np.linalg.norm(np.maximum(np.maximum(low - eye, eye - high), 0)) >= 0.1
        assert (
            Sight(scene).visible_pixels(scene.cameras["main"], {"cube", "cube_1", "cube_2", "cube_3", "cube_4"}) >= 3000
        )
        assert record["main.tries"] >= 1


def test_camera_keeps_distance_angles_and_lens() -> None:
    randomizer = CameraPose(
        target=(0.0, 0.0, 0.6), distance=1.0, elevation=0.5, azimuth=1.0, jitter=0.0, roll=0.2, field_of_view=1.0
    )
    base = small_scene()
    base.cameras["main"].fy = 660.0
    camera = applied(randomizer, base)[0].cameras["main"]
    eye = camera.camera_to_world[:3, 3] - [0, 0, 0.6]
    assert np.allclose(eye, [math.cos(0.5) * math.cos(1), math.cos(0.5) * math.sin(1), math.sin(0.5)])
    assert camera.fx == pytest.approx(320 / math.tan(0.5)) and camera.fy / camera.fx == pytest.approx(1.1)


def test_hopeless_camera_says_why() -> None:
    with pytest.raises(SampleRejected, match=r"camera 'main' found no pose in 3 tries: inside of a body or too near"):
        applied(CameraPose(distance=0.01, target=(0.0, 0.0, 0.48), tries=3), small_scene())
    with pytest.raises(SampleRejected, match="the target is hidden"):
        applied(CameraPose(elevation=-1.0, distance=0.6, target=(0.0, 0.0, 0.9), tries=3), _covered())


def _covered() -> Scene:
    """Return the cubes with a board between them and whoever looks from below."""
    scene = small_scene()
    del scene.bodies["table"]
    scene.add(Body("cover", box((3, 3, 0.02)), transform(None, (0, 0, 0.7))))
    return scene


def test_a_camera_may_be_inside_of_a_room_but_not_of_furniture() -> None:
    base = small_scene()
    base.add(Body("room", box((6, 6, 6))))
    base.add(Body("cupboard", box((1, 1, 1)), transform(None, (2, 0, 0.5))))
    sight = Sight(base)
    target = np.array([0, 0, 0.7])
    assert sight.clearance(np.array([0, -1.5, 1.0]), 0.2, target=target) == 0.2
    assert sight.clearance(np.array([2, 0, 0.5]), 0.2, target=target) == 0
    assert sight.clearance(np.array([2, 0, 1.1]), 0.2, target=target) == pytest.approx(0.1)
    assert sight.first_obstacle(np.array([4.0, 0, 0.5]), np.array([0.0, 0, 0.5])) == pytest.approx(1.0)


# --- lighting ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rect", "disk", "sphere", "cylinder", "distant"])
def test_lights_bring_the_wanted_irradiance(kind: Any) -> None:
    """Sum radiance times solid angle over points of the light, as seen from the region's centre."""
    lighting = Lighting(kinds=(kind,), count=1, distance=1.5, size=0.1, irradiance=2.0, sky="none")
    base = Scene(region=np.array([[-0.1, -0.1, 0], [0.1, 0.1, 0.2]]), bodies={"ball": Body("ball", sphere(0.05))})
    light = next(iter(applied(lighting, base)[0].lights.values()))
    toward = np.array([0, 0, 0.1]) - light.object_to_world[:3, 3]
    assert np.linalg.norm(toward) == pytest.approx(1.5)
    assert (light.object_to_world[:3, :3] @ [0, 0, -1]) @ toward == pytest.approx(1.5)
    seen = {
        "rect": light.width * light.height,
        "disk": math.pi * light.radius**2,
        "sphere": math.pi * light.radius**2,
        "cylinder": 2 * light.radius * light.length,
        "distant": 1.5**2,
    }
    assert light.intensity * seen[kind] / 1.5**2 == pytest.approx(2.0)


def test_lights_stay_in_the_room_and_counts_are_uniform() -> None:
    base = small_scene()
    base.add(Body("ceiling", box((4, 4, 0.1)), transform(None, (0, 0, 1.6))))
    lighting = Lighting(count=[1, 4], distance=[0.5, 3.0], size=0.1, elevation=[0.5, 1.5])
    counts = np.zeros(5)
    for sample in range(60):
        lights = applied(lighting, base, sample)[0].lights
        counts[len(lights) - 1] += 1
        assert "lamp" not in lights and [light.kind for light in lights.values()].count("dome") == 1
        assert all(light.object_to_world[2, 3] < 1.55 for light in lights.values())
    assert counts[0] == 0 and stats.chisquare(counts[1:]).pvalue > 0.001


def test_sky_brings_the_wanted_irradiance_and_turns_about_z(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "grey.hdr"), np.full((16, 32, 3), 0.5, np.float32))
    lighting = Lighting(count=0, sky=tmp_path, sky_irradiance=3.0, sky_rotation=0.5, keep_scene_lights=True)
    lights = applied(lighting, small_scene())[0].lights
    sky = lights["lighting_sky"]
    assert set(lights) == {"lamp", "lighting_sky"} and sky.texture is not None
    assert level_irradiance(sky.texture.pixels) * sky.intensity == pytest.approx(3.0)
    assert level_irradiance(np.full((64, 128, 3), 0.5)) == pytest.approx(0.5 * math.pi, rel=1e-3)
    assert np.allclose(sky.object_to_world[:3, :3] @ [0, 0, 1], [0, 0, 1])
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no .hdr or .exr file" in Lighting(sky=empty).check(small_scene())[0]


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "broken.hdr").write_bytes(b"not a picture")
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    with pytest.raises(SceneError, match=r"broken.hdr: cannot be read as a panorama"):
        applied(Lighting(sky=tmp_path), small_scene())
    with pytest.raises(SceneError, match=r"broken.png: cannot be read as an image"):
        applied(Textures(images=tmp_path), small_scene())


# --- materials, textures, distractors ------------------------------------------------------------------------------------


def test_materials_draw_from_their_ranges_and_keep_the_rest() -> None:
    randomizer = Materials(bodies=("cube",), roughness=[0.2, 0.4], metallic=None, specular=None, textured="keep")
    values = []
    for sample in range(40):
        scene, record = applied(randomizer, small_scene(), sample)
        assert set(record) == {body.name for body in select(scene, ["cube"])} and len(record) == 5
        assert scene.bodies["cube"].materials[0].base_color_texture is not None
        values += [body.materials[0].roughness for body in select(scene, ["cube"])]
        assert scene.bodies["table"].materials[0].roughness == 0.5
    assert stats.kstest(values, stats.uniform(0.2, 0.2).cdf).pvalue > 0.001


def test_tint_scales_the_texture() -> None:
    randomizer = Materials(bodies=("cube",), hue=0.0, saturation=1.0, value=1.0, strength=1.0)
    texture = applied(randomizer, small_scene())[0].bodies["cube"].materials[0].base_color_texture
    assert texture is not None and texture.pixels[0, 0].tolist() == [128, 0, 0]


def test_probability_is_the_share_of_changed_bodies() -> None:
    randomizer, base = Textures(bodies=("cube",), probability=0.3, resolution=32), small_scene(10)
    changed = sum(len(applied(randomizer, base, sample)[1]) for sample in range(60))
    assert stats.binomtest(changed, 600, 0.3).pvalue > 0.001


def test_textures_have_their_size_on_the_surface(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "wide.png"), np.random.Generator(np.random.Philox(0)).integers(0, 255, (8, 16, 3)))
    randomizer = Textures(images=tmp_path, size=0.5)
    scene, record = applied(randomizer, small_scene())
    assert record["cube_1"][0]["image"] == "wide.png" and scene.bodies["cube_1"].mesh.uvs is not None
    for name, metres_per_uv in (("floor", 4.0), ("cube_1", 1.0)):
        texture = scene.bodies[name].materials[0].base_color_texture
        assert texture is not None and texture.pixels.shape == (8, 16, 3)
        assert texture.uv_scale == pytest.approx((metres_per_uv / 0.5, 2 * metres_per_uv / 0.5), rel=1e-5)
    assert "holds no image" in Textures(images=_made(tmp_path / "none")).check(small_scene())[0]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_distractors_fall_or_fly_and_touch_nothing() -> None:
    base = small_scene()
    for options in ({}, {"flying": True, "semantic_class": "clutter"}):
        randomizer = Distractors(count=6, **options)
        scene, record = applied(randomizer, base)
        added = [scene.bodies[name] for name in record["placed"]]
        assert len(added) >= 4 and set(base.bodies) <= set(scene.bodies)
        assert {body.semantic_class for body in added} == {options.get("semantic_class", "")}
        assert randomizer.semantic_classes() == ([options["semantic_class"]] if options else [])
        for body in added:
            body.rigid_body.collider, flies = "hull", body.rigid_body.motion == "kinematic"
            assert flies == bool(options)
            body.rigid_body.motion = "dynamic"
        names_added = {body.name for body in added}
        contacts = World(scene, Colliders(), margin=0.01).contacts()
        assert all(d >= 1e-3 - 1e-6 for a, b, d in contacts if {a, b} & names_added)
