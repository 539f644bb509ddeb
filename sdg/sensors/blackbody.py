"""The colour of a black body."""

from __future__ import annotations

import numpy as np


def blackbody_rgb(temperature: float) -> np.ndarray:
    """Return the linear Rec. 709 colour [3] of a black body, its largest component 1.

    temperature [K], clamped to 1667..25000; chromaticity by the cubics of Kim et al. 2002 (US 7024034), within 0.002 of
    Planck's law between 1900 and 15000 K.
    """
    t = float(np.clip(temperature, 1667, 25000))
    if t <= 4000:
        x = -0.2661239e9 / t**3 - 0.2343589e6 / t**2 + 0.8776956e3 / t + 0.179910
    else:
        x = -3.0258469e9 / t**3 + 2.1070379e6 / t**2 + 0.2226347e3 / t + 0.240390
    if t <= 2222:
        y = -1.1063814 * x**3 - 1.34811020 * x**2 + 2.18555832 * x - 0.20219683
    elif t <= 4000:
        y = -0.9549476 * x**3 - 1.37418593 * x**2 + 2.09137015 * x - 0.16748867
    else:
        y = 3.0817580 * x**3 - 5.87338670 * x**2 + 3.75112997 * x - 0.37001483
    xyz = np.array([x / y, 1.0, (1 - x - y) / y])
    to_rgb = np.array(
        [
            [3.2404542, -1.5371385, -0.4985314],
            [-0.9692660, 1.8760108, 0.0415560],
            [0.0556434, -0.2040259, 1.0572252],
        ]
    )
    rgb = np.maximum(to_rgb @ xyz, 0)
    return np.asarray(rgb / rgb.max())
