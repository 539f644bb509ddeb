"""Units, composition, instancing: where each body of a stage ends up."""

from pathlib import Path

import numpy as np
import pytest

from sdg.errors import SceneError
from sdg.scenes.usd import Usd
from tests.usd_fixtures import cube, moved, outward, read, write


def test_centimetres_with_y_up_land_at_the_exact_place_in_metres(tmp_path: Path) -> None:
    scene = read(tmp_path, moved("A", cube(), translate=(100, 250, 50)), up="Y", unit=0.01)
    body = scene.bodies["/A/Cube"]
    np.testing.assert_allclose(body.object_to_world[:3, 3], (1, -0.5, 2.5), atol=1e-12)
    np.testing.assert_allclose(body.world_vertices().max(axis=0), (1.01, -0.49, 2.51), atol=1e-7)
    np.testing.assert_allclose(body.object_to_world[:3, :3] @ (0, 1, 0), (0, 0, 1), atol=1e-12)
    assert body.scale == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("unit", [0.001, 0.01, 0.0254, 1.0])
def test_every_unit_gives_the_same_metres(tmp_path: Path, unit: float) -> None:
    box = f'def Cube "Box" {{ double size = {0.3 / unit}\n double3 xformOp:translate = (0, 0, {2 / unit})'
    body = read(tmp_path, box + '\n uniform token[] xformOpOrder = ["xformOp:translate"] }', unit=unit).bodies["/Box"]
    np.testing.assert_allclose(body.world_vertices().max(axis=0), (0.15, 0.15, 2.15), rtol=1e-6)
    assert body.shape is not None and body.shape.size == pytest.approx((0.3, 0.3, 0.3))


def test_stretch_goes_to_the_scale_and_shear_into_the_mesh(tmp_path: Path) -> None:
    stretched = moved("A", cube(), scale=(2, 3, -4))
    sheared = moved("B", moved("C", cube(), rotate=(0, 0, 45)), scale=(3, 1, 1))
    scene = read(tmp_path, stretched + sheared)
    a, b = scene.bodies["/A/Cube"], scene.bodies["/B/C/Cube"]
    np.testing.assert_allclose(sorted(np.abs(a.scale)), (2, 3, 4))
    assert np.prod(a.scale) == pytest.approx(-24) and outward(a.mesh)
    np.testing.assert_allclose(np.ptp(a.world_vertices(), axis=0), (4, 6, 8), rtol=1e-6)
    assert b.scale == (1.0, 1.0, 1.0) and outward(b.mesh)
    np.testing.assert_allclose(np.ptp(b.world_vertices(), axis=0), (6 * 2**0.5, 2 * 2**0.5, 2), rtol=1e-6)
    np.testing.assert_allclose(np.linalg.det(b.object_to_world), 1, atol=1e-9)


def test_a_transform_that_resets_the_stack_starts_at_the_world(tmp_path: Path) -> None:
    inner = moved("In", cube(), translate=(1, 0, 0), reset=True)
    scene = read(tmp_path, moved("Out", inner, translate=(0, 5, 0)))
    np.testing.assert_allclose(scene.bodies["/Out/In/Cube"].object_to_world[:3, 3], (1, 0, 0))


def test_a_transform_of_no_size_is_left_out_with_a_warning(tmp_path: Path) -> None:
    scene = read(tmp_path, cube("Good") + moved("Flat", cube(), scale=(1, 0, 1)))
    assert list(scene.bodies) == ["/Good"]
    assert any("/Flat/Cube" in line and "singular" in line for line in scene.warnings)


def test_each_native_instance_has_its_own_id_and_all_share_one_mesh(tmp_path: Path) -> None:
    write(
        tmp_path,
        f'def Xform "Crate" {{ {cube("Side")} {moved("Lid", cube(), translate=(0, 0, 2))} }}',
        name="crate.usda",
        default="Crate",
    )
    copies = "".join(
        f'def "Copy{n}" (\n instanceable = true\n prepend references = @crate.usda@\n)'
        f'{{ token[] semantics:labels:class = ["crate"]\n double3 xformOp:translate = ({n}, 0, 0)\n'
        ' uniform token[] xformOpOrder = ["xformOp:translate"] }'
        for n in range(3)
    )
    scene = read(tmp_path, f'def Xform "World" {{ {copies} }}')
    bodies = list(scene.bodies.values())
    assert [body.name for body in bodies] == [f"/World/Copy{n}" for n in range(3)]
    assert [body.semantic_class for body in bodies] == ["crate"] * 3
    assert len({body.instance_id for body in bodies}) == 3 and len({id(body.mesh) for body in bodies}) == 1
    assert [body.object_to_world[0, 3] for body in bodies] == [0, 1, 2] and len(bodies[0].mesh.triangles) == 24


POINTS = """
def PointInstancer "Rocks" (prepend apiSchemas = ["SemanticsLabelsAPI:class"])
{{
    token[] semantics:labels:class = ["rock"]
    rel prototypes = [</Rocks/Protos/Small>, </Rocks/Protos/Group>]
    int[] protoIndices = [0, 1, 0, 0]
    point3f[] positions = [(0, 0, 0), (10, 0, 0), (20, 0, 0), (30, 0, 0)]
    quath[] orientations = [(1, 0, 0, 0), (1, 0, 0, 0), (0.70710677, 0, 0, 0.70710677), (1, 0, 0, 0)]
    float3[] scales = [(1, 1, 1), (1, 1, 1), (2, 1, 1), (1, 1, 1)]
    int64[] invisibleIds = [3]
    def Scope "Protos"
    {{
        {small}
        def PointInstancer "Group"
        {{
            rel prototypes = [</Rocks/Protos/Group/Pebble>]
            int[] protoIndices = [0, 0]
            point3f[] positions = [(0, 1, 0), (0, 2, 0)]
            {pebble}
        }}
    }}
}}
"""


def test_each_point_of_a_point_instancer_is_a_body_also_nested(tmp_path: Path) -> None:
    small = moved("Small", cube(), translate=(0, 0, 5))
    scene = read(tmp_path, POINTS.format(small=small, pebble=cube("Pebble")))
    bodies = scene.bodies
    assert list(bodies) == ["/Rocks[0]", "/Rocks[1][0]", "/Rocks[1][1]", "/Rocks[2]"]
    assert {body.semantic_class for body in bodies.values()} == {"rock"}
    assert len({body.instance_id for body in bodies.values()}) == 4
    np.testing.assert_allclose(bodies["/Rocks[1][1]"].object_to_world[:3, 3], (10, 2, 0))
    np.testing.assert_allclose(bodies["/Rocks[0]"].world_vertices().mean(axis=0), (0, 0, 5), atol=1e-6)
    turned = bodies["/Rocks[2]"]
    np.testing.assert_allclose(np.ptp(turned.world_vertices(), axis=0), (2, 4, 2), rtol=1e-3)
    assert turned.mesh is bodies["/Rocks[0]"].mesh


@pytest.mark.parametrize(
    ("change", "said"),
    [("[0, 1, 0, 0]", "[0, 1, 0, 7]"), ("(30, 0, 0)]", ""), ("</Rocks/Protos/Group>", "</Nowhere>")],
)
def test_a_broken_point_instancer_is_left_out_with_a_warning(tmp_path: Path, change: str, said: str) -> None:
    text = POINTS.format(small=cube("Small"), pebble=cube("Pebble"))
    broken = text.replace(", (30, 0, 0)]", "]") if not said else text.replace(change, said)
    scene = read(tmp_path, cube("Good") + broken)
    assert list(scene.bodies) == ["/Good"] and any("/Rocks: it is left out" in line for line in scene.warnings)


def test_invisible_and_guide_prims_are_not_drawn(tmp_path: Path) -> None:
    text = cube("A") + cube("B", 'token visibility = "invisible"') + cube("C", 'uniform token purpose = "guide"')
    hidden = f'def Xform "D" {{ token visibility = "invisible"\n {cube()} }}'
    hidden += f'def Xform "E" {{ uniform token purpose = "proxy"\n {cube()} }}'
    assert list(read(tmp_path, text + hidden).bodies) == ["/A"]
    assert list(read(tmp_path, text + hidden, purposes=("default", "proxy")).bodies) == ["/A", "/E/Cube"]


VARIANTS = """
def Xform "Cup" (variants = {{ string size = "small" }}
    prepend variantSets = "size")
{{
    variantSet "size" = {{
        "small" {{ {small} }}
        "large" {{ {large} }}
    }}
}}
"""


def test_variants_are_chosen_and_wrong_ones_named(tmp_path: Path) -> None:
    text = VARIANTS.format(small=cube("Small"), large=cube("Large"))
    assert list(read(tmp_path, text).bodies) == ["/Cup/Small"]
    assert list(read(tmp_path, text, variants={"/Cup": {"size": "large"}}).bodies) == ["/Cup/Large"]
    for wrong, said in [
        ({"/Cub": {"size": "large"}}, "no prim '/Cub'.*did you mean '/Cup'"),
        ({"/Cup": {"sise": "large"}}, "no variant set 'sise'.*did you mean 'size'"),
        ({"/Cup": {"size": "larg"}}, "no variant 'larg'.*did you mean 'large'"),
    ]:
        with pytest.raises(SceneError, match=said):
            read(tmp_path, text, variants=wrong)


def test_references_payloads_and_sublayers_are_composed(tmp_path: Path) -> None:
    write(tmp_path, cube("Asset"), name="asset.usda", default="Asset")
    write(tmp_path, cube("Below"), name="below.usda")
    path = tmp_path / "top.usda"
    path.write_text(
        '#usda 1.0\n(\n metersPerUnit = 1\n upAxis = "Z"\n subLayers = [@below.usda@]\n)\n'
        'def "Ref" (prepend references = @asset.usda@) {}\ndef "Pay" (prepend payload = @asset.usda@) {}\n'
    )
    assert set(Usd(file=path).load().bodies) == {"/Below", "/Ref", "/Pay"}


def test_what_a_stage_lacks_is_one_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = 'def "A" (prepend references = @gone.usda@) {} def "B" (prepend payload = @lost.usd@</X>) {}'
    with pytest.raises(SceneError, match=r"(?s)scene.usda refers to 2 things.*gone.usda.*lost.usd") as caught:
        read(tmp_path, text + cube())
    assert "</A>" in str(caught.value) and "</B>" in str(caught.value)
    with pytest.raises(SceneError, match="holds nothing that can be drawn"):
        read(tmp_path, 'def Xform "Empty" {}')
    (tmp_path / "junk.usda").write_text("this is no usd")
    with pytest.raises(SceneError, match=r"junk.usda cannot be opened as USD"):
        Usd(file=tmp_path / "junk.usda").load()
    (tmp_path / "lfs.usd").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with pytest.raises(SceneError, match=r"lfs.usd is only a pointer of Git LFS"):
        Usd(file=tmp_path / "lfs.usd").load()
    assert capfd.readouterr().err == ""


def test_layers_in_other_units_are_named(tmp_path: Path) -> None:
    write(tmp_path, cube("Asset"), name="asset.usda", default="Asset", up="Y", unit=0.01)
    warnings = read(tmp_path, 'def "Ref" (prepend references = @asset.usda@) {}').warnings
    assert any("asset.usda has metersPerUnit 0.01 and the stage 1.0" in line for line in warnings)
    assert any("asset.usda has upAxis Y and the stage Z" in line for line in warnings)


def test_animation_is_read_at_its_first_or_a_chosen_time(tmp_path: Path) -> None:
    samples = "double3 xformOp:translate.timeSamples = { 1: (1, 0, 0), 3: (5, 0, 0) }"
    text = f'def Xform "A" {{ {samples}\n uniform token[] xformOpOrder = ["xformOp:translate"]\n {cube()} }}'
    points = """def PointInstancer "P" { rel prototypes = [</P/Box>]
        int[] protoIndices = [0]
        point3f[] positions.timeSamples = { 1: [(0, 0, 0)], 3: [(8, 0, 0)] }
        vector3f[] velocities.timeSamples = { 1: [(1, 0, 0)] }
        def Cube "Box" { } }"""
    for time, place in ((None, 1.0), (2.0, 3.0)):
        scene = read(tmp_path, text + points, time=time)
        assert scene.bodies["/A/Cube"].object_to_world[0, 3] == place
        assert np.isfinite(scene.bodies["/P[0]"].object_to_world).all()
