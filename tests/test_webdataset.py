"""The WebDataset writer: exact round trips, fixed members and types, readable by the public loader."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdg.annotations import ANNOTATIONS
from sdg.execution.staging import pack_sample
from sdg.execution.tar import END
from sdg.run import open_studio
from sdg.sample import Sample
from sdg.writers.webdataset import Webdataset, decode, decode_member, to_units, write_npz
from tests.fakes import make_job

ALL = tuple(ANNOTATIONS)


def make_sample(**changes: Any) -> Sample:
    with open_studio(make_job(annotations=ALL, **changes)) as studio:
        return studio.sample(3)


@pytest.fixture(scope="module")
def sample() -> Sample:
    return make_sample()


def test_members_are_named_by_annotation(sample: Sample) -> None:
    names = "albedo.png amodal.npz camera.json depth.png distance.png instance.png meta.json normals.png objects.npz"
    assert sorted(Webdataset().files(sample)) == [*names.split(), "rgb.jpg", "semantic.png"]


def test_several_cameras_prefix_their_members() -> None:
    files = Webdataset().files(make_sample(scene={"type": scene_type(), "cameras": 2}))
    assert {"cam0.rgb.jpg", "cam1_1.rgb.jpg", "cam0.objects.npz", "meta.json"} <= set(files)
    assert json.loads(files["meta.json"])["cameras"] == ["cam0", "cam1_1"]


def scene_type() -> str:
    return str(make_job().describe()["scene"]["type"])


def test_everything_comes_back(sample: Sample) -> None:
    view = sample.views["cam0"]
    back = decode(Webdataset(rgb="png").files(sample))
    for name in ("rgb", "albedo", "instance", "semantic"):
        assert back[name].dtype == ANNOTATIONS[name].dtype
        np.testing.assert_array_equal(back[name], view.frame[name])
    for name in ("depth", "distance"):
        assert back[name].dtype == np.float32
        np.testing.assert_allclose(back[name], view.frame[name], atol=0.0005001)
        np.testing.assert_array_equal(back[name] == 0, view.frame[name] == 0)
    np.testing.assert_allclose(back["normals"], view.frame["normals"], atol=0.5 / 127)
    np.testing.assert_array_equal((back["normals"] == 0).all(axis=-1), view.frame["instance"] == 0)
    np.testing.assert_array_equal(back["amodal"], view.objects.amodal)
    for name, array in back["objects"].items():
        np.testing.assert_array_equal(array, getattr(view.objects, name))
    np.testing.assert_array_equal(np.reshape(back["camera"]["K"], (3, 3)), view.camera.matrix)
    np.testing.assert_array_equal(np.reshape(back["camera"]["camera_to_world"], (4, 4)), view.camera.camera_to_world)
    assert back["meta"]["draws"] == sample.meta["draws"]
    assert back["meta"]["key"] == "000000003"


def test_depth_is_stored_exactly_in_its_units(sample: Sample) -> None:
    stored = decode_member("depth.png", Webdataset(depth_scale=0.0005).files(sample)["depth.png"])
    assert stored.dtype == np.uint16
    np.testing.assert_array_equal(stored, np.rint(sample.views["cam0"].frame["depth"].astype(float) / 0.0005))


def test_depth_out_of_range_is_no_hit_and_counted() -> None:
    metres = np.array([[0, -1, np.nan, np.inf, 65.535, 65.536, 1e9, 1e-5, 0.001]], np.float32)
    units, lost = to_units(metres, 0.001)
    assert units.tolist() == [[0, 0, 0, 0, 65535, 0, 0, 0, 1]]
    assert lost == 3


def test_lost_depth_is_counted_in_the_meta(sample: Sample) -> None:
    files = Webdataset(depth_scale=1e-6).files(sample)
    hits = sum(int((sample.views["cam0"].frame[name] > 0).sum()) for name in ("depth", "distance"))
    assert decode(files)["meta"]["depth_clipped"] == hits > 0
    assert not decode(files)["depth"].any()


@pytest.mark.parametrize("suffix", ["webp", "png"])
def test_lossless_colours(sample: Sample, suffix: Any) -> None:
    files = Webdataset(rgb=suffix).files(sample)
    np.testing.assert_array_equal(decode(files)["rgb"], sample.views["cam0"].frame["rgb"])


def test_jpeg_keeps_full_colour_resolution(sample: Sample) -> None:
    data = Webdataset().files(sample)["rgb.jpg"]
    frame = data.index(b"\xff\xc0")
    assert [data[frame + 11 + 3 * component] for component in range(3)] == [0x11] * 3


def test_only_what_was_asked_for() -> None:
    with open_studio(make_job(annotations=("semantic", "boxes"))) as studio:
        files = Webdataset().files(studio.sample(0))
    assert sorted(files) == ["camera.json", "meta.json", "objects.npz", "semantic.png"]
    assert set(decode(files)["objects"]) == {
        "names", "instance_id", "class_id", "box_tight", "box_loose", "box_amodal",
    }  # fmt: skip


def test_no_object_in_sight_keeps_members_and_types(sample: Sample) -> None:
    with open_studio(make_job(annotations=ALL)) as studio:
        for body in list(studio.scene.bodies):
            studio.scene.bodies[body].visible = False
        empty = studio.sample(0)
    files, full = Webdataset().files(empty), Webdataset().files(sample)
    assert set(files) == set(full)
    without, with_objects = decode(files), decode(full)
    assert without["amodal"].shape == (0, 12, 16)
    for name, array in without["objects"].items():
        assert array.dtype.kind == with_objects["objects"][name].dtype.kind
        assert array.shape == (0, *with_objects["objects"][name].shape[1:])
        assert name == "names" or array.dtype == with_objects["objects"][name].dtype


def test_meta_has_the_same_types_in_every_sample(sample: Sample) -> None:
    metas = [json.loads(Webdataset().files(one)["meta.json"]) for one in (sample, Sample(0, {}))]
    kinds = [{name: type(value) for name, value in meta.items()} for meta in metas]
    assert kinds[0] == kinds[1]


def test_npz_depends_on_arrays_alone_and_holds_no_pickle() -> None:
    arrays = {"b": np.arange(3), "a": np.array(["x"])}
    assert write_npz(arrays) == write_npz(dict(reversed(arrays.items())))
    with np.load(io.BytesIO(write_npz(arrays)), allow_pickle=False) as back:
        assert back["a"].tolist() == ["x"]
    with pytest.raises(ValueError, match="allow_pickle"):
        write_npz({"a": np.array([None])})


def test_the_card_describes_the_members(sample: Sample) -> None:
    members = Webdataset().members(["cam0"], ALL)
    files = Webdataset().files(sample)
    assert [member.extension for member in members] == sorted(files)
    features = {member.extension: member.feature for member in members}
    arrays = decode_member("objects.npz", files["objects.npz"])
    assert {column["name"]: depth_and_type(column["list"]) for column in features["objects.npz"]["struct"]} == {
        name: (array.ndim, "string" if array.dtype.kind == "U" else str(array.dtype)) for name, array in arrays.items()
    }
    for name in ("meta.json", "camera.json"):
        assert {column["name"] for column in features[name]["struct"]} == set(json.loads(files[name]))


def depth_and_type(feature: Any) -> tuple[int, str]:
    if isinstance(feature, str):
        return 1, feature
    depth, dtype = depth_and_type(feature["list"])
    return depth + 1, dtype


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of the loader itself
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_public_loader_reads_it(sample: Sample, tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    files = Webdataset().files(sample)
    shard = tmp_path / "shard-000000.tar"
    shard.write_bytes(b"".join(pack_sample(f"{n:09d}", files).data for n in range(3)) + END)
    rows = list(webdataset.WebDataset(str(shard), shardshuffle=False))
    assert [row["__key__"] for row in rows] == ["000000000", "000000001", "000000002"]
    assert {name: row for name, row in rows[1].items() if not name.startswith("__")} == files
    decoded = next(iter(webdataset.WebDataset(str(shard), shardshuffle=False).decode()))
    assert decoded["meta.json"]["index"] == 3
    np.testing.assert_array_equal(decoded["objects.npz"]["names"], sample.views["cam0"].objects.names)
