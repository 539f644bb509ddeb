"""The Mitsuba renderer: determinism, scenes that change, materials and lights."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from sdg import mesh, transforms
from sdg.annotations import RENDERED
from sdg.errors import SdgError
from sdg.random import rng_for
from sdg.renderer import Render
from sdg.renderers import _pack, _variant
from sdg.renderers._lights import turned_map
from sdg.renderers._mitsuba_lights import slots_for
from sdg.renderers._mitsuba_rays import _varying
from sdg.renderers.mitsuba import Mitsuba
from sdg.scene import Body, Camera, Light, Material, Scene, Texture
from sdg.sensors.blackbody import blackbody_rgb
from sdg.sensors.tone import auto_exposure, decode_srgb, develop, encode_srgb, shoulder

CAMERA = Camera(48, 36, 50.0, 50.0, 24.0, 18.0, transforms.look_at((0, -2, 1), (0, 0, 0.2)), exposure=0.0)


@pytest.fixture(scope="module")
def render() -> Iterator[Render]:
    with Mitsuba(quality="preview").open() as opened:
        yield opened


def scene_with(material: Material, **lights: Light) -> Scene:
    scene = Scene(classes=["ball"])
    scene.add(
        Body(
            "ball",
            mesh.sphere(0.4),
            transforms.transform(None, (0, 0, 0.4)),
            materials=[material],
            semantic_class="ball",
        )
    )
    scene.add(Body("floor", mesh.plane(4, 4)))
    scene.lights = dict(lights) or {"sky": Light("dome")}
    return scene


def picture(render: Render, scene: Scene, seed: int = 0) -> np.ndarray:
    return render(scene, CAMERA, ("rgb",), rng_for(seed, 0, "test"))["rgb"]


def test_a_frame_depends_on_its_arguments_alone(render: Render) -> None:
    first, other = scene_with(Material((0.8, 0.1, 0.1))), scene_with(Material((0.1, 0.1, 0.8)), key=Light("rect"))
    before = render(first, CAMERA, RENDERED, rng_for(1, 0, "a"))
    render(other, CAMERA, RENDERED, rng_for(2, 0, "a"))
    again = render(first.copy(), CAMERA, RENDERED, rng_for(1, 0, "a"))
    for name in RENDERED:
        np.testing.assert_array_equal(before[name], again[name])
    assert (picture(render, first, 1) != picture(render, first, 2)).any()


def test_a_changed_scene_is_seen(render: Render) -> None:
    scene = scene_with(Material((0.8, 0.1, 0.1)))
    before = picture(render, scene)
    scene.bodies["ball"].materials = [Material((0.1, 0.8, 0.1))]
    assert np.abs(picture(render, scene).astype(int) - before).max() > 60
    scene.bodies["ball"].visible = False
    assert not (render(scene, CAMERA, ("instance",), rng_for(0, 0, "t"))["instance"] == 2).any()


def test_a_white_furnace_returns_what_comes_in() -> None:
    """A diffuse white body under a uniform sky of radiance 1 looks 1 from every side, within the model's Fresnel loss."""
    scene = scene_with(Material((1.0, 1.0, 1.0), specular=0.0, roughness=1.0), sky=Light("dome", intensity=1.0))
    del scene.bodies["floor"]
    with Mitsuba(quality="preview", samples_per_pixel=256, max_depth=2, denoise="off").open() as engine:
        engine.stage.show(scene)  # type: ignore[attr-defined]
        linear = engine.stage.color(CAMERA, Mitsuba(samples_per_pixel=256, max_depth=3).settings, 1, hide_lights=False)  # type: ignore[attr-defined]
        hits = engine.stage.rays.first_hits(CAMERA)  # type: ignore[attr-defined]
    assert linear[hits.instance == 2].mean() == pytest.approx(1.0, abs=0.05)
    assert linear[hits.instance == 0].mean() == pytest.approx(1.0, abs=1e-3)


def test_textures_replace_values_and_follow_their_transform(render: Render) -> None:
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[0] = (255, 0, 0)  # the upper row, v > 0.5
    scene = Scene()
    scene.add(Body("card", mesh.plane(1, 1), materials=[Material(base_color_texture=Texture(pixels, wrap="clamp"))]))
    above = Camera(32, 32, 40.0, 40.0, 16.0, 16.0, transforms.look_at((0, 0, 1.2), (0, 0, 0), up=(0, 1, 0)))
    albedo = render(scene, above, ("albedo",), rng_for(0, 0, "t"))["albedo"]
    assert albedo[4, 16, 0] > 250 and albedo[28, 16, 0] < 5
    flipped = Texture(pixels, wrap="clamp", uv_scale=(1, -1), uv_offset=(0, 1))
    scene.bodies["card"].materials = [Material(base_color_texture=flipped)]
    albedo = render(scene, above, ("albedo",), rng_for(0, 0, "t"))["albedo"]
    assert albedo[4, 16, 0] < 5 and albedo[28, 16, 0] > 250


@pytest.mark.parametrize("kind", ["rect", "disk", "sphere", "cylinder", "distant", "dome"])
def test_every_kind_of_light_lights(render: Render, kind: str) -> None:
    pose = transforms.look_at((0.5, -0.5, 2), (0, 0, 0)) @ np.diag([1.0, -1.0, -1.0, 1.0])
    strength = 3.0 if kind in ("distant", "dome") else 40.0
    light = Light(kind, pose, intensity=strength, radius=0.2, length=0.5)  # type: ignore[arg-type]
    lit = scene_with(Material(), key=light)
    assert picture(render, lit).mean() > 30


def test_a_dome_texture_lights_from_the_side_it_shows() -> None:
    sky = np.zeros((8, 16, 3), np.float32)
    sky[2:4, 0:2] = 6  # the first column looks to +x
    scene = scene_with(Material(), sky=Light("dome", texture=Texture(sky, srgb=False)))
    with Mitsuba(quality="preview", samples_per_pixel=64, denoise="off").open() as opened:
        rgb = opened(scene, CAMERA, ("rgb", "instance"), rng_for(0, 0, "t"))
    ball = np.where(rgb["instance"] == 2, rgb["rgb"].mean(axis=-1), 0)
    assert ball[:, 26:].sum() > 2 * ball[:, :22].sum()


def test_a_turned_dome_turns_its_map() -> None:
    rng = rng_for(0, 0, "map")
    picture = rng.random((16, 32, 3)).astype(np.float32)
    quarter = turned_map(picture, transforms.axis_angle((0, 0, 1), np.pi / 2))
    np.testing.assert_allclose(quarter, np.roll(picture, -8, axis=1), atol=1e-5)
    upside = turned_map(picture, transforms.axis_angle((1, 0, 0), np.pi))
    np.testing.assert_allclose(upside, picture[::-1, ::-1], atol=1e-5)


def test_reading_a_picture_first_leaves_the_right_llvm() -> None:
    code = (
        "from sdg.llvm import import_mitsuba; mi = import_mitsuba(); mi.set_variant('scalar_rgb'); mi.ScalarPoint3f(1)\n"
        "from sdg.renderers.mitsuba import Mitsuba\nwith Mitsuba().open(): print('opened')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "opened\n"


def test_an_llvm_that_would_abort_is_refused(monkeypatch: pytest.MonkeyPatch, render: Render) -> None:
    import drjit

    monkeypatch.setattr(drjit.detail, "llvm_version", lambda: (15, 0, 6))
    with pytest.raises(SdgError, match=r"loaded LLVM 15\.0\.6, but Mitsuba needs 17 or later\. Set DRJIT_LIBLLVM_PATH"):
        Mitsuba(variant="llvm_ad_rgb").open().__enter__()


def test_glass_and_glow_make_pictures(render: Render) -> None:
    glass = picture(render, scene_with(Material(transmission=1.0, roughness=0.0)))
    glow = picture(render, scene_with(Material(emission=(5.0, 0.5, 0.5)), sky=Light("dome", intensity=0.01)))
    assert glass.std() > 2
    assert glow[18, 24, 0] > glow[18, 24, 2] + 60


def test_glowing_textures_are_upright(render: Render) -> None:
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[0], pixels[1] = (255, 0, 0), (0, 0, 255)
    screen = Material(emission=(1.0, 1.0, 1.0), emission_texture=Texture(pixels, wrap="clamp"))
    scene = Scene()
    scene.add(Body("screen", mesh.plane(1, 1), materials=[screen]))
    above = Camera(32, 32, 40.0, 40.0, 16.0, 16.0, transforms.look_at((0, 0, 1.2), (0, 0, 0), up=(0, 1, 0)))
    rgb = render(scene, above, ("rgb",), rng_for(0, 0, "t"))["rgb"].astype(int)
    assert rgb[6, 16, 0] > rgb[6, 16, 2] + 100 and rgb[26, 16, 2] > rgb[26, 16, 0] + 100


def test_lights_come_in_slots() -> None:
    assert [slots_for(n) for n in (0, 1, 4, 5, 9)] == [0, 4, 4, 8, 16]


def test_packing_keeps_special_triangles_together() -> None:
    two = mesh.merge([mesh.box((1, 1, 1)), mesh.box((1, 1, 2))])
    two = mesh.make_mesh(two.vertices, two.triangles, material_indices=np.repeat([0, 1], 12))
    body = Body("b", two, materials=[Material(), Material(transmission=1.0)], instance_id=2)
    scene = Scene(bodies={"b": body})
    tables, materials = _pack.pack_tables(scene)
    packed = _pack.pack_bodies([body], {id(m): n for n, m in enumerate(materials)})
    geometry, groups = _pack.arrange(packed, [_pack.special(m) for m in materials])
    assert [(g.first, g.last, g.material) for g in groups] == [(0, 12, None), (12, 24, 2)]
    assert len(tables.materials) == 3 and set(geometry.material[12:]) == {2}


def test_steps_are_found_on_both_sides() -> None:
    values = np.zeros((4, 4, 1))
    values[:, 2:] = 1
    assert _varying(values)[0].tolist() == [False, True, True, False]


def test_the_variant_that_was_found_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(_variant, "has_nvidia_gpu", lambda: False)
    asked: list[str] = []

    def fake(variant: str) -> _variant.VariantReport:
        asked.append(variant)
        return _variant.VariantReport(variant, variant == "llvm_ad_rgb")

    monkeypatch.setattr(_variant, "probe_variant", fake)
    assert [_variant.choose_variant() for _ in range(2)] == ["llvm_ad_rgb"] * 2
    assert asked == ["llvm_ad_rgb"]


@pytest.mark.parametrize(
    ("kelvin", "color"),
    [(2700, (1, 0.4153, 0.0991)), (6504, (1, 0.9432, 0.9932)), (10000, (0.6092, 0.6950, 1))],
)
def test_black_bodies_have_their_colour(kelvin: float, color: tuple[float, float, float]) -> None:
    np.testing.assert_allclose(blackbody_rgb(kelvin), color, atol=0.003)


def test_srgb_round_trips_and_the_shoulder_is_smooth() -> None:
    codes = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(encode_srgb(decode_srgb(codes)), codes)
    x = np.linspace(0, 3.99, 4001)
    y = shoulder(x)
    slope = np.diff(y) / np.diff(x)
    assert (slope >= 0).all() and slope.max() < 1.001 and np.abs(np.diff(slope)).max() < 0.01
    assert shoulder(np.array([4.0]))[0] == pytest.approx(1.0)


def test_exposure_is_found_and_can_be_given() -> None:
    grey = np.full((4, 4, 3), 0.18 / 8, np.float32)
    assert auto_exposure(grey) == pytest.approx(3.0)
    half = grey.copy()
    half[:2] = 0
    assert auto_exposure(half) == pytest.approx(3.0) and auto_exposure(half * 0) == 0
    assert (develop(grey, None) == encode_srgb(np.full((4, 4, 3), 0.18))).all()
    assert (develop(grey, 3.0) == develop(grey, None)).all()
