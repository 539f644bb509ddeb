"""From linear radiance to the 8-bit picture of an ideal camera."""

from __future__ import annotations

import numpy as np

MIDDLE_GREY = 0.18
"""Linear value that automatic exposure gives to the picture's mean (log) luminance."""


def luminance(rgb: np.ndarray) -> np.ndarray:
    """Return the luminance [h, w] of linear Rec. 709 `rgb` [h, w, 3]."""
    return np.asarray(rgb @ np.array([0.2126, 0.7152, 0.0722], rgb.dtype))


def auto_exposure(rgb: np.ndarray) -> float:
    """Return the stops that bring the picture's log-mean luminance to middle grey, within +-16 stops (Reinhard 2002).

    Pixels darker than a ten-thousandth of the brightest do not count: a black background is no reason to expose for it.
    """
    y = luminance(rgb)
    lit = y[y > max(float(y.max(initial=0.0)) * 1e-4, 1e-12)]
    if not lit.size:
        return 0.0
    mean = float(np.exp(np.log(lit).mean()))
    return float(np.clip(np.log2(MIDDLE_GREY / mean), -16, 16))


def develop(rgb: np.ndarray, exposure: float | None) -> np.ndarray:
    """Expose, compress the highlights and encode linear radiance `rgb` [h, w, 3] as sRGB uint8.

    `exposure` [stops] or None for automatic exposure. Up to 0.6 the response is linear; above it a smooth shoulder
    reaches 1 at four times white, so that windows and highlights keep their shape.
    """
    stops = auto_exposure(rgb) if exposure is None else exposure
    return encode_srgb(shoulder(rgb * np.float32(2.0**stops)))


def shoulder(x: np.ndarray, *, start: float = 0.6, white: float = 4.0) -> np.ndarray:
    """Compress values above `start` so that `white` becomes 1; slope 1 at `start`.

    y = start + k (1 - (1 + (x - start)/(n k))^-n) with n = 1 is the rational curve a d / (a + d); `a` follows from white.
    """
    room, reach = 1.0 - start, white - start
    a = room * reach / (reach - room)
    over = np.maximum(x - start, 0)
    return np.asarray(np.minimum(np.minimum(x, start) + a * over / (a + over), 1.0))


def encode_srgb(linear: np.ndarray) -> np.ndarray:
    """Encode linear values 0..1 as sRGB uint8 (IEC 61966-2-1), rounded to the nearest step."""
    x = np.clip(linear, 0.0, 1.0)
    encoded = np.where(x <= 0.0031308, 12.92 * x, 1.055 * np.power(np.maximum(x, 0.0031308), 1 / 2.4) - 0.055)
    return np.asarray((encoded * 255 + 0.5).astype(np.uint8))


def decode_srgb(encoded: np.ndarray) -> np.ndarray:
    """Decode sRGB values (uint8, or float 0..1) to linear float32."""
    x = encoded.astype(np.float32) / 255 if encoded.dtype == np.uint8 else encoded.astype(np.float32)
    return np.where(x <= 0.04045, x / 12.92, np.power((x + 0.055) / 1.055, 2.4)).astype(np.float32)
