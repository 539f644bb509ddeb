"""Materials and textures of USD."""

import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest

from sdg.errors import SceneError
from sdg.scene import Material
from sdg.scenes.usd import Usd
from sdg.sensors.tone import decode_srgb
from tests.usd_fixtures import cube, read, write

PICTURE = np.arange(4 * 4 * 4, dtype=np.uint8).reshape(4, 4, 4) * 4


def save(folder: Path, name: str = "t.png", pixels: np.ndarray = PICTURE) -> np.ndarray:
    """Write R, G, B, A or R, G, B pixels as a picture file."""
    order = [2, 1, 0, 3][: pixels.shape[2]] if pixels.ndim == 3 else None
    cv2.imwrite(str(folder / name), pixels if order is None else pixels[..., order])
    return pixels


def material(inputs: str, nodes: str = "", *, kind: str = "UsdPreviewSurface", output: str = "outputs:surface") -> str:
    """Return a bound cube and the material /M with one surface shader."""
    return (
        cube(extra="rel material:binding = </M>")
        + f'def Material "M" {{ token {output}.connect = </M/S.outputs:surface>\n'
        + f'def Shader "S" {{ uniform token info:id = "{kind}"\n{inputs}\n token outputs:surface }} {nodes} }}'
    )


def texture(name: str = "T", inputs: str = "", *, file: str = "t.png") -> str:
    """Return a UsdUVTexture shader."""
    outputs = "float3 outputs:rgb\n float outputs:r\n float outputs:g\n float outputs:a"
    return (
        f'def Shader "{name}" {{ uniform token info:id = "UsdUVTexture"\n'
        f"asset inputs:file = @{file}@\n{inputs}\n{outputs}\n }}\n"
    )


def made(folder: Path, text: str) -> Material:
    """Return the only material of the only body."""
    (body,) = read(folder, text).bodies.values()
    (one,) = body.materials
    return one


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


def test_other_surface_models_by_the_names_of_their_inputs(tmp_path: Path) -> None:
    save(tmp_path)
    standard = """float inputs:base = 0.5
        color3f inputs:base_color = (0.4, 0.6, 0.8)
        float inputs:metalness = 1
        float inputs:specular_roughness = 0.1
        float inputs:transmission = 0.9"""
    text = material(standard, kind="ND_standard_surface_surfaceshader", output="outputs:mtlx:surface")
    one = made(tmp_path, text)
    assert one.base_color == pytest.approx((0.2, 0.3, 0.4)) and one.emission == (0, 0, 0)
    assert (one.metallic, one.roughness) == pytest.approx((1, 0.1)) and one.transmission == pytest.approx(0.9)
    omni = """uniform token info:implementationSource = "sourceAsset"
        uniform asset info:mdl:sourceAsset = @OmniPBR.mdl@
        uniform token info:mdl:sourceAsset:subIdentifier = "OmniPBR"
        asset inputs:diffuse_texture = @t.png@
        float inputs:reflection_roughness_constant = 0.3
        float inputs:metallic_constant = 0.2"""
    text = material(omni, output="outputs:mdl:surface").replace('uniform token info:id = "UsdPreviewSurface"\n', "")
    one = made(tmp_path, text)
    assert one.base_color_texture is not None and (one.roughness, one.metallic) == pytest.approx((0.3, 0.2))


def test_an_unknown_surface_falls_back_with_a_warning(tmp_path: Path) -> None:
    text = material("float inputs:strange = 1", kind="LabFog").replace(
        "rel material", "color3f[] primvars:displayColor = [(0, 1, 0)]\n rel material"
    )
    scene = read(tmp_path, text)
    assert scene.bodies["/Cube"].materials[0].base_color == (0, 1, 0)
    assert any("/M: its surface 'LabFog' is not known" in line for line in scene.warnings)


def test_materials_are_shared_between_bodies(tmp_path: Path) -> None:
    text = material("") + cube("Other", extra="rel material:binding = </M>")
    one, other = read(tmp_path, text).bodies.values()
    assert one.materials[0] is other.materials[0]
