"""Every kind of damage is found, with shard and key."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdg.errors import OutputError
from sdg.execution import tar
from sdg.execution.execute import execute
from sdg.execution.shards import Shards
from sdg.execution.staging import pack_sample
from sdg.execution.verify import Fault, verify
from tests.fakes import make_job

SHARD = "shard-000001.tar"
KEYS = ("000000004", "000000005", "000000006", "000000007")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("good") / "out"
    execute(make_job(), output, workers=0)
    return output


@pytest.fixture
def output(good: Path, tmp_path: Path) -> Path:
    shutil.copytree(good, tmp_path / "out")
    return tmp_path / "out"


def places(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "shard-000001.json").read_bytes())["files"]
    return found


def change(path: Path, edit: Callable[[bytes], bytes]) -> None:
    path.write_bytes(edit(path.read_bytes()))


def flip(data: bytes, offset: int) -> bytes:
    return data[:offset] + bytes([data[offset] ^ 4]) + data[offset + 1 :]


def found(output: Path) -> list[tuple[str, str]]:
    return [(fault.shard, fault.key) for fault in verify(output)]


def texts(output: Path) -> list[str]:
    return [str(fault) for fault in verify(output)]


def members(output: Path) -> list[tuple[str, dict[str, bytes]]]:
    """Return the samples of the second shard."""
    data, samples = (output / SHARD).read_bytes(), {key: dict[str, bytes]() for key in KEYS}
    for name, place in places(output).items():
        key, _, extension = name.partition(".")
        samples[key][extension] = data[place["offset"] :][: place["length"]]
    return list(samples.items())


def rebuild(output: Path, samples: list[tuple[str, dict[str, bytes]]]) -> None:
    """Write the second shard anew, without telling its sidecar."""
    (output / SHARD).write_bytes(b"".join(pack_sample(key, files).data for key, files in samples) + tar.END)


def test_a_good_data_set_has_no_fault(good: Path) -> None:
    seen: list[tuple[int, int]] = []
    assert verify(good, on_shard=lambda shard, of: seen.append((shard, of))) == []
    assert seen == [(0, 3), (1, 3), (2, 3)]


def test_a_folder_without_a_data_set(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"no job\.json"):
        verify(tmp_path)


@pytest.mark.parametrize("member", ["amodal.npz", "depth.png", "meta.json", "semantic.png"])
@pytest.mark.parametrize("key", KEYS)
def test_a_flipped_bit_names_the_member(output: Path, key: str, member: str) -> None:
    place = places(output)[f"{key}.{member}"]
    change(output / SHARD, lambda data: flip(data, place["offset"] + place["length"] // 2))
    assert texts(output) == [f"{SHARD}: {key}.{member}: was changed: its sha256 is not the one in the sidecar"]


@pytest.mark.parametrize("byte", [0, 60, 126, 150, 300, 511])
def test_a_flipped_bit_in_a_header_names_the_member(output: Path, byte: int) -> None:
    place = places(output)["000000005.depth.png"]
    change(output / SHARD, lambda data: flip(data, place["offset"] - 512 + byte))
    assert texts(output) == [f"{SHARD}: 000000005.depth.png: the header of a member is damaged"]


def test_a_flipped_bit_between_members_is_found(output: Path) -> None:
    place = places(output)["000000005.meta.json"]
    change(output / SHARD, lambda data: flip(data, place["offset"] + place["length"]))
    assert texts(output)[0].startswith(f"{SHARD}: its sha256 is ")


@pytest.mark.parametrize("offset", [-1, -600, -len(tar.END)])
def test_a_flipped_bit_in_the_end_is_found(output: Path, offset: int) -> None:
    change(output / SHARD, lambda data: flip(data, len(data) + offset))
    assert found(output) == [(SHARD, "000000007.semantic.png")]


def test_cut_between_two_samples(output: Path) -> None:
    first = places(output)["000000006.amodal.npz"]["offset"] - 512
    change(output / SHARD, lambda data: data[:first])
    assert texts(output) == [
        f"{SHARD}: 000000005.semantic.png: after it: cut off between two members",
        f"{SHARD}: 000000006: is missing",
        f"{SHARD}: 000000007: is missing",
    ]


def test_cut_between_two_members(output: Path) -> None:
    start = places(output)["000000007.rgb.jpg"]["offset"] - 512
    change(output / SHARD, lambda data: data[:start])
    assert texts(output) == [
        f"{SHARD}: 000000007.objects.npz: after it: cut off between two members",
        f"{SHARD}: 000000007.rgb.jpg: is missing",
        f"{SHARD}: 000000007.semantic.png: is missing",
    ]


@pytest.mark.parametrize(("into", "text"), [(10, "inside of this member"), (-500, "inside of a header")])
def test_cut_inside(output: Path, into: int, text: str) -> None:
    start = places(output)["000000007.rgb.jpg"]["offset"]
    change(output / SHARD, lambda data: data[: start + into])
    first, *rest = texts(output)
    assert text in first and "000000007" in first
    assert [line.rpartition(" is")[0] for line in rest] == [
        f"{SHARD}: 000000007.rgb.jpg:",
        f"{SHARD}: 000000007.semantic.png:",
    ]


@pytest.mark.parametrize("length", [0, 100])
def test_an_empty_shard_lacks_every_sample(output: Path, length: int) -> None:
    change(output / SHARD, lambda data: data[:length])
    assert [fault for fault in found(output) if fault[1]] == [(SHARD, key) for key in KEYS]


def test_appended_bytes(output: Path) -> None:
    change(output / SHARD, lambda data: data + b"garbage")
    assert texts(output) == [f"{SHARD}: 000000007.semantic.png: after it: 7 bytes after the end"]


def test_a_sample_that_is_there_twice(output: Path) -> None:
    samples = members(output)
    rebuild(output, [*samples, samples[1]])
    assert (SHARD, "000000005") in found(output)
    rebuild(output, [samples[0], samples[1], samples[1], *samples[2:]])
    assert (SHARD, "000000005.depth.png") in found(output)


def test_a_missing_member_names_it_alone(output: Path) -> None:
    samples = members(output)
    del samples[2][1]["depth.png"]
    rebuild(output, samples)
    assert texts(output) == [f"{SHARD}: 000000006.depth.png: is missing"]


def test_a_missing_member_is_found_without_any_digest(output: Path) -> None:
    samples = members(output)
    del samples[2][1]["depth.png"]
    rebuild(output, samples)
    (output / "shard-000001.json").unlink()
    (output / "manifest.json").unlink()
    assert (SHARD, "000000006.depth.png") in found(output)


def test_a_sample_of_another_shard(output: Path) -> None:
    samples = members(output)
    rebuild(output, [("000000009", samples[0][1]), *samples[1:]])
    assert found(output) == [(SHARD, "000000004"), (SHARD, "000000009")]


def test_a_missing_shard_and_a_missing_sidecar(output: Path) -> None:
    (output / SHARD).unlink()
    (output / "shard-000002.json").unlink()
    assert verify(output) == [
        Fault(SHARD, "000000004 to 000000007", "is missing"),
        Fault("shard-000002.json", "", "is missing: the index of shard-000002.tar"),
    ]


def test_files_that_do_not_belong_there(output: Path) -> None:
    shutil.copy(output / SHARD, output / "shard-000003.tar")
    assert texts(output) == ["shard-000003.tar: is not part of the data set"]


@pytest.mark.parametrize("edit", [lambda data: flip(data, 90), lambda data: data[:100], lambda data: b"[]"])
def test_a_damaged_sidecar(output: Path, edit: Callable[[bytes], bytes]) -> None:
    change(output / "shard-000001.json", edit)
    assert found(output) == [("shard-000001.json", "")]
    (output / "manifest.json").unlink()
    assert "shard-000001.json" in {shard for shard, _ in found(output)}


def test_a_shard_and_sidecar_of_another_job(output: Path, tmp_path: Path) -> None:
    execute(make_job(seed=8), tmp_path / "other", workers=0)
    for name in (SHARD, "shard-000001.json"):
        shutil.copy(tmp_path / "other" / name, output / name)
    assert ("shard-000001.json", "") in found(output)
    assert any(line.startswith(f"{SHARD}: its sha256 is") for line in texts(output))


def test_a_data_set_that_is_not_finished(output: Path) -> None:
    for name in ("manifest.json", "shard-000002.tar", "shard-000002.json"):
        (output / name).unlink()
    assert texts(output) == [
        "there is no manifest.json: 8 of 10 samples are there; run the job again",
        "shard-000002.tar: 000000008 to 000000009: is missing",
    ]


def test_a_changed_manifest(output: Path) -> None:
    manifest = json.loads((output / "manifest.json").read_bytes())
    (output / "manifest.json").write_text(json.dumps({**manifest, "shards": manifest["shards"][:2]}))
    assert [fault[0] for fault in found(output)] == ["manifest.json", "manifest.json"]
    (output / "manifest.json").write_text(json.dumps({**manifest, "job": "x"}))
    assert texts(output) == ["manifest.json: is of another job than job.json"]


def test_shards_of_a_verified_set_resume_as_finished(output: Path) -> None:
    digest = json.loads((output / "job.json").read_bytes())["digest"]
    assert all(Shards(output, digest).sidecar(number) for number in range(3))
