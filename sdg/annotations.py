"""The annotations: names, dtypes, shapes, units."""

from __future__ import annotations

from dataclasses import dataclass

BACKGROUND = 0
"""Id of pixels where nothing is hit, in `instance` and `semantic`."""
UNLABELLED = 1
"""Id of geometry without a semantic class, in `instance` and `semantic`; objects and classes count from 2."""


@dataclass(frozen=True)
class Annotation:
    """One kind of label. `shape` uses h, w (image) and n (objects in sight)."""

    dtype: str
    shape: str
    unit: str
    meaning: str
    rendered: bool = False


ANNOTATIONS: dict[str, Annotation] = {
    "rgb": Annotation("uint8", "h w 3", "sRGB", "path-traced, denoised, tone-mapped colour", rendered=True),
    "albedo": Annotation("uint8", "h w 3", "sRGB", "base colour of the first hit, without light", rendered=True),
    "depth": Annotation("float32", "h w", "m", "distance along the optical axis (z); 0: no hit", rendered=True),
    "distance": Annotation("float32", "h w", "m", "distance along the ray; 0: no hit"),
    "normals": Annotation(
        "float32",
        "h w 3",
        "-",
        "unit shading normal in camera axes (x right, y down, z forward); 0: no hit",
        rendered=True,
    ),
    "instance": Annotation(
        "uint16", "h w", "id", "object id; 0: background, 1: unlabelled, objects from 2", rendered=True
    ),
    "semantic": Annotation("uint16", "h w", "id", "class id; 0: background, 1: unlabelled, classes from 2"),
    "amodal": Annotation("bool", "n h w", "-", "silhouette of each object in sight, as if nothing hid it"),
    "boxes": Annotation(
        "float32", "n 4", "px", "2D boxes x0 y0 x1 y1 (pixel edges): tight (visible part), loose, amodal"
    ),
    "boxes_3d": Annotation(
        "float32", "n 3", "m", "3D box: size and centre in the object's frame, corners in the camera's"
    ),
    "poses": Annotation("float64", "n 4 4", "m", "object_to_camera (rigid) and the object's scale"),
    "visibility": Annotation("float32", "n", "-", "visible fraction, truncation and pixel counts of each object"),
}
"""Every annotation that a job can ask for. All of them come from one first-hit ray per pixel centre or from geometry."""

RENDERED = tuple(name for name, annotation in ANNOTATIONS.items() if annotation.rendered)
"""What a renderer makes; the rest is computed by `sdg.labels`, the same for every renderer."""
DEFAULT = tuple(name for name in ANNOTATIONS if name not in ("albedo", "distance"))
