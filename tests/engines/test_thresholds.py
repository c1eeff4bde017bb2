"""Shares as people write them."""

from __future__ import annotations

from holdfast.engines.thresholds import limit_of


def test_thresholds_are_the_decimals_that_people_write() -> None:
    assert limit_of(0.01, 300) == 3
    assert limit_of(0.29, 100) == 29, "as floats, 0.29 * 100 is below 29"
    assert limit_of(0.1, 0) == 0
