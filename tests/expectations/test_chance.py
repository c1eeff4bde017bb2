"""The statistics of expectations: against exact sums, against their definitions, and by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.expectations.chance import (
    FEWEST,
    Numbers,
    _from_others,
    binomial_tail,
    chance_of,
    doubt,
    of_count,
    of_mean,
    of_newest,
    quantiles,
    rank_correlation,
    shares_of,
)

Draw = Callable[[np.random.Generator, int], NDArray[Any]]


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 99))
def test_a_tail_is_the_sum_of_its_terms(least: int, rows: int, percent: int) -> None:
    share = Fraction(percent, 100)
    terms = (math.comb(rows, k) * share**k * (1 - share) ** (rows - k) for k in range(least, rows + 1))
    assert binomial_tail(least, rows, percent / 100) == pytest.approx(float(sum(terms)), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("least", "share", "expected"), [(0, 0.0, 1.0), (1, 0.0, 0.0), (3, 1.0, 1.0), (4, 1.0, 0.0)])
def test_shares_of_none_and_all(least: int, share: float, expected: float) -> None:
    assert binomial_tail(least, 3, share) == expected


def test_long_tails_are_not_cut() -> None:
    assert binomial_tail(50_000, 100_000, 0.5) == pytest.approx(0.5, abs=0.002)
    assert binomial_tail(1_000_000, 1_000_000, 0.9) == pytest.approx(0.0, abs=1e-300)


def test_chance_is_that_of_the_side_on_which_a_count_is() -> None:
    assert chance_of(9, 10, 0.5, 1.0) == pytest.approx(11 / 1024)
    assert chance_of(1, 10, 0.5, 1.0) == pytest.approx(11 / 1024)
    assert chance_of(9, 10, 0.5, 5.0) == pytest.approx(0.75), "five rows are worth one: 1 of 2"


@given(st.lists(st.integers(0, 6), max_size=12))
def test_ranks_correlate_as_by_definition(values: list[int]) -> None:
    ranks = [sum(b < a for b in values) + (sum(b == a for b in values) + 1) / 2 for a in values]
    expected = float(np.corrcoef(range(len(values)), ranks)[0, 1]) if len(set(values)) > 1 else 0.0
    assert rank_correlation(np.array(values, np.float64)) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values: list[int], share: float) -> None:
    own = np.array(values, np.float64)
    assert quantiles(own, share) == pytest.approx([float(np.quantile(own, share))])


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=12))
def test_each_value_is_compared_with_the_others(values: list[int]) -> None:
    ordered = np.sort(np.array(values, np.float64))
    expected = [each - float(np.median(np.delete(ordered, place))) for place, each in enumerate(ordered)]
    assert _from_others(values) == expected


# ---- rows ------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 300), min_size=FEWEST, max_size=30), st.integers(0, 1_000))
def test_a_count_is_never_outside_within_the_bounds_of_its_definition(past: list[int], now: int) -> None:
    found = of_count(np.array(past, np.float64), now)
    level = float(np.median(past[-14:]))
    assert found.low <= found.median <= found.high
    assert found.median == np.median(past)
    if abs(now - level) <= max(4 * math.sqrt(max(level, 9)), level / 2):
        assert found.side == 0
    if found.side:
        assert sum((each - now) * found.side >= 0 for each in past) < 2, "two batches were as far off"
        assert found.side == (1 if now > level else -1)


def test_what_grows_is_compared_with_the_last_batches() -> None:
    past = np.round(100 * 1.015 ** np.arange(40))
    assert [of_count(past, now).side for now in (100 * 1.015**40, 100, 10, 800)] == [0, 0, -1, 1]


def test_what_people_call_far_outside() -> None:
    past = np.random.default_rng(1).poisson(72, 30).astype(np.float64)
    assert [of_count(past, now).side for now in (6, 0, 55, 72, 95, 150, 7200)] == [-1, -1, 0, 0, 0, 1, 1]


def _weeks(random: np.random.Generator, count: int, shape: list[float]) -> tuple[Numbers, NDArray[np.int64]]:
    days = np.arange(count)
    return random.poisson(200 * np.array(shape)[days % 7]).astype(np.float64), days % 7


def test_weekdays_have_numbers_of_their_own_once_they_are_known() -> None:
    shape = [1, 1.1, 1, 1, 1.2, 0.3, 0.2]
    past, weekdays = _weeks(np.random.default_rng(2), 42, shape)
    assert of_count(past, 60, weekdays, 5).side == 0, "a Saturday"
    assert of_count(past, 60, weekdays, 2).side == -1, "a Wednesday like a Saturday"
    assert of_count(past, 200, weekdays, 6).side == 1, "a Sunday like a Wednesday"
    assert of_count(past[:14], 60, weekdays[:14], 5).side == 0, "a Saturday, after two weeks"


NOISE: dict[str, Draw] = {
    "poisson 1": lambda random, n: random.poisson(1, n),
    "poisson 72": lambda random, n: random.poisson(72, n),
    "negative binomial 2": lambda random, n: random.negative_binomial(0.5, 0.2, n),
    "negative binomial 72": lambda random, n: random.negative_binomial(5, 5 / 77, n),
    "lognormal": lambda random, n: random.poisson(300 * np.exp(random.normal(0, 0.4, n))),
    "even": lambda random, n: random.integers(50, 95, n),
    "growth": lambda random, n: random.poisson(72 * 1.015 ** np.arange(n)),
    "weekends": lambda random, n: random.poisson(100 * np.where((np.arange(n) + random.integers(7)) % 7 < 5, 1, 0.2)),
    "closed on Sundays": lambda random, n: random.poisson(80 * ((np.arange(n) + random.integers(7)) % 7 < 6)),
}


@pytest.mark.parametrize("name", NOISE)
def test_chance_makes_no_false_alarm(name: str) -> None:
    random, wrong = np.random.default_rng(3), 0
    for trial in range(1_000):
        numbers = NOISE[name](random, 42 if trial % 2 else 16).astype(np.float64)
        wrong += of_count(numbers[:-1], float(numbers[-1])).side != 0
    assert wrong <= 1


# ---- means, timestamps, shares ---------------------------------------------------------------------------------------


def test_a_mean_is_outside_by_spread_by_error_and_by_half() -> None:
    past = np.random.default_rng(4).normal(100, 2, 20)
    assert [of_mean(past, now, 2.0).side for now in (100.0, 140.0, 10_000.0, 1.0, -100.0)] == [0, 0, 1, -1, -1]
    assert of_mean(past, 10_000.0, 3_000.0).side == 0, "one row may have made that"


def test_timestamps_are_stale_only_before_those_of_earlier_batches() -> None:
    steps = np.array([1.0] * 10 + [3.0])
    assert [of_newest(steps, now).side for now in (1.0, 0.0, 4.0, -0.4, -2.0)] == [0, 0, 0, -1, -1]
    assert of_newest(np.array([*steps, -3.0]), -3.0).side == 0, "it came before"


def test_rows_that_are_alike_count_less() -> None:
    rows, known = np.full((10, 1), 100.0), np.ones((10, 1), np.bool_)
    random = np.random.default_rng(5)
    alone = shares_of(random.binomial(100, 0.3, (10, 1)).astype(np.float64), rows, known)
    together = shares_of(np.where(np.arange(10) % 2, 60.0, 0.0)[:, None], rows, known)
    assert alone.share[0] == pytest.approx(together.share[0], abs=0.05)
    assert alone.alike[0] < 4 < together.alike[0]
    nothing = shares_of(rows * 0, rows * 0, ~known)
    assert nothing.share[0] == 0.5
    assert np.isfinite(nothing.alike[0])


def test_few_batches_are_doubted() -> None:
    assert doubt(FEWEST) > doubt(20) > doubt(200) > 1.0
