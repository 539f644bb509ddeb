"""Distributions: what a job may write, what is drawn, and what is said when it cannot be drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from sdg.distributions import Count, Distribution, Fraction, NonNegative, Number, Positive
from sdg.random import rng_for

KINDS: dict[str, Any] = {
    "number": Number,
    "positive": Positive,
    "not negative": NonNegative,
    "fraction": Fraction,
    "count": Count,
}


def parse(kind: str, value: Any) -> Distribution:
    found: Distribution = TypeAdapter(KINDS[kind]).validate_python(value)
    return found


def draws(kind: str, value: Any, count: int = 4000) -> np.ndarray:
    rng, distribution = rng_for(0, 0, "test"), parse(kind, value)
    return np.array([distribution.sample(rng) for _ in range(count)])


def test_constants_and_ranges() -> None:
    assert set(draws("number", 0.25)) == {0.25}
    uniform = draws("number", [-1, 3])
    assert uniform.min() >= -1 and uniform.max() <= 3
    assert abs(uniform.mean() - 1) < 0.06 and abs(uniform.std() - 4 / math.sqrt(12)) < 0.03


def test_log_uniform_is_uniform_in_the_logarithm() -> None:
    found = np.log10(draws("positive", {"log_uniform": [0.01, 100]}))
    assert found.min() >= -2 and found.max() <= 2 and abs(found.mean()) < 0.06
    assert abs(found.std() - 4 / math.sqrt(12)) < 0.03


def test_normal_is_cut_by_drawing_again() -> None:
    free, cut = draws("number", {"normal": [2, 0.5]}), draws("number", {"normal": [0, 1], "low": 0, "high": 1})
    assert abs(free.mean() - 2) < 0.03 and abs(free.std() - 0.5) < 0.02
    assert cut.min() >= 0 and cut.max() <= 1 and abs(cut.mean() - 0.46) < 0.02


def test_choices_follow_their_weights() -> None:
    found = draws("number", {"choice": [1, 2, 3], "weights": [1, 0, 3]})
    assert set(found) == {1, 3} and abs((found == 3).mean() - 0.75) < 0.03


def test_counts_reach_both_ends() -> None:
    found = draws("count", [1, 5])
    assert sorted(set(found)) == [1, 2, 3, 4, 5] and abs((found == 5).mean() - 0.2) < 0.03
    assert set(draws("count", 3, 5)) == {3} and set(draws("count", {"choice": [0, 4]}, 50)) == {0, 4}


@pytest.mark.parametrize(
    "value",
    [
        0.5,
        [0.1, 0.9],
        {"normal": [0.5, 0.1], "low": 0, "high": 1},
        {"choice": [0, 1], "weights": [1, 2]},
        {"whole": [0, 1]},
    ],
)
def test_a_distribution_survives_json(value: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(KINDS["fraction"])
    found = adapter.validate_python(value)
    assert adapter.validate_json(adapter.dump_json(found)) == found


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("number", "0.5", "a number, [low, high] or a distribution is needed"),
        ("number", True, "a number, [low, high] or a distribution is needed"),
        ("number", None, "a number, [low, high] or a distribution is needed"),
        ("number", [1, 2, 3], "a range is [low, high], not 3 numbers; for some numbers: {choice: [...]}"),
        ("number", [2, 1], "the low end 2 is above the high end 1"),
        ("number", math.nan, "Input should be a finite number"),
        ("number", [0, math.inf], "Input should be a finite number"),
        ("number", {"choice": [1, "a"]}, "every choice is a number here, not 'a'"),
        ("number", {"choice": [math.inf]}, "every choice is a number here, not inf"),
        ("number", {"choice": [1, 2], "weights": [1]}, "2 choices need as many weights with a sum above 0, not (1.0,)"),
        (
            "number",
            {"unifrom": [1, 2]},
            "one distribution is needed, not unifrom; did you mean 'uniform'? "
            "there are: choice, constant, log_uniform, normal, uniform, whole",
        ),
        ("number", {"uniform": [1, 2], "lo": 1}, "is not an option here; there are: uniform"),
        ("number", {"normal": [0, 1], "low": 5}, "no number of normal(0, 1) lies between 5 and inf"),
        ("positive", 0, "numbers above 0 are needed, this draws 0"),
        ("positive", {"log_uniform": [0, 1]}, "log_uniform needs ends above 0, not 0"),
        ("not negative", [-1, 2], "numbers from 0 are needed, this draws numbers between -1 and 2"),
        (
            "fraction",
            {"normal": [0.5, 0.1]},
            "numbers from 0 to 1 are needed, this draws numbers between -inf and inf; bound it by low and high",
        ),
        ("count", [1.5, 2], "a count is a whole number from 0 up, [low, high], or {choice: [...]} of such"),
        ("count", -1, "a count is a whole number from 0 up, [low, high], or {choice: [...]} of such"),
        ("count", [3, 1], "the low end 3 is above the high end 1"),
    ],
)
def test_what_cannot_be_drawn_is_said(kind: str, value: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        parse(kind, value)
    assert caught.value.errors()[0]["msg"].removeprefix("Value error, ") == message
