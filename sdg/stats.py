"""What a data set holds, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

QUANTILES = {"min": 0.0, "p5": 0.05, "median": 0.5, "p95": 0.95, "max": 1.0}
PIXELS = 2000
"""Pixels of each picture that go into the quantiles of depth: evenly spaced, so that large data sets fit in memory."""


@dataclass
class Stats:
    """Collects the numbers of a data set, picture by picture.

    A picture is what one camera saw in one sample; an object counts where at least one of its pixels is visible.
    """

    samples: int = 0
    pictures: int = 0
    empty: int = 0
    rejected: int = 0
    objects: Counter[str] = field(default_factory=Counter)
    pictures_with: Counter[str] = field(default_factory=Counter)
    values: dict[str, list[np.ndarray]] = field(default_factory=dict)

    def add(self, meta: Mapping[str, Any], views: Iterable[Mapping[str, Any]]) -> None:
        """Take one sample: its record and, for each camera, its arrays by annotation name and `objects`."""
        self.samples += 1
        self.rejected += len(meta["rejections"])
        for view in views:
            self.pictures += 1
            self._add_objects(meta["classes"], view.get("objects", {}))
            self._add_pixels(view)

    def _add_objects(self, classes: list[str], objects: Mapping[str, np.ndarray]) -> None:
        seen = _visible(objects)
        names = [classes[number - 2] for number in objects.get("class_id", np.zeros(0, int))[seen]]
        self.empty += not names
        self.objects.update(names)
        self.pictures_with.update(set(names))
        for name in ("visible_fraction", "truncation"):
            if name in objects:
                self._note(name, objects[name][seen])
        if "box_tight" in objects:
            boxes = objects["box_tight"][seen]
            self._note("box_width", boxes[:, 2] - boxes[:, 0])
            self._note("box_height", boxes[:, 3] - boxes[:, 1])

    def _add_pixels(self, view: Mapping[str, Any]) -> None:
        if "depth" in view:
            depth = view["depth"].ravel()
            hit = depth[depth > 0]
            self._note("depth", hit[:: max(1, len(hit) // PIXELS)])
            self._note("no_hit", np.array([1 - len(hit) / depth.size]))
        if "rgb" in view:
            luma = view["rgb"] @ np.array([0.2126, 0.7152, 0.0722])
            self._note("brightness", np.array([luma.mean() / 255]))
            self._note("contrast", np.array([luma.std() / 255]))

    def _note(self, name: str, values: np.ndarray) -> None:
        self.values.setdefault(name, []).append(np.asarray(values, np.float64))

    def result(self) -> dict[str, Any]:
        """Return the numbers as JSON-able data."""
        classes = {
            name: {"objects": self.objects[name], "pictures": self.pictures_with[name]} for name in sorted(self.objects)
        }
        counts = {"samples": self.samples, "pictures": self.pictures, "empty_pictures": self.empty}
        spread = {name: _spread(np.concatenate(parts)) for name, parts in self.values.items()}
        return {**counts, "rejected_draws": self.rejected, "classes": classes, "values": spread}


def _visible(objects: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return which objects are visible [n] bool; all of them where the data set does not say."""
    if "visible_pixels" in objects:
        return np.asarray(objects["visible_pixels"] > 0)
    if "box_tight" in objects:
        return np.asarray(objects["box_tight"][:, 2] > objects["box_tight"][:, 0])
    return np.ones(len(objects.get("class_id", ())), bool)


def _spread(values: np.ndarray) -> dict[str, float] | None:
    if not len(values):
        return None
    cuts = {name: round(float(np.quantile(values, cut)), 6) for name, cut in QUANTILES.items()}
    return {"mean": round(float(values.mean()), 6), **cuts}


UNITS = {
    "box_width": "px",
    "box_height": "px",
    "depth": "m",
    "visible_fraction": "0..1",
    "truncation": "0..1",
    "no_hit": "0..1",
    "brightness": "0..1",
    "contrast": "0..1",
}


def table(result: Mapping[str, Any]) -> str:
    """Return the numbers of `Stats.result` as text for people."""
    share = result["empty_pictures"] / max(result["pictures"], 1)
    lines = [
        f"{result['samples']} samples, {result['pictures']} pictures, {result['rejected_draws']} draws rejected",
        f"{result['empty_pictures']} pictures ({share:.1%}) without a visible labelled object",
        "",
    ]
    rows = [["class", "objects", "pictures with it"]]
    rows += [[name, str(c["objects"]), str(c["pictures"])] for name, c in result["classes"].items()]
    lines += [*_aligned(rows), ""]
    rows = [["value", "unit", "mean", *QUANTILES]]
    for name, spread in result["values"].items():
        numbers = ["-"] * (len(QUANTILES) + 1) if spread is None else [f"{number:.4g}" for number in spread.values()]
        rows.append([name, UNITS.get(name, ""), *numbers])
    return "\n".join([*lines, *_aligned(rows)])


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
