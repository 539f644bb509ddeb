"""Distributions as a job file writes them.

A number is a constant, `[low, high]` a uniform range, and a mapping names any other distribution:
`{log_uniform: [low, high]}`, `{normal: [mean, std], low: ..., high: ...}`, `{choice: [...], weights: [...]}`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from .errors import nearest


class Distribution(BaseModel):
    """Something to draw from."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def sample(self, rng: np.random.Generator) -> Any:
        """Return one draw."""
        raise NotImplementedError

    def bounds(self) -> tuple[float, float]:
        """Return the lowest and the highest number that can be drawn."""
        raise NotImplementedError


def _ordered(value: tuple[float, float]) -> tuple[float, float]:
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
    low: Annotated[float, Field(allow_inf_nan=True)] = -math.inf
    high: Annotated[float, Field(allow_inf_nan=True)] = math.inf

    @model_validator(mode="after")
    def _reachable(self) -> Normal:
        mean, std = self.normal
        if not self.low <= self.high or self.low > mean + 4 * std or self.high < mean - 4 * std:
            raise ValueError(f"no number of normal({mean:g}, {std:g}) lies between {self.low:g} and {self.high:g}")
        return self

    def sample(self, rng: np.random.Generator) -> float:
        mean, std = self.normal
        while True:
            value = mean + std * float(rng.standard_normal())
            if self.low <= value <= self.high:
                return value

    def bounds(self) -> tuple[float, float]:
        return self.low, self.high


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


_KINDS: dict[str, type[Distribution]] = {
    "constant": Constant,
    "uniform": Uniform,
    "log_uniform": LogUniform,
    "normal": Normal,
    "choice": Choice,
}


def _parse(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("distribution", "a number, [low, high] or a distribution is needed, not a truth value")
    if isinstance(value, int | float | str):
        return Constant(constant=value)  # type: ignore[arg-type]
    if isinstance(value, list | tuple):
        return Uniform(uniform=value)  # type: ignore[arg-type]
    if isinstance(value, dict):
        kinds = [key for key in value if key in _KINDS]
        if len(kinds) != 1:
            reason = f"one distribution is needed, not {sorted(map(str, value))}; {nearest(str(next(iter(value), '')), _KINDS)}"
            raise PydanticCustomError("distribution", "{reason}", {"reason": reason})
        return _KINDS[kinds[0]].model_validate(value)
    return value


def within(low: float, high: float) -> AfterValidator:
    """Let a field take only distributions whose draws all lie between `low` and `high`."""

    def check(value: Distribution) -> Distribution:
        least, most = value.bounds()
        if least < low or most > high:
            raise ValueError(f"draws between {least:g} and {most:g} are outside of [{low:g}, {high:g}]")
        return value

    return AfterValidator(check)


Number: TypeAlias = Annotated[Distribution, BeforeValidator(_parse)]
"""A number to draw."""
Positive: TypeAlias = Annotated[Distribution, BeforeValidator(_parse), within(1e-12, math.inf)]
"""A number above 0 to draw."""
NonNegative: TypeAlias = Annotated[Distribution, BeforeValidator(_parse), within(0, math.inf)]
"""A number from 0 up to draw."""
Fraction: TypeAlias = Annotated[Distribution, BeforeValidator(_parse), within(0, 1)]
"""A number between 0 and 1 to draw."""


def _whole(value: Any) -> Any:
    if isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(end, int) for end in value):
        low, high = value
        if low > high:
            raise PydanticCustomError("count", "{reason}", {"reason": f"the low end {low} is above the high end {high}"})
        return Choice(choice=tuple(range(low, high + 1)))
    return _parse(value)


def _is_count(value: Distribution) -> Distribution:
    numbers = value.choice if isinstance(value, Choice) else (value.bounds() if isinstance(value, Constant) else (0.5,))
    if any(not isinstance(n, int | float) or n != int(n) or n < 0 for n in numbers):
        raise ValueError("a count is a whole number from 0 up, [low, high], or {choice: [...]} of such")
    return value


Count: TypeAlias = Annotated[Distribution, BeforeValidator(_whole), AfterValidator(_is_count)]
"""A whole number to draw: `3`, `[1, 5]` with both ends, or `{choice: [...], weights: [...]}`."""
