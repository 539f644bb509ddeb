"""Labels against closed-form truth, for every renderer that runs here."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from sdg import mesh, transforms
from sdg.annotations import ANNOTATIONS, RENDERED, UNLABELLED
from sdg.labels import label_view
from sdg.labels.objects import Objects
from sdg.random import rng_for
from sdg.renderer import Frame, Render
from sdg.renderers.mitsuba import Mitsuba
from sdg.renderers.raycast import Raycast
from sdg.scene import Body, Camera, Light, Material, Scene, Texture

LABELS = tuple(name for name in RENDERED if name != "rgb")


@pytest.fixture(scope="module", params=["raycast", "mitsuba"])
def render(request: pytest.FixtureRequest) -> Iterator[Render]:
    renderer = Raycast() if request.param == "raycast" else Mitsuba(quality="preview")
    with renderer.open() as opened:
        yield opened


def look(render: Render, camera: Camera, *bodies: Body) -> tuple[Frame, Objects]:
    """Label bodies in front of a camera at the origin that looks along +z with +y down."""
    scene = Scene(classes=sorted({body.semantic_class for body in bodies if body.labelled}))
    for body in bodies:
        scene.add(body)
    frame = render(scene, camera, LABELS, rng_for(0, 0, "test"))
    return label_view(scene, camera, frame, tuple(ANNOTATIONS))


def camera(**changes: float) -> Camera:
    o = {"width": 160, "height": 120, "fx": 200.0, "fy": 200.0, "cx": 80.0, "cy": 60.0} | changes
    return Camera(int(o["width"]), int(o["height"]), o["fx"], o["fy"], o["cx"], o["cy"])


def at(*position: float, rotation: np.ndarray | None = None) -> np.ndarray:
    return transforms.transform(rotation, position)


def test_a_sphere_fills_its_silhouette_ellipse(render: Render) -> None:
    lens, center, radius = camera(cx=70.0, fy=180.0), np.array([0.3, -0.1, 2.0]), 0.4
    frame, objects = look(
        render, lens, Body("ball", mesh.sphere(radius, segments=256), at(*center), semantic_class="ball")
    )
    rays = lens.rays()
    unit = rays / np.linalg.norm(rays, axis=-1, keepdims=True)
    along = unit @ center
    miss = np.sqrt(np.maximum(center @ center - along**2, 0))
    inside, outside = miss < radius * 0.999, miss > radius
    assert (frame["instance"][inside] == 2).all() and (frame["instance"][outside] == 0).all()
    distance = along - np.sqrt(np.maximum(radius**2 - miss**2, 0))
    middle = miss < radius * 0.8
    np.testing.assert_allclose(frame["distance"][middle], distance[middle], atol=2e-4)
    normal = (unit * distance[..., None] - center) / radius
    assert np.abs(np.linalg.norm(frame["normals"][middle], axis=-1) - 1).max() < 1e-5
    assert (frame["normals"] * normal).sum(-1)[middle].min() > 0.9995
    assert objects.visible_pixels[0] == (frame["instance"] == 2).sum()


def test_a_tilted_plane_has_the_depth_of_its_equation(render: Render) -> None:
    lens, tilt = camera(), math.radians(60)
    turned = transforms.axis_angle((1, 0, 0), math.pi - tilt)
    frame, _ = look(render, lens, Body("floor", mesh.plane(50, 50), at(0, 0.2, 2, rotation=turned)))
    normal = turned @ (0, 0, 1)
    z = (normal @ (0, 0.2, 2)) / (lens.rays() @ normal)
    hit = frame["depth"] > 0
    assert hit.all()
    np.testing.assert_allclose(frame["depth"], z, rtol=1e-6)
    np.testing.assert_allclose(frame["distance"], z * np.linalg.norm(lens.rays(), axis=-1), rtol=1e-6)
    assert np.abs(frame["normals"] - normal * -np.sign(normal[2])).max() < 1e-6
    assert (frame["instance"] == UNLABELLED).all() and (frame["semantic"] == UNLABELLED).all()


@pytest.mark.parametrize(("shift", "fraction"), [(0.5, 0.5), (0.75, 0.75), (0.25, 0.25)])
def test_stacked_squares_are_visible_by_the_exact_fraction(render: Render, shift: float, fraction: float) -> None:
    back = Body(
        "back",
        mesh.plane(0.4, 0.4),
        at(0, 0, 2, rotation=transforms.axis_angle((1, 0, 0), math.pi)),
        semantic_class="square",
    )
    front = Body(
        "front",
        mesh.plane(0.2, 0.2),
        at(shift * 0.2, 0, 1, rotation=transforms.axis_angle((1, 0, 0), math.pi)),
        semantic_class="lid",
    )
    frame, objects = look(render, camera(), back, front)
    assert objects.names == ["back", "front"]
    assert objects.amodal_pixels.tolist() == [1600, 1600]
    assert objects.visible_fraction[0] == pytest.approx(fraction)
    assert objects.visible_fraction[1] == 1
    np.testing.assert_array_equal(objects.box_amodal[0], [60, 40, 100, 80])
    np.testing.assert_array_equal(objects.box_tight[0], [60, 40, 60 + 40 * fraction, 80])
    assert objects.amodal[0].sum() == 1600
    semantic = {2: "lid", 3: "square"}
    assert {semantic[int(i)] for i in np.unique(frame["semantic"]) if i} == {"lid", "square"}


def test_a_cube_half_out_of_the_picture_is_truncated_by_half(render: Render) -> None:
    edge = 80 / 200 * 2
    cube = Body("cube", mesh.box((0.4, 0.4, 1e-3)), at(edge, 0, 2), semantic_class="cube")
    _, objects = look(render, camera(), cube)
    assert objects.truncation[0] == pytest.approx(0.5, abs=0.02)
    assert objects.visible_fraction[0] == pytest.approx(0.5, abs=0.02)
    assert objects.box_loose[0, 2] == 160
    assert objects.box_amodal[0, 2] == pytest.approx(180, abs=1)
    assert objects.box_tight[0, 2] == 160


def test_nothing_behind_the_camera_is_labelled(render: Render) -> None:
    _, objects = look(
        render,
        camera(),
        Body("behind", mesh.box((0.4, 0.4, 0.4)), at(0, 0, -2), semantic_class="cube"),
        Body("seen", mesh.box((0.2, 0.2, 0.2)), at(0, 0, 2), semantic_class="cube"),
    )
    assert objects.names == ["seen"]


def test_a_body_that_reaches_behind_the_camera_is_clipped(render: Render) -> None:
    wall = Body("wall", mesh.box((0.2, 0.2, 8)), at(0.5, 0, 0), semantic_class="wall")
    _, objects = look(render, camera(), wall)
    assert objects.names == ["wall"]
    x0, y0, x1, y1 = objects.box_loose[0]
    assert 80 < x0 < x1 == 160 and 0 <= y0 < y1 <= 120
    assert x0 == pytest.approx(80 + 200 * 0.4 / 4, abs=0.01)


def test_an_off_centre_lens_with_oblong_pixels_projects_by_its_matrix(render: Render) -> None:
    lens = camera(width=200, height=90, fx=150.0, fy=240.0, cx=61.3, cy=20.8)
    cube = Body(
        "cube",
        mesh.box((0.3, 0.2, 0.1)),
        at(0.2, 0.05, 1.5, rotation=transforms.axis_angle((1, 2, 3), 0.7)),
        semantic_class="cube",
    )
    _, objects = look(render, lens, cube)
    corners = objects.box_3d_corners[0].astype(float)
    pixels = (lens.matrix @ corners.T).T
    pixels = pixels[:, :2] / pixels[:, 2:]
    np.testing.assert_allclose(objects.box_loose[0], [*pixels.min(0), *pixels.max(0)], atol=1e-3)
    assert (np.abs(objects.box_amodal[0] - objects.box_loose[0]) <= 1).all()
    np.testing.assert_allclose(objects.box_3d_size[0], [0.3, 0.2, 0.1], rtol=1e-6)


def test_scaled_mirrored_bodies_have_boxes_of_what_is_seen(render: Render) -> None:
    body = Body("part", mesh.box((0.1, 0.1, 0.1)), at(0, 0, 2), scale=(-3.0, 1.0, 2.0), semantic_class="part")
    frame, objects = look(render, camera(), body)
    np.testing.assert_allclose(objects.box_3d_size[0], [0.3, 0.1, 0.2], rtol=1e-6)
    assert objects.visible_pixels[0] == objects.amodal_pixels[0] == (frame["instance"] == 2).sum()
    assert frame["normals"][60, 80, 2] == pytest.approx(-1)


def test_hidden_objects_stay_listed_with_no_visible_part(render: Render) -> None:
    _, objects = look(
        render,
        camera(),
        Body("hidden", mesh.box((0.1, 0.1, 0.1)), at(0, 0, 3), semantic_class="cube"),
        Body("wall", mesh.box((2, 2, 0.1)), at(0, 0, 2)),
    )
    assert objects.names == ["hidden"]
    assert objects.visible_fraction[0] == 0 and objects.amodal_pixels[0] > 0
    assert (objects.box_tight[0] == -1).all() and (objects.box_amodal[0] > 0).all()


def test_an_empty_view_keeps_dtypes_and_shapes(render: Render) -> None:
    frame, objects = look(render, camera(), Body("far", mesh.box((0.1, 0.1, 0.1)), at(0, 0, -5)))
    assert len(objects) == 0 and objects.box_tight.shape == (0, 4) and objects.object_to_camera.shape == (0, 4, 4)
    for name in ("depth", "distance", "normals", "instance", "semantic", "albedo"):
        assert frame[name].dtype == ANNOTATIONS[name].dtype
        assert not frame[name].any()


def test_both_renderers_agree_bit_for_bit_on_ids() -> None:
    def frame_of(renderer: Raycast | Mitsuba) -> Frame:
        bodies = [
            Body(
                f"b{n}",
                make,
                at(0.15 * n - 0.3, 0.05 * n, 1 + 0.1 * n, rotation=transforms.random_rotation(rng_for(1, n, "pose"))),
                semantic_class="thing",
            )
            for n, make in enumerate(
                [mesh.box((0.2, 0.3, 0.1)), mesh.cylinder(0.1, 0.2), mesh.sphere(0.12), mesh.box((0.1, 0.1, 0.4))]
            )
        ]
        with renderer.open() as opened:
            return look(opened, camera(width=320, height=240, cx=160.0, cy=120.0, fx=300.0, fy=300.0), *bodies)[0]

    exact, traced = frame_of(Raycast()), frame_of(Mitsuba(quality="preview"))
    different = exact["instance"] != traced["instance"]
    assert different.sum() <= 2  # a pixel centre on an edge, hit in double and missed in single precision
    assert np.abs(exact["depth"] - traced["depth"])[~different].max() < 1e-4


def test_cutouts_let_the_ray_through_and_glass_does_not() -> None:
    alpha = np.zeros((2, 2), np.uint8)
    alpha[:, 1] = 255
    half = Material(opacity_texture=Texture(alpha, srgb=False, wrap="clamp"), opacity_threshold=0.5)
    facing = transforms.axis_angle((1, 0, 0), math.pi)
    leaf = Body("leaf", mesh.plane(0.4, 0.4), at(0, 0, 1, rotation=facing), materials=[half], semantic_class="leaf")
    pane = Body(
        "pane",
        mesh.box((0.1, 0.1, 0.01)),
        at(0, 0.24, 1),
        materials=[Material(transmission=1.0)],
        semantic_class="pane",
    )
    wall = Body("wall", mesh.plane(4, 4), at(0, 0, 2, rotation=facing), semantic_class="wall")
    with Mitsuba(quality="preview").open() as opened:
        frame, _ = look(opened, camera(), leaf, pane, wall)
    row = frame["instance"][60]
    assert (row[40:79] == 4).all() and (row[81:120] == 2).all()
    assert frame["depth"][60, 60] == pytest.approx(2) and frame["depth"][60, 100] == pytest.approx(1)
    assert frame["instance"][108, 80] == 3


def test_lights_are_not_seen() -> None:
    scene = Scene()
    scene.add(Body("wall", mesh.plane(4, 4), at(0, 0, 2, rotation=transforms.axis_angle((1, 0, 0), math.pi))))
    scene.lights["lamp"] = Light("sphere", at(0, 0, 1), radius=0.2, intensity=5)
    with Mitsuba(quality="preview", denoise="off").open() as opened:
        frame = opened(scene, camera(), RENDERED, rng_for(0, 0, "test"))
    assert (frame["instance"] == UNLABELLED).all()
    np.testing.assert_allclose(frame["depth"], 2, rtol=1e-6)
    assert frame["rgb"][60, 80].max() < 250


def test_colour_and_labels_use_the_same_rays() -> None:
    lens = camera(width=200, height=150, fx=150.0, fy=240.0, cx=61.3, cy=40.8)
    lens.exposure = -1.0
    scene = Scene()
    scene.add(Body("dark", mesh.plane(60, 60), at(0, 0, 4), materials=[Material((0, 0, 0), specular=0, roughness=1)]))
    pose = at(0.2, 0.15, 1.5, rotation=transforms.axis_angle((1, 2, 3), 0.7))
    scene.add(Body("light", mesh.box((0.6, 0.4, 0.1)), pose, materials=[Material((1, 1, 1))], semantic_class="cube"))
    scene.lights["sky"] = Light("dome")
    with Mitsuba(quality="preview", samples_per_pixel=64, denoise="off").open() as opened:
        frame = opened(scene, lens, RENDERED, rng_for(0, 0, "test"))
    bright, labelled = frame["rgb"].mean(axis=-1) > 137, frame["instance"] == 2
    assert (bright & labelled).sum() / (bright | labelled).sum() > 0.97
    edge = bright != labelled
    assert abs(np.nonzero(bright)[1].mean() - np.nonzero(labelled)[1].mean()) < 0.2 and edge.sum() < 60
