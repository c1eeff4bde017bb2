"""Sums are exact: those of Python's fractions, whatever the type, and nothing is left of values that went."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.row.sums import Sums, root, unit

_LONG = pa.decimal128(38, 3)
_SHORT = pa.decimal128(9, 2)
_FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([5e-324, -5e-324, 1e308, -1e308, 2.2250738585072014e-308, 0.1, -0.0]),
)
_INTEGERS = st.one_of(st.integers(-(2**63) + 1, 2**63 - 1), st.integers(-3, 3))
VALUES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), _INTEGERS),
    (pa.float64(), _FLOATS),
    (_SHORT, st.decimals(-9_999_999, 9_999_999, places=2)),
    (_LONG, st.decimals(Decimal(-(10**34)), Decimal(10**34), places=3)),
]


@pytest.mark.parametrize(("kept", "values"), VALUES, ids=[str(kept) for kept, _ in VALUES])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_as_fractions_are(kept: pa.DataType, values: st.SearchStrategy[Any], data: st.DataObject) -> None:
    some = data.draw(st.lists(values, unique=True, max_size=8))
    steps = data.draw(st.lists(st.integers(1, 2**33), min_size=len(some), max_size=len(some)))
    found = Sums().moved(pa.array(some, kept), np.array(steps, np.int64), squares=True)
    exact = [Fraction(value) for value in some]
    assert found.sum(unit(kept)) == (_total(exact, steps) if some else None)
    assert found.squares * unit(kept) ** 2 == _total([value * value for value in exact], steps)
    if len(some) > 1:
        count = sum(steps)
        mean = _total(exact, steps) / count
        variance = _total([(value - mean) ** 2 for value in exact], steps) / (count - 1)
        assert found.variance(unit(kept)) == variance
        assert found.mean(unit(kept)) == mean
    left = found.moved(pa.array(some[::-1], kept), -np.array(steps[::-1], np.int64), squares=True)
    assert left == Sums()
    assert Sums.from_json(found.to_json()) == found


def _total(values: Sequence[Fraction], steps: Sequence[int]) -> Fraction:
    return sum((value * step for value, step in zip(values, steps, strict=True)), Fraction(0))


def test_nan_and_infinities_leave_no_trace() -> None:
    odd = pa.array([math.inf, math.nan, -math.inf, 1.0])
    ones = np.ones(4, np.int64)
    both = Sums().moved(odd, ones, squares=False)
    assert math.isnan(both.sum(unit(odd.type)))  # type: ignore[arg-type]
    above = both.moved(odd.slice(1, 2), -ones[:2], squares=False)
    assert above.sum(unit(odd.type)) == math.inf
    assert above.variance(unit(odd.type)) is not None
    assert above.moved(odd.slice(0, 1), -ones[:1], squares=False).sum(unit(odd.type)) == 1


@settings(deadline=None)
@given(st.fractions(min_value=0), st.integers(-300, 300))
def test_a_root_is_the_nearest_float(number: Fraction, exponent: int) -> None:
    scaled = number * Fraction(10) ** exponent
    found = root(scaled)
    low, high = ((Fraction(found) + Fraction(math.nextafter(found, end))) / 2 for end in (0.0, math.inf))
    assert low * low <= scaled <= high * high
