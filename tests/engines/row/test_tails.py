"""Limits beyond the numbers of a column: planted distributions go on, and hardly ever reach them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.engines.chance import ASSUMED, BATCHES
from holdfast.engines.row.tails import FEWEST, Numbers, are_scaled, expected_below, lower_limit, upper_limit

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
PLANTED: dict[str, Draw] = {
    "normal": lambda random, n: random.normal(50, 10, n),
    "lognormal": lambda random, n: random.lognormal(3, 0.7, n),
    "exponential": lambda random, n: random.exponential(5.0, n),
    "uniform": lambda random, n: random.uniform(2, 200, n),
    "Pareto": lambda random, n: 1 + random.pareto(2.5, n),
    "heavy Pareto": lambda random, n: 1 + random.pareto(1.2, n),
    "few prices": lambda random, n: random.choice(np.round(np.random.default_rng(0).uniform(2, 200, 120), 2), n),
    "Student": lambda random, n: random.standard_t(3, n),
    "counts": lambda random, n: random.poisson(4, n).astype(float),
    "rounded": lambda random, n: np.round(random.lognormal(0, 1, n), 1) + 0.1,
    "many zeros": lambda random, n: random.exponential(5.0, n) * (random.random(n) < 0.6),
}


def numbers(values: NDArray[np.float64]) -> Numbers:
    return Numbers(*np.unique(values, return_counts=True))


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("rows", [160, 300, 3000])
def test_what_comes_later_stays_within_the_limits(name: str, rows: int) -> None:
    """A hundred usual batches of each of many tables: 0.001 breaks a limit are allowed, so that none is likely here."""
    if name == "Student" and rows < 1000:
        pytest.skip("so few numbers don't show that both tails are heavy")
    beyond = 0
    for seed in range(15):
        random = np.random.default_rng(seed)
        seen = numbers(PLANTED[name](random, rows))
        later = PLANTED[name](random, BATCHES * rows // ASSUMED)
        high, low = upper_limit(seen), lower_limit(seen)
        beyond += 0 if high is None else int(np.count_nonzero(later > high.at))
        beyond += 0 if low is None else int(np.count_nonzero(later < low.at))
    assert beyond == 0


@pytest.mark.parametrize(
    ("name", "survival"),
    [
        ("normal", lambda x: 0.5 * math.erfc((x - 50) / 10 / math.sqrt(2))),
        ("exponential", lambda x: math.exp(-x / 5)),
        ("Pareto", lambda x: x**-2.5),
    ],
)
def test_the_true_chance_beyond_a_limit_is_negligible(name: str, survival: Callable[[float], float]) -> None:
    expected = []
    for seed in range(30):
        high = upper_limit(numbers(PLANTED[name](np.random.default_rng(seed), 3000)))
        expected.append(0.0 if high is None else survival(high.at) * BATCHES * 3000 / ASSUMED)
    assert np.mean(expected) <= 0.001


def test_limits_lie_where_the_rule_of_three_puts_them() -> None:
    """At the median + 3 x (q99.9 - median) at least, on the plain or the logarithmic scale."""
    for name, draw in PLANTED.items():
        seen = numbers(draw(np.random.default_rng(7), 2000))
        high, middle, top = upper_limit(seen), seen.quantile(0.5), seen.quantile(0.999)
        if high is not None:
            far = [middle + 3 * (top - middle)]
            far += [middle * (top / middle) ** 3] if seen.values[0] > 0 else []
            assert high.at >= min(far) * (1 - 1e-9), name


@pytest.mark.parametrize("name", ["uniform", "few prices"])
def test_a_hundredfold_price_is_beyond(name: str) -> None:
    high = upper_limit(numbers(PLANTED[name](np.random.default_rng(3), 2000)))
    assert high is not None
    assert 200 < high.at < 2000


@pytest.mark.parametrize("values", [[1.0] * 500, [0.0] * 990 + [1.0] * 10, list(range(FEWEST - 1))])
def test_without_a_tail_there_is_no_limit(values: list[float]) -> None:
    assert upper_limit(numbers(np.array(values))) is None


def test_many_at_a_limit_and_many_just_above_show_that_it_is_one() -> None:
    random = np.random.default_rng(4)
    for seen in (random.exponential(3.0, 500), random.integers(0, 20, 500).astype(float)):
        assert expected_below(numbers(seen), 0.0) > 10


def test_a_tail_that_ends_before_a_limit_by_chance_does_not() -> None:
    """About as many as a normal distribution has beyond three deviations."""
    seen = np.random.default_rng(5).normal(3.2, 1.0, 2000)
    beyond = expected_below(numbers(seen[seen > 0]), 0.0)
    assert 0.1 < beyond < 8


def test_numbers_that_differ_by_factors_have_no_reason_to_reach_zero() -> None:
    random = np.random.default_rng(6)
    assert are_scaled(numbers(random.lognormal(3, 1, 1000)))
    assert not are_scaled(numbers(random.normal(10, 2, 1000)))
    assert not are_scaled(numbers(random.uniform(1, 100, 1000)))
