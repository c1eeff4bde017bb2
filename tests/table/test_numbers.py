"""Numbers of all types meet iff they are equal, keep their order within a lane, and convert back."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.table import images, numbers

TYPES = [
    pa.int64(), pa.float64(), pa.decimal128(5, 2), pa.decimal128(18, 0), pa.decimal128(18, 18), pa.decimal128(30, 3),
    pa.decimal128(38, 38), pa.decimal128(38, 0), pa.decimal128(5, -2), pa.decimal128(25, -3),
]  # fmt: skip
HARD = [
    Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-3, 4), Fraction(1, 10), Fraction(17),
    Fraction(500), Fraction(2**53 + 1), Fraction(2**60), Fraction(2**63 - 1), Fraction(-(2**63)), Fraction(2**63),
    Fraction(2**70), Fraction(10**37), Fraction(0.1), Fraction(1, 2**27), Fraction(1, 2**28), Fraction(3, 2**30),
    Fraction(1, 2**38), Fraction(1, 2**39), Fraction(2**50 + 1, 2**20), Fraction(1234567, 1000), Fraction(-99999, 100),
]  # fmt: skip
values = st.one_of(
    st.sampled_from(HARD),
    st.integers(-(2**64), 2**64).map(Fraction),
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
    st.builds(Fraction, st.integers(-(10**20), 10**20), st.integers(0, 20).map(lambda p: 10**p)),
)


def image(value: Fraction, kept: pa.DataType) -> Any:
    """The image of a number in a column of a type, or none where the type has no such number."""
    if pa.types.is_floating(kept):
        near = float(value)
        return images.to_images(pa.array([near]), kept) if Fraction(near) == value else None
    scale = kept.scale if pa.types.is_decimal(kept) else 0
    unscaled = value * Fraction(10) ** scale
    if unscaled.denominator != 1:
        return None
    if pa.types.is_integer(kept):
        return np.array([int(value)], np.int64) if abs(value) < 2**63 else None
    if abs(unscaled) >= 10**kept.precision:
        return None
    given = Decimal(f"{int(unscaled)}E{-scale}")  # arithmetic would round to 28 digits
    return images.to_images(pa.array([given], kept), kept)


def plain(keys: Any) -> Any:
    return keys.tolist() if isinstance(keys, np.ndarray) else keys.to_pylist()


@given(values)
def test_equal_numbers_have_one_key_whatever_their_type(value: Fraction) -> None:
    found = set()
    for kept in TYPES:
        if (given_image := image(value, kept)) is not None:
            ((lane, keys, places),) = numbers.split(given_image, kept)
            assert plain(places) == [0]
            found.add((lane, plain(keys)[0]))
    assert len(found) <= 1


@given(st.lists(values, unique=True, max_size=12), st.sampled_from(TYPES))
def test_different_numbers_have_different_keys_in_order(some: list[Fraction], kept: pa.DataType) -> None:
    fitting = [(value, image(value, kept)) for value in sorted(some)]
    given_images = [each for _, each in fitting if each is not None]
    if not given_images:
        return
    together = images.concat(given_images)
    seen = []
    for lane, keys, places in numbers.split(together, kept):
        assert plain(keys) == sorted(plain(keys)), "what is sorted stays sorted"
        assert plain(places) == sorted(plain(places))
        seen += [(lane, key) for key in plain(keys)]
        back, at = numbers.back(lane, keys, kept)
        assert plain(at) == list(range(len(keys))), "every number is found in its own column"
        assert images.same(back, images.take(together, places))
    assert len(set(seen)) == len(seen) == len(given_images)


@given(values, st.sampled_from(TYPES), st.sampled_from(TYPES))
def test_casts_are_exact(value: Fraction, here: pa.DataType, there: pa.DataType) -> None:
    start, end = image(value, here), image(value, there)
    if start is None:
        return
    ((lane, keys, _),) = numbers.split(start, here)
    back, places = numbers.back(lane, keys, there)
    assert len(places) == (end is not None)
    if end is not None:
        assert images.same(back, end)


@given(values, values, st.sampled_from(TYPES))
def test_bounds_cut_where_the_numbers_do(value: Fraction, bound: Fraction, kept: pa.DataType) -> None:
    own = image(value, kept)
    if own is None:
        return
    assert numbers.exactly(plain(own)[0], kept) == value
    least = numbers.lowest_image(bound, kept)
    assert (value >= bound) == (least is not None and plain(own)[0] >= least)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, 5e-324])
def test_floats_that_are_no_decimals_stay_among_floats(value: float) -> None:
    own = images.to_images(pa.array([value]), pa.float64())
    ((lane, keys, _),) = numbers.split(own, pa.float64())
    assert lane == numbers.FLOATS
    for kept in TYPES:
        _, places = numbers.back(lane, keys, kept)
        assert len(places) == pa.types.is_floating(kept)


@given(st.lists(st.tuples(values, st.sampled_from(TYPES)), min_size=1))
def test_common_images_compare_as_the_numbers_do(some: list[tuple[Fraction, pa.DataType]]) -> None:
    found = []
    for value, kept in some:
        own = image(value, kept)
        if own is not None:
            found.append((numbers.common_images(own, kept)[0].as_py(), value))
    by_image = [value for _, value in sorted(found)]
    assert by_image == sorted(value for _, value in found)
    assert len({each for each, _ in found}) == len({value for _, value in found})
