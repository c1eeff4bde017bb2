"""Quantiles are kept true where the stretch of neighbouring values is short, and the quantile often leaves it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.row import quantiles
from holdfast.engines.row.quantiles import Quantile
from holdfast.table.change import Change
from holdfast.table.frequencies import Frequencies
from holdfast.table.plain import plain_values
from holdfast.table.runner import Threads
from tests.laws.world import Batch, World

NUMBERS = st.lists(st.one_of(st.none(), st.integers(-20, 20)), max_size=12)
STEPS = st.lists(st.tuples(NUMBERS, st.lists(st.integers(0, 99), max_size=12)), max_size=6)
PARTS = [Fraction(0), Fraction(1, 20), Fraction(1, 2), Fraction(95, 100), Fraction(1)]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantiles, "_AROUND", 2)


@pytest.mark.parametrize("part", PARTS, ids=str)
@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_it_is_the_value_at_its_place(part: Fraction, steps: list[tuple[list[int | None], list[int]]]) -> None:
    world = World()
    frequencies = Frequencies.of(world.table, Threads(), None)  # type: ignore[arg-type]  # nothing is said
    kept = Quantile(world.table, 0, frequencies.columns[0], part)
    for inserts, deletes in steps:
        change: Change = world.change(Batch([(number, None, None, None, None) for number in inserts], deletes))
        frequencies.follow(change, Threads())
        kept.follow(change.after.encoding, frequencies.moved[0])
        values = sorted(row[0] for row in world.rows if row[0] is not None)
        expected = [values[max(math.ceil(part * len(values)), 1) - 1]] if values else []
        assert plain_values(world.table.dictionaries[0].values(kept.codes)) == expected
        fresh = Quantile(world.table, 0, frequencies.columns[0], part)
        assert np.array_equal(fresh.codes, kept.codes)
