"""A rewritten table has the same rows with the same ids, and nothing else; and life goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.table import rewrite
from holdfast.table.load import load_table
from holdfast.table.rewrite import bytes_a_row, is_overweight, needed_bytes, rewritten
from holdfast.table.table import TableFiles
from tests.oracle.rows import Operation, Row
from tests.table.building import Kept, deletes, inserts, operated, rows_of, schema_of

row = st.tuples(st.integers(0, 5), st.sampled_from(["", "a", "b", "\U0001f600"]), st.sampled_from([None, 0.5]))
operation = st.tuples(st.sampled_from(["insert", "insert", "delete"]), row)


def in_new_files(kept: Kept) -> Kept:
    made = rewritten(kept.table, kept.folder)
    named = TableFiles(kept.files.schema, made.segments, kept.files.next_id)
    after = replace(kept, table=load_table(named), files=named)
    old, new = kept.table, after.table
    assert new.living_ids().tolist() == old.living_ids().tolist()
    assert rows_of(new) == rows_of(old)
    assert (new.rows, new.next_id) == (old.rows, old.next_id)
    assert made.dropped == sum(len(d) for d in old.dictionaries) - sum(len(d) for d in new.dictionaries)
    for column, (was, now, stay) in enumerate(zip(old.dictionaries, new.dictionaries, made.kept, strict=True)):
        used = {0, *new.column_codes(column).tolist()}
        assert used == set(range(len(now))), "every code is used"
        assert now.values(np.arange(len(now))).equals(was.values(stay))
        assert (np.diff(stay) > 0).all(), "codes stay in order"
    return after


@pytest.mark.parametrize("key", [(), (0,)], ids=["no key", "key"])
@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.lists(operation, max_size=6), st.booleans(), st.booleans()), max_size=7))
def test_streams_with_rewriting_now_and_then(
    key: tuple[int, ...], folder: str, steps: list[tuple[list[Operation], bool, bool]]
) -> None:
    kept = Kept.empty(schema_of(key), folder)
    with patch.object(rewrite, "_ROWS_A_SEGMENT", 4), patch.object(rewrite, "_VALUES_AT_ONCE", 20):
        for operations, in_bulk, rewriting in steps:
            kept = operated(kept, operations, in_bulk)
            if rewriting:
                kept = in_new_files(kept)
    assert rows_of(kept.reloaded()) == rows_of(kept.table)


def rows(first: int, count: int) -> list[Row]:
    return [(n, f"text number {n}", None if n % 3 else n / 2) for n in range(first, first + count)]


def test_deleted_values_are_gone_from_the_files(folder: str) -> None:
    _, kept = Kept.empty(schema_of(), folder).operate(inserts(rows(0, 20)))
    _, kept = kept.operate(deletes(rows(5, 1)))
    after = in_new_files(kept)
    contents = [Path(segment.path).read_bytes() for segment in after.files.segments]
    assert not any(b"text number 5" in one for one in contents)
    assert any(b"text number 6" in one for one in contents)


def test_a_table_without_rows_has_no_values(folder: str) -> None:
    _, kept = Kept.empty(schema_of(), folder).operate(inserts(rows(0, 20)))
    _, kept = kept.operate(deletes(rows(0, 20)))
    after = in_new_files(kept)
    assert [len(d) for d in after.table.dictionaries] == [1, 1, 1]
    assert len(after.files.segments) == 1
    _, more = after.operate(inserts(rows(3, 2)))
    assert more.table.living_ids().tolist() == [20, 21]


def test_order_keys_start_afresh(folder: str) -> None:
    _, kept = Kept.empty(schema_of(), folder).operate(inserts([(n, text, None) for n, text in enumerate("dbca")]))
    _, kept = kept.operate(deletes([(1, "b", None)]))
    kept.table.order_keys(1)
    after = in_new_files(kept)
    _, after = after.operate(inserts([(9, "bb", None)]))
    keys = after.table.order_keys(1)
    values = after.table.dictionaries[1].values(np.argsort(keys.of(np.arange(5)))).to_pylist()
    assert values == [None, "a", "bb", "c", "d"]


def test_a_table_is_overweight_once_it_holds_twice_what_its_rows_need(folder: str) -> None:
    with patch.object(rewrite, "_SMALL", 0):
        _, fresh = Kept.empty(schema_of(), folder).become(rows(0, 400))
        needed = needed_bytes(fresh.table)
        assert needed == pytest.approx(bytes_a_row(fresh.table), rel=0.01), "a fresh table holds what it needs"
        kept, batches = fresh, 0
        while not is_overweight(kept.table, needed_bytes(kept.table)):
            batches += 1
            _, kept = kept.become(rows(100 * batches, 400))
        assert 2 <= batches <= 4, "about as many rows have come and died as live"
        after = in_new_files(kept)
        assert after.table.nbytes < 1.7 * fresh.table.nbytes
        assert not is_overweight(after.table, needed_bytes(after.table))
        _, few = after.operate(deletes(rows_of(after.table)[:300]))
        assert is_overweight(few.table, needed_bytes(after.table)), "most rows died"
    assert not is_overweight(few.table, needed_bytes(few.table)), "it is a small table"
