"""Images come back as the values they were made from, and compare as those do, for every kept type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.table import images
from holdfast.table.encode import column_images
from holdfast.table.types import NUMBER, Column, family
from tests.oracle.rows import plain_row
from tests.table.values import KINDS, Kind, decimal_of, rank

kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def as_list(made: images.Images) -> list[Any]:
    """Images as Python integers or bytes."""
    return made.tolist() if isinstance(made, np.ndarray) else made.to_pylist()  # type: ignore[no-any-return]


def check_order_and_return(values: list[Any], given_array: pa.Array, kind: Kind) -> None:
    made = images.to_images(given_array, kind.type)
    back = images.from_images(made, kind.type)
    assert back.type == kind.type
    assert plain_row(back.to_pylist()) == plain_row(values)
    back.validate(full=True)
    listed = as_list(made)
    ranks = [rank(value) for value in values]
    for i in range(len(values)):
        for j in range(len(values)):
            assert (listed[i] < listed[j]) == (ranks[i] < ranks[j]), (values[i], values[j])
            assert (listed[i] == listed[j]) == (ranks[i] == ranks[j]), (values[i], values[j])


@pytest.mark.parametrize("kind", [each for each in KINDS.values() if family(each.type) == NUMBER], ids=str)
def test_numbers_as_floats(kind: Kind) -> None:
    values = [each for each in kind.always if each is not None]
    found = images.to_floats(images.to_images(pa.array(values, kind.type), kind.type), kind.type)
    assert found.tolist() == pytest.approx([float(each) for each in values], rel=1e-12, nan_ok=True)


@kinds
def test_the_values_that_provoke(kind: Kind) -> None:
    values = list(kind.always) * 2
    check_order_and_return(values, pa.array(values, kind.type), kind)


@kinds
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_any_values_of_any_slice(kind: Kind, data: st.DataObject) -> None:
    values = data.draw(st.lists(kind.drawn | st.sampled_from(kind.always), max_size=6))
    before = data.draw(st.lists(st.none() | st.sampled_from(kind.always), max_size=3))
    after = data.draw(st.lists(st.none() | st.sampled_from(kind.always), max_size=3))
    whole = pa.array([*before, *values, *after], kind.type)
    check_order_and_return(values, whole.slice(len(before), len(values)), kind)


@kinds
def test_no_values_at_all(kind: Kind) -> None:
    for empty in (pa.array([], kind.type), pa.array(kind.always, kind.type).slice(1, 0)):
        made = images.to_images(empty, kind.type)
        assert len(made) == 0
        assert images.from_images(made, kind.type).equals(pa.array([], kind.type))
    assert images.from_images(images.none_of(kind.type), kind.type).equals(pa.array([], kind.type))


@kinds
def test_a_slice_of_images_is_as_good_as_images_of_a_slice(kind: Kind) -> None:
    made = images.to_images(pa.array(kind.always, kind.type), kind.type)
    for start in range(len(kind.always)):
        for end in range(start, len(kind.always) + 1):
            back = images.from_images(made[start:end], kind.type)
            assert plain_row(back.to_pylist()) == plain_row(kind.always[start:end])


@kinds
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_sorted_distinct(kind: Kind, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from(kind.always), max_size=12))
    made = images.to_images(pa.array(values, kind.type), kind.type)
    skipped = data.draw(st.integers(0, len(values)))
    distinct, places = images.sorted_distinct(made[skipped:])
    assert as_list(distinct) == sorted(set(as_list(made[skipped:])))
    assert as_list(images.take(distinct, places)) == as_list(made[skipped:])
    assert as_list(images.concat([made[:skipped], made[skipped:]])) == as_list(made)


def test_long_text_orders_by_code_point_to_the_last_character() -> None:
    long = "ab" * 5_000
    values = [long, long + "\x00", long[:-1] + "\U0001f600", long[:-1] + "\uffff", long[:-1]]
    check_order_and_return(values, pa.array(values), KINDS["text"])


@pytest.mark.parametrize(
    "kept", [pa.int64(), pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.duration("us")], ids=str
)
def test_the_reserved_integer_is_refused(kept: pa.DataType) -> None:
    lowest = pa.array([5, -(2**63), 7], pa.int64()).cast(kept)
    with pytest.raises(BadInput, match=r"column 'when': the integer -9223372036854775808 is reserved; declare"):
        column_images(lowest, Column("when", kept))
    assert len(column_images(lowest.slice(2), Column("when", kept))) == 1


def test_no_image_is_the_key_of_null() -> None:
    for kind in KINDS.values():
        made = images.to_images(pa.array(kind.always, kind.type), kind.type)
        if images.is_wide(kind.type):
            assert isinstance(made, pa.LargeBinaryArray)
        else:
            assert made.min() > images.NULL_KEY


def test_every_not_a_number_has_one_image() -> None:
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF], np.uint64)
    made = images.to_images(pa.array(bits.view(np.float64)), pa.float64())
    assert len(set(made.tolist())) == 1
    assert made[0] > images.to_images(pa.array([float("inf")]), pa.float64())[0]


def test_wide_means_text_and_decimals_of_more_than_eighteen_digits() -> None:
    assert [name for name, kind in KINDS.items() if images.is_wide(kind.type)] == ["long decimal", "text"]
    nineteen = pa.decimal128(19, 0)
    made = images.to_images(pa.array([decimal_of(-(10**19) + 1, 0), decimal_of(10**19 - 1, 0)], nineteen), nineteen)
    assert as_list(made)[0] < as_list(made)[1]
