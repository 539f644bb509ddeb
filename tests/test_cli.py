"""The commands: what they print, what they leave, and their exit codes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sdg import cli
from sdg.commands import schema
from sdg.execution.events import RunError

ROOT = Path(__file__).parents[1]
SMOKE = ROOT / "jobs" / "raycast_smoke.yaml"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of the smallest job, made once."""
    folder = tmp_path_factory.mktemp("run") / "smoke"
    assert cli.main(["run", str(SMOKE), "-o", str(folder), "--workers", "0", "--quiet"]) == 0
    return folder


@pytest.fixture
def copy(dataset: Path, tmp_path: Path) -> Path:
    """A copy of the data set that may be damaged."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in dataset.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def job(folder: Path, *, drop: str = "", add: str = "", old: str = "", new: str = "") -> str:
    """Write a changed copy of the smallest job and return its path."""
    text = SMOKE.read_text().replace("../scenes", str(ROOT / "scenes"))
    lines = [line for line in text.splitlines() if not drop or not line.startswith(drop)]
    path = folder / "job.yaml"
    path.write_text("\n".join(lines).replace(old or "\0", new) + f"\n{add}\n")
    return str(path)


def sdg(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sdg", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **options)


def test_help_names_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0 and "exit codes:" in text
    for command in cli.COMMANDS:
        assert f"\n    {command.__name__.rpartition('.')[2]} " in text
    assert re.findall(r"^  (\d+) ", text, re.M) == ["0", "1", "2", "3", "70", "130", "143"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["rnu"], "invalid choice: 'rnu'"),
        (["run"], "the following arguments are required: JOB"),
        (["run", "a.yaml", "--workers", "-1"], "a whole number from 0 up is needed, not '-1'"),
        (["preview", "a.yaml", "-n", "0"], "a whole number from 1 up is needed, not '0'"),
    ],
)
def test_a_wrong_command_line_ends_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2 and message in capsys.readouterr().err


def test_run_writes_shards_and_a_contact_sheet(dataset: Path) -> None:
    import cv2

    names = {path.name for path in dataset.iterdir()}
    assert {"shard-000000.tar", "shard-000001.tar", "manifest.json", "contact_sheet.jpg", "README.md"} <= names
    sheet = cv2.imread(str(dataset / "contact_sheet.jpg"))
    assert sheet is not None and sheet.shape[1] == 1440 and sheet.std() > 20


def test_run_again_keeps_what_is_there(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (dataset / "shard-000000.tar").stat().st_mtime_ns
    assert cli.main(["run", str(SMOKE), "-o", str(dataset)]) == 0
    out = capsys.readouterr().out
    assert f"4 samples in 2 shards in '{dataset}'\n" in out and "4 kept from before" in out
    assert (dataset / "shard-000000.tar").stat().st_mtime_ns == before


def test_run_refuses_a_changed_job(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = job(tmp_path, add="seed: 7")
    assert cli.main(["run", changed, "-o", str(dataset), "--quiet"]) == 3
    error = capsys.readouterr().err
    assert (
        error.startswith(f"sdg: output '{dataset}' holds samples of another job:\n")
        and "seed: was 0, is now 7" in error
    )


def test_only_makes_the_same_bytes(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(SMOKE), "--only", "3", "-o", str(tmp_path / "one")]) == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    with tarfile.open(dataset / "shard-000001.tar") as archive:
        members = [member for member in archive if member.name.startswith("000000003.")]
        assert made == {member.name: archive.extractfile(member).read() for member in members}  # type: ignore[union-attr]
    assert len(capsys.readouterr().out.splitlines()) == len(made) > 10
    assert cli.main(["run", str(SMOKE), "--only", "4", "-o", str(tmp_path / "one")]) == 2
    assert capsys.readouterr().err == "sdg: the job has no sample 4: its samples are 0 to 3\n"


def test_an_output_that_cannot_be_written_ends_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert cli.main(["run", str(SMOKE), "-o", str(tmp_path / "file" / "out")]) == 3
    text = f"sdg: output '{tmp_path / 'file' / 'out'}' is not a folder, or a part of its path is a file. Choose another folder.\n"
    assert capsys.readouterr().err == text
    assert cli.main(["schema", "-o", str(tmp_path / "no" / "schema.json")]) == 3
    assert capsys.readouterr().err == f"sdg: {tmp_path / 'no' / 'schema.json'}: No such file or directory\n"


def test_check_says_what_a_job_would_make(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", str(SMOKE)]) == 0
    out = capsys.readouterr().out
    assert "scene        4 bodies (3 labelled), " in out
    assert "classes      ball, cube, slab\n" in out
    assert "cameras      left 96x72, right 96x72\n" in out
    assert "4 samples in 2 shards, about" in out and out.endswith(f"'{SMOKE}' is good\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"old": "samples: 4", "new": "samples: 0"}, "job.yaml:3: samples: Input should be greater than 0 (given: 0)"),
        ({"old": "shapes.usda", "new": "gone.usda"}, "job.yaml:2: scene.file: no such file or folder: "),
        (
            {"old": "/World/Camera", "new": "/World/Kamera"},
            "camera 'left': the scene has no camera '/World/Kamera'; did you mean",
        ),
        ({"old": "on: /World/Floor", "new": "bodies: [dog]"}, "randomizer 'scatter': "),
        (
            {"old": "type: scatter,", "new": "type: scater,"},
            "job.yaml:9: randomizers.0: no type 'scater' in sdg.randomizers; did",
        ),
    ],
)
def test_check_finds_faults(
    change: dict[str, str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["check", job(tmp_path, **change)]) == 2
    streams = capsys.readouterr()
    assert streams.out == "" and message in streams.err.replace(f"{tmp_path}/", "") and "Traceback" not in streams.err


def test_a_missing_job_file_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "no.yaml"]) == 2
    assert capsys.readouterr().err == "sdg: no.yaml: cannot be read: No such file or directory\n"


@pytest.mark.parametrize("name", ["sheet.jpg", "sheet.png"])
def test_preview_draws_a_sheet(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import cv2

    path = tmp_path / "new" / name
    assert cli.main(["preview", str(SMOKE), "-n", "1", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"contact sheet: {path}\n"
    sheet = cv2.imread(str(path))
    assert sheet is not None and sheet.shape[1] == 1440


def test_preview_refuses_other_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["preview", str(SMOKE), "-o", str(tmp_path / "sheet.gif")]) == 3
    assert "a contact sheet is a .jpg or a .png file" in capsys.readouterr().err


def test_verify_names_every_fault(dataset: Path, copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", str(dataset)]) == 0
    assert capsys.readouterr().out == f"'{dataset}' is whole\n"
    data = bytearray((copy / "shard-000001.tar").read_bytes())
    data[600] ^= 1
    (copy / "shard-000001.tar").write_bytes(bytes(data))
    assert cli.main(["verify", str(copy)]) == 1
    streams = capsys.readouterr()
    assert "shard-000001" in streams.out and "000000002" in streams.out
    assert re.fullmatch(rf"sdg: \d+ faults? in '{copy}'\n", streams.err)


def test_stats_count(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["stats", str(dataset), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["samples"], result["pictures"], result["empty_pictures"]) == (4, 8, 0)
    assert set(result["classes"]) == {"ball", "cube", "slab"}
    assert 0 < result["values"]["depth"]["min"] < result["values"]["depth"]["max"] < 3
    assert 0 < result["values"]["visible_fraction"]["median"] <= 1
    assert cli.main(["stats", str(dataset)]) == 0
    assert re.search(r"^ball +\d+ +\d+$", capsys.readouterr().out, re.M)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("job.json", "is not a data set of sdg: it has no job.json"),
        ("shard-*", "holds no shards; give the output folder of `sdg run`"),
        ("*.tar", "shard-000000.tar' cannot be read: No such file or directory"),
    ],
)
def test_stats_says_what_is_missing(damage: str, message: str, copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in copy.glob(damage):
        path.unlink()
    assert cli.main(["stats", str(copy)]) == 2
    assert message in capsys.readouterr().err


def test_schema_names_every_plug_in(capsys: pytest.CaptureFixture[str]) -> None:
    from sdg.plugin import names

    assert cli.main(["schema"]) == 0
    found = json.loads(capsys.readouterr().out)
    definitions = found["$defs"]
    for package in ("scenes", "randomizers", "renderers", "writers"):
        for name in names(f"sdg.{package}"):
            options = definitions[f"{package}.{name}"]
            assert options["properties"]["type"]["const"] == name and options["additionalProperties"] is False
    assert set(_references(found)) <= {f"#/$defs/{name}" for name in definitions}
    assert found["properties"]["annotations"]["items"]["enum"][0] == "rgb" and found["required"] == ["scene", "samples"]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["$ref"]] if "$ref" in value else [])
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _references(item)


@pytest.mark.parametrize(("usable", "code"), [(True, 0), (False, 1)])
def test_doctor_fails_when_nothing_can_render(
    usable: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = SimpleNamespace(variant="llvm_ad_rgb", usable=usable, reason="no LLVM")
    monkeypatch.setattr("sdg.renderers.mitsuba.probe", lambda: [report])
    assert cli.main(["doctor"]) == code
    streams = capsys.readouterr()
    assert re.search(r"^mitsuba llvm_ad_rgb +(works|does not work: no LLVM)$", streams.out, re.M)
    assert re.search(r"^numpy +\d", streams.out, re.M) and re.search(r"^python +3\.", streams.out, re.M)
    assert streams.err == ("" if usable else "sdg: no variant of Mitsuba can render here\n")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            ZeroDivisionError("division by zero"),
            70,
            "an error of sdg itself: ZeroDivisionError: division by zero (SDG_DEBUG=1",
        ),
        (MemoryError(), 70, "an error of sdg itself: out of memory (SDG_DEBUG=1"),
        (ImportError("renderer 'x' needs: pip install y"), 2, "renderer 'x' needs: pip install y"),
        (RunError("1 of 3 shards could not be made"), 1, "1 of 3 shards could not be made"),
        (KeyboardInterrupt(), 130, "stopped by Ctrl-C"),
    ],
)
def test_errors_are_one_line(
    error: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(schema, "job_schema", fail)
    assert cli.main(["schema"]) == code
    text = capsys.readouterr().err
    assert text.startswith(f"sdg: {message}") and len(text.splitlines()) == 1
    if code == 70:
        monkeypatch.setenv("SDG_DEBUG", "1")
        assert cli.main(["schema"]) == code and "Traceback" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m sdg schema | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{\n", "")


def test_sigterm_keeps_finished_samples_and_ends_with_143(tmp_path: Path) -> None:
    path = job(tmp_path, old="samples: 4", new="samples: 100000")
    command = [sys.executable, "-m", "sdg", "run", path, "-o", str(tmp_path / "out"), "--workers", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not list((tmp_path / "out").glob("shard-*.json")):
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=60)
    assert process.returncode == 143, error
    assert re.search(r"stopped by SIGTERM: \d+ finished samples are kept", out)
    assert not list((tmp_path / "out").glob("*.tmp"))
