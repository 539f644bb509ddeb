"""Which Mitsuba variant works on this machine, found out in a subprocess that may crash."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VARIANTS = ("cuda_ad_rgb", "llvm_ad_rgb", "scalar_rgb")
_PROBE = """
import sys, mitsuba as mi
mi.set_variant(sys.argv[1])
scene = mi.load_dict({"type": "scene", "i": {"type": "path"},
    "s": {"type": "sphere", "radius": 0.5, "center": [0, 0, 5]}, "e": {"type": "constant"},
    "c": {"type": "perspective", "film": {"type": "hdrfilm", "width": 4, "height": 4}}})
assert 0 < __import__("numpy").array(mi.render(scene, spp=1)).mean() < 2
print("rendered")
"""


@dataclass(frozen=True)
class VariantReport:
    """One variant: whether it renders here, and if not, why."""

    variant: str
    usable: bool
    reason: str = ""


def llvm_library(environment: Mapping[str, str], prefix: str) -> str | None:
    """Return the LLVM library for Dr.Jit: the user's own choice, else the one of the installed wheel, else None."""
    chosen = environment.get("DRJIT_LIBLLVM_PATH")
    if chosen:
        return chosen
    found = [
        path
        for folder in ("lib", "lib64", "bin")
        for path in (Path(prefix) / folder).glob("libLLVM*.*")
        if path.is_file()
    ]
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


def probe_variant(variant: str, *, timeout: float = 120.0) -> VariantReport:
    """Render four by four pixels with `variant` in a subprocess."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE, variant],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=engine_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return VariantReport(variant, False, f"did not answer within {timeout:g} s")
    if done.returncode == 0 and "rendered" in done.stdout:
        return VariantReport(variant, True)
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    return VariantReport(
        variant, False, lines[-1].strip() if lines else f"the probe ended with status {done.returncode}"
    )


def probe() -> list[VariantReport]:
    """Probe every variant, fastest first."""
    return [probe_variant(variant) for variant in VARIANTS]


def has_nvidia_gpu() -> bool:
    """Say whether an NVIDIA driver is loaded; saves the probe of CUDA where there is none."""
    return Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidiactl").exists() or sys.platform == "win32"


def choose_variant() -> str:
    """Return the fastest variant that works here. Raises RuntimeError with the reason of each that does not."""
    reports = []
    for variant in VARIANTS:
        if variant.startswith("cuda") and not has_nvidia_gpu():
            continue
        reports.append(probe_variant(variant))
        if reports[-1].usable:
            return variant
    raise RuntimeError("; ".join(f"{report.variant}: {report.reason}" for report in reports))
