"""Rotations and rigid transforms: matrices `a_to_b` act on column vectors, quaternions are wxyz, lengths are metres."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def transform(
    rotation: np.ndarray | None = None, translation: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """Return the [4, 4] matrix of a [3, 3] rotation (or any linear map) followed by a translation."""
    matrix = np.eye(4)
    if rotation is not None:
        matrix[:3, :3] = rotation
    matrix[:3, 3] = translation
    return matrix


def apply(a_to_b: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Map `points` [n, 3] from frame a to frame b."""
    return np.asarray(points @ a_to_b[:3, :3].T + a_to_b[:3, 3])


def rigid_inverse(a_to_b: np.ndarray) -> np.ndarray:
    """Return b_to_a of a rigid transform."""
    rotation = a_to_b[:3, :3].T
    return transform(rotation, -rotation @ a_to_b[:3, 3])


def axis_angle(axis: Sequence[float] | np.ndarray, angle: float) -> np.ndarray:
    """Return the [3, 3] rotation by `angle` [rad] about `axis` (Rodrigues)."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)


def quaternion_to_rotation(quaternion_wxyz: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the [3, 3] rotation of a quaternion, which need not have unit length."""
    w, x, y, z = np.asarray(quaternion_wxyz, float) / np.linalg.norm(quaternion_wxyz)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_to_quaternion(rotation: np.ndarray) -> np.ndarray:
    """Return the unit quaternion wxyz, w >= 0, of a [3, 3] rotation (largest eigenvector of Bar-Itzhack's matrix)."""
    r = rotation
    k = np.array(
        [
            [r[0, 0] + r[1, 1] + r[2, 2], 0, 0, 0],
            [r[2, 1] - r[1, 2], r[0, 0] - r[1, 1] - r[2, 2], 0, 0],
            [r[0, 2] - r[2, 0], r[1, 0] + r[0, 1], r[1, 1] - r[0, 0] - r[2, 2], 0],
            [r[1, 0] - r[0, 1], r[2, 0] + r[0, 2], r[2, 1] + r[1, 2], r[2, 2] - r[0, 0] - r[1, 1]],
        ]
    )
    _, vectors = np.linalg.eigh(k, UPLO="L")
    quaternion = vectors[:, -1]
    return np.asarray(quaternion if quaternion[0] >= 0 else -quaternion)


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """Return a [3, 3] rotation, uniform over SO(3) (Shoemake 1992)."""
    u = rng.random(3)
    a, b = math.sqrt(1 - u[0]), math.sqrt(u[0])
    s, t = 2 * math.pi * u[1], 2 * math.pi * u[2]
    return quaternion_to_rotation((b * math.cos(t), a * math.sin(s), a * math.cos(s), b * math.sin(t)))


def random_direction(rng: np.random.Generator) -> np.ndarray:
    """Return a unit vector [3], uniform over the sphere."""
    z, azimuth = 2 * rng.random() - 1, 2 * math.pi * rng.random()
    radius = math.sqrt(max(0.0, 1 - z * z))
    return np.array([radius * math.cos(azimuth), radius * math.sin(azimuth), z])


def look_at(
    eye: Sequence[float] | np.ndarray,
    target: Sequence[float] | np.ndarray,
    *,
    up: Sequence[float] = (0.0, 0.0, 1.0),
    roll: float = 0.0,
) -> np.ndarray:
    """Return camera_to_world [4, 4] of a camera (x right, y down, z forward) at `eye` that looks at `target`.

    `roll` [rad] turns the camera about its optical axis. Raises ValueError where eye and target coincide.
    """
    forward = np.asarray(target, float) - np.asarray(eye, float)
    length = np.linalg.norm(forward)
    if length < 1e-9:
        raise ValueError(f"a camera at {tuple(eye)} cannot look at its own place")
    forward /= length
    right = np.cross(forward, up)
    if np.linalg.norm(right) < 1e-6:
        right = np.cross(forward, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward], axis=1)
    return transform(rotation @ axis_angle((0, 0, 1), roll), eye)


def decompose(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split an affine [4, 4] into a rigid a_to_b and the stretch [3, 3] applied before it: matrix = rigid @ stretch.

    Orthogonal columns keep their directions, so an axis-aligned scale stays diagonal; mirrored maps put the
    reflection into the stretch.
    """
    linear = matrix[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    columns = linear / np.maximum(lengths, 1e-30)
    if lengths.min() > 0 and np.allclose(columns.T @ columns, np.eye(3), atol=1e-5):
        rotation = columns
    else:
        u, _, vt = np.linalg.svd(linear)
        rotation = u @ vt
    if np.linalg.det(rotation) < 0:
        rotation = rotation @ np.diag([1.0, 1.0, -1.0])
    return transform(rotation, matrix[:3, 3]), rotation.T @ linear
