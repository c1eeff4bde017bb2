"""The table as a value: finding rows, reading them in any order, gaps among ids, wide tables, and older versions."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.table import shard
from holdfast.table.load import load_table, open_table, run_probe
from holdfast.table.runner import Threads
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Schema, Table
from holdfast.table.types import Column
from tests.oracle.rows import plain_row
from tests.table.building import (
    Kept,
    colliding_hashes,
    deletes,
    encoded,
    inserts,
    kinds_of,
    rows_of,
    schema_of,
    staged_of,
)
from tests.table.values import KINDS, rank

NUMBERS = (Column("n", pa.int64()), Column("m", pa.int64()))


def of_shards(sizes: list[int], row: tuple[int, int] = (1, 2)) -> Table:
    """A table of equal rows in some shards."""
    codes, table = encoded(Table.empty(Schema("equal", NUMBERS)), [row])
    shards, first = [], 0
    for size in sizes:
        shards.append(shard.build([np.repeat(column, size) for column in codes], (), range(first, first + size)))
        first += size
    return table.changed(shards, np.empty(0, np.int64))


@pytest.mark.parametrize("living", [0, 1, 3, 40, 4_000])
@pytest.mark.parametrize("wanted", [1, 2, 30, 10_000])
def test_finding_some_of_thousands_of_equal_rows_of_which_many_are_dead(living: int, wanted: int) -> None:
    table = of_shards([2_000, 1, 3_000])
    random = np.random.default_rng(living)
    alive = np.sort(random.choice(5_001, living, replace=False))
    table = table.changed([], np.setdiff1d(np.arange(5_001), alive))
    codes, _ = encoded(table, [(1, 2)])
    query, ids = table.find(codes, np.array([wanted]))
    assert ids.tolist() == alive[:wanted].tolist()
    assert query.tolist() == [0] * len(ids)
    assert table.rows == len(table.living_ids()) == living


@pytest.mark.parametrize("distinct_hashes", [1, 3])
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_finding_among_collisions(distinct_hashes: int, folder: str, data: st.DataObject) -> None:
    """Each query gets its own rows, the oldest first, and as many as it wants."""
    rows = st.tuples(st.integers(0, 2), st.integers(0, 1))
    with colliding_hashes(distinct_hashes):
        kept = Kept.empty(schema_of((), NUMBERS), folder)
        for _ in range(data.draw(st.integers(0, 3))):
            _, kept = kept.operate(inserts(data.draw(st.lists(rows, max_size=12))))
            _, kept = kept.operate(deletes(data.draw(st.lists(rows, max_size=6))), "ignore")
        queries = data.draw(st.lists(rows, unique=True, max_size=6))
        wanted = data.draw(st.lists(st.integers(0, 4), min_size=len(queries), max_size=len(queries)))
        codes, grown = encoded(kept.table, queries)
        found_query, found_id = grown.find(codes, np.array(wanted, np.int64))
    living = list(zip(kept.table.living_ids().tolist(), rows_of(kept.table), strict=True))
    for number, (row, count) in enumerate(zip(queries, wanted, strict=True)):
        expected = [i for i, other in living if other == row][:count]
        assert found_id[found_query == number].tolist() == expected


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_codes_and_values_of_ids_in_any_order(folder: str, data: st.DataObject) -> None:
    row = st.tuples(
        st.none() | st.integers(0, 3), st.none() | st.sampled_from(["", "a", "é"]), st.sampled_from([math.nan, 0.5])
    )
    kept, everything = Kept.empty(schema_of(), folder), []
    for batch in data.draw(st.lists(st.lists(row, max_size=6), max_size=4)):
        _, kept = kept.operate(inserts(batch))
        everything += [plain_row(each) for each in batch]
    ids = data.draw(st.lists(st.integers(0, len(everything) - 1), max_size=12)) if everything else []
    assert rows_of(kept.table, np.array(ids, np.int64)) == [everything[i] for i in ids]
    codes = kept.table.codes(np.array(ids, np.int64))
    assert codes.shape == (3, len(ids))
    assert kept.table.decode(codes).schema == kept.table.schema.arrow()


@pytest.mark.parametrize("key", [(), (0,), (299, 3)], ids=str)
def test_a_wide_table(key: tuple[int, ...], folder: str) -> None:
    width, height = 300, 50
    kinds = [KINDS["integer"] if c in key else list(KINDS.values())[c % len(KINDS)] for c in range(width)]
    columns = tuple(Column(f"column {c}", kind.type) for c, kind in enumerate(kinds))
    pools = [[None, *kind.always] for kind in kinds]
    rows = [
        tuple(r if c in key else pool[(r * 7 + c) % len(pool)] for c, pool in enumerate(pools)) for r in range(height)
    ]
    _, kept = Kept.empty(schema_of(key, columns), folder).operate(inserts(rows), pieces=3)
    ids = np.random.default_rng(1).permutation(height)
    expected = [plain_row(rows[i]) for i in ids.tolist()]
    assert rows_of(kept.table, ids) == rows_of(kept.reloaded(), ids) == expected
    _, kept = kept.operate([*deletes(rows[10:30]), *inserts(rows[10:12])])
    assert Counter(rows_of(kept.table)) == Counter(plain_row(r) for r in rows[:12] + rows[30:])


def test_ids_with_gaps() -> None:
    """As compaction leaves them."""
    codes, table = encoded(Table.empty(Schema("gaps", NUMBERS)), [(1, 1), (2, 2), (1, 1), (3, 3), (1, 1)])
    ids = [np.array([3, 7, 8]), np.array([20, 1_000])]
    parts = np.split(codes, [3], axis=1)
    table = table.changed([shard.build(list(p), (), i) for p, i in zip(parts, ids, strict=True)], np.empty(0, np.int64))
    assert (table.next_id, table.rows) == (1_001, 5)
    assert rows_of(table, np.array([1_000, 3, 20, 8, 7])) == [(1, 1), (1, 1), (3, 3), (1, 1), (2, 2)]
    table = table.changed([], np.array([8]))
    assert table.living_ids().tolist() == [3, 7, 20, 1_000]
    query, found = table.find(codes[:, [0, 3]], np.array([5, 5]))
    assert found[query == 0].tolist() == [3, 1_000]
    assert found[query == 1].tolist() == [20]
    looked_up = np.array([1_001, 3, 0, 20, 8, 9, 1_000, 7, 999])
    assert looked_up[table.which_live(looked_up)[1]].tolist() == [3, 20, 1_000, 7]
    assert table.codes(np.array([20, 7]), [1]).tolist() == [[codes[1, 3], codes[1, 1]]]


def test_a_table_is_a_value() -> None:
    before = of_shards([3, 2])
    after = before.changed([], np.array([1, 4]))
    again = after.changed([], np.array([2]))
    assert [t.living_ids().tolist() for t in (before, after, again)] == [[0, 1, 2, 3, 4], [0, 2, 3], [0, 3]]
    assert [t.rows for t in (before, after, again)] == [5, 3, 2]
    assert again.alive[1] is after.alive[1]  # nothing died there, so nothing is copied
    assert before.alive == (None, None)


def test_the_empty_table(folder: str) -> None:
    kept = Kept.empty(schema_of((0,)), folder)
    none = np.empty(0, np.int64)
    assert len(kept.table.living_ids()) == kept.table.rows == 0
    assert kept.table.codes(none).shape == (3, 0)
    assert kept.table.which_live(np.array([0, 1]))[1].tolist() == [False, False]
    assert kept.table.values(none).schema == kept.table.schema.arrow()
    assert [len(each) for each in kept.table.find(np.zeros((1, 2), np.uint32), np.ones(2, np.int64))] == [0, 0]
    assert rows_of(load_table(kept.files)) == []
    assert kept.table.changed([], none).rows == 0


def test_an_open_table_is_kept_open(folder: str) -> None:
    _, kept = Kept.empty(schema_of(), folder).operate(inserts([(1, "a", None)]))
    assert open_table(kept.files) is open_table(kept.files)
    assert rows_of(open_table(kept.files)) == [(1, "a", None)]


def check_order(table: Table, column: int) -> None:
    codes = np.arange(len(table.dictionaries[column]))
    values = table.dictionaries[column].values(codes).to_pylist()
    keys = table.order_keys(column).of(codes)
    assert np.argsort(keys).tolist() == sorted(codes.tolist(), key=lambda code: rank(values[code]))


@pytest.mark.parametrize("column", [0, 1, 2])
def test_order_keys_before_and_after_a_batch_and_after_one_that_came_to_nothing(column: int, folder: str) -> None:
    _, before = Kept.empty(schema_of(), folder).operate(inserts([(5, "m", 0.5)]))
    check_order(before.table, column)
    _, after = before.operate(inserts([(3, "c", math.nan), (9, "x", -1.0)]))
    check_order(after.table, column)
    check_order(before.table, column)
    # The batch is dropped; another one gives the same codes to other values.
    _, other = before.operate(inserts([(9, "z", -7.0), (1, "a", 7.0), (6, "n", 0.75)]))
    check_order(other.table, column)
    check_order(before.table, column)
    check_order(after.table, column)


def test_probes_see_each_shard_with_its_living_rows(folder: str) -> None:
    _, kept = Kept.empty(schema_of(), folder).operate(inserts([(n, "a", None) for n in range(4)]))
    _, kept = kept.operate([*inserts([(9, "b", None)] * 2), *deletes([(2, "a", None)])])

    class Elsewhere:
        """A runner that looks to a probe as if it ran elsewhere."""

        is_local = False

        def map(self, function, items):  # type: ignore[no-untyped-def]
            return [function(item) for item in items]

    for runner in (Threads(2), Elsewhere()):
        assert run_probe(runner, _count_living, kept.table, 10) == [13, 12]


def _count_living(piece: Shard, alive: Alive, more: int) -> int:
    return more + (len(piece) if alive is None else int(alive.sum()))


def test_staged_rows_have_a_length() -> None:
    assert len(staged_of([(1, "a", None)] * 3, schema_of())) == 3
    assert kinds_of(deletes([(1, "a", None)])).tolist() == [-1]
