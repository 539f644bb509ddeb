"""Tar archives, staged samples, commits and records: the parts of a run, without running one."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdg.errors import OutputError
from sdg.execution import tar
from sdg.execution.card import croissant, readme
from sdg.execution.files import create, exclusive, explain, sweep
from sdg.execution.fingerprint import content_sha256, described, scene_digest
from sdg.execution.manifest import differences, keep_record, make_manifest, make_record, read_record, refuse_strangers
from sdg.execution.shards import Shards
from sdg.execution.staging import Packed, pack_sample
from sdg.run import load_scene
from sdg.scene import Texture
from tests.fakes import make_job

FILES = {"rgb.jpg": b"\xff\xd8" * 400, "meta.json": b"{}\n", "objects.npz": b""}


def packed(*keys: str) -> dict[str, Packed]:
    return {key: pack_sample(key, {**FILES, "meta.json": key.encode()}) for key in keys}


def commit(folder: Path, samples: dict[str, Packed], job: str = "job") -> Shards:
    shards = Shards(folder, job)
    shards.commit(0, list(samples), samples.__getitem__)
    return shards


def test_headers_are_those_of_the_standard_library() -> None:
    entry = tarfile.TarInfo("000000001.left.rgb.jpg")
    entry.size, entry.mode = 123456, 0o644
    assert tar.header(entry.name, entry.size) == entry.tobuf(tarfile.USTAR_FORMAT)


def test_an_archive_is_read_by_the_standard_library() -> None:
    data = b"".join(sample.data for sample in packed("a-0", "b_1").values()) + tar.END
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert [entry.name for entry in archive] == [
            f"{key}.{name}" for key in ("a-0", "b_1") for name in sorted(FILES)
        ]
        found = archive.extractfile("b_1.rgb.jpg")
        assert found is not None and found.read() == FILES["rgb.jpg"]


def test_an_archive_is_never_taken_for_a_zip(tmp_path: Path) -> None:
    content = io.BytesIO()
    np.savez(content, a=np.arange(3))
    path = tmp_path / "shard.tar"
    path.write_bytes(pack_sample("a", {"objects.npz": content.getvalue()}).data + tar.END)
    assert not zipfile.is_zipfile(path)


@pytest.mark.parametrize(
    ("key", "extension"),
    [("a.b", "x"), ("A", "x"), ("", "x"), ("a", "JPG"), ("a", "x..y"), ("a", ""), ("a", "x/y"), ("a", "x" * 98)],
)
def test_names_that_loaders_would_change_are_refused(key: str, extension: str) -> None:
    with pytest.raises(OutputError, match=r"has only a-z|longer than 99"):
        tar.pack(key, {extension: b""})


def test_walk_finds_members_and_ends(tmp_path: Path) -> None:
    sample = packed("a")["a"]
    data = sample.data + tar.END
    entries = list(tar.walk(io.BytesIO(data), len(data)))
    assert {entry.name: (entry.offset, entry.size) for entry in entries} == {
        f"a.{name}": place[:2] for name, place in sample.members.items()
    }
    assert not any(entry.fault for entry in entries)


def test_the_sidecar_says_where_everything_is(tmp_path: Path) -> None:
    shards = commit(tmp_path, packed("a", "b"))
    side, data = shards.sidecar(0), shards.tar_path(0).read_bytes()
    assert side is not None
    assert (side["samples"], side["bytes"], side["filesize"]) == (2, len(data), len(data))
    for name, place in side["files"].items():
        content = data[place["offset"] : place["offset"] + place["length"]]
        assert content == (name[:1].encode() if name.endswith("meta.json") else FILES[name[2:]])
    second = side["index"][1]
    assert data[second["offset"] :][: second["size"]] == packed("b")["b"].data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shard-000000.json", "shard-000000.tar"]


def test_an_equal_shard_that_is_there_is_taken(tmp_path: Path) -> None:
    shards = commit(tmp_path, packed("a"))
    before = shards.tar_path(0).stat()
    shards.sidecar_path(0).unlink()  # killed between the shard and its sidecar
    assert commit(tmp_path, packed("a")).sidecar(0) is not None
    assert shards.tar_path(0).stat().st_ino == before.st_ino


def test_another_shard_that_is_there_is_left_and_reported(tmp_path: Path) -> None:
    Shards(tmp_path, "job").tar_path(0).write_bytes(b"precious")
    with pytest.raises(OutputError, match="not deterministic"):
        commit(tmp_path, packed("a"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"shard-000000.tar": b"precious"}


def test_samples_with_other_members_are_refused(tmp_path: Path) -> None:
    samples = {**packed("a"), "b": pack_sample("b", {"rgb.jpg": b""})}
    with pytest.raises(OutputError, match=r"sample b other members .*: meta\.json, objects\.npz"):
        commit(tmp_path, samples)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_or_foreign_shard_is_not_taken_as_finished(tmp_path: Path) -> None:
    shards = commit(tmp_path, packed("a"))
    with pytest.raises(OutputError, match="belong to another job"):
        Shards(tmp_path, "other").sidecar(0)
    shards.tar_path(0).write_bytes(b"short")
    with pytest.raises(OutputError, match="Delete the two files"):
        shards.sidecar(0)
    shards.tar_path(0).unlink()
    assert shards.sidecar(0) is None


def test_staged_samples_come_back_whole_or_not_at_all(tmp_path: Path) -> None:
    staging, sample = Shards(tmp_path, "job").staging, packed("a")["a"]
    staging.put(sample)
    assert staging.get("a") == sample
    whole = staging.path("a").read_bytes()
    for damaged in (whole[:-1], b"", whole[:40], whole.replace(b"job", b"jop", 1), whole[:-1] + b"\1", b"[]\n"):
        staging.path("a").write_bytes(damaged)
        assert staging.get("a") is None
        assert not staging.path("a").exists()


def test_a_commit_forgets_its_staged_samples_and_sweep_the_rest(tmp_path: Path) -> None:
    samples, staging = packed("a", "b", "c"), Shards(tmp_path, "job").staging
    for sample in samples.values():
        staging.put(sample)
    (staging.folder / ".x.1.2.tmp").touch()
    commit(tmp_path, packed("a"))
    assert sorted(path.name for path in staging.folder.iterdir()) == [".x.1.2.tmp", "b.sample", "c.sample"]
    staging.sweep(keep={"b"})
    assert [path.name for path in staging.folder.iterdir()] == ["b.sample"]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    def chunks() -> Any:
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        create(tmp_path / "file", chunks())
    assert list(tmp_path.iterdir()) == []


def test_create_works_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*paths: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    create(tmp_path / "file", [b"one"])
    with pytest.raises(FileExistsError):
        create(tmp_path / "file", [b"two"])
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"one"]


def test_sweep_removes_only_temporary_files(tmp_path: Path) -> None:
    for name in (".a.tar.1.2.tmp", "b.tmp", ".lock"):
        (tmp_path / name).touch()
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "b.tmp"]


def test_a_second_run_is_refused_while_the_first_goes_on(tmp_path: Path) -> None:
    with exclusive(tmp_path):
        with pytest.raises(OutputError, match="another run is writing"), exclusive(tmp_path, patience=0.1):
            pass
        assert (tmp_path / ".lock").exists()
    with exclusive(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "text"), [(28, "no space left"), (27, "ulimit"), (13, "permissions"), (30, "permissions"), (5, "I/O")]
)
def test_system_errors_say_what_to_do(number: int, text: str) -> None:
    error = OSError(number, "I/O error")
    assert text in explain(error, Path("out")) and "'out'" in explain(error, Path("out"))


def test_the_description_of_a_job_survives_a_move(tmp_path: Path) -> None:
    for name, content in (("a", b"1"), ("b", b"1"), ("c", b"2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.png").write_bytes(content)
    same, other = content_sha256(tmp_path / "a"), content_sha256(tmp_path / "c")
    assert same == content_sha256(tmp_path / "b") != other


def test_the_code_of_own_plugins_belongs_to_the_job() -> None:
    code = described(make_job())["code"]
    assert list(code.values()) == [content_sha256(Path(__file__).parent / "fakes.py")] * len(code)


def test_the_digest_of_a_scene_sees_every_change() -> None:
    first, second = load_scene(make_job()), load_scene(make_job())
    assert scene_digest(first) == scene_digest(second)
    second.warnings.append("a warning")
    assert scene_digest(first) == scene_digest(second)
    second.bodies["/World/ball_0"].object_to_world[0, 3] += 1e-9
    assert scene_digest(first) != scene_digest(second)
    third, pixels = load_scene(make_job()), np.zeros((2, 2, 3), np.uint8)
    body = third.bodies["/World/ball_1"]
    body.materials = [body.materials[0].changed(base_color_texture=Texture(pixels, name="/a/b.png"))]
    textured = scene_digest(third)
    assert textured != scene_digest(first)
    body.materials = [body.materials[0].changed(base_color_texture=Texture(pixels.copy(), name="/c/b.png"))]
    assert scene_digest(third) == textured


def test_differences_name_the_place_and_both_values() -> None:
    old = {"seed": 1, "randomizers": [{"low": 0.5}], "cameras": {}, "gone": 1}
    new = {"seed": 2, "randomizers": [{"low": 0.7}], "cameras": {"left": {}}}
    assert differences(old, new, "job") == [
        "seed: was 1, is now 2",
        "randomizers.0.low: was 0.5, is now 0.7",
        "cameras.left: was not there, is now {}",
        "gone: was 1, is now not there",
    ]


def test_a_record_is_written_once(tmp_path: Path) -> None:
    record = make_record({"seed": 1}, {"sdg": "1"}, {"scene": "s", "renderer": {}, "classes": [], "cameras": []})
    keep_record(tmp_path, record)
    keep_record(tmp_path, record)
    assert read_record(tmp_path) == record
    other = make_record({"seed": 1}, {"sdg": "2"}, {"scene": "t", "renderer": {}, "classes": [], "cameras": []})
    with pytest.raises(OutputError, match=r'versions\.sdg: was "1", is now "2"\n  scene: was "s", is now "t"'):
        keep_record(tmp_path, other)
    (tmp_path / "job.json").write_text(json.dumps({**record, "scene": "u"}))
    with pytest.raises(OutputError, match="damaged"):
        read_record(tmp_path)


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    refuse_strangers(tmp_path)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(OutputError, match=r"not empty .*: thesis\.tex"):
        refuse_strangers(tmp_path)


def test_a_writer_without_descriptions_still_gets_cards(tmp_path: Path) -> None:
    facts = {"scene": "s", "renderer": {}, "classes": ["cup"], "cameras": ["left"]}
    job = {"seed": 1, "samples": 1, "writer": {"samples_per_shard": 1}}
    record = make_record(job, {"sdg": "1"}, facts)
    commit(tmp_path, packed("a"), record["digest"])
    manifest = make_manifest(tmp_path, record, 1)
    assert manifest["members"] == sorted(FILES)
    assert "| 2 | cup |" in readme(manifest, []) and "dataset_info" not in readme(manifest, [])
    assert [entry["@id"] for entry in croissant(manifest, [])["distribution"]] == ["shard-000000.tar"]
