"""Print on packages: labels with a brand, a picture, small print and a bar code."""

from __future__ import annotations

import math

import numpy as np

from .patterns import color, noise

_SYLLABLES = ("ba", "co", "del", "fa", "gro", "ka", "li", "mo", "no", "pe", "ri", "so", "ta", "vel", "zu")
_PRODUCTS = ("ORIGINAL", "CRUNCHY", "FRESH", "CLASSIC", "PREMIUM", "NATURAL", "EXTRA", "GOLD")


def brand(rng: np.random.Generator) -> str:
    """Return a name that nobody sells under, we hope."""
    return "".join(_SYLLABLES[i] for i in rng.integers(len(_SYLLABLES), size=int(rng.integers(2, 4)))).upper()


def label(
    rng: np.random.Generator, shape: tuple[int, int], *, title: str | None = None, base: np.ndarray | None = None
) -> np.ndarray:
    """Return a printed label [h, w, 3] float32 sRGB, 0..1; `base` is its main colour [3]."""
    rows, columns = shape
    base = color(rng, saturation=(0.55, 0.95), value=(0.45, 0.95)) if base is None else np.asarray(base, np.float32)
    accent = 1 - (1 - base[::-1]) * 0.6
    canvas = np.empty((rows, columns, 3), np.float32)
    canvas[:] = base
    fade = np.linspace(-0.1, 0.12, rows, dtype=np.float32)[:, None, None]
    canvas -= fade
    _burst(canvas, rng, accent)
    _band(canvas, rng)
    _text(canvas, title or brand(rng), (0.5, 0.2), 0.72, (1.0, 1.0, 1.0), outline=base * 0.35)
    _text(canvas, _PRODUCTS[int(rng.integers(len(_PRODUCTS)))], (0.5, 0.82), 0.42, base * 0.3, outline=None)
    _small_print(canvas, rng)
    canvas *= (1 + 0.008 * noise(rng, max(rows, columns), 8, octaves=3))[:rows, :columns, None]
    return np.clip(canvas, 0, 1)


def facts(rng: np.random.Generator, shape: tuple[int, int], *, base: np.ndarray) -> np.ndarray:
    """Return the back of a package [h, w, 3] float32: a table, small print and a bar code."""
    rows, columns = shape
    canvas = np.empty((rows, columns, 3), np.float32)
    canvas[:] = base
    _text(canvas, "CONTENTS", (0.5, 0.1), 0.5, (1.0, 1.0, 1.0), outline=None)
    panel = canvas[int(rows * 0.17) : int(rows * 0.66), int(columns * 0.1) : int(columns * 0.9)]
    panel[:] = 0.96
    height = panel.shape[0]
    for line in range(9):
        y = int((line + 0.5) / 9 * height)
        panel[
            y : y + max(1, rows // 170), int(panel.shape[1] * 0.06) : int(panel.shape[1] * rng.uniform(0.3, 0.65))
        ] = 0.1
        panel[y : y + max(1, rows // 170), int(panel.shape[1] * 0.8) : int(panel.shape[1] * 0.93)] = 0.1
        panel[min(height - 1, int((line + 1) / 9 * height) - 1), :] = 0.55
    _bar_code(canvas, rng, (0.58, 0.74, 0.9, 0.93))
    return canvas


def letter(character: str, shape: tuple[int, int], ink: np.ndarray, paper: np.ndarray) -> np.ndarray:
    """Return one big framed letter [h, w, 3] float32, as on a toy block."""
    canvas = np.empty((*shape, 3), np.float32)
    canvas[:] = paper
    edge = max(2, shape[0] // 14)
    canvas[edge:-edge, edge:-edge] = ink
    canvas[2 * edge : -2 * edge, 2 * edge : -2 * edge] = paper
    _text(canvas, character, (0.5, 0.5), 0.5, ink, outline=None)
    return canvas


def _text(
    canvas: np.ndarray,
    text: str,
    center: tuple[float, float],
    width: float,
    ink: np.ndarray | tuple[float, ...],
    *,
    outline: np.ndarray | None,
) -> None:
    """Write text about `center` (shares of width and height), at most `width` wide and a third high."""
    import cv2

    rows, columns = canvas.shape[:2]
    font = cv2.FONT_HERSHEY_DUPLEX
    (wide, high), _ = cv2.getTextSize(text, font, 1.0, 2)
    scale = min(width * columns / wide, (0.16 if len(text) > 1 else 0.6) * rows / high)
    stroke = max(1, round(scale * 3.2))
    place = (round(center[0] * columns - wide * scale / 2), round(center[1] * rows + high * scale / 2))
    for paint, thickness in ((outline, stroke * 3), (ink, stroke)):
        if paint is not None:
            mask = np.zeros((rows, columns), np.uint8)
            cv2.putText(mask, text, place, font, scale, 255, thickness, cv2.LINE_AA)
            share = mask[..., None].astype(np.float32) / 255
            canvas += (np.asarray(paint, np.float32) - canvas) * share


def _burst(canvas: np.ndarray, rng: np.random.Generator, accent: np.ndarray) -> None:
    """Draw the picture: a sun of rays behind round fruits."""
    import cv2

    rows, columns = canvas.shape[:2]
    middle = np.array([columns * 0.5, rows * 0.52])
    reach = min(rows, columns) * 0.42
    for number in range(12):
        angles = (number + np.array([0, 0.5])) / 12 * 2 * math.pi
        tips = middle + 1.6 * reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        wedge = np.array([middle, *tips]).round().astype(np.int32)
        cv2.fillPoly(canvas, [wedge], [float(c) for c in accent * 0.35 + canvas[0, 0] * 0.65], cv2.LINE_AA)
    for _ in range(7):
        place = middle + rng.normal(0, 0.3, 2) * reach
        radius = reach * rng.uniform(0.15, 0.35)
        paint = color(rng, saturation=(0.5, 0.95), value=(0.5, 0.95))
        for share, shade in ((1.0, 0.6), (0.9, 1.0), (0.3, 1.35)):
            spot = (place - (1 - share) * radius * 0.5).round().astype(int)
            tone = [float(c) for c in np.clip(paint * shade, 0, 1)]
            cv2.circle(canvas, (int(spot[0]), int(spot[1])), max(1, round(radius * share)), tone, -1, cv2.LINE_AA)


def _band(canvas: np.ndarray, rng: np.random.Generator) -> None:
    rows = canvas.shape[0]
    canvas[int(rows * 0.75) : int(rows * 0.89)] = color(rng, saturation=(0.05, 0.4), value=(0.9, 1.0))


def _small_print(canvas: np.ndarray, rng: np.random.Generator) -> None:
    rows, columns = canvas.shape[:2]
    for line in range(3):
        y, x = int(rows * (0.92 + 0.022 * line)), int(columns * 0.06)
        while x < columns * 0.6:
            word = int(columns * rng.uniform(0.015, 0.05))
            canvas[y : y + max(1, rows // 200), x : x + word] *= 0.4
            x += word + max(2, columns // 100)


def _bar_code(canvas: np.ndarray, rng: np.random.Generator, box: tuple[float, float, float, float]) -> None:
    """Draw a bar code in a box x0 y0 x1 y1 (shares of width and height)."""
    rows, columns = canvas.shape[:2]
    x0, y0, x1, y1 = int(box[0] * columns), int(box[1] * rows), int(box[2] * columns), int(box[3] * rows)
    canvas[y0:y1, x0:x1] = 0.97
    bars = rng.random(max(4, (x1 - x0 - 8) // 2)) < 0.5
    strip = np.repeat(bars, 2)[: x1 - x0 - 8]
    canvas[y0 + 4 : y1 - 4, x0 + 4 : x0 + 4 + len(strip)][:, strip] = 0.05
