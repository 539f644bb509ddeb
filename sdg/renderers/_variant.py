"""Which Mitsuba variant works on this machine, found out in a subprocess that may crash."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from sdg.llvm import engine_environment, llvm_library

VARIANTS = ("cuda_ad_rgb", "llvm_ad_rgb")
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
    """Return the fastest variant that works here. Raises RuntimeError with the reason of each that does not.

    The answer is kept in the user's cache folder for as long as Mitsuba, LLVM and the GPU driver stay as they are,
    because a probe costs seconds at every start of a worker.
    """
    kept = _cache_file()
    if kept.is_file() and (text := kept.read_text()) in VARIANTS:
        return text
    reports = []
    for variant in VARIANTS:
        if variant.startswith("cuda") and not has_nvidia_gpu():
            continue
        reports.append(probe_variant(variant))
        if reports[-1].usable:
            _keep(kept, variant)
            return variant
    raise RuntimeError("; ".join(f"{report.variant}: {report.reason}" for report in reports))


def _cache_file() -> Path:
    """Return the file for this machine's answer; its name is a digest of everything that decides it."""
    library = llvm_library(os.environ, sys.prefix)
    parts = [version("mitsuba"), version("drjit"), sys.prefix, platform.node(), str(library)]
    if library and Path(library).exists():
        parts.append(str(Path(library).stat().st_mtime_ns))
    driver = Path("/proc/driver/nvidia/version")
    parts.append(driver.read_text() if driver.exists() else "")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sdg"
    return folder / f"variant-{sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"


def _keep(path: Path, variant: str) -> None:
    """Write the answer at once; a cache that cannot be written is no fault."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(variant)
        temporary.replace(path)
