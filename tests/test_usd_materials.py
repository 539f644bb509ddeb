"""Materials and textures of USD."""

import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest

from sdg.errors import SceneError
from sdg.llvm import import_mitsuba
from sdg.scenes.usd import Usd
from sdg.sensors.tone import decode_srgb
from tests.usd_fixtures import PICTURE, cube, made, material, read, save, texture, write


def test_the_values_of_a_preview_surface(tmp_path: Path) -> None:
    values = """color3f inputs:diffuseColor = (0.1, 0.2, 0.3)
        color3f inputs:emissiveColor = (1, 2, 3)
        float inputs:metallic = 0.25
        float inputs:roughness = 0.75
        float inputs:ior = 1.3
        float inputs:opacity = 0.5
        float inputs:opacityThreshold = 0.1"""
    one = made(tmp_path, material(values))
    assert one.base_color == pytest.approx((0.1, 0.2, 0.3)) and one.emission == pytest.approx((1, 2, 3))
    assert (one.metallic, one.roughness, one.opacity) == (0.25, 0.75, 0.5)
    assert one.ior == pytest.approx(1.3) and one.opacity_threshold == pytest.approx(0.1) and one.name == "/M"
    assert made(tmp_path, material("")).base_color == (0.18, 0.18, 0.18)


def test_the_specular_workflow_makes_metals_and_dielectrics(tmp_path: Path) -> None:
    shine = "int inputs:useSpecularWorkflow = 1\n color3f inputs:specularColor = "
    metal, plastic = (made(tmp_path, material(shine + color)) for color in ("(0.9, 0.6, 0.2)", "(0.02, 0.02, 0.02)"))
    assert metal.metallic == 1 and metal.base_color == pytest.approx((0.9, 0.6, 0.2))
    assert plastic.metallic == 0 and plastic.specular == pytest.approx(0.5)


def test_a_texture_keeps_its_pixels_wrap_and_colour_space(tmp_path: Path) -> None:
    pixels = save(tmp_path)
    connected = "color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>"
    found = made(tmp_path, material(connected, texture(inputs='token inputs:wrapS = "mirror"'))).base_color_texture
    assert found is not None and found.srgb and found.wrap == "mirror"
    np.testing.assert_array_equal(found.pixels, pixels[..., :3])
    raw = made(tmp_path, material(connected, texture(inputs='token inputs:sourceColorSpace = "raw"')))
    assert raw.base_color_texture is not None and not raw.base_color_texture.srgb


def test_single_channels_and_shared_files(tmp_path: Path) -> None:
    pixels = save(tmp_path)
    inputs = "\n".join(
        f"float inputs:{slot}.connect = </M/T.outputs:{channel}>"
        for slot, channel in (("roughness", "g"), ("metallic", "r"), ("opacity", "a"))
    )
    one = made(tmp_path, material(inputs, texture()))
    for found, channel in ((one.metallic_texture, 0), (one.roughness_texture, 1), (one.opacity_texture, 3)):
        assert found is not None and not found.srgb
        np.testing.assert_array_equal(found.pixels[..., 0], pixels[..., channel])


def test_the_alpha_of_a_picture_without_alpha_is_one(tmp_path: Path) -> None:
    save(tmp_path, pixels=PICTURE[..., :3])
    one = made(tmp_path, material("float inputs:opacity.connect = </M/T.outputs:a>", texture()))
    assert one.opacity_texture is None and one.opacity == 1


def test_scale_and_bias_act_on_linear_values(tmp_path: Path) -> None:
    pixels = save(tmp_path)
    inputs = "float4 inputs:scale = (0.5, 0.5, 0.5, 1)\n float4 inputs:bias = (0.1, 0.1, 0.1, 0)"
    text = material("color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>", texture(inputs=inputs))
    found = made(tmp_path, text).base_color_texture
    assert found is not None
    np.testing.assert_allclose(decode_srgb(found.pixels), decode_srgb(pixels[..., :3]) * 0.5 + 0.1, atol=0.005)


def test_a_normal_map_is_raw_and_its_flip_is_baked(tmp_path: Path) -> None:
    pixels = save(tmp_path)
    connected = "normal3f inputs:normal.connect = </M/T.outputs:rgb>"
    usual = "float4 inputs:scale = (2, 2, 2, 1)\n float4 inputs:bias = (-1, -1, -1, 0)"
    found = made(tmp_path, material(connected, texture(inputs=usual))).normal_texture
    assert found is not None and not found.srgb
    np.testing.assert_array_equal(found.pixels, pixels[..., :3])
    flip = usual.replace("(2, 2,", "(2, -2,").replace("(-1, -1,", "(-1, 1,")
    flipped = made(tmp_path, material(connected, texture(inputs=flip))).normal_texture
    assert flipped is not None
    np.testing.assert_array_equal(flipped.pixels[..., 1], 255 - pixels[..., 1])


TRANSFORM = """
def Shader "X" {{ uniform token info:id = "UsdTransform2d"
    float2 inputs:in.connect = </M/R.outputs:result>
    float2 inputs:scale = {scale}
    float inputs:rotation = {rotation}
    float2 inputs:translation = (0.1, 0.2)
    float2 outputs:result }}
def Shader "R" {{ uniform token info:id = "UsdPrimvarReader_float2"
    string inputs:varname.connect = </M.inputs:frame>
    float2 outputs:result }}
string inputs:frame = "second"
"""


@pytest.mark.parametrize(("scale", "rotation"), [((2, 2), 30), ((2, 3), 90), ((2, -3), 0), ((4, 1), 180)])
def test_texture_transforms_and_the_wanted_coordinates(
    tmp_path: Path, scale: tuple[float, float], rotation: float
) -> None:
    save(tmp_path)
    nodes = texture(inputs="float2 inputs:st.connect = </M/X.outputs:result>")
    text = material(
        "color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>",
        nodes + TRANSFORM.format(scale=scale, rotation=rotation),
    )
    sets = [
        f'float2[] primvars:{name} = [({u}, 0.5)] (\n interpolation = "constant"\n)'
        for name, u in (("st", 0), ("second", 1))
    ]
    (body,) = read(
        tmp_path, text.replace("rel material:binding", "\n".join(sets) + "\nrel material:binding")
    ).bodies.values()
    assert body.mesh.uvs is not None and body.mesh.uvs[0].tolist() == [1, 0.5]
    found = body.materials[0].base_color_texture
    assert found is not None
    cos, sin = np.cos(np.radians(rotation)), np.sin(np.radians(rotation))
    wanted = np.array([[cos, -sin], [sin, cos]]) @ (np.array(scale) * (0.3, 0.7)) + (0.1, 0.2)
    cos, sin = np.cos(found.uv_rotation), np.sin(found.uv_rotation)
    got = np.array(found.uv_scale) * (np.array([[cos, -sin], [sin, cos]]) @ (0.3, 0.7)) + found.uv_offset
    np.testing.assert_allclose(got, wanted, atol=1e-9)


def test_missing_and_broken_textures_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"this is no picture")
    inputs = (
        "color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>\n float inputs:roughness.connect = </M/U.outputs:r>"
    )
    with pytest.raises(SceneError, match=r"2 textures cannot be read") as caught:
        read(tmp_path, material(inputs, texture(file="gone.png") + texture("U", file="bad.png")))
    assert "/M/T: " in str(caught.value) and "gone.png" in str(caught.value)
    assert "/M/U: " in str(caught.value) and "bad.png cannot be decoded" in str(caught.value)


def test_a_texture_inside_of_a_package(tmp_path: Path) -> None:
    pixels = save(tmp_path)
    path = write(tmp_path, material("color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>", texture()))
    from pxr import UsdUtils

    assert UsdUtils.CreateNewUsdzPackage(str(path), str(tmp_path / "all.usdz"))
    assert zipfile.is_zipfile(tmp_path / "all.usdz")
    (tmp_path / "t.png").unlink()
    (body,) = Usd(file=tmp_path / "all.usdz").load().bodies.values()
    found = body.materials[0].base_color_texture
    assert found is not None
    np.testing.assert_array_equal(found.pixels, pixels[..., :3])


def test_tiles_become_one_picture(tmp_path: Path) -> None:
    for number, value in ((1001, 10), (1002, 20), (1011, 30)):
        save(tmp_path, f"t.{number}.png", np.full((4, 4, 3), value, np.uint8))
    text = material("color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>", texture(file="t.<UDIM>.png"))
    found = made(tmp_path, text).base_color_texture
    assert found is not None and found.uv_scale == (0.5, 0.5)
    assert found.pixels[[6, 6, 1], [1, 6, 1], 0].tolist() == [10, 20, 30]


def test_large_pictures_are_shrunk_and_16_bit_ones_become_8_bit(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "t.png"), np.full((64, 32, 3), 257 * 40, np.uint16))
    text = material("color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>", texture())
    (body,) = read(tmp_path, text, largest_texture=16).bodies.values()
    found = body.materials[0].base_color_texture
    assert found is not None and found.pixels.shape == (16, 8, 3)
    assert found.pixels.dtype == np.uint8 and (found.pixels == 40).all()


SUBSETS = """
def Material "Red" {{ token outputs:surface.connect = </Red/S.outputs:surface>
    def Shader "S" {{ uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor = (1, 0, 0)
        token outputs:surface }} }}
{mesh}
"""


def test_subsets_carry_their_own_materials(tmp_path: Path) -> None:
    subset = """uniform token subsetFamily:materialBind:familyType = "nonOverlapping"
        def GeomSubset "Lid" { uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [1, 3]
            rel material:binding = </Red> }"""
    color = 'color3f[] primvars:displayColor = [(0, 0.5, 1)] (\n interpolation = "constant"\n)\n'
    body = read(tmp_path, SUBSETS.format(mesh=cube(extra=color + subset))).bodies["/Cube"]
    assert [one.base_color for one in body.materials] == [(0, 0.5, 1), (1, 0, 0)]
    assert body.mesh.material_indices is not None
    assert body.mesh.material_indices.tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0]


def test_tga_and_exr_pictures(tmp_path: Path) -> None:
    mi = import_mitsuba()
    if mi.variant() is None:
        mi.set_variant("scalar_rgb")
    pixels = np.ascontiguousarray(PICTURE[..., :3])
    head = bytes([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0, 24, 0x20])
    (tmp_path / "t.tga").write_bytes(head + pixels[..., ::-1].tobytes())
    mi.Bitmap(np.full((2, 3, 3), (0.25, 4, 1), np.float32)).write(str(tmp_path / "t.exr"))
    names = (("diffuseColor", "T"), ("emissiveColor", "U"))
    inputs = "\n".join(f"color3f inputs:{name}.connect = </M/{node}.outputs:rgb>" for name, node in names)
    one = made(tmp_path, material(inputs, texture(file="t.tga") + texture("U", file="t.exr")))
    assert one.base_color_texture is not None and one.emission_texture is not None
    np.testing.assert_array_equal(one.base_color_texture.pixels, pixels)
    np.testing.assert_allclose(decode_srgb(one.emission_texture.pixels[0, 0]), (0.25, 1, 1), atol=0.005)


def test_materials_are_shared_between_bodies(tmp_path: Path) -> None:
    text = material("") + cube("Other", extra="rel material:binding = </M>")
    one, other = read(tmp_path, text).bodies.values()
    assert one.materials[0] is other.materials[0]
