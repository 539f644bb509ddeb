"""What the documentation says is so: commands run, tables are in sync, links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from sdg import cli
from sdg.job import Job
from sdg.schema import job_schema, label_table, reference

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
README = (ROOT / "README.md").read_text()


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


def commands(program: str) -> list[list[str]]:
    lines = [line.partition("#")[0].split() for block in blocks(README, "sh") for line in block.splitlines()]
    return [words for words in lines if words and words[0] == program]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like the checkout in which every job is the smallest one."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "jobs").mkdir()
    (folder / "scenes").symlink_to(ROOT / "scenes")
    for path in (ROOT / "jobs").glob("*.yaml"):
        text = (ROOT / "jobs" / "raycast_smoke.yaml").read_text()
        (folder / "jobs" / path.name).write_text(text.replace("samples: 4", "samples: 8"))
    return folder


def test_every_sdg_command_of_the_readme_runs(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    works = SimpleNamespace(variant="llvm_ad_rgb", usable=True, reason="")
    monkeypatch.setattr("sdg.renderers.mitsuba.probe", lambda: [works])
    found = commands("sdg")
    assert {words[1] for words in found} == {command.__name__.rpartition(".")[2] for command in cli.COMMANDS}
    for words in found:
        assert cli.main(words[1:]) == 0, words


def test_the_example_for_readers_runs(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    assert cli.main(["run", "jobs/quickstart.yaml", "-o", "out/quick", "--quiet", "--workers", "0"]) == 0
    (example,) = blocks(README, "python")
    code = (
        example.replace('"rgb"', '"left.rgb"').replace('"depth"', '"left.depth"').replace('"objects"', '"left.objects"')
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # webdataset leaves the archive open
        exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("(72, 96, 3) ")


def test_scripts_and_benchmarks_of_the_readme_exist() -> None:
    scripts = [words[0] for block in blocks(README, "sh") for line in block.splitlines() if (words := line.split())]
    for script in scripts:
        assert not script.startswith("scripts/") or os.access(ROOT / script, os.X_OK), script
    modules = [words[2] for words in commands("python")]
    assert len(modules) == 3 and all(importlib.util.find_spec(module) for module in modules)


def test_the_job_of_the_readme_is_good(workplace: Path) -> None:
    (text,) = blocks(README, "yaml")
    path = workplace / "jobs" / "readme.yaml"
    path.write_text(text)
    assert Job.load(path).samples == 16


def test_the_label_table_is_in_sync() -> None:
    assert f"<!-- labels -->\n{label_table()}\n<!-- /labels -->" in README


def test_the_exit_codes_are_in_sync() -> None:
    said = {code: text.replace("`", "") for code, text in re.findall(r"^  (\d+) +(.+)$", cli.EXIT_CODES, re.M)}
    table = dict(re.findall(r"^\| ([\d, ]+) \| (.+) \|$", README, re.M))
    assert {code for codes in table for code in codes.split(", ")} == set(said)
    for code in ("0", "1", "2", "3", "70"):
        assert table[code].replace("`", "") == said[code]


def test_the_job_reference_is_in_sync() -> None:
    """Make it anew with `sdg schema --markdown > docs/job.md`."""
    assert (ROOT / "docs" / "job.md").read_text() == reference(job_schema())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not target.startswith(("http://", "https://", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_the_picture_of_the_readme_is_small() -> None:
    assert (ROOT / "docs" / "contact_sheet.jpg").stat().st_size < 300_000


def test_python_in_the_documentation_compiles() -> None:
    for page in PAGES:
        for block in blocks(page.read_text(), "python"):
            compile(block, page.name, "exec")
