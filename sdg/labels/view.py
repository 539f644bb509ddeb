"""From the first hits of one camera to its labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdg.annotations import UNLABELLED
from sdg.renderer import Frame
from sdg.scene import Body, Camera, Scene

from .geometry import camera_vertices, loose_box, mask_box, silhouette
from .objects import Objects


def label_view(scene: Scene, camera: Camera, frame: Frame, annotations: Sequence[str]) -> tuple[Frame, Objects]:
    """Return the arrays that were asked for, and the objects in sight.

    `frame` holds what the renderer made, `depth` [m] and `instance` at least.
    """
    arrays = dict(frame)
    if "distance" in annotations:
        arrays["distance"] = (frame["depth"] * np.linalg.norm(camera.rays(), axis=-1)).astype(np.float32)
    if "semantic" in annotations:
        arrays["semantic"] = semantic_ids(scene, frame["instance"])
    objects = label_objects(scene, camera, frame["instance"])
    return {name: arrays[name] for name in annotations if name in arrays}, objects


def semantic_ids(scene: Scene, instance: np.ndarray) -> np.ndarray:
    """Return the class id [h, w] uint16 of each pixel of `instance`."""
    table = np.zeros(int(instance.max(initial=UNLABELLED)) + 1, np.uint16)
    table[UNLABELLED] = UNLABELLED
    for body in scene.bodies.values():
        if body.instance_id < len(table):
            table[body.instance_id] = scene.class_id(body.semantic_class)
    return np.asarray(table[instance])


def label_objects(scene: Scene, camera: Camera, instance: np.ndarray) -> Objects:
    """Return the labels of every labelled, visible body whose silhouette touches the enlarged picture."""
    counts = np.bincount(instance.ravel())
    rows = []
    for body in sorted(scene.visible_bodies(), key=lambda body: body.instance_id):
        if body.labelled:
            visible = int(counts[body.instance_id]) if body.instance_id < len(counts) else 0
            rows.append(_label_object(scene, body, camera, instance, visible))
    return _stack([row for row in rows if row is not None], camera)


def _label_object(
    scene: Scene, body: Body, camera: Camera, instance: np.ndarray, visible: int
) -> dict[str, object] | None:
    vertices = camera_vertices(body, camera)
    shape = silhouette(vertices, body.mesh.triangles, camera)
    if not visible and (shape is None or not shape.mask.any()):
        return None
    seen = instance == body.instance_id if visible else np.zeros(instance.shape, bool)
    inside = seen.copy()
    whole, box_amodal = visible, mask_box(seen)
    if shape is not None:
        # A pixel centre exactly on an edge may be hit by one ray caster and missed by the other: what is seen is there.
        within = shape.inside(camera)
        inside |= within
        whole = int(shape.mask.sum() + (inside & ~within).sum())
        box_amodal = shape.box()
    low, high = body.mesh.bounds * np.asarray(body.scale)
    low, high = np.minimum(low, high), np.maximum(low, high)
    corners = np.array(
        [[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    )
    object_to_camera = camera.world_to_camera @ body.object_to_world
    return {
        "names": body.name,
        "instance_id": body.instance_id,
        "class_id": scene.class_id(body.semantic_class),
        "object_to_camera": object_to_camera,
        "scale": np.asarray(body.scale, float),
        "box_tight": mask_box(seen),
        "box_loose": loose_box(vertices, body.mesh.triangles, camera),
        "box_amodal": box_amodal,
        "box_3d_size": high - low,
        "box_3d_center": (low + high) / 2,
        "box_3d_corners": corners @ object_to_camera[:3, :3].T + object_to_camera[:3, 3],
        "visible_pixels": visible,
        "inside_pixels": int(inside.sum()),
        "amodal_pixels": whole,
        "visible_fraction": visible / whole,
        "truncation": 1 - inside.sum() / whole,
        "amodal": inside,
    }


def _stack(rows: list[dict[str, object]], camera: Camera) -> Objects:
    """Turn one row per object into one array per label; no row keeps dtypes and shapes."""

    def column(name: str, dtype: str, *shape: int) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype).reshape(len(rows), *shape)

    return Objects(
        names=[str(row["names"]) for row in rows],
        instance_id=column("instance_id", "uint16"),
        class_id=column("class_id", "uint16"),
        object_to_camera=column("object_to_camera", "float64", 4, 4),
        scale=column("scale", "float64", 3),
        box_tight=column("box_tight", "float32", 4),
        box_loose=column("box_loose", "float32", 4),
        box_amodal=column("box_amodal", "float32", 4),
        box_3d_size=column("box_3d_size", "float32", 3),
        box_3d_center=column("box_3d_center", "float32", 3),
        box_3d_corners=column("box_3d_corners", "float32", 8, 3),
        visible_pixels=column("visible_pixels", "int32"),
        inside_pixels=column("inside_pixels", "int32"),
        amodal_pixels=column("amodal_pixels", "int32"),
        visible_fraction=column("visible_fraction", "float32"),
        truncation=column("truncation", "float32"),
        amodal=column("amodal", "bool", camera.height, camera.width),
    )
