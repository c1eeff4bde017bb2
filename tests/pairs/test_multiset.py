"""The counted agree-sets of a table under batches, against the definition; the paper's example; kept and loaded."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast.pairs.watch as watch_module
from holdfast.errors import BadInput
from holdfast.pairs import bitsets
from holdfast.pairs.counting import merged
from holdfast.pairs.multiset import Signatures
from holdfast.pairs.probes import parts_of_change, parts_of_table
from holdfast.pairs.signatures import Words
from holdfast.pairs.watch import PairWatch
from holdfast.table import files
from holdfast.table.change import Change
from holdfast.table.nulls import NullMode, Nulls
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.oracle import agree as oracle
from tests.table.building import Kept, deletes, inserts

Row = tuple[Any, ...]
null_modes = st.sampled_from(["equal", "distinct"])


class World:
    """A table of some columns that batches change, and a plain list of the same rows."""

    def __init__(self, folder: str, columns: int, nulls: NullMode = "equal", kind: pa.DataType | None = None) -> None:
        names = tuple(Column(f"c{i}", kind or pa.int64()) for i in range(columns))
        self.kept = Kept.empty(Schema("t", names, (), Nulls(nulls)), folder)
        self.rows: list[Row] = []

    def change(self, born: Sequence[Row], places: Sequence[int] = ()) -> Change:
        doomed = {place % len(self.rows) for place in places} if self.rows else set()
        gone = [self.rows[place] for place in doomed]
        self.rows = [row for place, row in enumerate(self.rows) if place not in doomed] + list(born)
        return self.signed(born, gone)

    def signed(self, born: Sequence[Row], gone: Sequence[Row]) -> Change:
        before = self.kept.table
        admitted, self.kept = self.kept.operate([*deletes(gone), *inserts(born)])
        return Change(before, admitted.table, admitted.born, admitted.dead)


@contextmanager
def world(columns: int, nulls: NullMode = "equal", kind: pa.DataType | None = None) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        yield World(folder, columns, nulls, kind)


def plain(sets: Words, counts: Any) -> Counter[oracle.AgreeSet]:
    found: Counter[oracle.AgreeSet] = Counter()
    for words, count in zip(sets, counts, strict=True):
        found[frozenset(bitsets.elements(words))] += int(count)
    return found


def held(watch: PairWatch) -> Counter[oracle.AgreeSet]:
    return plain(watch.sets.sets, watch.sets.counts)


def as_sets(words: Words) -> set[oracle.AgreeSet]:
    return {frozenset(bitsets.elements(each)) for each in words}


# ---- the paper's example ------------------------------------------------------------------------------------------

FN, LN, P, S = range(4)
EMPLOYEES = [
    ("John", "Bond", "Manager", "2500"),
    ("Marie", "Miller", "Manager", "3000"),
    ("Marie", "Bond", "Employee", "2000"),
    ("Tom", "Gray", "Manager", "3000"),
]
# The paper's third row says "Employer" in its table 1, and is coded as equal to "Employee" in its table 2.
T5, T6 = ("John", "Miller", "Employee", "2000"), ("Anna", "Scott", "Manager", "3000")


def counted(*sets: tuple[int, ...]) -> Counter[oracle.AgreeSet]:
    return Counter(frozenset(each) for each in sets)


def test_the_papers_table_step_by_step() -> None:
    with world(4, kind=pa.string()) as employees:
        watch = PairWatch.of(employees.change(EMPLOYEES).after, Threads())
        assert held(watch) == counted((P,), (LN,), (P,), (FN,), (P, S), ())

        delta = watch.follow(employees.change([], [3]), Threads())
        assert held(watch) == counted((P,), (LN,), (FN,))
        assert as_sets(delta.vanished) == {frozenset((P, S)), frozenset(())}  # {P} stays: t1 and t2 have it too
        assert as_sets(delta.appeared) == set()

        delta = watch.follow(employees.change([T5]), Threads())
        assert held(watch) == counted((P,), (LN,), (FN,), (FN,), (LN,), (P, S))
        assert as_sets(delta.appeared) == {frozenset((P, S))}

        delta = watch.follow(employees.change([T6]), Threads())
        # t2 and t6 share P and S, as t3 and t5 do; t1 shares P with t2 and t6; t6 shares nothing with t3 and t5.
        assert held(watch) == counted((LN,), (P,), (FN,), (FN,), (LN,), (P, S), (), (P,), (P, S), ())
        assert as_sets(delta.appeared) == {frozenset()}


def test_the_papers_batch_at_once() -> None:
    with world(4, kind=pa.string()) as employees:
        watch = PairWatch.of(employees.change(EMPLOYEES).after, Threads())
        change = employees.change([T5, T6], [3])
        taken = counted((P,), (P, S), ())
        added = counted((FN,), (LN,), (P, S), (), (P,), (P, S), ())
        difference = plain(*merged(parts_of_change(change, Threads())))
        assert difference == {each: n for each in added | taken if (n := added[each] - taken[each])}
        delta = watch.follow(change, Threads())
        assert not delta
        assert watch.sets.agreeing([LN], but_not=P) == 2  # the paper's LN -> P
        assert watch.sets.pairs == 10


# ---- streams against the definition -------------------------------------------------------------------------------


@st.composite
def streams(draw: st.DrawFn) -> tuple[int, list[tuple[list[Row], list[int]]]]:
    """Columns, and batches of rows to insert and places to delete; few values, so that rows agree and repeat."""
    columns = draw(st.one_of(st.integers(1, 20), st.sampled_from([63, 64, 65, 127, 128, 129, 130])))
    values = draw(st.lists(st.one_of(st.none(), st.integers(0, 2)), min_size=7, max_size=7))
    cells = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, columns - 1))
    rows = cells.map(lambda cell: tuple(values[(cell[0] + c * cell[1] + (c == cell[2])) % 7] for c in range(columns)))
    batches = st.tuples(st.lists(rows, max_size=6), st.lists(st.integers(0, 30), max_size=3))
    return columns, draw(st.lists(batches, min_size=1, max_size=4))


@settings(max_examples=30)
@given(streams(), null_modes)
def test_every_batch_leaves_what_the_definition_says(
    stream: tuple[int, list[tuple[list[Row], list[int]]]], nulls: NullMode
) -> None:
    columns, batches = stream
    with world(columns, nulls) as table:
        watch = PairWatch.of(table.change([]).after, Threads())
        for born, places in batches:
            old = oracle.agree_sets(table.rows, nulls)
            change = table.change(born, places)
            new = oracle.agree_sets(table.rows, nulls)
            delta = watch.follow(change, Threads())
            assert held(watch) == new
            assert (as_sets(delta.appeared), as_sets(delta.vanished)) == (new.keys() - old, old.keys() - new)
            step = {each: n for each in old | new if (n := new[each] - old[each])}
            assert plain(*merged(parts_of_change(change, Threads()))) == step
            assert plain(*merged(parts_of_table(change.after, Threads()))) == new
            on = sorted({place % columns for place in places})
            assert watch.sets.agreeing(on) == oracle.agreeing(table.rows, on, None, nulls)
            assert watch.sets.agreeing(on, columns - 1) == oracle.agreeing(table.rows, on, columns - 1, nulls)


@settings(max_examples=30)
@given(streams(), null_modes)
def test_a_batch_and_its_negation_undo_each_other(
    stream: tuple[int, list[tuple[list[Row], list[int]]]], nulls: NullMode
) -> None:
    columns, batches = stream
    with world(columns, nulls) as table:
        watch = PairWatch.of(table.change(batches[0][0]).after, Threads())
        before, rows = held(watch), list(table.rows)
        there = watch.follow(table.signed(batches[-1][0], rows[:2]), Threads())
        back = watch.follow(table.signed(rows[:2], batches[-1][0]), Threads())
        assert held(watch) == before
        assert as_sets(there.appeared) == as_sets(back.vanished)
        assert as_sets(there.vanished) == as_sets(back.appeared)


@settings(max_examples=20)
@given(streams(), null_modes)
def test_a_watch_is_loaded_as_it_was_kept(
    stream: tuple[int, list[tuple[list[Row], list[int]]]], nulls: NullMode
) -> None:
    columns, batches = stream
    with world(columns, nulls) as table:
        watch = PairWatch.of(table.change(batches[0][0]).after, Threads())
        path = f"{table.kept.folder}/kept.arrow"
        files.write(path, *watch.dump())
        loaded = PairWatch.load(table.kept.table, *files.read(path))
        assert held(loaded) == held(watch)
        loaded.follow(table.change(*batches[-1]), Threads())
        assert held(loaded) == oracle.agree_sets(table.rows, nulls)


@given(streams(), null_modes)
@settings(max_examples=20)
def test_after_a_batch_as_large_as_the_table_all_pairs_are_counted(
    stream: tuple[int, list[tuple[list[Row], list[int]]]], nulls: NullMode
) -> None:
    columns, batches = stream
    with world(columns, nulls) as table, patch.object(watch_module, "_FEW", 0):
        watch = PairWatch.of(table.change([]).after, Threads())
        for born, places in batches:
            old = oracle.agree_sets(table.rows, nulls).keys()
            delta = watch.follow(table.change(born, places), Threads())
            new = oracle.agree_sets(table.rows, nulls)
            assert held(watch) == new
            assert (as_sets(delta.appeared), as_sets(delta.vanished)) == (new.keys() - old, old - new.keys())


# ---- tasks elsewhere ----------------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_spark_tasks_count_as_threads_do(spark: Any, nulls: NullMode, monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.pairs import probes
    from holdfast.spark.runner import SparkRunner

    monkeypatch.setattr(probes, "_ROWS_A_TASK", 20)  # several tasks, for a few rows
    numbers = np.random.default_rng(1)
    rows = [tuple(None if v == 0 else int(v) for v in row) for row in numbers.integers(0, 4, (60, 70))]
    with world(70, nulls) as table:
        tasks = SparkRunner(spark)
        watch = PairWatch.of(table.change(rows[:40]).after, tasks)
        assert held(watch) == oracle.agree_sets(table.rows, nulls)
        watch.follow(table.change(rows[40:], [0, 1, 5]), tasks)
        assert held(watch) == oracle.agree_sets(table.rows, nulls)
        watch.follow(table.change(rows[:3], [7]), Threads())
        assert held(watch) == oracle.agree_sets(table.rows, nulls)


# ---- the multiset by itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 64, 70, 512])
def test_queries_on_many_sets(columns: int) -> None:
    numbers = np.random.default_rng(columns)
    sets = Signatures(columns)
    model: Counter[oracle.AgreeSet] = Counter()
    for _ in range(3):
        some = [tuple(np.flatnonzero(numbers.random(columns) < 0.9).tolist()) for _ in range(150)]
        sets.add(np.array([bitsets.of(each, sets.words) for each in some]), np.arange(1, 151))
        for n, each in enumerate(some, 1):
            model[frozenset(each)] += n
        for size in (0, 1, 3):
            on = numbers.choice(columns, min(size, columns), replace=False).tolist()
            but = int(numbers.integers(columns))
            assert sets.agreeing(on) == sum(n for each, n in model.items() if each.issuperset(on))
            assert sets.agreeing(on, but) == sum(n for e, n in model.items() if e.issuperset(on) and but not in e)
    assert plain(sets.sets, sets.counts) == model
    assert (len(sets), sets.pairs) == (len(model), model.total())


def test_sets_that_come_and_go_leave_no_trace() -> None:
    sets = Signatures(20)
    stays = np.array([[1 << 19]], np.uint64)
    sets.add(stays, np.array([5]))
    for begin in range(0, 12_000, 3_000):
        passing = np.arange(begin, begin + 3_000, dtype=np.uint64).reshape(-1, 1)
        assert len(sets.add(passing, np.full(3_000, 2)).appeared) == 3_000
        assert sets.agreeing([0]) == 3_000
        assert len(sets.add(passing, np.full(3_000, -2)).vanished) == 3_000
        assert (len(sets), sets.agreeing([]), sets.agreeing([19])) == (1, 5, 5)
        assert sets.used < 8_000
    assert sets.sets.tolist() == stays.tolist()


def test_a_set_may_come_several_times_in_one_addition() -> None:
    sets = Signatures(3)
    delta = sets.add(np.array([[1], [2], [1], [2]], np.uint64), np.array([1, 1, 1, -1]))
    assert (delta.appeared.tolist(), delta.vanished.tolist()) == ([[1]], [])
    delta = sets.add(np.array([[1], [3], [1]], np.uint64), np.array([-3, 4, 1]))
    assert (delta.appeared.tolist(), delta.vanished.tolist()) == ([[3]], [[1]])


def test_more_pairs_than_there_are_cannot_be_taken() -> None:
    sets = Signatures.of(3, np.array([[1], [2]], np.uint64), np.array([4, 5]))
    with pytest.raises(AssertionError, match="more pairs than there are"):
        sets.add(np.array([[1], [7], [2]], np.uint64), np.array([-4, 1, -6]))
    assert plain(sets.sets, sets.counts) == {frozenset({0}): 4, frozenset({1}): 5}
    assert (len(sets), sets.pairs, sets.agreeing([])) == (2, 9, 9)


def test_too_many_columns_are_refused() -> None:
    with pytest.raises(BadInput, match="at most 512 columns, not 513"):
        Signatures(513)
