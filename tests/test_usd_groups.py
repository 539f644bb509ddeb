"""Which prims of a stage make one body, its label and its physics."""

from pathlib import Path

import numpy as np
import pytest

from sdg.errors import SceneError
from sdg.scene import Body
from tests.usd_fixtures import cube, moved, read


def group(name: str, inside: str, *, kind: str = "", label: str = "", apis: str = "", values: str = "") -> str:
    """Return an Xform prim with a kind, a label and API schemas."""
    meta = [f'kind = "{kind}"'] * bool(kind) + [f"prepend apiSchemas = [{apis}]"] * bool(apis)
    lines = [f'token[] semantics:labels:class = ["{label}"]'] * bool(label) + [values]
    return f'def Xform "{name}" (\n' + "\n".join(meta) + "\n)\n{\n" + "\n".join(lines) + f"\n{inside}\n}}\n"


RIGID = '"PhysicsRigidBodyAPI"'
PAIR = cube("One") + moved("Two", cube(), translate=(3, 0, 0))


@pytest.mark.parametrize("options", [{"kind": "component"}, {"label": "cup"}, {"apis": RIGID}])
def test_what_gathers_prims_into_one_body(tmp_path: Path, options: dict[str, str]) -> None:
    assert list(read(tmp_path, group("G", PAIR)).bodies) == ["/G/One", "/G/Two/Cube"]
    (body,) = read(tmp_path, group("G", PAIR, **options)).bodies.values()
    assert body.name == "/G" and body.mesh.volume == pytest.approx(16)
    np.testing.assert_allclose(body.mesh.bounds, [[-1, -1, -1], [4, 1, 1]])
    assert body.semantic_class == options.get("label", "")


def test_nested_bodies_and_labels_become_their_own(tmp_path: Path) -> None:
    bodies = group("A", cube(), apis=RIGID) + group("B", cube(), label="spoon") + group("C", cube(), kind="component")
    scene = read(tmp_path, group("Table", PAIR + bodies, label="table"))
    classes = {name: body.semantic_class for name, body in scene.bodies.items()}
    assert classes == {"/Table": "table", "/Table/A": "table", "/Table/B": "spoon", "/Table/C": "table"}
    assert sorted(body.instance_id for body in scene.bodies.values()) == [2, 3, 4, 5]


def test_a_label_inside_a_rigid_body_is_lost_with_a_warning(tmp_path: Path) -> None:
    scene = read(tmp_path, group("Cup", cube() + group("Handle", cube(), label="handle"), label="cup", apis=RIGID))
    assert list(scene.bodies) == ["/Cup"] and any("/Cup/Handle: its label 'handle'" in line for line in scene.warnings)


def test_labels_of_assemblies_are_inherited_without_gathering(tmp_path: Path) -> None:
    scene = read(tmp_path, group("Shelf", PAIR, label="book", kind="assembly"))
    assert {name: body.semantic_class for name, body in scene.bodies.items()} == {
        "/Shelf/One": "book",
        "/Shelf/Two/Cube": "book",
    }


def test_the_taxonomy_class_and_the_older_schema(tmp_path: Path) -> None:
    both = cube("New", 'token[] semantics:labels:a = ["x"]\n token[] semantics:labels:class = ["y", "z"]')
    old = cube(
        "Old",
        'string semantic:S0:params:semanticType = "color"\n string semantic:S0:params:semanticData = "red"\n'
        'string semantic:S1:params:semanticType = "class"\n string semantic:S1:params:semanticData = "apple"',
    )
    scene = read(tmp_path, both + old + cube("Other", 'token[] semantics:labels:part = ["leg"]') + cube("None"))
    assert [body.semantic_class for body in scene.bodies.values()] == ["y", "apple", "leg", ""]
    assert [body.instance_id for body in scene.bodies.values()] == [2, 3, 4, 1]


def test_rules_come_before_labels_and_unused_ones_are_an_error(tmp_path: Path) -> None:
    text = group("W", group("A", PAIR, label="old") + group("B", cube()))
    scene = read(tmp_path, text, labels={"/W/*": "thing", "/W/B": "box"})
    assert {name: body.semantic_class for name, body in scene.bodies.items()} == {"/W/A": "thing", "/W/B": "box"}
    assert read(tmp_path, text, labels={"/W/A": ""}).bodies["/W/A"].semantic_class == ""
    deep = read(tmp_path, text, labels={"/W/**/Cube": "cube"}).bodies
    assert deep["/W/A/Two/Cube"].semantic_class == "cube" and deep["/W/A"].semantic_class == "old"
    with pytest.raises(SceneError, match=r"(?s)labels: these match no prim.*'/W/C': did you mean"):
        read(tmp_path, text, labels={"/W/C": "x"})
    with pytest.raises(SceneError, match=r"(?s)dynamic: these match no prim.*'/X/\*'"):
        read(tmp_path, text, dynamic=("/X/*",))


def test_points_can_be_labelled_and_made_dynamic_one_by_one(tmp_path: Path) -> None:
    text = f"""def PointInstancer "P" {{ rel prototypes = [</P/Box>]
        int[] protoIndices = [0, 0]
        point3f[] positions = [(0, 0, 0), (5, 0, 0)]
        {cube("Box")} }}"""
    scene = read(tmp_path, text, labels={"/P[1]": "crate"}, dynamic=("/P[0]",))
    assert [body.semantic_class for body in scene.bodies.values()] == ["", "crate"]
    assert [body.rigid_body.motion for body in scene.bodies.values()] == ["dynamic", "static"]


# --- physics --------------------------------------------------------------------------------------------------------

COLLIDES = '(\n prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]\n)'


def collider(name: str, approximation: str = "convexHull", extra: str = "") -> str:
    """Return a cube that collides."""
    values = f'uniform token physics:approximation = "{approximation}"\n{extra}'
    return cube(name, values).replace(f'"{name}"', f'"{name}" {COLLIDES}')


def only(folder: Path, text: str, *, unit: float = 1.0) -> Body:
    (body,) = read(folder, text, unit=unit).bodies.values()
    return body


def test_motion(tmp_path: Path) -> None:
    for values, motion in (
        ("", "dynamic"),
        ("bool physics:kinematicEnabled = 1", "kinematic"),
        ("bool physics:rigidBodyEnabled = 0", "static"),
    ):
        assert only(tmp_path, group("B", cube(), apis=RIGID, values=values)).rigid_body.motion == motion
    body = read(tmp_path, group("B", PAIR), dynamic=("/B",)).bodies["/B"]
    assert (body.rigid_body.motion, body.rigid_body.collider) == ("dynamic", "hull")


def test_mass_density_and_centre_are_in_si(tmp_path: Path) -> None:
    apis = f'{RIGID}, "PhysicsMassAPI"'
    values = "float physics:mass = 2.5\n point3f physics:centerOfMass = (10, 0, 20)"
    body = only(tmp_path, group("B", collider("C"), apis=apis, values=values), unit=0.01).rigid_body
    assert body.mass == 2.5 and body.center_of_mass == pytest.approx((0.1, 0, 0.2))
    body = only(
        tmp_path, group("B", collider("C"), apis=apis, values="float physics:density = 0.0005"), unit=0.01
    ).rigid_body
    assert body.mass is None and body.density == pytest.approx(500) and body.center_of_mass is None


@pytest.mark.parametrize(
    ("approximation", "moving", "fixed"),
    [
        ("convexHull", "hull", "hull"),
        ("convexDecomposition", "decomposition", "decomposition"),
        ("boundingCube", "box", "box"),
        ("boundingSphere", "sphere", "sphere"),
        ("none", "hull", "mesh"),
    ],
)
def test_approximations(tmp_path: Path, approximation: str, moving: str, fixed: str) -> None:
    shape = collider("C", approximation)
    assert only(tmp_path, group("B", shape, apis=RIGID)).rigid_body.collider == moving
    assert only(tmp_path, shape).rigid_body.collider == fixed


def test_without_any_collider_in_the_file_everything_collides(tmp_path: Path) -> None:
    assert only(tmp_path, cube()).rigid_body.collider == "mesh"
    bodies = read(tmp_path, cube() + collider("C")).bodies
    assert [bodies[name].rigid_body.collider for name in ("/Cube", "/C")] == ["none", "hull"]


def test_unseen_colliders_shape_the_body(tmp_path: Path) -> None:
    guide = 'uniform token purpose = "guide"'
    inside = cube("Seen") + moved("Off", collider("A", extra=guide), translate=(0, 0, 1)) + collider("B", extra=guide)
    rigid = only(tmp_path, group("B", inside, apis=RIGID)).rigid_body
    assert rigid.collider == "decomposition" and len(rigid.pieces) == 2
    np.testing.assert_allclose(rigid.pieces[0].bounds, [[-1, -1, 0], [1, 1, 2]])
    alone = only(tmp_path, collider("Wall", extra=guide))
    assert not alone.visible and not alone.labelled and alone.rigid_body.collider == "hull"


def test_contact_comes_from_the_physics_material(tmp_path: Path) -> None:
    rubber = """def Material "Rubber" (
        prepend apiSchemas = ["PhysicsMaterialAPI"]
    )
    { float physics:staticFriction = 0.9
        float physics:dynamicFriction = 0.8
        float physics:restitution = 0.7
        float physics:density = 1100 }"""
    bound = collider("C", extra="rel material:binding:physics = </Rubber>")
    body = only(tmp_path, group("B", bound, apis=RIGID) + rubber).rigid_body
    contact = (body.static_friction, body.dynamic_friction, body.restitution, body.density)
    assert contact == pytest.approx((0.9, 0.8, 0.7, 1100))


def test_gravity_is_in_metres_and_z_up(tmp_path: Path) -> None:
    assert read(tmp_path, cube()).gravity == (0, 0, -9.81)
    scene = (
        'def PhysicsScene "S" { vector3f physics:gravityDirection = (0, -1, 0)\n float physics:gravityMagnitude = 162 }'
    )
    np.testing.assert_allclose(read(tmp_path, cube() + scene, up="Y", unit=0.01).gravity, (0, 0, -1.62), atol=1e-7)
    np.testing.assert_allclose(read(tmp_path, cube() + 'def PhysicsScene "S" { }', up="Y").gravity, (0, 0, -9.81))
