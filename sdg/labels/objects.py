"""The labelled objects that one camera has in sight, as a struct of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Objects:
    """n labelled bodies whose silhouette touches the (three times enlarged) picture, by ascending instance id.

    names [n]; instance_id, class_id [n] uint16; object_to_camera [n, 4, 4] rigid, scale [n, 3];
    box_tight, box_loose, box_amodal [n, 4] float32: x0 y0 x1 y1 in pixel edges (x1 - x0 is the width in pixels).
    Tight: of the visible pixels. Loose: of the projected geometry, clipped to the picture. Amodal: of the whole
    silhouette, hidden and cut-off parts included, so it may leave the picture. -1 -1 -1 -1: there is none.
    box_3d_size, box_3d_center [n, 3] in the object's frame [m]; box_3d_corners [n, 8, 3] in camera axes [m].
    visible_pixels, inside_pixels, amodal_pixels [n] int32: visible; silhouette inside of the picture; whole silhouette.
    visible_fraction = visible / amodal; truncation = 1 - inside / amodal (both float32).
    amodal [n, h, w] bool: silhouette inside of the picture.
    """

    names: list[str]
    instance_id: np.ndarray
    class_id: np.ndarray
    object_to_camera: np.ndarray
    scale: np.ndarray
    box_tight: np.ndarray
    box_loose: np.ndarray
    box_amodal: np.ndarray
    box_3d_size: np.ndarray
    box_3d_center: np.ndarray
    box_3d_corners: np.ndarray
    visible_pixels: np.ndarray
    inside_pixels: np.ndarray
    amodal_pixels: np.ndarray
    visible_fraction: np.ndarray
    truncation: np.ndarray
    amodal: np.ndarray

    def __len__(self) -> int:
        return len(self.names)
