"""Change what bodies are made of."""

from __future__ import annotations

import colorsys
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from sdg.distributions import Distribution, Fraction, Number, within
from sdg.placement import select, unmatched
from sdg.randomizer import Draws, Randomizer
from sdg.scene import Body, Material, Scene, Texture

_SCALARS = ("roughness", "metallic", "specular")


class Materials(Randomizer):
    """Draw colour, roughness, metallic and specular of the chosen bodies anew, each material of each body by itself.

    The colour is drawn as hue, saturation and value (sRGB) and mixed into the old one, or into the texture, by
    `strength`. What is set to null stays as it is.
    """

    bodies: tuple[str, ...] = Field(("*",), description="names or classes of the bodies; * and ?")
    probability: Fraction = Field(1.0, description="chance that a body is changed")  # type: ignore[assignment]
    hue: Number | None = Field([0.0, 1.0], description="of the colour, in turns, uniform")  # type: ignore[assignment]
    saturation: Fraction = Field([0.1, 0.9], description="of the colour, 0..1, uniform")  # type: ignore[assignment]
    value: Fraction = Field([0.2, 0.95], description="of the colour, 0..1, uniform")  # type: ignore[assignment]
    strength: Fraction = Field([0.3, 1.0], description="share of the new colour, 0..1, uniform")  # type: ignore[assignment]
    textured: Literal["tint", "keep", "replace"] = Field(
        "tint", description="colour textures are tinted, kept as they are, or replaced by the colour"
    )
    roughness: Fraction | None = Field([0.05, 0.95], description="0..1, uniform")  # type: ignore[assignment]
    metallic: Fraction | None = Field(
        {"choice": [0.0, 1.0], "weights": [0.85, 0.15]}, description="0..1; 1 in 15 % of all materials, else 0"
    )  # type: ignore[assignment]
    specular: Annotated[Number, within(0, 2)] | None = Field(
        [0.3, 1.0], description="factor of the reflection, uniform"
    )  # type: ignore[assignment]

    def check(self, scene: Scene) -> list[str]:
        return unmatched(scene, self.bodies)

    def apply(self, scene: Scene, draw: Draws) -> None:
        for body in select(scene, self.bodies):
            if draw.rng.random() < self.probability.sample(draw.rng):
                self._change(body, draw)

    def _change(self, body: Body, draw: Draws) -> None:
        record: list[dict[str, Any]] = []
        for number, material in enumerate(body.materials):
            drawn = Draws(draw.rng)
            body.materials[number] = self._drawn(material, drawn)
            record.append(drawn.record)
        draw.note(body.name, record)

    def _drawn(self, material: Material, draw: Draws) -> Material:
        changes: dict[str, Any] = {}
        if self.hue is not None:
            hue, saturation = draw("hue", self.hue), draw("saturation", self.saturation)
            new = np.array(colorsys.hsv_to_rgb(hue % 1.0, saturation, draw("value", self.value)))
            strength = draw("strength", self.strength)
            changes |= self._colored(material, new, strength)
        for name in _SCALARS:
            option: Distribution | None = getattr(self, name)
            if option is not None:
                changes[name] = draw(name, option)
                if name != "specular":
                    changes[f"{name}_texture"] = None
        return material.changed(**changes)

    def _colored(self, material: Material, new: np.ndarray, strength: float) -> dict[str, Any]:
        """Return the changes that mix the sRGB colour `new` [3] into a material."""
        old = np.array(material.base_color)
        red, green, blue = (old + (_to_linear(new) - old) * strength).tolist()
        changes: dict[str, Any] = {"base_color": (red, green, blue)}
        texture = material.base_color_texture
        if texture is not None and self.textured == "replace":
            changes["base_color_texture"] = None
        elif texture is not None and self.textured == "tint":
            changes["base_color_texture"] = tinted(texture, new, strength)
        return changes


def tinted(texture: Texture, color: np.ndarray, strength: float) -> Texture:
    """Return a uint8 colour texture whose values are scaled towards the sRGB `color` [3], its light and dark kept."""
    if texture.pixels.dtype != np.uint8 or texture.pixels.shape[2] < 3:
        return texture
    levels = np.arange(256, dtype=np.float64)[:, None]
    factor = 1 + (color / max(float(color.max()), 1e-6) * (0.4 + 0.6 * float(color.max())) - 1) * strength
    table = np.clip(levels * factor + 0.5, 0, 255).astype(np.uint8)
    channels = [table[:, channel][texture.pixels[..., channel]] for channel in range(3)]
    return Texture(
        np.stack(channels, axis=-1),
        texture.srgb,
        texture.wrap,
        texture.uv_scale,
        texture.uv_rotation,
        texture.uv_offset,
        texture.name,
    )


def _to_linear(color: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4))
