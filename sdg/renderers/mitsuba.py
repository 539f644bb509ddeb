"""The default renderer: Mitsuba 3 path tracing, denoised, with labels from one ray per pixel centre."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Literal

import numpy as np
from pydantic import Field

from sdg.errors import SdgError
from sdg.llvm import import_mitsuba
from sdg.renderer import Frame, Render, Renderer
from sdg.scene import Camera, Scene
from sdg.sensors.tone import develop, encode_srgb

from ._mitsuba_rays import FirstHits
from ._variant import VariantReport, choose_variant
from ._variant import probe as probe


@dataclass(frozen=True)
class Quality:
    """What a preset stands for: paths per pixel, longest path, and the denoiser's network."""

    samples_per_pixel: int
    max_depth: int
    denoise: Literal["off", "fast", "balanced", "high"]


PRESETS = {
    "preview": Quality(4, 4, "fast"),
    "standard": Quality(8, 5, "fast"),
    "reference": Quality(1024, 12, "off"),
}


class Mitsuba(Renderer):
    """Path tracing by Mitsuba 3 on an NVIDIA GPU (cuda) or on the CPU through LLVM."""

    quality: Literal["preview", "standard", "reference"] = "standard"
    samples_per_pixel: int | None = Field(None, gt=0, le=1 << 16, description="paths per pixel; default: the preset's")
    max_depth: int | None = Field(None, gt=0, le=64, description="longest path in segments; default: the preset's")
    denoise: Literal["off", "fast", "balanced", "high"] | None = Field(None, description="default: the preset's")
    variant: Literal["auto", "cuda_ad_rgb", "llvm_ad_rgb"] = "auto"

    @property
    def settings(self) -> Quality:
        """The preset with the options that were given put over it."""
        preset = PRESETS[self.quality]
        return Quality(
            self.samples_per_pixel or preset.samples_per_pixel,
            self.max_depth or preset.max_depth,
            self.denoise or preset.denoise,
        )

    @cached_property
    def chosen_variant(self) -> str:
        """The Mitsuba variant: as given, or the fastest that works here. Raises SdgError."""
        if self.variant != "auto":
            return self.variant
        try:
            return choose_variant()
        except RuntimeError as error:
            raise SdgError(f"no variant of Mitsuba works here (try `sdg doctor`): {error}") from None

    def versions(self) -> dict[str, str]:
        found = {name: version(name) for name in ("mitsuba", "drjit", "mitsuba-oidn")}
        return {**found, "variant": self.chosen_variant}

    @contextmanager
    def open(self) -> Iterator[Render]:
        """Start Mitsuba in this process; the variant stays chosen for the life of the process."""
        mitsuba = import_mitsuba()
        variant = self.chosen_variant
        if mitsuba.variant() != variant:
            mitsuba.set_variant(variant)
        _refuse_old_llvm(variant)
        engine = Engine(self.settings)
        try:
            yield engine
        finally:
            engine.close()


def _refuse_old_llvm(variant: str) -> None:
    """Raise SdgError where Dr.Jit holds an LLVM that would abort the process: it knows no `fminimum` before 17."""
    import drjit

    if variant.startswith("llvm") and drjit.detail.llvm_version()[0] < 17:
        loaded = ".".join(map(str, drjit.detail.llvm_version()))
        raise SdgError(
            f"Dr.Jit has loaded LLVM {loaded}, but Mitsuba needs 17 or later. Set DRJIT_LIBLLVM_PATH "
            "before the process starts, or do not import mitsuba or drjit before the renderer is opened."
        )


class Engine:
    """A running Mitsuba; keeps the last scene, so that several cameras of one sample share it."""

    def __init__(self, settings: Quality) -> None:
        from ._mitsuba_scene import Stage

        self.settings = settings
        self.stage = Stage()

    def close(self) -> None:
        """Free the scene."""
        self.stage.clear()

    def __call__(self, scene: Scene, camera: Camera, annotations: Sequence[str], rng: np.random.Generator) -> Frame:
        """Render what `sdg.annotations.RENDERED` names."""
        self.stage.show(scene)
        labels = self.stage.rays.first_hits(camera)
        frame: Frame = {
            "depth": labels.depth.astype(np.float32),
            "normals": labels.normals.astype(np.float32),
            "instance": labels.instance,
        }
        if "albedo" in annotations:
            frame["albedo"] = encode_srgb(labels.albedo)
        if "rgb" in annotations:
            noisy = self.stage.color(camera, self.settings, int(rng.integers(1 << 31)), hide_lights=labels.lights)
            frame["rgb"] = develop(self._denoised(noisy, camera, labels), camera.exposure)
        return {name: frame[name] for name in annotations}

    def _denoised(self, noisy: np.ndarray, camera: Camera, labels: FirstHits) -> np.ndarray:
        """Filter path-tracing noise with Open Image Denoise, guided by albedo and normals."""
        if self.settings.denoise == "off":
            return noisy
        import mitsuba_oidn

        albedo, normals = self.stage.rays.guides(camera, labels)
        quality = {"fast": "Fast", "balanced": "Balanced", "high": "High"}[self.settings.denoise]
        filtered = mitsuba_oidn.denoise(
            np.ascontiguousarray(noisy, np.float32),
            hdr=True,
            albedo=albedo,
            normal=normals,
            clean_aux=True,
            quality=getattr(mitsuba_oidn.Quality, quality),
        )
        return np.asarray(filtered)


__all__ = ["Engine", "Mitsuba", "Quality", "VariantReport", "probe"]
