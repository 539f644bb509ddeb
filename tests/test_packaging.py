"""What is installed is what is in the checkout."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINKED = ("randomizers", "writers", "scenes", "jobs")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_folder_with_python_is_a_package_of_the_distribution() -> None:
    listed = set(PYPROJECT["tool"]["setuptools"]["packages"])
    folders = {path.parent for path in (ROOT / "sdg").rglob("*.py")} - {ROOT / "sdg" / name for name in LINKED}
    found = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    found |= {f"sdg.{name}" for name in LINKED}
    assert found == listed


@pytest.mark.parametrize("name", LINKED)
def test_folders_beside_sdg_are_linked_and_mapped(name: str) -> None:
    assert PYPROJECT["tool"]["setuptools"]["package-dir"][f"sdg.{name}"] == name
    link = ROOT / "sdg" / name
    assert not link.is_symlink() or link.resolve() == ROOT / name
    assert (ROOT / name / "__init__.py").is_file()


def test_every_constraint_is_exact_and_every_requirement_is_constrained() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    pins = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    assert all("==" in line for line in lines)
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    assert {_name(requirement) for requirement in wanted} <= pins


def _name(requirement: str) -> str:
    end = next(i for i, letter in enumerate(requirement + ";") if letter in "<>=!;[ ")
    return requirement[:end].lower().replace("_", "-")


@pytest.mark.parametrize("script", ["scripts/install", "scripts/demo", "scripts/test", ".ci/run"])
def test_scripts_can_be_run_and_are_good_bash(script: str) -> None:
    path = ROOT / script
    assert os.access(path, os.X_OK)
    assert path.read_text().startswith("#!/usr/bin/env bash\n") and "\nset -euo pipefail\n" in path.read_text()
    subprocess.run(["bash", "-n", str(path)], check=True)
