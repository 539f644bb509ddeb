"""Distributions as a job file writes them.

A number is a constant, `[low, high]` a uniform range, and a mapping names any other distribution:
`{log_uniform: [low, high]}`, `{normal: [mean, std], low: ..., high: ...}`, `{choice: [...], weights: [...]}`,
`{whole: [low, high]}`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, TypeAlias, TypeVar

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from .errors import nearest
from .plugin import Options

Ordered = TypeVar("Ordered", int, float)


class Distribution(Options):
    """Something to draw from."""

    def sample(self, rng: np.random.Generator) -> Any:
        """Return one draw."""
        raise NotImplementedError

    def bounds(self) -> tuple[float, float]:
        """Return the lowest and the highest number that can be drawn."""
        raise NotImplementedError


def _ordered(value: tuple[Ordered, Ordered]) -> tuple[Ordered, Ordered]:
    if value[0] > value[1]:
        raise ValueError(f"the low end {value[0]:g} is above the high end {value[1]:g}")
    return value


Range = Annotated[tuple[float, float], AfterValidator(_ordered)]
"""A low and a high end."""


class Constant(Distribution):
    """Always the same number."""

    constant: float

    def sample(self, rng: np.random.Generator) -> float:
        return self.constant

    def bounds(self) -> tuple[float, float]:
        return self.constant, self.constant


class Uniform(Distribution):
    """Every number between two ends, equally likely."""

    uniform: Range

    def sample(self, rng: np.random.Generator) -> float:
        low, high = self.uniform
        return low + (high - low) * float(rng.random())

    def bounds(self) -> tuple[float, float]:
        return self.uniform


class LogUniform(Distribution):
    """Uniform in the logarithm: every factor between two positive ends, equally likely."""

    log_uniform: Range

    @model_validator(mode="after")
    def _positive(self) -> LogUniform:
        if self.log_uniform[0] <= 0:
            raise ValueError(f"log_uniform needs ends above 0, not {self.log_uniform[0]:g}")
        return self

    def sample(self, rng: np.random.Generator) -> float:
        low, high = map(math.log, self.log_uniform)
        return min(max(math.exp(low + (high - low) * float(rng.random())), self.log_uniform[0]), self.log_uniform[1])

    def bounds(self) -> tuple[float, float]:
        return self.log_uniform


class Normal(Distribution):
    """A normal distribution, drawn again until the number lies between `low` and `high`."""

    normal: tuple[float, Annotated[float, Field(ge=0)]]
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _reachable(self) -> Normal:
        mean, std = self.normal
        low, high = self.bounds()
        if not low <= high or low > mean + 4 * std or high < mean - 4 * std:
            raise ValueError(f"no number of normal({mean:g}, {std:g}) lies between {low:g} and {high:g}")
        return self

    def sample(self, rng: np.random.Generator) -> float:
        mean, std = self.normal
        low, high = self.bounds()
        while True:
            value = mean + std * float(rng.standard_normal())
            if low <= value <= high:
                return value

    def bounds(self) -> tuple[float, float]:
        return -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high


class Choice(Distribution):
    """One of several values, equally likely or by weights."""

    choice: Annotated[tuple[Any, ...], Field(min_length=1)]
    weights: tuple[Annotated[float, Field(ge=0)], ...] | None = None

    @model_validator(mode="after")
    def _one_weight_each(self) -> Choice:
        if self.weights is not None and (len(self.weights) != len(self.choice) or sum(self.weights) <= 0):
            raise ValueError(f"{len(self.choice)} choices need as many weights with a sum above 0, not {self.weights}")
        return self

    def sample(self, rng: np.random.Generator) -> Any:
        weights = np.asarray(self.weights or [1.0] * len(self.choice))
        edges = np.cumsum(weights) / weights.sum()
        return self.choice[int(np.searchsorted(edges, rng.random(), side="right").clip(0, len(self.choice) - 1))]

    def bounds(self) -> tuple[float, float]:
        return min(map(float, self.choice)), max(map(float, self.choice))


class Whole(Distribution):
    """Every whole number between two ends, both included, equally likely."""

    whole: Annotated[tuple[int, int], AfterValidator(_ordered)]

    def sample(self, rng: np.random.Generator) -> int:
        low, high = self.whole
        return min(low + int((high - low + 1) * rng.random()), high)

    def bounds(self) -> tuple[float, float]:
        return self.whole


_KINDS: dict[str, type[Distribution]] = {
    "constant": Constant,
    "uniform": Uniform,
    "log_uniform": LogUniform,
    "normal": Normal,
    "choice": Choice,
    "whole": Whole,
}


def _fault(reason: str) -> PydanticCustomError:
    return PydanticCustomError("distribution", "{reason}", {"reason": reason})


def _parse(value: Any) -> Any:
    if isinstance(value, Distribution):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Constant(constant=value)
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise _fault(f"a range is [low, high], not {len(value)} numbers; for some numbers: {{choice: [...]}}")
        return Uniform(uniform=value)
    if isinstance(value, dict):
        kinds = [key for key in value if key in _KINDS]
        if len(kinds) != 1:
            given = ", ".join(map(str, value)) or "an empty mapping"
            raise _fault(f"one distribution is needed, not {given}; {nearest(str(next(iter(value), '')), _KINDS)}")
        return _KINDS[kinds[0]].model_validate(value)
    raise _fault("a number, [low, high] or a distribution is needed")


def _is_number(value: Distribution) -> Distribution:
    if isinstance(value, Choice):
        for choice in value.choice:
            if isinstance(choice, bool) or not isinstance(choice, int | float) or not math.isfinite(choice):
                raise ValueError(f"every choice is a number here, not {choice!r}")
    return value


def within(low: float, high: float, *, open_low: bool = False) -> AfterValidator:
    """Let a field take only distributions that draw from `low` to `high`; with `open_low` never `low` itself."""

    def check(value: Distribution) -> Distribution:
        least, most = value.bounds()
        if least < low or most > high or (open_low and least == low):
            wanted = f"{'above' if open_low else 'from'} {low:g}" + ("" if math.isinf(high) else f" to {high:g}")
            drawn = f"{least:g}" if least == most else f"numbers between {least:g} and {most:g}"
            bound = "; bound it by low and high" if isinstance(value, Normal) else ""
            raise ValueError(f"numbers {wanted} are needed, this draws {drawn}{bound}")
        return value

    return AfterValidator(check)


def _whole(value: Any) -> Any:
    if isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(end, int) for end in value):
        return Whole(whole=value)
    return _parse(value)


def _is_count(value: Distribution) -> Distribution:
    numbers = value.choice if isinstance(value, Choice) else value.bounds()
    whole = isinstance(value, Choice | Constant | Whole) and all(float(number).is_integer() for number in numbers)
    if not whole or min(numbers) < 0:
        raise ValueError("a count is a whole number from 0 up, [low, high], or {choice: [...]} of such")
    return value


_NUMBER = {"type": "number"}
_TWO = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}
_SOME = {"type": "array", "items": _NUMBER, "minItems": 1}
_KEYS: dict[str, dict[str, Any]] = {
    "constant": {"constant": _NUMBER},
    "uniform": {"uniform": _TWO},
    "log_uniform": {"log_uniform": _TWO},
    "normal": {"normal": _TWO, "low": _NUMBER, "high": _NUMBER},
    "choice": {"choice": _SOME, "weights": _SOME},
    "whole": {"whole": _TWO},
}


def _schema(title: str, *kinds: str) -> WithJsonSchema:
    """Say to editors what a number to draw looks like."""
    mapping = {"type": "object", "additionalProperties": False}
    mappings = [{**mapping, "properties": _KEYS[kind], "required": [kind]} for kind in kinds]
    return WithJsonSchema({"title": title, "anyOf": [_NUMBER, _TWO, *mappings]})


_DRAWN = (BeforeValidator(_parse), AfterValidator(_is_number), _schema("Number", *_KEYS))

Number: TypeAlias = Annotated[SerializeAsAny[Distribution], *_DRAWN]
"""A number to draw."""
Positive: TypeAlias = Annotated[SerializeAsAny[Distribution], *_DRAWN, within(0, math.inf, open_low=True)]
"""A number above 0 to draw."""
NonNegative: TypeAlias = Annotated[SerializeAsAny[Distribution], *_DRAWN, within(0, math.inf)]
"""A number from 0 up to draw."""
Fraction: TypeAlias = Annotated[SerializeAsAny[Distribution], *_DRAWN, within(0, 1)]
"""A number between 0 and 1 to draw."""
Count: TypeAlias = Annotated[
    SerializeAsAny[Distribution],
    BeforeValidator(_whole),
    AfterValidator(_is_number),
    AfterValidator(_is_count),
    _schema("Count", "constant", "choice", "whole"),
]
"""A whole number to draw: `3`, `[1, 5]` with both ends, or `{choice: [...], weights: [...]}`."""
