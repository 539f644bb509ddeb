"""Meshes and implicit shapes of USD: every kind of data, and every kind of fault in it."""

from pathlib import Path

import numpy as np
import pytest

from sdg.errors import SceneError
from sdg.mesh import Mesh, face_normals
from sdg.usd.polygons import clip_ears, creased_normals, triangulate
from tests.usd_fixtures import CUBE_FACES, CUBE_POINTS, cube, outward, read


def test_a_cube_is_closed_sharp_and_outward(tmp_path: Path) -> None:
    mesh = read(tmp_path, cube()).bodies["/Cube"].mesh
    assert mesh.volume == pytest.approx(8) and outward(mesh)
    assert len(mesh.vertices) == 24 and len(mesh.triangles) == 12  # an edge of 90 degrees is not smooth
    np.testing.assert_allclose(np.abs(mesh.normals).max(axis=1), 1)


def test_left_handed_faces_are_turned_outward(tmp_path: Path) -> None:
    flipped = CUBE_FACES.replace("[", "").replace("]", "").split(", ")
    faces = ", ".join(", ".join(reversed(flipped[n : n + 4])) for n in range(0, 24, 4))
    text = cube(extra='uniform token orientation = "leftHanded"').replace(CUBE_FACES, f"[{faces}]")
    mesh = read(tmp_path, text).bodies["/Cube"].mesh
    assert mesh.volume == pytest.approx(8) and outward(mesh)


def _ring(count: int, radius: float = 1.0) -> np.ndarray:
    angle = np.arange(count) * 2 * np.pi / count
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


@pytest.mark.parametrize(
    ("ring", "area"),
    [
        ([(0, 0), (2, 0), (2, 2), (1, 0.5), (0, 2)], 2.5),
        ([(0, 0), (1, 1), (0, 3), (-1, 1)], 3.0),
        ([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (3, 2), (3, 3), (0, 3)], 7.0),
        ([(0, 0), (4, 0), (4, 4), (0, 4), (0, 0), (1, 1), (1, 3), (3, 3), (3, 1), (1, 1)], 12.0),
    ],
)
def test_ears_fill_concave_polygons(ring: list[tuple[float, float]], area: float) -> None:
    points = np.array([(x, y, 0) for x, y in ring], float)
    for turn in (np.eye(3), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])):
        triangles, faces = triangulate(points @ turn.T, np.array([len(ring)]), np.arange(len(ring)))
        areas = face_normals(points @ turn.T, triangles) @ turn @ (0, 0, 0.5)
        assert (areas >= 0).all() and areas.sum() == pytest.approx(area)
        assert len(triangles) == len(ring) - 2 and not faces.any()


def test_a_star_of_many_corners_is_filled_exactly() -> None:
    star = np.stack([_ring(400), _ring(400, 0.5)], axis=1).reshape(-1, 2)
    triangles = clip_ears(star)
    a, b, c = (star[triangles[:, n]] for n in range(3))
    area = ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    x, y = star.T
    assert (area >= -1e-12).all() and area.sum() == pytest.approx((x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def test_holes_of_a_face_are_bridged_and_hole_faces_left_out(tmp_path: Path) -> None:
    mesh = read(tmp_path, cube(extra="int[] holeIndices = [1]")).bodies["/Cube"].mesh
    assert len(mesh.triangles) == 10 and mesh.normals[:, 2].max() == 0


def test_smooth_surfaces_stay_smooth_and_folds_stay_sharp() -> None:
    ring = _ring(24)
    points = np.concatenate([np.c_[ring, np.zeros(24)], np.c_[ring, np.ones(24)], [[0, 0, 1]]])
    side = [(n, (n + 1) % 24, 24 + (n + 1) % 24, 24 + n) for n in range(24)]
    cap = [(24 + n, 24 + (n + 1) % 24, 48) for n in range(24)]
    counts = np.array([4] * 24 + [3] * 24)
    corners = np.array([corner for face in (*side, *cap) for corner in face])
    normals = creased_normals(points, counts, corners)
    np.testing.assert_allclose(normals[:96], np.c_[points[corners[:96], :2], np.zeros(96)], atol=1e-9)
    np.testing.assert_allclose(normals[96:], np.broadcast_to((0, 0, 1), (72, 3)), atol=1e-9)


UVS = {
    "vertex": "texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1), (0, 1)]",
    "faceVarying": "texCoord2f[] primvars:st = [" + ", ".join(["(0, 0), (0, 1), (1, 1), (1, 0)"] * 6) + "]",
    "indexed": "texCoord2f[] primvars:st = [(0, 0), (0, 1), (1, 1), (1, 0)]",
    "uniform": "float2[] primvars:st = [(0, 0), (0.1, 0), (0.2, 0), (0.3, 0), (0.4, 0), (0.5, 0)]",
    "constant": "half2[] primvars:st = [(0.25, 0.5)]",
}


@pytest.mark.parametrize("kind", list(UVS))
def test_texture_coordinates_of_every_interpolation(tmp_path: Path, kind: str) -> None:
    interpolation = "faceVarying" if kind == "indexed" else kind
    extra = f'{UVS[kind]} (\n interpolation = "{interpolation}"\n)\n'
    if kind == "indexed":
        extra += f"int[] primvars:st:indices = [{', '.join(['0, 1, 2, 3'] * 6)}]"
    mesh = read(tmp_path, cube(extra=extra)).bodies["/Cube"].mesh
    assert mesh.uvs is not None and len(mesh.vertices) == 24
    per_triangle = mesh.uvs[mesh.triangles]
    if kind in ("faceVarying", "indexed"):
        a, b = per_triangle[:, 1] - per_triangle[:, 0], per_triangle[:, 2] - per_triangle[:, 0]
        np.testing.assert_allclose(np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]), 1)
    elif kind == "vertex":
        np.testing.assert_allclose(mesh.uvs, (mesh.vertices[:, :2] + 1) / 2)
    elif kind == "uniform":
        np.testing.assert_allclose(per_triangle[:, 0, 0], np.repeat(np.arange(6) / 10, 2), atol=1e-6)
    else:
        np.testing.assert_allclose(mesh.uvs, np.broadcast_to((0.25, 0.5), (24, 2)))


def test_another_name_for_texture_coordinates_and_inherited_ones(tmp_path: Path) -> None:
    named = 'float2[] primvars:map7 = [(0.25, 0.5)] (\n interpolation = "constant"\n)'
    mesh = read(tmp_path, cube(extra=named)).bodies["/Cube"].mesh
    assert mesh.uvs is not None and mesh.uvs[0].tolist() == [0.25, 0.5]


@pytest.mark.parametrize(
    "normals",
    [
        'normal3f[] normals = [(0, 0, 0)] (\n interpolation = "constant"\n)',
        'normal3f[] normals = [(0, 0, 1), (0, 0, 1)] (\n interpolation = "vertex"\n)',
        'normal3f[] primvars:normals = [(nan, 0, 1)] (\n interpolation = "constant"\n)',
    ],
)
def test_unusable_normals_are_computed_with_a_warning(tmp_path: Path, normals: str) -> None:
    scene = read(tmp_path, cube(extra=normals))
    assert outward(scene.bodies["/Cube"].mesh) and any("/Cube: its normals" in line for line in scene.warnings)


def test_given_normals_are_kept(tmp_path: Path) -> None:
    corners = CUBE_POINTS.strip("[]")
    mesh = (
        read(tmp_path, cube(extra=f'normal3f[] normals = [{corners}] (\n interpolation = "vertex"\n)'))
        .bodies["/Cube"]
        .mesh
    )
    assert len(mesh.vertices) == 8
    np.testing.assert_allclose(mesh.normals, mesh.vertices / 3**0.5, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        ("[0, 3, 2, 1,", "[0, 3, 2, 99,", "run from 0 to 99, but it has 8 points"),
        ("[4, 4, 4, 4, 4, 4]", "[4, 4, 4, 4, 4]", "adds up to 20"),
        ("[4, 4, 4, 4, 4, 4]", "[]", "no faces"),
        (CUBE_POINTS, "[]", "no points"),
        (f"point3f[] points = {CUBE_POINTS}", "point3f points = (1, 2, 3)", "no points"),
        ("(-1, -1, -1), (1, -1, -1)", "(nan, -1, -1), (inf, -1, -1)", ""),
        (CUBE_POINTS, "[" + ", ".join(["(nan, 0, 0)"] * 8) + "]", "no usable face is left"),
        (CUBE_POINTS, "[" + ", ".join(["(1, 2, 3)"] * 8) + "]", "none of its faces has an area"),
    ],
)
def test_a_broken_mesh_is_named_and_left_out(tmp_path: Path, change: str, to: str, said: str) -> None:
    scene = read(tmp_path, cube("Good") + cube("Bad").replace(change, to))
    assert any(line.startswith("/Bad: ") and said in line for line in scene.warnings)
    if said:
        assert list(scene.bodies) == ["/Good"]
        with pytest.raises(SceneError, match=f"(?s)holds nothing that can be drawn.*/Bad: .*{said}"):
            read(tmp_path, cube("Bad").replace(change, to))
    else:
        assert len(scene.bodies["/Bad"].mesh.triangles) == 2 * 2  # four of six faces use the two points
        assert np.isfinite(scene.bodies["/Bad"].mesh.vertices).all()


def test_extreme_sizes_and_duplicate_faces_are_read(tmp_path: Path) -> None:
    far = cube("Far").replace(CUBE_POINTS, CUBE_POINTS.replace("(-1", "(9999999").replace("(1", "(10000001"))
    double = cube("Double").replace("[4, 4,", "[4, 4, 4,").replace("[0, 3, 2, 1,", "[0, 3, 2, 1, 0, 3, 2, 1,")
    tiny = 'def Cube "Tiny"\n{\n double size = 0.00001\n}'
    scene = read(tmp_path, far + double + tiny)
    assert len(scene.bodies["/Double"].mesh.triangles) == 14 and scene.bodies["/Tiny"].mesh.volume == pytest.approx(
        1e-15
    )
    assert np.isfinite(scene.bodies["/Far"].mesh.normals).all()


IMPLICIT = [
    ('Cube "P"', "double size = 2", (2, 2, 2), 8),
    ('Sphere "P"', "double radius = 2", (4, 4, 4), 4 / 3 * np.pi * 8),
    ('Cylinder "P"', 'double radius = 1\n double height = 3\n uniform token axis = "Y"', (2, 3, 2), 3 * np.pi),
    (
        'Capsule "P"',
        'double radius = 1\n double height = 3\n uniform token axis = "X"',
        (5, 2, 2),
        3 * np.pi + 4 / 3 * np.pi,
    ),
    ('Cone "P"', 'double radius = 1\n double height = 3\n uniform token axis = "Z"', (2, 2, 3), np.pi),
    ('Plane "P"', 'double width = 2\n double length = 3\n uniform token axis = "Y"', (2, 0, 3), 0),
]


@pytest.mark.parametrize(("prim", "sizes", "extent", "volume"), IMPLICIT)
def test_implicit_shapes(tmp_path: Path, prim: str, sizes: str, extent: tuple[float, ...], volume: float) -> None:
    body = read(tmp_path, f"def {prim}\n{{\n{sizes}\n}}").bodies["/P"]
    np.testing.assert_allclose(np.ptp(body.world_vertices(), axis=0), extent, atol=1e-5)
    assert body.mesh.volume == pytest.approx(volume, rel=0.02, abs=1e-9)
    assert (body.shape is not None) == (prim.split()[0] in ("Cube", "Sphere"))
    assert outward(body.mesh) or not volume


def test_planes_face_along_their_axis(tmp_path: Path) -> None:
    for axis, normal in (("X", (1, 0, 0)), ("Y", (0, 1, 0)), ("Z", (0, 0, 1))):
        mesh: Mesh = read(tmp_path, f'def Plane "P"\n{{\n uniform token axis = "{axis}"\n}}').bodies["/P"].mesh
        np.testing.assert_allclose(mesh.normals, np.broadcast_to(normal, (4, 3)), atol=1e-7)
        assert (face_normals(mesh.vertices, mesh.triangles) @ normal > 0).all()


def test_shapes_without_a_size_and_curves_are_named(tmp_path: Path) -> None:
    curves = "\n".join(f'def BasisCurves "Hair{n}" {{ }}' for n in range(2))
    scene = read(tmp_path, cube("Good", scheme="catmullClark") + 'def Sphere "S"\n{\n double radius = -1\n}' + curves)
    text = "\n".join(scene.warnings)
    assert "/S: it is left out: its radius is -1" in text and "2 BasisCurves prims, such as /Hair0" in text
    assert "1 subdivision surfaces, such as /Good, are drawn as their control cages" in text
