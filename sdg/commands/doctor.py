"""`sdg doctor`: what this machine can do."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sdg.llvm import engine_environment

LIBRARIES = (
    "numpy",
    "pydantic",
    "PyYAML",
    "rich",
    "numba",
    "opencv-python-headless",
    "usd-core",
    "trimesh",
    "scipy",
    "mujoco",
    "mitsuba",
    "drjit",
    "mitsuba-oidn",
    "karellen-llvm-core",
)
EXTRAS = {"pointcloud": "open3d", "splat": "gsplat", "torch": "torch", "trainer": "webdataset", "colliders": "coacd"}


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    text = "show versions, hardware and which renderers work here; fails if none does"
    parser = commands.add_parser("doctor", help=text, description=text)
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print one fact per line; return 1 if nothing can render."""
    for name, text in _machine():
        _print(name, text)
    missing = [name for name in LIBRARIES if _version(name) is None]
    for name in LIBRARIES:
        _print(name, _version(name) or "MISSING: run scripts/install")
    for extra, package in EXTRAS.items():
        version = _version(package)
        found = f"{package} {version}" if version else f"not installed: pip install 'sdg-pipeline[{extra}]'"
        _print(f"extra {extra}", found)
    usable = 0
    for name, text, works in _renderers():
        usable += works
        _print(name, text)
    if missing or not usable:
        reasons = [f"missing: {', '.join(missing)}"] if missing else []
        reasons += [] if usable else ["no variant of Mitsuba can render here"]
        print(f"sdg: {'; '.join(reasons)}", file=sys.stderr)
        return 1
    return 0


def _print(name: str, text: str) -> None:
    print(f"{name:<24} {text}", flush=True)


def _machine() -> Iterator[tuple[str, str]]:
    from sdg import __version__

    yield "sdg", f"{__version__} in {Path(__file__).parents[1]}"
    yield "python", f"{platform.python_version()} ({sys.executable})"
    yield "platform", platform.platform()
    yield "cpu", f"{len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} cores usable"
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        yield "memory", f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.1f} GB"
    yield "free disk", f"{shutil.disk_usage('.').free / 1e9:.1f} GB in {Path.cwd()}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _renderers() -> Iterator[tuple[str, str, bool]]:
    """Try every variant of Mitsuba; each one in a process of its own, which takes seconds."""
    try:
        module = importlib.import_module("sdg.renderers.mitsuba")
        environment = engine_environment()
        reports = module.probe()
    except Exception as error:
        yield "renderer mitsuba", f"cannot be tried: {type(error).__name__}: {error}", False
        return
    yield "llvm", environment.get("DRJIT_LIBLLVM_PATH", "not found: pip install karellen-llvm-core"), False
    for report in reports:
        state = "works" if report.usable else f"does not work: {report.reason}"
        yield f"mitsuba {report.variant}", state, report.usable
    yield "renderer isaacsim", "not part of this version", False
