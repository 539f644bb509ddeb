"""Shading networks other than UsdPreviewSurface."""

from pathlib import Path

import numpy as np
import pytest

from sdg.errors import SceneError
from tests.usd_fixtures import cube, made, material, read, save


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


MTLX = """<?xml version="1.0"?>
<materialx version="1.38" colorspace="lin_rec709" fileprefix="pictures/">
  <nodegraph name="NG">
    <image name="i" type="color3"><input name="file" type="filename" value="t.png" colorspace="srgb_texture"/></image>
    <output name="color" type="color3" nodename="i"/>
  </nodegraph>
  <standard_surface name="S" type="surfaceshader">
    <input name="base_color" type="color3" nodegraph="NG" output="color"/>
    <input name="base" type="float" value="1.0"/>
    <input name="specular_roughness" type="float" value="0.125"/>
  </standard_surface>
  <surfacematerial name="Shiny" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="S"/>
  </surfacematerial>
</materialx>"""


def test_a_materialx_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    pixels = save(tmp_path / "pictures")
    (tmp_path / "m.mtlx").write_text(MTLX)
    text = 'def Scope "Looks" (prepend references = @m.mtlx@</MaterialX/Materials>) { }'
    scene = read(tmp_path, text + cube(extra="rel material:binding = </Looks/Shiny>"))
    (one,) = scene.bodies["/Cube"].materials
    assert one.roughness == 0.125 and one.base_color_texture is not None and one.base_color_texture.srgb
    np.testing.assert_array_equal(one.base_color_texture.pixels, pixels[..., :3])
    assert not any("m.mtlx" in line for line in scene.warnings)
    (tmp_path / "m.mtlx").write_text("this is no xml")
    with pytest.raises(SceneError, match=r"m.mtlx is no MaterialX document"):
        read(tmp_path, text + cube())


def test_an_unknown_surface_falls_back_with_a_warning(tmp_path: Path) -> None:
    text = material("float inputs:strange = 1", kind="LabFog").replace(
        "rel material", "color3f[] primvars:displayColor = [(0, 1, 0)]\n rel material"
    )
    scene = read(tmp_path, text)
    assert scene.bodies["/Cube"].materials[0].base_color == (0, 1, 0)
    assert any("/M: its surface 'LabFog' is not known" in line for line in scene.warnings)
