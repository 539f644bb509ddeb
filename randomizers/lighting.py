"""Light the scene anew."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr

from sdg import transforms
from sdg.distributions import Count, Number, Positive, within
from sdg.errors import SceneError
from sdg.patterns import sky
from sdg.placement import region_of, shell_point
from sdg.plugin import InputPath
from sdg.randomizer import Draws, Randomizer
from sdg.scene import Light, Scene, Texture
from sdg.sight import first_obstacle
from sdg.usd.pictures import decode

Kind = Literal["rect", "disk", "sphere", "cylinder", "distant"]


class Lighting(Randomizer):
    """Replace the lights by random ones on a shell around the scene's region, under a random sky.

    Strength is given as the irradiance that arrives at the region's centre [W/m2, relative], so that it does not depend
    on distance and size; the intensity of the light follows from it. Lights that would hide behind a wall or ceiling are
    pulled in front of it.
    """

    count: Count = Field([1, 3], description="number of lights beside the sky, whole number, uniform")  # type: ignore[assignment]
    kinds: tuple[Kind, ...] = Field(
        ("rect", "disk", "sphere"), min_length=1, description="uniform choice for each light"
    )
    distance: Positive = Field([0.8, 1.8], description="from the region's centre [m], uniform")  # type: ignore[assignment]
    elevation: Number = Field([0.4, 1.5], description="above the horizon [rad], uniform")  # type: ignore[assignment]
    azimuth: Number = Field([0.0, 2 * math.pi], description="from +x about z [rad], uniform")  # type: ignore[assignment]
    irradiance: Positive = Field(
        {"log_uniform": [0.5, 4.0]}, description="of each light at the centre [W/m2], log-uniform"
    )  # type: ignore[assignment]
    color_temperature: Annotated[Number, within(1000, 20000)] = Field([2700, 7500], description="[K], uniform")  # type: ignore[assignment]
    size: Positive = Field({"log_uniform": [0.1, 1.0]}, description="edge or diameter [m], log-uniform")  # type: ignore[assignment]
    sky: Literal["procedural", "none", "keep"] | InputPath = Field(
        "procedural",
        description="procedural, none, keep (the scene's domes) or a folder of .hdr/.exr panoramas (uniform choice)",
    )
    sky_irradiance: Positive = Field(
        {"log_uniform": [0.3, 2.0]}, description="of the sky on level ground [W/m2], log-uniform"
    )  # type: ignore[assignment]
    sky_rotation: Number = Field([0.0, 2 * math.pi], description="about z [rad], uniform")  # type: ignore[assignment]
    keep_scene_lights: bool = Field(False, description="whether the scene's own lights stay")

    _panoramas: dict[Path, np.ndarray] = PrivateAttr(default_factory=dict)

    def check(self, scene: Scene) -> list[str]:
        if isinstance(self.sky, Path) and not self._files():
            return [f"the folder {self.sky} holds no .hdr or .exr file"]
        return []

    def apply(self, scene: Scene, draw: Draws) -> None:
        kept = {name: light for name, light in scene.lights.items() if self._stays(light)}
        scene.lights = kept
        center = region_of(scene).mean(axis=0)
        for number in range(draw.count("count", self.count)):
            light = self._light(scene, center, draw, f"light_{number}")
            scene.lights[f"{self.stream}_{number}"] = light
        if self.sky not in ("none", "keep"):
            scene.lights[f"{self.stream}_sky"] = self._sky(draw)

    def _stays(self, light: Light) -> bool:
        return self.sky == "keep" if light.kind == "dome" else self.keep_scene_lights

    def _light(self, scene: Scene, center: np.ndarray, draw: Draws, name: str) -> Light:
        kind: Kind = draw.note(f"{name}.kind", self.kinds[int(draw.rng.integers(len(self.kinds)))])
        distance = draw(f"{name}.distance", self.distance)
        place = shell_point(
            center, distance, draw(f"{name}.elevation", self.elevation), draw(f"{name}.azimuth", self.azimuth)
        )
        size, irradiance = draw(f"{name}.size", self.size), draw(f"{name}.irradiance", self.irradiance)
        temperature = draw(f"{name}.color_temperature", self.color_temperature)
        if kind != "distant":
            free = first_obstacle(scene, center, place, only_unlabelled=True)
            distance = min(distance, max(free - size, 0.5 * free))
            place = center + (place - center) / np.linalg.norm(place - center) * distance
        pose = _shining_at(place, center)
        half = size / 2
        # Radiance times the solid angle that the light covers, seen from the centre, is the irradiance.
        area = {
            "rect": size * size,
            "disk": math.pi * half**2,
            "sphere": math.pi * half**2,
            "cylinder": size * size / 5,
            "distant": distance**2,
        }
        return Light(
            kind,
            pose,
            intensity=irradiance * distance**2 / area[kind],
            color_temperature=temperature,
            width=size,
            height=size,
            radius=size / 10 if kind == "cylinder" else half,
            length=size,
        )

    def _sky(self, draw: Draws) -> Light:
        if isinstance(self.sky, Path):
            files = self._files()
            file = files[int(draw.rng.integers(len(files)))]
            draw.note("sky.file", file.name)
            pixels = self._panorama(file)
        else:
            pixels = sky(draw.rng)
        turn = transforms.axis_angle((0, 0, 1), draw("sky.rotation", self.sky_rotation))
        irradiance = draw("sky.irradiance", self.sky_irradiance)
        texture = Texture(pixels, srgb=False, name="sky")
        return Light(
            "dome", transforms.transform(turn), intensity=irradiance / level_irradiance(pixels), texture=texture
        )

    def _files(self) -> list[Path]:
        assert isinstance(self.sky, Path)
        if self.sky.is_file():
            return [self.sky]
        return sorted(path for path in self.sky.iterdir() if path.suffix.lower() in (".hdr", ".exr"))

    def _panorama(self, file: Path) -> np.ndarray:
        if file not in self._panoramas:
            if len(self._panoramas) >= 8:
                self._panoramas.pop(next(iter(self._panoramas)))
            self._panoramas[file] = read_panorama(file)
        return self._panoramas[file]


def read_panorama(file: Path) -> np.ndarray:
    """Read a latitude-longitude map [h, w, 3] float32 linear RGB. Raises SceneError."""
    try:
        pixels = decode(file.read_bytes(), file.name)
    except (ValueError, OSError) as error:
        raise SceneError(f"{file}: cannot be read as a panorama: {error}") from None
    if pixels.shape[2] < 3 or pixels.dtype != np.float32:
        raise SceneError(
            f"{file}: a panorama has three channels of linear light, not {pixels.shape[2]} of {pixels.dtype}"
        )
    return np.ascontiguousarray(np.nan_to_num(np.clip(pixels[..., :3], 0, 1e5)))


def level_irradiance(pixels: np.ndarray) -> float:
    """Return the irradiance [W/m2] of a latitude-longitude map of radiance on level ground (Rec. 709 luminance)."""
    rows, columns = pixels.shape[:2]
    polar = (np.arange(rows) + 0.5) / rows * math.pi
    solid_angle = np.sin(polar) * (math.pi / rows) * (2 * math.pi / columns)
    luminance = pixels[..., :3] @ np.array([0.2126, 0.7152, 0.0722])
    return max(float(luminance.sum(axis=1) @ (solid_angle * np.maximum(np.cos(polar), 0))), 1e-6)


def _shining_at(place: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return object_to_world of a light at `place` whose -z points at `target`."""
    return transforms.look_at(place, target) @ np.diag([1.0, -1.0, -1.0, 1.0])
