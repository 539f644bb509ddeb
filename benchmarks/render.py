"""Our frame with all labels against a colour frame of Cycles, on the same meshes, lights and camera.

`python -m benchmarks.render --blender-python PYTHON`, where PYTHON is one that has `bpy` (`pip install bpy`). Each engine
is compared with its own reference of many paths. The figure is the CPU time of our frame (colour, denoising, every label,
encoding to files) against the cheapest setting of Cycles whose picture is at least as close to its reference.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exchange import write_scene
from sdg.annotations import ANNOTATIONS, RENDERED
from sdg.job import Job
from sdg.labels import label_view
from sdg.random import rng_for
from sdg.randomizer import Draws
from sdg.renderers.mitsuba import Engine, Mitsuba, Quality
from sdg.run import load_scene
from sdg.sample import Sample, View
from sdg.scene import Camera, Scene
from sdg.sensors.tone import auto_exposure, develop

JOB = Path(__file__).parent / "render.yaml"
DENOISERS = (("fast", "FAST"), ("high", "ACCURATE"))
COUNTS = (1, 2, 4, 8, 16, 32, 64)


def cpu() -> float:
    """Return the CPU seconds of this process and its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def psnr(picture: np.ndarray, reference: np.ndarray) -> float:
    """Return the PSNR [dB] of linear pictures after the exposure of the reference, tone curve and sRGB encoding."""
    stops = auto_exposure(reference)
    error = develop(picture, stops).astype(float) - develop(reference, stops)
    return float(10 * np.log10(255**2 / np.mean(error**2)))


def settled_scene() -> tuple[Job, Scene, Camera]:
    """Return one sample's scene of the benchmark job: the quickstart's table with lights that both engines have."""
    job = Job.load(JOB)
    scene = load_scene(job).copy()
    for randomizer in job.randomizers:
        randomizer.apply(scene, Draws(rng_for(job.seed, 0, randomizer.stream)))
    for body in scene.bodies.values():
        body.materials = [
            replace(
                m,
                transmission=0.0,
                emission=(0.0, 0.0, 0.0),
                roughness_texture=None,
                metallic_texture=None,
                normal_texture=None,
            )
            for m in body.materials
        ]
    for light in scene.lights.values():
        light.texture = None
    scene.lights = {name: light for name, light in scene.lights.items() if light.kind in ("rect", "dome")}
    return job, scene, next(iter(scene.cameras.values()))


def our_frame(engine: Engine, job: Job, scene: Scene, camera: Camera, seed: int) -> tuple[float, float]:
    """Return CPU seconds of a whole frame with labels and files, the scene uploaded anew, and of its colour alone."""
    engine.stage.clear()
    start = cpu()
    frame = engine(scene, camera, RENDERED, rng_for(seed, 0, "benchmark"))
    view = View(camera, *label_view(scene, camera, frame, tuple(ANNOTATIONS)))
    job.writer.files(
        Sample(0, {"camera": view}, {"draws": {}}, annotations=tuple(ANNOTATIONS), classes=tuple(scene.classes))
    )
    whole = cpu() - start
    hits = engine.stage.rays.first_hits(camera)
    start = cpu()
    noisy = engine.stage.color(camera, engine.settings, seed, hide_lights=hits.lights)
    engine._denoised(noisy, camera, hits)
    return whole, cpu() - start


def ask_cycles(python: str, folder: Path, **request: Any) -> tuple[dict[str, Any], np.ndarray]:
    """Render one picture with Cycles in a process of its own; return what it told and the picture."""
    (folder / "requests.json").write_text(json.dumps([request]))
    script = Path(__file__).parent / "blender_render.py"
    arguments = [python, str(script), str(folder / "scene.npz"), str(folder / "requests.json"), str(folder)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"Cycles failed:\n{done.stderr[-2000:]}")
    told = json.loads((folder / "cycles.json").read_text())
    return {**request, **told["results"][0], "version": told["version"]}, np.load(folder / "cycles0.npy")


def cycles(python: str, folder: Path, reference: np.ndarray, bounces: int, target: float) -> list[dict[str, Any]]:
    """Measure Cycles with more and more paths until it is as close to its reference as `target` [dB], per denoiser."""
    rows = []
    for denoise, prefilter in DENOISERS:
        for count in COUNTS:
            row, picture = ask_cycles(
                python, folder, samples=count, denoise=denoise, prefilter=prefilter, repeats=2, max_bounces=bounces
            )
            rows.append({**row, "psnr": psnr(picture, reference)})
            print(
                f"Cycles {row['version']} {count:3d} paths, denoise {denoise:5s}, colour only: "
                f"{row['cpu_s']:6.2f} CPU s, {rows[-1]['psnr']:.2f} dB",
                flush=True,
            )
            if rows[-1]["psnr"] >= target:
                break
    return rows


def references(
    engine: Engine, options: argparse.Namespace, camera: Camera, folder: Path, depth: int
) -> list[np.ndarray]:
    """Return our reference and Cycles' one, each of many paths and not denoised; kept in `folder` for another run."""
    kept = folder / f"references{options.reference}.npz"
    if kept.exists():
        stored = np.load(kept)
        return [stored["ours"], stored["cycles"]]
    hide = engine.stage.rays.first_hits(camera).lights
    settings, steps = Quality(64, depth, "off"), max(1, options.reference // 64)
    ours = np.mean([engine.stage.color(camera, settings, 100 + n, hide_lights=hide) for n in range(steps)], axis=0)
    python, count = options.blender_python, options.reference
    _, theirs = ask_cycles(
        python, folder, samples=count, denoise="off", prefilter="FAST", repeats=1, max_bounces=depth - 1
    )
    np.savez(kept, ours=ours, cycles=theirs)
    return [ours, theirs]


def main() -> None:
    """Print both engines' figures and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blender-python", required=True, help="a Python that has bpy")
    parser.add_argument("--reference", type=int, default=1024, help="paths per pixel of the references")
    parser.add_argument("--samples-per-pixel", type=int, default=None, help="ours; default: the standard preset's")
    parser.add_argument("--keep", type=Path, default=None, help="folder that keeps the references for another run")
    options = parser.parse_args()
    job, scene, camera = settled_scene()
    renderer = Mitsuba(samples_per_pixel=options.samples_per_pixel)
    quality = renderer.settings
    with tempfile.TemporaryDirectory() as temporary, renderer.open() as engine:
        assert isinstance(engine, Engine)
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write_scene(folder / "scene.npz", scene, camera)
        engine.stage.show(scene)
        mine, theirs = references(engine, options, camera, folder, quality.max_depth)
        times = [our_frame(engine, job, scene, camera, seed) for seed in range(5)][1:]
        hits = engine.stage.rays.first_hits(camera)
        noisy = engine.stage.color(camera, quality, 7, hide_lights=hits.lights)
        reached = psnr(engine._denoised(noisy, camera, hits), mine)
        whole, color = min(time[0] for time in times), min(time[1] for time in times)
        print(
            f"sdg {quality.samples_per_pixel} paths, denoise {quality.denoise}, all labels and files, "
            f"{camera.width}x{camera.height}: {whole:.2f} CPU s, {reached:.2f} dB; "
            f"{100 * (1 - color / whole):.0f} % of it is not colour",
            flush=True,
        )
        rows = cycles(options.blender_python, folder, theirs, quality.max_depth - 1, reached)
    equal = [row for row in rows if row["psnr"] >= reached]
    if not equal:
        print("no setting of Cycles came as close to its reference")
        return
    best = min(equal, key=lambda row: row["cpu_s"])
    print(f"cheapest Cycles at least as close: {best['samples']} paths, {best['denoise']}: {best['cpu_s']:.2f} CPU s")
    print(f"ratio: {best['cpu_s'] / whole:.2f} x less CPU time per frame")


if __name__ == "__main__":
    main()
