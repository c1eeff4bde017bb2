"""Threads read shared objects at the same time, while Python switches between them all the time: each gets the
answer of a single thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from holdfast.borders.partitions import ColumnPartitions, Walks
from holdfast.borders.rows import CodedColumns, RankedColumns
from holdfast.engines.watched import WatchedTable
from holdfast.search.constants import CodeMask
from holdfast.table import images
from holdfast.table.dictionary import Dictionary, encode
from holdfast.table.frequencies import Frequencies
from holdfast.table.order import OrderKeys
from holdfast.table.runs import ValueRun
from holdfast.table.shard import build
from holdfast.table.table import Schema, Table
from holdfast.table.types import Column
from tests.table.building import encoded

T = TypeVar("T")
Numbers = NDArray[np.int64]
THREADS, ROUNDS = 4, 150
WORDS = [f"{7919 * i % 100_003:06}" for i in range(400)]


@pytest.fixture(autouse=True)
def changing_threads_all_the_time() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(THREADS) as pool:
        yield pool


def at_once(pool: ThreadPoolExecutor, work: Callable[..., T], *given: object) -> list[T]:
    """What several threads get that do the same at once."""
    ready = Barrier(THREADS)

    def one(_: int) -> T:
        ready.wait()
        return work(*given)

    return list(pool.map(one, range(THREADS)))


def grown(dictionary: Dictionary, values: list[Any]) -> Dictionary:
    made = images.to_images(pa.array(values, dictionary.kept), dictionary.kept)
    return encode(dictionary, images.sorted_distinct(made)[0])[1]


def some_rows() -> Table:
    rows = [(word, *(int(word) // divisor % 5 for divisor in (1, 7, 49))) for word in WORDS]
    columns = (Column("word", pa.string()), *(Column(name, pa.int64()) for name in "abc"))
    codes, table = encoded(Table.empty(Schema("things", columns)), rows)
    return table.changed([build(list(codes), (), range(len(rows)))], np.empty(0, np.int64))


@pytest.mark.parametrize("kind", [int, str])
def test_order_keys(pool: ThreadPoolExecutor, kind: type[int | str]) -> None:
    """All keys are kept when the first thread asks for many; others, who ask for a few, must not see half of that."""
    values, nothing = [kind(word) for word in WORDS], Dictionary(pa.int64() if kind is int else pa.string())
    first, (later,) = grown(nothing, values[:200]), grown(nothing, values[200:]).runs
    second = replace(
        first, runs=(*first.runs, ValueRun(len(first), later.values))
    )  # not merged, as where both are large
    every = np.arange(len(second))
    expected = OrderKeys(second).of(every)

    def ask(keys: OrderKeys) -> list[tuple[Numbers, Numbers]]:
        return [(codes, keys.of(codes)) for codes in (every[-10:], every, every[:10])]

    for _ in range(ROUNDS):
        keys = OrderKeys(second)
        for answers in at_once(pool, ask, keys):
            for codes, found in answers:
                assert np.array_equal(found, expected[codes])


def test_order_keys_that_follow(pool: ThreadPoolExecutor) -> None:
    """Labels without gaps change while others read them: readers always see labels in order."""
    first = grown(Dictionary(pa.string()), WORDS[::2])
    second = grown(first, WORDS[1::2])
    codes = np.arange(len(first))
    order = np.argsort(OrderKeys(first).of(codes))

    def follow_and_read(keys: OrderKeys) -> list[Numbers]:
        keys.follow(second)
        return [keys.of(codes[order]) for _ in range(3)]

    for _ in range(ROUNDS):
        keys = OrderKeys(first, gap=2)
        for answers in at_once(pool, follow_and_read, keys):
            assert all((np.diff(found) > 0).all() for found in answers)


def test_a_table_has_one_set_of_order_keys(pool: ThreadPoolExecutor) -> None:
    for _ in range(ROUNDS):
        table = some_rows()
        assert len({id(keys) for keys in at_once(pool, table.order_keys, 0)}) == 1


def test_masks_of_a_constant(pool: ThreadPoolExecutor) -> None:
    first = grown(Dictionary(pa.int64()), list(range(50)))
    second = grown(first, list(range(50, 90)))
    codes = np.arange(len(second))
    expected = [False] + [value < 70 for value in range(90)]
    for _ in range(4 * ROUNDS):
        mask = CodeMask(pa.int64(), "<", 70)
        at_once(pool, mask.of, first, codes[: len(first)])
        for found in at_once(pool, mask.of, second, codes):
            assert found.tolist() == expected


def cells_of(rows: RankedColumns) -> NDArray[np.uint32]:
    return rows.cells.copy()


@pytest.mark.parametrize("kind", [RankedColumns, CodedColumns])
def test_rows_that_are_read_on_first_use(pool: ThreadPoolExecutor, kind: type[RankedColumns]) -> None:
    table = some_rows()
    expected = kind(table).cells
    for _ in range(4 * ROUNDS):
        rows = kind(table)
        for found in at_once(pool, cells_of, rows):
            assert np.array_equal(found, expected)


def parts_of(watched: WatchedTable) -> tuple[Frequencies, RankedColumns]:
    return watched.part(Frequencies), watched.part(RankedColumns)


def test_parts_of_a_watched_table_are_made_once(pool: ThreadPoolExecutor) -> None:
    table = some_rows()
    for _ in range(ROUNDS):
        watched = WatchedTable(table)
        made = at_once(pool, parts_of, watched)
        assert len({(id(one), id(other)) for one, other in made}) == 1


def test_partitions(pool: ThreadPoolExecutor) -> None:
    rows, context = CodedColumns(some_rows()), (1, 2, 3)
    expected = Walks(ColumnPartitions(rows)).to(context)
    for _ in range(ROUNDS):
        walks = Walks(ColumnPartitions(rows))
        for found in at_once(pool, walks.to, context):
            assert np.array_equal(found.rows, expected.rows)
            assert np.array_equal(found.starts, expected.starts)
