"""Signatures of order under batches, against the definition: values arrive between, before and behind the old ones."""

from __future__ import annotations

import datetime as dt
import pickle
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import holdfast.pairs.ranks as ranks_module
import holdfast.pairs.watch as watch_module
import holdfast.table.table as table_module
from holdfast.changes.equal_rows import Codes
from holdfast.pairs import bitsets
from holdfast.pairs.counting import Count, all_pairs, batch_pairs, merged
from holdfast.pairs.probes import batch_of, parts_of_change, parts_of_table
from holdfast.pairs.ranked_rows import RankedWeightedRows
from holdfast.pairs.ranks import Ranks
from holdfast.pairs.rows import WeightedRows
from holdfast.pairs.signatures import ORDERED, SignatureKind, Signed, at_least, at_most, ordered_but, values_of
from holdfast.pairs.watch import CountedSignatures, PairWatch
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.dictionary import Dictionary
from holdfast.table.nulls import NullMode, Nulls
from holdfast.table.order import OrderKeys
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.oracle import agree as oracle
from tests.oracle.rows import Operation
from tests.table.building import Kept

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Row = tuple[Any, ...]

TYPES = {"key": pa.int64(), "number": pa.int64(), "text": pa.string(), "day": pa.date32(), "share": pa.float64()}
COLUMNS = tuple(Column(name, kind) for name, kind in TYPES.items())
numbers = st.integers(-9, 9)
cells = st.tuples(
    st.none() | numbers,
    st.none() | st.text("ab", max_size=4),
    st.none() | numbers.map(lambda days: dt.date(2024, 2, 28) + dt.timedelta(days)),
    st.none() | numbers.map(lambda number: number / 4),
)
kinds = st.sampled_from([ORDERED, ordered_but([2]), ordered_but([0, 2, 4])])
changes = st.lists(st.tuples(st.sampled_from(["insert", "insert", "update", "delete"]), st.integers(0, 30), cells))


class World:
    """A table with a key that batches change, and a plain list of the same rows."""

    def __init__(self, folder: str, nulls: NullMode) -> None:
        self.kept = Kept.empty(Schema("t", COLUMNS, (0,), Nulls(nulls)), folder)
        self.rows: dict[int, Row] = {}

    def change(self, wanted: Sequence[tuple[str, int, Row]]) -> Change:
        """What of it can be done: inserts of keys that are not there, updates and deletes of some that are."""
        operations: list[Operation] = []
        rows, left = self.rows, sorted(self.rows)
        for kind, number, values in wanted:
            if kind == "insert" and number not in rows:
                rows[number] = (number, *values)
                operations.append((kind, rows[number]))
            elif kind != "insert" and left:
                key = left.pop(number % len(left))
                rows[key] = (key, *values)
                operations.append((kind, rows[key]))
                if kind == "delete":
                    del rows[key]
        before = self.kept.table
        admitted, self.kept = self.kept.operate(operations)
        return Change(before, admitted.table, admitted.born, admitted.dead)

    def expected(self, kind: SignatureKind = ORDERED) -> Counter[str]:
        return oracle.order_signatures(list(self.rows.values()), self.kept.files.schema.nulls, kind.equal_only)


@contextmanager
def world(nulls: NullMode) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        yield World(folder, nulls)


class Elsewhere:
    """A runner that shares no memory with its tasks."""

    is_local = False

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        sent = [pickle.loads(pickle.dumps((function, item))) for item in items]
        return [there(item) for there, item in sent]


def signs(pairs: Signed, columns: int = len(COLUMNS)) -> Counter[str]:
    """Signatures of order as the oracle writes them: `<` where the second row is below the first."""
    found: Counter[str] = Counter()
    for words, count in zip(*pairs, strict=True):
        bits = set(bitsets.elements(words))
        values = ((at_most(c) in bits) + 2 * (at_least(c, columns) in bits) for c in range(columns))
        found["".join("?<>="[number] for number in values)] += int(count)
    return found


def held(watch: PairWatch) -> Counter[str]:
    return signs((watch.sets.sets, watch.sets.counts))


def step(old: Counter[str], new: Counter[str]) -> dict[str, int]:
    return {each: n for each in old | new if (n := new[each] - old[each])}


@contextmanager
def little_room() -> Iterator[None]:
    """Gaps between ranks, and between the labels of texts, that are soon full."""
    with (
        patch.object(ranks_module, "_MOST", (3, 12, 0xFFFFFFFE)),
        patch.object(table_module, "OrderKeys", lambda dictionary: OrderKeys(dictionary, 1)),
    ):
        yield


@settings(max_examples=30)
@given(st.lists(changes, min_size=1, max_size=5), st.sampled_from(["equal", "distinct"]), kinds)
def test_every_batch_leaves_what_the_definition_says(batches: list[Any], nulls: NullMode, kind: SignatureKind) -> None:
    with little_room(), world(nulls) as table:
        watch = PairWatch.of(table.change([]).after, Threads(), kind=kind)
        for batch in batches:
            old = table.expected(kind)
            change = table.change(batch)
            new = table.expected(kind)
            delta = watch.follow(change, Threads())
            assert held(watch) == new
            assert signs((delta.appeared, np.ones(len(delta.appeared), np.int64))).keys() == new.keys() - old.keys()
            assert signs((delta.vanished, np.ones(len(delta.vanished), np.int64))).keys() == old.keys() - new.keys()
            assert signs(merged(parts_of_table(change.after, Threads(), kind=kind))) == new
            assert signs(merged(parts_of_change(change, Elsewhere(), kind))) == step(old, new)


@settings(max_examples=20)
@given(st.lists(changes, min_size=1, max_size=3), st.sampled_from(["equal", "distinct"]), kinds)
def test_tasks_elsewhere_find_the_same(batches: list[Any], nulls: NullMode, kind: SignatureKind) -> None:
    with world(nulls) as table:
        watch = PairWatch.of(table.change(batches[0]).after, Elsewhere(), kind=kind)
        assert held(watch) == table.expected(kind)
        for batch in batches:
            watch.follow(table.change(batch), Elsewhere())
            assert held(watch) == table.expected(kind)
        watch.follow(table.change(batches[0]), Threads())
        assert held(watch) == table.expected(kind)


@settings(max_examples=20)
@given(changes, changes, st.sampled_from(["equal", "distinct"]), kinds)
def test_a_kept_count_and_a_large_batch_go_on(first: Any, second: Any, nulls: NullMode, kind: SignatureKind) -> None:
    with world(nulls) as table:
        counted = CountedSignatures.of(table.change(first).after, Threads(), Progress(), kind)
        loaded = CountedSignatures.load(table.kept.table, *counted.dump(), kind)
        with patch.object(watch_module, "_FEW", 0):
            loaded.follow(table.change(second), Threads())
        assert signs((loaded.sets.sets, loaded.sets.counts)) == table.expected(kind)


@settings(max_examples=20)
@given(changes, st.sampled_from(["equal", "distinct"]), kinds)
def test_values_say_what_the_first_row_is_to_the_second(batch: Any, nulls: NullMode, kind: SignatureKind) -> None:
    with world(nulls) as table:
        sets = PairWatch.of(table.change(batch).after, Threads(), kind=kind).sets
        values = values_of(sets.sets, len(COLUMNS)).tolist()
        mirrored = {8: "?", 4: "<", 2: "=", 1: ">"}  # the oracle says what the second row is to the first
        assert {"".join(mirrored[value] for value in row) for row in values} == table.expected(kind).keys()
        assert len(values) == len(table.expected(kind))


@settings(max_examples=30)
@given(changes, st.sampled_from(["equal", "distinct"]))
def test_pairs_are_counted_by_comparisons(batch: Any, nulls: NullMode) -> None:
    """How many pairs do not fall on the number but fall on the day: what breaks a rule of order."""
    with world(nulls) as table:
        sets = PairWatch.of(table.change(batch).after, Threads(), kind=ORDERED).sets
        found = sets.agreeing([at_least(1, len(COLUMNS)), at_most(3)], but_not=at_least(3, len(COLUMNS)))
        assert found == sum(
            n for signature, n in table.expected().items() if signature[1] in ">=" and signature[3] == "<"
        )


# ---- ranks by themselves ------------------------------------------------------------------------------------------


@dataclass
class Growing:
    """A column of integers that values are added to, and the rows that hold one value each."""

    dictionary: Dictionary = field(default_factory=lambda: Dictionary(pa.int64()))
    values: list[int] = field(default_factory=list)

    def add(self, values: Sequence[int]) -> NDArray[np.int64]:
        first = len(self.dictionary)
        self.dictionary = self.dictionary.extended(np.array(sorted(values), np.int64))
        self.values += sorted(values)
        return np.arange(first, len(self.dictionary))

    def keys(self) -> OrderKeys:
        return OrderKeys(self.dictionary)


def test_ranks_take_as_few_bytes_as_fit() -> None:
    for count, top in [(0, 0xFE), (254, 0xFE), (255, 0xFFFE), (65_534, 0xFFFE), (65_535, 0xFFFFFFFE)]:
        column = Growing()
        codes = column.add(range(count))
        ranks = Ranks(codes, column.keys())
        assert ranks.top == top
        assert (np.diff(ranks.of(codes).astype(np.int64)) > 0).all()
        assert ranks.of(codes).min(initial=1) > 0
        assert ranks.of(codes).max(initial=0) <= top
        assert ranks.of(np.array([0])).tolist() == [0]


def test_values_that_only_grow_seldom_make_a_spread() -> None:
    column = Growing()
    ranks = Ranks(column.add(range(1_000)), column.keys())
    for day in range(1_000, 1_400):
        assert ranks.fit(column.add([day]), column.keys())
    known = np.arange(1, 1_401)
    assert (np.diff(ranks.of(known).astype(np.int64)) > 0).all()


@pytest.mark.parametrize("count", [200, 300, 70_000])
def test_rows_keep_their_places_when_ranks_change(count: int) -> None:
    """A column that grows wider as values arrive, and another that no value arrives in."""
    with tempfile.TemporaryDirectory() as folder:
        columns = (Column("a", pa.int64()), Column("b", pa.int64()))
        kept = Kept.empty(Schema("t", columns), folder)
        _, kept = kept.operate([("insert", (10 * n, n % 3)) for n in range(count)])
        rows = RankedWeightedRows.of_table(kept.table)
        places = rows.used
        admitted, kept = kept.operate([("insert", (10 * n + 5, 1)) for n in range(100)])
        change = Change(kept.table, admitted.table, admitted.born, admitted.dead)
        batch = batch_of(change)
        rows.ranked(batch, change.after)
        assert rows.follow(batch).tolist() == list(range(places, places + 100))
        values = [10 * n for n in range(count)] + [10 * n + 5 for n in range(100)]
        assert np.argsort(rows.codes()[0]).tolist() == np.argsort(values).tolist()
        assert rows.follow(batch_of(change)).tolist() == list(range(places, places + 100))
        assert rows.weights.tolist() == [1] * count + [2] * 100


# ---- many columns, with values as ranks -----------------------------------------------------------------------------


def as_ranks(rows: list[tuple[Any, ...]], columns: int) -> Codes:
    return np.array([[row[c] or 0 for row in rows] for c in range(columns)], np.uint32).reshape(columns, len(rows))


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, list[tuple[Any, ...]], list[tuple[Any, ...]], int]:
    columns = draw(st.sampled_from([1, 2, 5, 6, 8, 9, 66]))
    few = draw(st.lists(st.none() | st.integers(1, 3), min_size=5, max_size=5))
    rows = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(
        lambda pair: tuple(few[(pair[0] + c * pair[1]) % 5] for c in range(columns))
    )
    return columns, draw(st.lists(rows, max_size=8)), draw(st.lists(rows, max_size=4)), draw(st.integers(0, 4))


@settings(max_examples=30)
@given(tables(), st.sampled_from(["equal", "distinct"]), st.sets(st.integers(0, 65)))
def test_order_signatures_follow_batches(
    table: tuple[int, list[tuple[Any, ...]], list[tuple[Any, ...]], int], nulls: str, alone: set[int]
) -> None:
    columns, old, born, dying = table
    distinct, kind = nulls == "distinct", ordered_but(c for c in alone if c < columns)
    rows = WeightedRows.of(as_ranks(old, columns), np.ones(len(old), np.int64))
    before = merged(all_pairs(rows, kind, distinct))
    assert signs(before, columns) == oracle.order_signatures(old, nulls, kind.equal_only)

    gone, new = old[:dying], old[dying:] + born
    steps = np.repeat(np.array([1, -1]), [len(born), len(gone)])
    batch = WeightedRows.of(as_ranks(born + gone, columns), steps)
    rows.follow(batch)
    against = Count(batch, rows, kind, distinct).whole()
    after = merged([before, *batch_pairs(batch, kind, distinct, against)])
    assert signs(after, columns) == oracle.order_signatures(new, nulls, kind.equal_only)
