"""`import sdg` starts nothing and is quick; the core names no plug-in."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = [
    *["torch", "mitsuba", "mitsuba_oidn", "drjit", "cv2", "pxr", "mujoco", "numba", "trimesh", "scipy"],
    *["rich", "webdataset", "coacd"],
]
PLUGINS = ("randomizers", "writers", "scenes", "jobs")


def python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)


def test_import_sdg_loads_no_heavy_library() -> None:
    code = f"import sdg, sdg.cli, sys, json; print(json.dumps([n for n in {HEAVY} if n in sys.modules]))"
    assert json.loads(python(code).stdout) == []


def test_every_plug_in_of_a_kind_imports_without_its_heavy_library() -> None:
    code = (
        "import importlib, json, sys; from sdg.plugin import names\n"
        "for package in ('sdg.randomizers', 'sdg.writers', 'sdg.scenes', 'sdg.renderers'):\n"
        "    for name in names(package): importlib.import_module(f'{package}.{name}')\n"
        f"print(json.dumps([n for n in {HEAVY} if n in sys.modules and n != 'numba']))"
    )
    assert json.loads(python(code).stdout) == []


def test_import_sdg_is_quick() -> None:
    """Own time of every module that `import sdg` loads; the CPU's time, so that a busy machine changes it little."""
    before = "import time; start = time.process_time(); import sdg; print(time.process_time() - start)"
    assert min(float(python(before).stdout) for _ in range(3)) < 1.0


def test_import_sdg_writes_and_prints_nothing(tmp_path: Path) -> None:
    code = f"import os, sys; sys.path.insert(0, {str(ROOT)!r}); os.chdir({str(tmp_path)!r}); import sdg, sdg.cli"
    done = python(code)
    assert (done.stdout, done.stderr, list(tmp_path.iterdir())) == ("", "", [])


def test_the_core_imports_no_plug_in_by_statement() -> None:
    """`sdg.randomizers` and the others are named by jobs alone."""
    found = []
    for path in sorted((ROOT / "sdg").rglob("*.py")):
        if path.relative_to(ROOT / "sdg").parts[0] in PLUGINS:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            for module in _imported(node):
                if module.split(".")[:2] in [["sdg", plugin] for plugin in PLUGINS]:
                    found.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {module}")
    assert found == []


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [f"sdg.{node.module}"] if isinstance(node, ast.ImportFrom) and node.module else []
