"""Lights and cameras of USD."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from sdg.errors import SceneError
from sdg.scene import Light
from tests.usd_fixtures import cube, moved, read


def light(folder: Path, kind: str, inputs: str = "", *, up: str = "Z", unit: float = 1.0) -> Light:
    """Return the light /L of a stage."""
    return read(folder, cube() + f'def {kind} "L" {{ {inputs} }}', up=up, unit=unit).lights["/L"]


def test_what_all_lights_share(tmp_path: Path) -> None:
    inputs = """float inputs:intensity = 30
        float inputs:exposure = 2
        color3f inputs:color = (1, 0.5, 0.25)
        bool inputs:enableColorTemperature = 1
        float inputs:colorTemperature = 3200
        bool inputs:normalize = 1"""
    found = light(tmp_path, "RectLight", inputs)
    assert (found.intensity, found.exposure, found.color, found.color_temperature) == (30, 2, (1, 0.5, 0.25), 3200)
    assert found.normalize and light(tmp_path, "RectLight").color_temperature is None


def test_sizes_are_metres_and_scaled(tmp_path: Path) -> None:
    text = "".join(
        moved(kind, f'def {kind}Light "L" {{ {sizes} }}', scale=(2, 3, 3))
        for kind, sizes in (
            ("Rect", "float inputs:width = 10\n float inputs:height = 20"),
            ("Sphere", "float inputs:radius = 30"),
            ("Cylinder", "float inputs:radius = 10\n float inputs:length = 50"),
            ("Disk", "float inputs:radius = 10"),
        )
    )
    found = read(tmp_path, cube() + text, unit=0.01).lights
    assert (found["/Rect/L"].width, found["/Rect/L"].height) == pytest.approx((0.2, 0.6))
    assert found["/Sphere/L"].radius == pytest.approx(0.8)
    assert (found["/Cylinder/L"].radius, found["/Cylinder/L"].length) == pytest.approx((0.3, 1))
    assert found["/Disk/L"].radius == pytest.approx(0.25)
    for one in found.values():
        np.testing.assert_allclose(one.object_to_world, np.eye(4), atol=1e-12)


def test_a_sun_gives_irradiance_at_any_angle(tmp_path: Path) -> None:
    plain = light(tmp_path, "DistantLight", "float inputs:intensity = 1000\n float inputs:angle = 2")
    assert plain.intensity == pytest.approx(1000 * np.pi * np.sin(np.radians(1)) ** 2)
    assert plain.angle == pytest.approx(np.radians(2)) and not plain.normalize
    for extra in ("bool inputs:normalize = 1\n float inputs:angle = 2", "float inputs:angle = 0"):
        assert light(tmp_path, "DistantLight", f"float inputs:intensity = 5\n {extra}").intensity == 5


def seen(found: Light, u: float, v: float) -> np.ndarray:
    """Return the direction in the world in which a dome shows the point (u from the left, v from the top)."""
    azimuth, polar = -2 * np.pi * u, np.pi * v
    local = np.array([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)])
    return np.asarray(found.object_to_world[:3, :3] @ local)


@pytest.mark.parametrize(
    ("up", "kind"), [("Y", "DomeLight"), ("Z", "DomeLight"), ("Z", "DomeLight_1"), ("Y", "DomeLight_1")]
)
def test_a_dome_shows_its_picture_as_openexr_defines_it(tmp_path: Path, up: str, kind: str) -> None:
    cv2.imwrite(str(tmp_path / "sky.hdr"), np.full((4, 8, 3), (20, 40, 300), np.float32))
    found = light(tmp_path, kind, "asset inputs:texture:file = @sky.hdr@", up=up)
    assert found.texture is not None and not found.texture.srgb and found.texture.pixels.dtype == np.float32
    np.testing.assert_allclose(found.texture.pixels[0, 0], (300, 40, 20), atol=2)  # RGBE
    pole, left, right = np.array([0, 1, 0]), np.array([0, 0, -1]), np.array([1, 0, 0])
    if up == "Y" or kind == "DomeLight_1":  # the file's (x, y, z) is our (x, -z, y); the other's pole follows the stage
        pole, left = np.array([0, 0, 1]), np.array([0, 1, 0])
    np.testing.assert_allclose(seen(found, 0.3, 0), pole, atol=1e-12)
    np.testing.assert_allclose(seen(found, 0, 0.5), left, atol=1e-12)
    np.testing.assert_allclose(seen(found, 0.25, 0.5), right, atol=1e-12)


def test_a_missing_sky_is_an_error_and_hidden_lights_are_off(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"(?s)1 textures cannot be read.*/L: .*gone.hdr"):
        light(tmp_path, "DomeLight", "asset inputs:texture:file = @gone.hdr@")
    off = 'def SphereLight "L" { token visibility = "invisible" }'
    assert not read(tmp_path, cube() + off).lights


CAMERA = """float focalLength = 50
    float horizontalAperture = 36
    float verticalAperture = 24
    float horizontalApertureOffset = 3.6
    float verticalApertureOffset = 1.2"""


def test_a_camera_is_the_same_pinhole(tmp_path: Path) -> None:
    text = moved("A", f'def Camera "Cam" {{ {CAMERA}\n float2 clippingRange = (10, 1000) }}', translate=(0, 100, 0))
    camera = read(tmp_path, cube() + text, up="Y", unit=0.01).cameras["/A/Cam"]
    assert (camera.width, camera.height) == (1080, 720) and camera.near == pytest.approx(0.1)
    assert (camera.fx, camera.fy) == pytest.approx((1500, 1500))
    # A film that moves to the right and up sees more there: the axis falls left of and below its middle.
    assert (camera.cx, camera.cy) == pytest.approx((540 - 108, 360 + 36))
    np.testing.assert_allclose(camera.camera_to_world[:3, 3], (0, 0, 1))
    np.testing.assert_allclose(camera.camera_to_world[:3, 2], (0, 1, 0), atol=1e-12)  # -z of the file
    np.testing.assert_allclose(camera.camera_to_world[:3, 1], (0, 0, -1), atol=1e-12)  # down


def test_the_projection_agrees_with_usd(tmp_path: Path) -> None:
    from pxr import Gf

    camera = read(tmp_path, cube() + f'def Camera "Cam" {{ {CAMERA} }}').cameras["/Cam"]
    lens = Gf.Camera(Gf.Matrix4d(1), Gf.Camera.Perspective, 36, 24, 3.6, 1.2, 50)
    ndc = lens.frustum.ComputeProjectionMatrix().Transform(Gf.Vec3d(0.3, -0.2, -2))
    x, y, z = camera.world_to_camera[:3, :3] @ (0.3, -0.2, -2)
    np.testing.assert_allclose(camera.fx * x / z + camera.cx, (ndc[0] + 1) / 2 * camera.width, atol=1e-6)
    np.testing.assert_allclose(camera.fy * y / z + camera.cy, (1 - ndc[1]) / 2 * camera.height, atol=1e-6)


def test_cameras_without_a_pinhole_are_named(tmp_path: Path) -> None:
    text = 'def Camera "Flat" { token projection = "orthographic" } def Camera "Odd" { float focalLength = 0 }'
    scene = read(tmp_path, cube() + text)
    assert not scene.cameras and len([line for line in scene.warnings if "the camera is left out" in line]) == 2
