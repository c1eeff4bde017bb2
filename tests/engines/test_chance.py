"""Estimates of chance: by their limits, and against simulations of what they assume."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

from holdfast.engines import chance


def test_the_examples_are_right() -> None:
    assert not doctest.testmod(chance).failed


@pytest.mark.parametrize("odds", [1.0, 0.1, 0.01])
def test_a_law_is_broken_as_often_as_accidents_are(odds: float) -> None:
    """Of many rules some are laws; the others break in a row with a probability of their own. Of those that passed all
    tests, the next one breaks as many as was expected.
    """
    random, rules, tests = np.random.default_rng(0), 4_000_000, 20
    is_law = random.random(rules) < 1 / (1 + odds)
    rates = np.where(is_law, 0.0, random.random(rules))
    passed = random.binomial(tests, rates) == 0
    broke = random.random(int(passed.sum())) < rates[passed]
    assert broke.mean() == pytest.approx(chance.of_law(tests, 1.0, odds), rel=0.25)


def test_more_tests_leave_less_to_chance() -> None:
    estimates = [chance.of_law(tests, 1.0, 0.01) for tests in (0, 1, 10, 100, 10_000)]
    assert estimates == sorted(estimates, reverse=True)
    assert estimates[-1] < 1e-9


def test_a_limit_is_a_law_or_out_of_reach() -> None:
    """Where about one row was to be expected beyond it, nothing is known."""
    middle = chance.of_limit(1.0, 1000, 0.05)
    assert chance.of_limit(0.001, 1000, 0.05) < middle / 100
    assert chance.of_limit(20.0, 1000, 0.05) < middle / 100


def test_nulls_of_other_columns_announce_nulls() -> None:
    """Columns with nulls at many rates: those that have none yet get theirs about as often as is expected."""
    random, rows, columns = np.random.default_rng(1), 200, 20_000
    rates = np.where(random.random(columns) < 0.5, 0.0, 10.0 ** random.uniform(-4, -1, columns))
    nulls = random.binomial(rows, rates)
    later = random.binomial(100, rates[nulls == 0]).sum()
    expected = chance.of_filled(nulls.tolist(), rows) * 100 * np.count_nonzero(nulls == 0)
    assert later / 2 <= expected <= later * 2


def test_a_table_without_nulls_has_no_sign_of_any() -> None:
    assert chance.expected_breaks(chance.of_filled([0] * 10, 1000), 1000 / chance.ASSUMED) < 0.001
    assert chance.expected_breaks(chance.of_filled([0] * 10 + [1], 1000), 1000 / chance.ASSUMED) > 0.001


@pytest.mark.parametrize("values", [3, 30])
def test_new_values_come_as_often_as_expected(values: int) -> None:
    """From a draw in which new values come by chance (Ewens)."""
    random, rows, later = np.random.default_rng(2), 3000, 300
    theta = values / math.log(rows)
    new = random.random((10_000, later)) < theta / (theta + np.arange(rows, rows + later))
    expected = chance.of_new_values(values, 0, rows) * later
    assert new.sum(axis=1).mean() == pytest.approx(expected, rel=0.2)
    assert chance.of_new_values(values, single=rows // 2, rows=rows) == 0.5
