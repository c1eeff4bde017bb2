"""Codes are given once: whatever values arrive in whatever portions, none ever changes."""

from __future__ import annotations

from math import log2
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.table import dictionary as module
from holdfast.table import images
from holdfast.table.dictionary import Dictionary, encode
from holdfast.table.runs import ValueRun
from tests.oracle.rows import plain, plain_row
from tests.table.values import KINDS, decimal_of

POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "integer": (pa.int64(), list(range(-20, 20))),
    "float": (pa.float64(), [*KINDS["float"].always, *(n / 2 for n in range(20))]),
    "long decimal": (pa.decimal128(38, 5), [decimal_of(n * 2**62, 5) for n in range(-15, 15)]),
    "text": (pa.string(), [a + b for a in ("", "a", "\x00", "\uffff", "\U0001f600") for b in ("", "a", "b", "\x00b")]),
}
pools = pytest.mark.parametrize(("kept", "pool"), POOLS.values(), ids=POOLS)


def images_of(values: list[Any], kept: pa.DataType) -> images.Images:
    return images.to_images(pa.array(values, kept), kept)


def distinct_images(values: list[Any], kept: pa.DataType) -> images.Images:
    return images.sorted_distinct(images_of(values, kept))[0]


def check_against(dictionary: Dictionary, model: dict[object, int], pool: list[Any]) -> None:
    kept = dictionary.kept
    assert len(dictionary) == 1 + len(model)
    expected = [model.get(plain(value), -1) for value in pool]
    assert dictionary.lookup(images_of(pool, kept)).tolist() == expected
    by_code: list[object] = [None, *model]  # codes are given in order, so the model lists them in order
    everything = dictionary.values(np.arange(len(dictionary), dtype=np.uint16))
    assert everything.type == kept
    assert plain_row(everything.to_pylist()) == tuple(by_code)
    backwards = np.arange(len(dictionary), dtype=np.uint32)[::-1].repeat(2)
    assert plain_row(dictionary.values(backwards).to_pylist()) == tuple(by_code[c] for c in backwards.tolist())


@pools
@pytest.mark.parametrize("small", [0, 2, 1 << 16])
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_random_portions(small: int, kept: pa.DataType, pool: list[Any], data: st.DataObject) -> None:
    dictionary, model = Dictionary(kept), dict[object, int]()
    versions = [(dictionary, dict(model))]
    with patch.object(module, "_SMALL", small):
        for portion in data.draw(st.lists(st.lists(st.sampled_from(pool), max_size=10), max_size=7)):
            distinct = distinct_images(portion, kept)
            codes, dictionary = encode(dictionary, distinct)
            for value in images.from_images(distinct, kept).to_pylist():
                model.setdefault(plain(value), 1 + len(model))
            listed = plain_row(images.from_images(distinct, kept).to_pylist())
            assert codes.tolist() == [model[value] for value in listed]
            versions.append((dictionary, dict(model)))
        for version, then in versions:  # later versions left the earlier ones alone
            check_against(version, then, pool)


@pools
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_ranges_of_images_across_runs(kept: pa.DataType, pool: list[Any], data: st.DataObject) -> None:
    dictionary = Dictionary(kept)
    with patch.object(module, "_SMALL", 1):
        for portion in data.draw(st.lists(st.lists(st.sampled_from(pool), max_size=10), max_size=6)):
            _, dictionary = encode(dictionary, distinct_images(portion, kept))
    first = data.draw(st.integers(1, len(dictionary)))
    count = data.draw(st.integers(0, len(dictionary) - first))
    between = images.from_images(dictionary.image_range(first, count), kept)
    assert plain_row(between.to_pylist()) == plain_row(dictionary.values(np.arange(first, first + count)).to_pylist())


@pytest.mark.parametrize(
    "sizes", [[1] * 600, [50] + [1] * 500, [1, 300] * 4 + [2] * 100, list(range(40)), [400, 200, 100]]
)
def test_runs_stay_few(sizes: list[int]) -> None:
    shuffled = np.random.default_rng(5).permutation(sum(sizes))
    dictionary = Dictionary(pa.int64())
    with patch.object(module, "_SMALL", 3):
        for portion in np.split(shuffled, np.cumsum(sizes)[:-1]):
            dictionary = dictionary.extended(np.sort(portion))
            assert len(dictionary.runs) <= 3 + log2(len(dictionary))
            assert [run.first for run in dictionary.runs] == np.cumsum([1] + [len(r) for r in dictionary.runs])[
                :-1
            ].tolist()
    assert sorted(dictionary.lookup(np.arange(sum(sizes))).tolist()) == list(range(1, 1 + sum(sizes)))


def test_the_first_values_stay_where_they_are() -> None:
    """A large start isn't moved for small additions: its run stays the very same object."""
    with patch.object(module, "_SMALL", 3):
        start = Dictionary(pa.int64()).extended(np.arange(0, 200, 2))
        grown = start
        for odd in range(1, 61, 2):
            grown = grown.extended(np.array([odd]))
    assert grown.runs[0] is start.runs[0]


def test_a_run_knows_its_order_from_a_file() -> None:
    values = pa.array([b"b", b"", b"c", b"a"], pa.large_binary())
    run = ValueRun(7, values, np.array([1, 3, 0, 2]))
    at, found = run.search(pa.array([b"a", b"b", b"bb"], pa.large_binary()))
    assert (at.tolist(), found.tolist()) == ([1, 2, 3], [True, True, False])
    assert run.codes_at(at[:2]).tolist() == [10, 7]
    numbers = ValueRun(7, np.array([5, -1, 9]), np.array([1, 0, 2]))
    at, found = numbers.search(np.array([-1, 5, 6, 10]))
    assert (at.tolist(), found.tolist()) == ([0, 1, 2, 3], [True, True, False, False])


def test_nothing_new_is_no_new_dictionary() -> None:
    dictionary = Dictionary(pa.string()).extended(pa.array([b"a"], pa.large_binary()))
    assert dictionary.extended(images.none_of(pa.string())) is dictionary
    codes, same = encode(dictionary, pa.array([b"a"], pa.large_binary()))
    assert codes.tolist() == [1]
    assert same is dictionary


@pools
def test_the_empty_dictionary(kept: pa.DataType, pool: list[Any]) -> None:
    empty = Dictionary(kept)
    assert len(empty) == 1
    assert set(empty.lookup(images_of(pool, kept)).tolist()) == {-1}
    assert empty.lookup(images.none_of(kept)).tolist() == []
    assert empty.values(np.zeros(3, np.uint8)).equals(pa.nulls(3, kept))
    assert len(empty.values(np.empty(0, np.uint32))) == 0
    assert len(empty.image_range(1, 0)) == 0


@pools
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_what_a_dictionary_extends(kept: pa.DataType, pool: list[Any], data: st.DataObject) -> None:
    portions = st.lists(st.lists(st.sampled_from(pool), max_size=4), max_size=4)
    with patch.object(module, "_SMALL", data.draw(st.sampled_from([0, 2, 100]))):
        base = Dictionary(kept)
        branches = []
        for portion in data.draw(portions):
            _, base = encode(base, distinct_images(portion, kept))
        for _ in range(2):
            branch = base
            for portion in data.draw(portions):
                _, branch = encode(branch, distinct_images(portion, kept))
            branches.append(branch)
    listed = [plain_row(each.values(np.arange(1, len(each))).to_pylist()) for each in (base, *branches)]
    for one, values in zip((base, *branches), listed, strict=True):
        for other, fewer in zip((base, *branches), listed, strict=True):
            assert one.extends(other) == (values[: len(fewer)] == fewer)


@pools
@pytest.mark.parametrize("small", [0, 2, 1 << 16])
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_some_codes_alone(small: int, kept: pa.DataType, pool: list[Any], data: st.DataObject) -> None:
    """They keep their order, and the dictionary goes on from there."""
    dictionary = Dictionary(kept)
    with patch.object(module, "_SMALL", small):
        for portion in data.draw(st.lists(st.lists(st.sampled_from(pool), max_size=10), max_size=5)):
            _, dictionary = encode(dictionary, distinct_images(portion, kept))
        stay = data.draw(st.sets(st.integers(1, max(len(dictionary) - 1, 1)))) if len(dictionary) > 1 else set()
        codes = np.array([0, *sorted(stay)], np.int64)
        alone = dictionary.only(codes)
        assert len(alone.runs) <= 1
        model = {value: code for code, value in enumerate(plain_row(dictionary.values(codes).to_pylist())) if code}
        check_against(alone, model, pool)
        fresh, grown = encode(alone, distinct_images(pool, kept))
        assert len(grown) == 1 + len(fresh) == 1 + len(distinct_images(pool, kept))
        assert grown.extends(alone)


def test_values_that_lie_in_order_need_no_stored_order() -> None:
    _, first = encode(Dictionary(pa.int64()), distinct_images([10, 20], pa.int64()))
    _, both = encode(first, distinct_images([5, 30], pa.int64()))
    assert both.nbytes == 2 * both.only(np.array([0, 1, 2, 4])).nbytes + 16 == 64
    assert both.only(np.array([0, 1, 3])).nbytes == 32
