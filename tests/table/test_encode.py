"""Staging: columns of any form that Arrow has, with nulls and dictionaries of their own, come back as they were."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.table.dictionary import Dictionary
from holdfast.table.encode import merge, stage
from holdfast.table.types import Column, kept_type
from tests.oracle.rows import plain_row
from tests.table.values import KINDS, Kind

kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def through(columns: list[pa.ChunkedArray], kept: pa.DataType) -> list[tuple[object, ...]]:
    """Stage each column apart, merge their dictionaries, remap and decode."""
    staged = [stage([column], [Column("c", kept)]) for column in columns]
    maps, fresh = merge([each.values[0] for each in staged], Dictionary(kept))
    dictionary = Dictionary(kept).extended(fresh)
    return [
        plain_row(dictionary.values(own[each.codes[0]]).to_pylist()) for own, each in zip(maps, staged, strict=True)
    ]


@kinds
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_sliced_chunks_with_nulls(kind: Kind, data: st.DataObject) -> None:
    lists = st.lists(st.none() | st.sampled_from(kind.always), max_size=7)
    columns, expected = [], []
    for _ in range(data.draw(st.integers(1, 3))):
        parts = data.draw(st.lists(lists, max_size=3))
        starts = [data.draw(st.integers(0, len(part))) for part in parts]
        chunks = [pa.array(part, kind.type).slice(start) for part, start in zip(parts, starts, strict=True)]
        columns.append(pa.chunked_array(chunks, kind.type))
        expected.append(plain_row([v for part, start in zip(parts, starts, strict=True) for v in part[start:]]))
    assert through(columns, kind.type) == expected


@kinds
def test_nothing_but_nulls_and_nothing_at_all(kind: Kind) -> None:
    nulls = pa.chunked_array([pa.nulls(3, kind.type)])
    none = pa.chunked_array([], kind.type)
    assert through([nulls, none, nulls], kind.type) == [(None,) * 3, (), (None,) * 3]


FORMS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [-128, 127, None]),
    (pa.uint32(), [0, 2**32 - 1, None]),
    (pa.uint64(), [0, 2**64 - 1, None]),
    (pa.float32(), [0.5, None, float("inf")]),
    (pa.large_string(), ["a", None, ""]),
    (pa.string_view(), ["a", None, "a text too long to lie inline"]),
    (pa.decimal32(5, 2), [Decimal("-1.50"), None, Decimal("999.99")]),
    (pa.decimal64(12, 2), [Decimal("-1.50"), None, Decimal("9999999999.99")]),
    (pa.decimal256(30, 2), [Decimal("-1.50"), None, Decimal("9" * 28)]),
    (pa.null(), [None, None]),
    (pa.dictionary(pa.int8(), pa.string()), ["b", None, "a", "b"]),
]


@pytest.mark.parametrize(("given_type", "values"), FORMS, ids=[str(form) for form, _ in FORMS])
def test_forms_that_widen_to_a_kept_type(given_type: pa.DataType, values: list[Any]) -> None:
    array = pa.array([values[0], *values], given_type)
    back = through([pa.chunked_array([array]), pa.chunked_array([array.slice(1)])], kept_type(given_type))
    assert back == [(values[0], *values), tuple(values)]


def test_dictionaries_that_hold_null_and_repeat_values() -> None:
    """Other tools' dictionaries do."""
    odd = pa.DictionaryArray.from_arrays(pa.array([3, 0, 1, None, 2], pa.int8()), pa.array(["a", None, "b", "a"]))
    assert through([pa.chunked_array([odd])], pa.string()) == [("a", "a", None, None, "b")]


def test_chunks_with_dictionaries_of_their_own() -> None:
    chunks = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["a", "c", None], ["c"])]
    assert through([pa.chunked_array(chunks)], pa.string()) == [("b", "a", "a", "c", None, "c")]


def test_equal_floats_meet() -> None:
    column = pa.chunked_array([[0.0, -0.0, float("nan"), -float("nan"), None]])
    staged = stage([column], [Column("f", pa.float64())])
    (own,), fresh = merge([staged.values[0]], Dictionary(pa.float64()))
    assert len(fresh) == 2
    assert own[staged.codes[0]].tolist() == [1, 1, 2, 2, 0]


def test_local_codes_are_narrow() -> None:
    for count, width in ((255, 1), (256, 2), (65_535, 2), (65_536, 4)):
        staged = stage([pa.chunked_array([np.arange(count)])], [Column("n", pa.int64())])
        assert staged.codes[0].itemsize == width
        assert len(staged) == count


def test_merging_no_chunks() -> None:
    for kept in (pa.int64(), pa.string()):
        maps, fresh = merge([], Dictionary(kept))
        assert (maps, len(fresh)) == ([], 0)


@pytest.mark.parametrize(
    ("values", "kept", "reason"),
    [
        (pa.array([1.5]), pa.int64(), "double does not fit int64"),
        (pa.array([1], pa.timestamp("ns")), pa.timestamp("us"), r"timestamp\[ns\] does not fit timestamp\[us\]"),
        (pa.array([2**53 + 1]), pa.float64(), "int64 does not fit double"),
        (pa.array([Decimal("12345678901")]), pa.decimal128(10, 2), r"does not fit decimal128\(10, 2\)"),
        (pa.array([b"x"]), pa.date32(), r"binary does not fit date32\[day\]"),
    ],
    ids=str,
)
def test_what_would_lose_something_is_refused(values: pa.Array, kept: pa.DataType, reason: str) -> None:
    with pytest.raises(BadInput, match=f"^column 'c x': .*{reason}"):
        stage([pa.chunked_array([values])], [Column("c x", kept)])


BAD = [b"fine", b"a\xffb", None]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("encoded", [False, True])
def test_text_that_is_no_utf8(kind: pa.DataType, encoded: bool) -> None:
    binary = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    given = pa.array(BAD, binary[kind])
    values = pa.Array.from_buffers(kind, len(given), given.buffers())
    if encoded:
        if kind == pa.string_view():
            pytest.skip("Arrow has no dictionaries of views")
        values = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), values.slice(0, 2))
    with pytest.raises(BadInput, match=r"column 'b': the text b'a\\xffb' is not UTF-8"):
        stage([pa.chunked_array([values])], [Column("b", pa.string())])


def test_a_dictionary_that_is_too_short() -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([0, 5], pa.int8()), pa.array(["x"]), safe=False)
    with pytest.raises(BadInput, match=r"column 'b': the data is damaged"):
        stage([pa.chunked_array([values])], [Column("b", pa.string())])
