"""Job files: what is read, what is recorded, and what is said about every fault at once."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from sdg.errors import JobError
from sdg.job import Job, digest_of
from sdg.plugin import Plugin, find

ROOT = Path(__file__).parents[1]
HEAD = f"scene: {{type: usd, file: {ROOT / 'scenes' / 'shapes.usda'}}}\nsamples: 5\n"
RAYCAST = HEAD + "renderer: raycast\n"
FOG = '''
from __future__ import annotations
from pathlib import Path
from pydantic import Field
from sdg import Draws, Randomizer, Scene
from sdg.distributions import Number

class Fog(Randomizer):
    """Fog."""
    density: Number = Field([0.1, 0.2])
    folder: Path | None = None

    def apply(self, scene: Scene, draw: Draws) -> None:
        draw("density", self.density)
'''


def load(folder: Path, text: str) -> Job:
    path = folder / "job.yaml"
    path.write_text(text)
    return Job.load(path)


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(JobError) as caught:
        load(folder, text)
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def test_defaults(tmp_path: Path) -> None:
    job = load(tmp_path, HEAD)
    assert (job.renderer.type_name(), job.writer.type_name(), job.seed, job.randomizers) == (
        "mitsuba",
        "webdataset",
        0,
        (),
    )
    assert "albedo" not in job.annotations and "rgb" in job.annotations


def test_shards_cover_the_samples(tmp_path: Path) -> None:
    job = load(tmp_path, RAYCAST + "writer: {type: webdataset, samples_per_shard: 2}")
    assert [list(job.shard_samples(n)) for n in range(job.shard_count)] == [[0, 1], [2, 3], [4]]


def test_the_description_makes_the_same_job_and_names_every_option(tmp_path: Path) -> None:
    text = RAYCAST + "randomizers: [{type: lighting, count: [1, 3]}]\ncameras: {a: {position: [0, 0, 3], fx: 100}}"
    job = load(tmp_path, text)
    described = job.describe()
    assert Job.model_validate(json.loads(json.dumps(described))).describe() == described
    assert described["randomizers"][0]["count"] == {"whole": [1, 3]}
    other = load(tmp_path, text.replace("[1, 3]", "[1, 4]")).describe()
    assert digest_of(described) != digest_of(other)


def test_a_camera_keeps_its_lens(tmp_path: Path) -> None:
    job = load(
        tmp_path, RAYCAST + "cameras: {a: {width: 100, height: 50, field_of_view: 1.2}, b: {fx: 70, fy: 60, cx: 1}}"
    )
    a, b = (job.cameras[name].make() for name in "ab")
    assert math.isclose(2 * math.atan(50 / a.fx), 1.2) and (a.fy, a.cx, a.cy) == (a.fx, 50, 25)
    assert (b.fx, b.fy, b.cx, b.cy) == (70, 60, 1, 240)


def test_every_fault_is_said_at_once_with_its_line(tmp_path: Path) -> None:
    text = """\
scene: {type: usd, file: nowhere.usd}
samples: yes
seed: -1
sead: 3
annotations: [rgb, dept]
cameras:
  front: {width: 0, exposure: bright, fov: 1}
  side: {position: [0, 0, .nan], look_at: [1, 2]}
renderer: {type: raycst}
writer: webdataset2
randomizers:
  - {type: lighting, intensty: 3}
  - type: lighting
    count: [3, 1]
    kinds: [rect, lamp]
    size: {uniform: [1, 2], lo: 1}
  - {type: ./fog.py:Fog}
  - {type: "my_lab.fog:Fog"}
  - 7
  - {count: 3}
"""
    job_options = "annotations, cameras, max_rejections, randomizers, renderer, samples, scene, seed, writer"
    camera_options = "cx, cy, exposure, field_of_view, fx, fy, height, look_at, position, prim, roll, width"
    found = [line.partition("there are: camera_pose")[0] for line in faults(tmp_path, text)]
    assert found == [
        f"job.yaml:1: scene.file: no such file or folder: {tmp_path / 'nowhere.usd'}".replace(f"{tmp_path}/", ""),
        "job.yaml:2: samples: Input should be a valid integer, unable to parse string as an integer (given: 'yes')",
        "job.yaml:3: seed: Input should be greater than or equal to 0 (given: -1)",
        f"job.yaml:4: sead: is not an option here; did you mean 'seed'? there are: {job_options}",
        "job.yaml:5: annotations: no annotation 'dept'; did you mean 'depth'? there are: albedo, amodal, boxes, boxes_3d, "
        "depth, distance, instance, normals, poses, rgb, semantic, visibility",
        "job.yaml:7: cameras.front.width: Input should be greater than 0 (given: 0)",
        "job.yaml:7: cameras.front.exposure: Input should be a valid number, unable to parse string as a number "
        "or: Input should be 'auto' (given: 'bright')",
        f"job.yaml:7: cameras.front.fov: is not an option here; there are: {camera_options}",
        "job.yaml:8: cameras.side.position.2: Input should be a finite number (given: nan)",
        "job.yaml:8: cameras.side.look_at.2: is missing",
        "job.yaml:9: renderer: no type 'raycst' in sdg.renderers; did you mean 'raycast'? there are: mitsuba, raycast",
        "job.yaml:10: writer: no type 'webdataset2' in sdg.writers; did you mean 'webdataset'? there are: webdataset",
        "job.yaml:12: randomizers.0.intensty: is not an option here; there are: azimuth, color_temperature, count, distance, "
        "elevation, irradiance, keep_scene_lights, kinds, name, size, sky, sky_irradiance, sky_rotation",
        "job.yaml:14: randomizers.1.count: the low end 3 is above the high end 1",
        "job.yaml:15: randomizers.1.kinds.1: Input should be 'rect', 'disk', 'sphere', 'cylinder' or 'distant' (given: 'lamp')",
        "job.yaml:16: randomizers.1.size.lo: is not an option here; there are: uniform",
        "job.yaml:17: randomizers.2: no file 'fog.py' for a plug-in",
        "job.yaml:18: randomizers.3: no module 'my_lab' for type 'my_lab.fog:Fog'; is it installed? a file beside the job is "
        "named './file.py:Class'",
        "job.yaml:19: randomizers.4: a type or a mapping with `type` is needed; ",
        "job.yaml:20: randomizers.5: `type` is missing; ",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1\n- 2", "job.yaml:1: job: a mapping is needed"),
        ("hello", "job.yaml:1: job: a mapping is needed (given: 'hello')"),
        ("samples: 3", "job.yaml:1: scene: is missing"),
        (HEAD.replace("5", "0"), "job.yaml:2: samples: Input should be greater than 0 (given: 0)"),
        (HEAD.replace("5", ".inf"), "job.yaml:2: samples: Input should be a finite number (given: inf)"),
        (HEAD + "randomizers: {type: lighting}", "job.yaml:3: randomizers: a list is needed"),
        (HEAD + "cameras: [1]", "job.yaml:3: cameras: a mapping is needed"),
        (HEAD + "cameras:", "job.yaml:3: cameras: a mapping is needed (given: nothing)"),
        (
            HEAD + "annotations: []",
            "job.yaml:3: annotations: Tuple should have at least 1 item after validation, not 0",
        ),
        (HEAD + "annotations: [rgb, rgb]", "job.yaml:3: annotations: an annotation is named twice"),
        (
            HEAD + "cameras: {Front: {}}",
            "job.yaml:3: cameras: a camera's name becomes part of file names: only a-z, 0-9, _ and -, not 'Front'",
        ),
        (
            HEAD + "cameras: {a: {fx: 3, field_of_view: 1}}",
            "job.yaml:3: cameras.a: fx and field_of_view say the same thing; give one of them",
        ),
        (
            HEAD + "cameras: {a: {position: [1, 1, 1], look_at: [1, 1, 1]}}",
            "job.yaml:3: cameras.a: position and look_at are the same point",
        ),
        (
            HEAD + "randomizers:\n- lighting\n- lighting",
            "job.yaml:1: job: two randomizers named 'lighting' would draw the same numbers; give one another `name`",
        ),
        (HEAD + "1: 2", "job.yaml:3: 1: a name is needed, not a number (given: 1)"),
    ],
)
def test_faults_are_said_in_words(tmp_path: Path, text: str, message: str) -> None:
    assert faults(tmp_path, text) == [message]


def test_a_plug_in_file_beside_the_job(tmp_path: Path) -> None:
    (tmp_path / "fog.py").write_text(FOG)
    job = load(tmp_path, RAYCAST + "randomizers: [{type: './fog.py:Fog', density: 0.3, folder: .}]")
    assert job.describe()["randomizers"][0] == {
        "type": "./fog.py:Fog",
        "name": "",
        "density": {"constant": 0.3},
        "folder": ".",
    }
    (fault,) = faults(tmp_path, RAYCAST + "randomizers: [{type: './fog.py:Fogg'}]")
    assert (
        fault == "job.yaml:4: randomizers.0: ./fog.py has no plug-in class 'Fogg'; did you mean 'Fog'? there are: Fog"
    )
    (fault,) = faults(tmp_path, RAYCAST + "randomizers: [{type: './fog.py:Fog', densty: 0.3}]")
    assert fault.startswith("job.yaml:4: randomizers.0.densty: is not an option here; did you mean 'density'?")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError: invalid syntax (broken.py, line 1)"),
    ],
)
def test_a_plug_in_file_that_cannot_be_imported_is_said(tmp_path: Path, code: str, message: str) -> None:
    (tmp_path / "broken.py").write_text(code)
    (fault,) = faults(tmp_path, RAYCAST + "randomizers: [{type: './broken.py:Fog'}]")
    assert fault == f"job.yaml:4: randomizers.0: broken.py cannot be imported: {message}"


@pytest.mark.parametrize(
    "type_name", ["", ".", "..", "_colliders", "lighting.py", "os:path", "sdg.job:Job", "os", "../x"]
)
def test_types_that_are_no_plug_ins_are_refused(type_name: str) -> None:
    with pytest.raises(ValueError, match=r"no type|no plug-in|no file|no module"):
        find("sdg.randomizers", type_name)


def test_a_plug_in_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fog.py").write_text(FOG)
    (fault,) = faults(tmp_path, "scene: {type: './fog.py:Fog'}\nsamples: 1\nrenderer: raycast")
    assert fault == "job.yaml:1: scene: 'Fog' is no SceneSource"


def test_unknown_options_are_errors_in_every_plug_in() -> None:
    for package in ("scenes", "randomizers", "renderers", "writers"):
        from sdg.plugin import names

        for name in names(f"sdg.{package}"):
            plugin: type[Plugin] = find(f"sdg.{package}", name)
            config: Any = plugin.model_config
            assert (config["extra"], config["frozen"], config["allow_inf_nan"]) == ("forbid", True, False), name
