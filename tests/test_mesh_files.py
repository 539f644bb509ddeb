"""Mesh files and scenes of them."""

import base64
import json
import struct
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from sdg.errors import JobError, SceneError
from sdg.job import Job
from sdg.mesh import box
from sdg.mesh_files import read_mesh_file
from sdg.scenes.mesh import Mesh
from sdg.sensors.tone import decode_srgb
from tests.usd_fixtures import outward

CUBE = box((2, 2, 2))
PICTURE = np.arange(4 * 4 * 4, dtype=np.uint8).reshape(4, 4, 4) * 4
OBJ = "".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)) + "".join(
    f"f {face}\n" for face in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
)


def png(pixels: np.ndarray = PICTURE) -> bytes:
    """Return R, G, B(, A) pixels as a picture file."""
    return cv2.imencode(".png", pixels[..., [2, 1, 0, 3][: pixels.shape[2]]])[1].tobytes()


def gltf(folder: Path, *, material: dict[str, Any] | None = None, binary: bool = True, **changes: Any) -> Path:
    """Write the cube as .glb or .gltf, with an embedded picture."""
    assert CUBE.uvs is not None
    arrays = [CUBE.vertices, CUBE.normals, CUBE.uvs * (1, -1) + (0, 1), CUBE.triangles.astype(np.uint16)]
    blobs = [np.ascontiguousarray(a, np.float32 if a.dtype.kind == "f" else a.dtype).tobytes() for a in arrays] + [
        png()
    ]
    starts = np.cumsum([0] + [len(blob) for blob in blobs])
    kinds = [(5126, "VEC3"), (5126, "VEC3"), (5126, "VEC2"), (5123, "SCALAR")]
    counts = [24, 24, 24, 36]
    data: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"children": [1], "translation": [0, 3, 0]}, {"mesh": 0, "scale": [1, 1, -2]}],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}, "indices": 3, "material": 0}]}
        ],
        "materials": [material or {}],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"wrapS": 33071}],
        "images": [{"bufferView": 4, "mimeType": "image/png"}],
        "accessors": [
            {"bufferView": n, "componentType": kind, "type": shape, "count": count}
            for n, ((kind, shape), count) in enumerate(zip(kinds, counts, strict=True))
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": int(start), "byteLength": len(blob)}
            for start, blob in zip(starts, blobs, strict=False)
        ],
        "buffers": [{"byteLength": int(starts[-1])}],
        **changes,
    }
    body = b"".join(blobs)
    if not binary:
        data["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(body).decode()
        (folder / "cube.gltf").write_text(json.dumps(data))
        return folder / "cube.gltf"
    text = json.dumps(data).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(body), len(text), 0x4E4F534A)
    (folder / "cube.glb").write_bytes(head + text + struct.pack("<II", len(body), 0x004E4942) + body)
    return folder / "cube.glb"


@pytest.mark.parametrize("binary", [True, False])
def test_gltf_is_upright_with_its_nodes_applied(tmp_path: Path, binary: bool) -> None:
    mesh = read_mesh_file(gltf(tmp_path, binary=binary)).mesh
    np.testing.assert_allclose(mesh.bounds, [[-1, -2, 2], [1, 2, 4]])  # y of the file is our z
    assert outward(mesh, (0, 0, 3)) and mesh.volume == pytest.approx(16)
    assert mesh.uvs is not None
    np.testing.assert_allclose(np.sort(mesh.uvs, axis=0), np.sort(CUBE.uvs, axis=0))  # type: ignore[arg-type]


def test_gltf_materials_use_their_embedded_picture(tmp_path: Path) -> None:
    pbr = {
        "baseColorTexture": {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [2, 2], "offset": [0, 1]}}},
        "baseColorFactor": [0.5, 1, 1, 1],
        "metallicRoughnessTexture": {"index": 0},
        "metallicFactor": 0.5,
    }
    given = {"pbrMetallicRoughness": pbr, "alphaMode": "MASK", "alphaCutoff": 0.25, "emissiveFactor": [0, 1, 0]}
    (one,) = read_mesh_file(gltf(tmp_path, material=given)).materials
    assert one.base_color_texture is not None and one.base_color_texture.srgb and one.base_color_texture.wrap == "clamp"
    wanted = decode_srgb(PICTURE[..., :3]) * (0.5, 1, 1)
    np.testing.assert_allclose(decode_srgb(one.base_color_texture.pixels), wanted, atol=0.005)
    assert one.base_color_texture.uv_scale == (2, 2) and one.base_color_texture.uv_offset == pytest.approx((0, -2))
    assert one.roughness_texture is not None and one.metallic_texture is not None and one.opacity_texture is not None
    np.testing.assert_array_equal(one.roughness_texture.pixels[..., 0], PICTURE[..., 1])
    np.testing.assert_allclose(one.metallic_texture.pixels[..., 0], PICTURE[..., 2] * 0.5, atol=0.51)
    np.testing.assert_array_equal(one.opacity_texture.pixels[..., 0], PICTURE[..., 3])
    assert one.opacity_threshold == 0.25 and one.emission == (0, 1, 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"images": [{"uri": "gone.png"}]}, "needs the file .*gone.png, which does not exist"),
        ({"images": [{"bufferView": 0}]}, "picture 0 cannot be decoded"),
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "KHR_draco_mesh_compression, which cannot be read"),
        ({"accessors": []}, "damaged or no glTF"),
        ({"scenes": [{"nodes": []}]}, "holds no usable triangle"),
    ],
)
def test_broken_gltf_is_one_message(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    with pytest.raises(SceneError, match=said):
        read_mesh_file(gltf(tmp_path, material=material, **changes))


def test_obj_with_materials(tmp_path: Path) -> None:
    (tmp_path / "t.png").write_bytes(png())
    (tmp_path / "a.mtl").write_text("newmtl red\nKd 1 0 0\nNs 198\nd 0.5\nnewmtl pic\nmap_Kd -s 1 1 1 t.png\nPm 1\n")
    faces = OBJ.split("f ")
    text = "mtllib a.mtl\n" + faces[0] + "usemtl red\n" + "".join(f"f {f}" for f in faces[1:4])
    (tmp_path / "a.obj").write_text(text + "usemtl pic\n" + "".join(f"f {f}" for f in faces[4:]))
    found = read_mesh_file(tmp_path / "a.obj")
    assert found.mesh.volume == pytest.approx(8) and outward(found.mesh) and len(found.mesh.triangles) == 12
    by_name = {one.name: one for one in found.materials}
    assert by_name["red"].base_color == (1, 0, 0) and by_name["red"].opacity == 0.5
    assert by_name["red"].roughness == pytest.approx(0.1)
    assert by_name["pic"].base_color_texture is not None and by_name["pic"].metallic == 1
    np.testing.assert_array_equal(by_name["pic"].base_color_texture.pixels, PICTURE[..., :3])
    assert found.mesh.material_indices is not None and np.bincount(found.mesh.material_indices).tolist() == [6, 6]


def test_missing_pictures_are_an_error_and_a_missing_mtl_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("mtllib a.mtl\n" + OBJ)
    assert "a.mtl does not exist" in read_mesh_file(tmp_path / "a.obj").warnings[0]
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd gone.png\n")
    with pytest.raises(SceneError, match=r"(?s)1 pictures cannot be read.*material 'm'.*gone.png"):
        read_mesh_file(tmp_path / "a.obj")


def test_zero_normals_and_broken_vertices(tmp_path: Path) -> None:
    zero = OBJ.replace("f ", "vn 0 0 0\nf ", 1).replace("f 1 2 4 3", "f 1//1 2//1 4//1 3//1")
    (tmp_path / "zero.obj").write_text(zero)
    assert outward(read_mesh_file(tmp_path / "zero.obj").mesh)
    (tmp_path / "nan.obj").write_text(OBJ.replace("v -1 -1 -1", "v nan -1 -1"))
    found = read_mesh_file(tmp_path / "nan.obj")
    assert np.isfinite(found.mesh.vertices).all() and "points that are not numbers" in found.warnings[0]
    (tmp_path / "all.obj").write_text(OBJ.replace("v 1", "v nan").replace("v -1", "v nan"))
    with pytest.raises(SceneError, match=r"(?s)holds no usable triangle.*not numbers"):
        read_mesh_file(tmp_path / "all.obj")


@pytest.mark.parametrize("kind", ["ply", "stl"])
def test_other_formats_are_sharp_where_they_fold(tmp_path: Path, kind: str) -> None:
    import trimesh

    trimesh.creation.box((2, 2, 2)).export(tmp_path / f"a.{kind}")
    mesh = read_mesh_file(tmp_path / f"a.{kind}").mesh
    assert mesh.volume == pytest.approx(8) and outward(mesh) and len(mesh.vertices) == 24


@pytest.mark.parametrize("name", ["a.obj", "a.ply", "a.stl", "a.glb", "a.fbx"])
def test_files_that_are_none_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x00\x01 this is nothing")
    with pytest.raises(SceneError, match=name):
        read_mesh_file(tmp_path / name)


def test_a_scene_of_mesh_files(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text(OBJ)
    (tmp_path / "job.yaml").write_text(
        "scene:\n  type: mesh\n  bodies:\n"
        "    - {file: a.obj, class: box, position: [1, 2, 3], rotation: [0, 0, 1.5707963267948966], scale: 0.5}\n"
        "    - {file: a.obj, class: box, dynamic: true, mass: 2, scale: [1, 2, 3]}\n"
        "cameras: {main: {}}\nsamples: 1\n"
    )
    source = Job.load(tmp_path / "job.yaml").scene
    assert isinstance(source, Mesh)
    scene = source.load()
    assert list(scene.bodies) == ["a", "a_1", "ground"] and set(scene.lights) == {"sky", "sun"}
    first, second, ground = scene.bodies.values()
    assert first.mesh is second.mesh and (first.instance_id, second.instance_id) == (2, 3) and not ground.labelled
    np.testing.assert_allclose(first.object_to_world[:3, :3] @ (1, 0, 0), (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(first.world_vertices().max(axis=0), (1.5, 2.5, 3.5))
    assert second.rigid_body.motion == "dynamic" and second.rigid_body.mass == 2
    np.testing.assert_allclose(np.ptp(second.world_vertices(), axis=0), (2, 4, 6))
    assert source.model_validate(json.loads(source.model_dump_json())) == source


def test_a_missing_file_is_found_when_the_job_is_read(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "scene: {type: mesh, bodies: [{file: no.obj}]}\ncameras: {main: {}}\nsamples: 1\n"
    )
    with pytest.raises(JobError, match=r"no such file or folder: .*no.obj"):
        Job.load(tmp_path / "job.yaml")
