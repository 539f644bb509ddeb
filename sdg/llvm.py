"""The LLVM library that Dr.Jit loads; it must be chosen before Mitsuba is imported for the first time in a process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType


def llvm_library(environment: Mapping[str, str], prefix: str) -> str | None:
    """Return the LLVM library for Dr.Jit: the user's own choice, else the one of the installed wheel, else None."""
    chosen = environment.get("DRJIT_LIBLLVM_PATH")
    if chosen:
        return chosen
    folders = [Path(prefix) / folder for folder in ("lib", "lib64", "bin")]
    found = [path for folder in folders for path in folder.glob("libLLVM*.*") if path.is_file()]
    found += list((Path(prefix) / "Library" / "bin").glob("LLVM*.dll"))
    real = sorted((path for path in found if not path.is_symlink()), key=lambda path: path.name)
    return str(real[-1]) if real else None


def engine_environment() -> dict[str, str]:
    """Return the environment for a process that runs Mitsuba."""
    environment = dict(os.environ)
    library = llvm_library(environment, sys.prefix)
    if library:
        environment["DRJIT_LIBLLVM_PATH"] = library
    return environment


def import_mitsuba() -> ModuleType:
    """Import Mitsuba with the right LLVM; no variant is chosen. Raises ImportError naming what to install."""
    os.environ.update(engine_environment())
    try:
        import mitsuba
    except ImportError:
        raise ImportError("Mitsuba is missing; it comes with: pip install sdg-pipeline") from None
    return mitsuba
