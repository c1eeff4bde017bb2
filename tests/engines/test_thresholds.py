"""Shares as people write them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.thresholds import limit_of


def test_thresholds_are_the_decimals_that_people_write() -> None:
    assert limit_of(0.01, 300) == 3
    assert limit_of(0.29, 100) == 29, "as floats, 0.29 * 100 is below 29"
    assert limit_of(0.1, 0) == 0


@given(st.integers(1, 2000), st.data())
def test_a_share_that_was_divided_is_the_fraction(whole: int, data: st.DataObject) -> None:
    """As a float, 1 / 3 is below a third."""
    part = data.draw(st.integers(0, whole))
    assert limit_of(part / whole, whole) == part
    assert limit_of(part / whole, 10**12 * whole) == 10**12 * part
    assert limit_of((part - 0.5) / whole, whole) == max(part - 1, 0)


def test_long_decimals_stay_as_they_are() -> None:
    assert limit_of(0.123456789, 10**9) == 123456789
    assert limit_of(0.333333333333, 3) == 0, "somewhat less than a third"


@pytest.mark.parametrize(
    ("kind", "text"),
    [("fd", "k -> a"), ("ucc", "key(k)"), ("od", "{}: b ~ c"), ("od", "{k}: [] -> a"), ("ind", "t.b in t.d")],
)
def test_an_error_of_exactly_a_third_is_not_left_out(kind: str, text: str) -> None:
    """One of three pairs of rows, of three rows, or of three values."""
    table = pa.table({"k": [1, 1, 2], "a": [1, 2, 3], "b": [1, 2, 3], "c": [1, 3, 2], "d": [1, 2, 4]})
    for error, there in ((1 / 3, True), (0.3333, False)):
        found = hf.discover({"t": table}, [kind], error=error)
        assert (text in {rule.text for rule in found}) == there
