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
SETTINGS = [
    (n, quality, prefilter)
    for quality, prefilter in (("fast", "FAST"), ("balanced", "ACCURATE"), ("high", "ACCURATE"))
    for n in (1, 2, 4, 8, 16, 32, 64)
]


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


def ours(job: Job, scene: Scene, camera: Camera, quality: Quality, reference_spp: int) -> dict[str, Any]:
    """Measure our renderer."""
    with Mitsuba().open() as engine:
        assert isinstance(engine, Engine)
        engine.settings = quality
        times = [our_frame(engine, job, scene, camera, seed) for seed in range(4)][1:]
        hits = engine.stage.rays.first_hits(camera)
        noisy = engine.stage.color(camera, quality, 7, hide_lights=hits.lights)
        picture = engine._denoised(noisy, camera, hits)
        steps = max(1, reference_spp // 64)
        passes = [
            engine.stage.color(camera, Quality(64, quality.max_depth, "off"), 100 + n, hide_lights=hits.lights)
            for n in range(steps)
        ]
    reference = np.mean(passes, axis=0)
    whole, color = np.min([t[0] for t in times]), np.min([t[1] for t in times])
    return {
        "cpu_s": float(whole),
        "color_s": float(color),
        "psnr": psnr(picture, reference),
        "picture": picture,
        "reference": reference,
    }


def cycles(
    scene: Scene, camera: Camera, python: str, reference_spp: int, bounces: int, folder: Path
) -> tuple[str, list[dict[str, Any]]]:
    """Measure Cycles at every setting."""
    write_scene(folder / "scene.npz", scene, camera)
    requests = [{"samples": reference_spp, "denoise": "off", "prefilter": "FAST", "repeats": 1, "max_bounces": bounces}]
    requests += [
        {"samples": n, "denoise": d, "prefilter": p, "repeats": 2, "max_bounces": bounces} for n, d, p in SETTINGS
    ]
    (folder / "requests.json").write_text(json.dumps(requests))
    script = Path(__file__).parent / "blender_render.py"
    done = subprocess.run(
        [python, str(script), str(folder / "scene.npz"), str(folder / "requests.json"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"Cycles failed:\n{done.stderr[-2000:]}")
    told = json.loads((folder / "cycles.json").read_text())
    pictures = [np.load(folder / f"cycles{n}.npy") for n in range(len(requests))]
    rows = [
        {**request, **result, "psnr": psnr(picture, pictures[0])}
        for request, result, picture in zip(requests[1:], told["results"][1:], pictures[1:], strict=True)
    ]
    return told["version"], rows


def main() -> None:
    """Print both engines' figures and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blender-python", required=True, help="a Python that has bpy")
    parser.add_argument("--reference", type=int, default=1024, help="paths per pixel of the references")
    parser.add_argument("--samples-per-pixel", type=int, default=None)
    parser.add_argument("--keep", type=Path, default=None, help="folder for the exchanged scene and pictures")
    options = parser.parse_args()
    job, scene, camera = settled_scene()
    quality = Mitsuba(samples_per_pixel=options.samples_per_pixel).settings
    mine = ours(job, scene, camera, quality, options.reference)
    print(
        f"sdg {quality.samples_per_pixel} paths, denoise {quality.denoise}, "
        f"all labels and files, {camera.width}x{camera.height}: "
        f"{mine['cpu_s']:.2f} CPU s, {mine['psnr']:.2f} dB; {100 * (1 - mine['color_s'] / mine['cpu_s']):.0f} % not colour",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / "ours.npz", picture=mine["picture"], reference=mine["reference"])
        told, rows = cycles(scene, camera, options.blender_python, options.reference, quality.max_depth - 1, folder)
    for row in rows:
        print(
            f"Cycles {told} {row['samples']:3d} paths, denoise {row['denoise']:8s}, colour only: "
            f"{row['cpu_s']:6.2f} CPU s, {row['psnr']:.2f} dB"
        )
    equal = [row for row in rows if row["psnr"] >= mine["psnr"]]
    if not equal:
        print("no setting of Cycles came as close to its reference")
        return
    best = min(equal, key=lambda row: row["cpu_s"])
    print(f"cheapest Cycles at least as close: {best['samples']} paths, {best['denoise']}: {best['cpu_s']:.2f} CPU s")
    print(f"ratio: {best['cpu_s'] / mine['cpu_s']:.2f} x less CPU time per frame")


if __name__ == "__main__":
    main()
