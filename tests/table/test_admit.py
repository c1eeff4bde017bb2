"""Streams of operations against the oracle: after each batch the table is what the definition says.

Few keys and few values, so that every list meets its own rows, equal rows, missing rows and taken keys.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.table.admit import Incoming
from holdfast.table.change import Change
from holdfast.table.resolve import Mode, OnMissing, resolve, resolve_snapshot
from tests.oracle import rows as oracle
from tests.oracle.rows import Operation, Outcome, Row
from tests.table.building import (
    Kept,
    bulk_path,
    colliding_hashes,
    counted,
    encoded,
    in_files,
    inserts,
    kinds_of,
    rows_of,
    schema_of,
)

# Seven rows of which two pairs are equal: lists hold the same row again and again.
free_rows: st.SearchStrategy[Row] = st.sampled_from(
    [
        (0, "a", 0.0),
        (0, "a", -0.0),
        (None, "", math.nan),
        (None, "", -math.nan),
        (None, None, None),
        (0, None, 0.0),
        (1, "\U0001f600", None),
    ]
)
keyed_rows = st.tuples(st.sampled_from([0, 1]), st.sampled_from(["", "\U0001f600"]), st.sampled_from([0.0, -0.0, None]))
KEYS = {"no key": (), "one column": (0,), "two columns": (1, 0)}
keys = pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
hashes = pytest.mark.parametrize("distinct_hashes", [0, 1, 2], ids=["own hashes", "one hash", "two hashes"])


def rows_for(key: tuple[int, ...]) -> st.SearchStrategy[Row]:
    return keyed_rows if key else free_rows


def operations_for(key: tuple[int, ...]) -> st.SearchStrategy[list[Operation]]:
    kinds = ["insert", "insert", "delete", "update", "upsert"] if key else ["insert", "insert", "delete"]
    return st.lists(st.tuples(st.sampled_from(kinds), rows_for(key)), max_size=10)


def colliding(distinct_hashes: int) -> Any:
    return colliding_hashes(distinct_hashes) if distinct_hashes else nullcontext()


def check_step(before: Kept, operations: list[Operation], on_missing: OnMissing, outcome: Outcome, pieces: int) -> Kept:
    """Admit a list, and compare with what the oracle says; gives the table to go on with."""
    refused = outcome.duplicate or (outcome.missing and on_missing == "error")
    if refused:
        was = rows_of(before.table)
        with pytest.raises(BadInput, match="table things: "):
            before.operate(operations, on_missing, pieces)
        assert rows_of(before.table) == was
        assert rows_of(before.reloaded()) == was
        return before
    admitted, after = before.operate(operations, on_missing, pieces)
    assert counted(after.table) == Counter(outcome.rows)
    assert after.table.rows == len(outcome.rows)
    assert admitted.ignored == len(outcome.missing)
    assert after.table.where == after.files
    check_ids(before, after, admitted.born, admitted.dead.tolist())
    return after


def check_ids(before: Kept, after: Kept, born: range, dead: list[int]) -> None:
    """Ids are dense and never reused; a batch touches no row that stays as it is; files agree."""
    assert born.start == before.table.next_id
    assert born.stop == after.table.next_id
    old = before.table.living_ids().tolist()
    assert set(dead) <= set(old)
    assert after.table.living_ids().tolist() == [i for i in old if i not in dead] + list(born)
    gone, new = rows_of(before.table, np.array(dead, np.int64)), rows_of(after.table, np.array(born, np.int64))
    assert not Counter(gone) & Counter(new)
    loaded = after.reloaded()
    assert loaded.living_ids().tolist() == after.table.living_ids().tolist()
    assert rows_of(loaded) == rows_of(after.table)
    assert (loaded.rows, loaded.next_id) == (after.table.rows, after.table.next_id)


@hashes
@keys
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_streams_of_operations(key: tuple[int, ...], distinct_hashes: int, folder: str, data: st.DataObject) -> None:
    kept, rows = Kept.empty(schema_of(key), folder), list[Row]()
    with colliding(distinct_hashes):
        for _ in range(data.draw(st.integers(1, 4))):
            operations = data.draw(operations_for(key))
            on_missing: OnMissing = data.draw(st.sampled_from(["error", "ignore", "ignore"]))
            outcome = oracle.apply(rows, operations, key)
            kept = check_step(kept, operations, on_missing, outcome, pieces=data.draw(st.integers(1, 3)))
            rows = rows_of(kept.table)


@hashes
@keys
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_which_operations_are_wrong(
    key: tuple[int, ...], distinct_hashes: int, folder: str, data: st.DataObject
) -> None:
    with colliding(distinct_hashes):
        kept = Kept.empty(schema_of(key), folder)
        for operations in data.draw(st.lists(operations_for(key), max_size=2)):
            if not oracle.apply(rows_of(kept.table), operations, key).duplicate:
                _, kept = kept.operate(operations, "ignore")
        operations = data.draw(operations_for(key))
        codes, grown = encoded(kept.table, [row for _, row in operations])
        found = resolve(grown, codes, kinds_of(operations))
    outcome = oracle.apply(rows_of(kept.table), operations, key)
    mistakes = {why: places.tolist() for why, places in found.mistakes.items()}
    assert mistakes.get("missing", []) == outcome.missing
    assert mistakes.get("duplicate", []) == outcome.duplicate
    left = Counter(rows_of(kept.table))
    left.subtract(rows_of(kept.table, found.dead))
    left.update(oracle.plain_row(operations[place][1]) for place in found.born.tolist())
    assert +left == Counter(outcome.rows)


@hashes
@keys
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_snapshots(key: tuple[int, ...], distinct_hashes: int, folder: str, data: st.DataObject) -> None:
    kept = Kept.empty(schema_of(key), folder)
    with colliding(distinct_hashes):
        for given_rows in data.draw(st.lists(st.lists(rows_for(key), max_size=9), min_size=1, max_size=4)):
            outcome = oracle.snapshot(given_rows, key)
            if outcome.duplicate:
                codes, grown = encoded(kept.table, given_rows)
                found = resolve_snapshot(grown, grown.living_ids(), codes)
                assert found.mistakes["duplicate"].tolist() == outcome.duplicate
                with pytest.raises(BadInput, match="repeat"):
                    kept.become(given_rows)
                continue
            admitted, after = kept.become(given_rows, pieces=data.draw(st.integers(1, 3)))
            assert counted(after.table) == Counter(outcome.rows)
            check_ids(kept, after, admitted.born, admitted.dead.tolist())
            kept = after


def refusal(kept: Kept, incoming: Incoming) -> list[str]:
    """The table, how many rows and what is wrong with them, where rows are refused. (Which come first may differ.)"""
    try:
        kept.admit(incoming)
    except BadInput as error:
        return str(error).split(":")[:2]
    return []


@hashes
@keys
@settings(deadline=None, max_examples=10)
@given(data=st.data())
def test_files_and_memory_give_equal_tables(
    key: tuple[int, ...], distinct_hashes: int, folder: str, data: st.DataObject
) -> None:
    few = many = Kept.empty(schema_of(key), folder)
    with colliding(distinct_hashes):
        for _ in range(data.draw(st.integers(1, 3))):
            mode: Mode = data.draw(st.sampled_from(["changes", "changes", "snapshot"]))
            operations = data.draw(operations_for(key) if mode == "changes" else st.lists(rows_for(key)).map(inserts))
            on_missing: OnMissing = data.draw(st.sampled_from(["error", "ignore", "ignore"]))
            incoming = few.incoming(mode, operations, on_missing, data.draw(st.integers(1, 3)))
            refused = refusal(few, incoming)
            with bulk_path(data.draw(st.integers(1, 4))):
                if refused:
                    assert refusal(many, in_files(incoming, folder)) == refused
                    continue
                bulky, many = many.admit(in_files(incoming, folder))
            admitted, few = few.admit(incoming)
            assert (bulky.born, bulky.dead.tolist(), bulky.ignored) == (
                admitted.born,
                admitted.dead.tolist(),
                admitted.ignored,
            )
            assert many.table.living_ids().tolist() == few.table.living_ids().tolist()
            assert rows_of(many.table) == rows_of(few.table)
            assert rows_of(many.reloaded()) == rows_of(few.table)
            assert many.table.where == many.files


def test_an_empty_list_changes_nothing(folder: str) -> None:
    _, kept = Kept.empty(schema_of(), folder).operate(inserts([(1, "a", 1.5)]))
    for incoming in (kept.incoming("changes", []), kept.incoming("changes", [], pieces=3)):
        admitted, after = kept.admit(incoming)
        assert (admitted.born, len(admitted.dead)) == (range(1, 1), 0)
        assert rows_of(after.table) == rows_of(after.reloaded()) == [(1, "a", 1.5)]


def test_no_chunk_at_all_changes_nothing(folder: str) -> None:
    """As where a folder of files is empty."""
    _, kept = Kept.empty(schema_of((0,)), folder).operate(inserts([(1, "a", 1.5)]))
    none = kept.incoming("changes", [], pieces=0)
    assert not none.chunks
    assert rows_of(kept.admit(none)[1].table) == [(1, "a", 1.5)]


def test_an_empty_snapshot_empties_the_table(folder: str) -> None:
    _, kept = Kept.empty(schema_of(), folder).operate(inserts([(1, "a", 1.5)] * 3))
    for pieces in (0, 1, 2):
        assert rows_of(kept.admit(kept.incoming("snapshot", [], pieces=pieces))[1].table) == []


def test_an_update_back_to_what_was_touches_nothing(folder: str) -> None:
    row, other = (1, "a", math.nan), (1, "b", 2.0)
    _, kept = Kept.empty(schema_of((0,)), folder).operate(inserts([row]))
    admitted, after = kept.operate([("update", other), ("delete", other), ("insert", (1, "a", -math.nan))])
    assert (len(admitted.born), len(admitted.dead)) == (0, 0)
    assert after.table.living_ids().tolist() == [0]


def test_a_delete_by_key_needs_the_key_only(folder: str) -> None:
    _, kept = Kept.empty(schema_of((0,)), folder).operate(inserts([(1, "a", 1.5), (2, "b", None)]))
    assert rows_of(kept.operate([("delete", (1, None, None))])[1].table) == [(2, "b", None)]


def test_the_last_deletes_are_the_missing_ones(folder: str) -> None:
    row, other = (1, "a", 1.5), (2, "b", None)
    _, kept = Kept.empty(schema_of(), folder).operate(inserts([row, row]))
    operations: list[Operation] = [
        ("delete", row),
        ("delete", other),
        ("delete", row),
        ("insert", row),
        ("delete", row),
        ("delete", row),
    ]
    codes, grown = encoded(kept.table, [each for _, each in operations])
    assert resolve(grown, codes, kinds_of(operations)).mistakes["missing"].tolist() == [1, 5]


def test_a_delete_needs_a_row_that_is_there_when_its_turn_comes(folder: str) -> None:
    row, other = (1, "a", 1.5), (2, "b", None)
    for path in (nullcontext(), bulk_path(2)):
        _, kept = Kept.empty(schema_of(), folder).operate(inserts([other]))
        with path:
            with pytest.raises(BadInput, match="not there"):
                kept.operate([("delete", row), ("insert", row)])
            admitted, after = kept.operate([("delete", row), ("insert", row)], "ignore")
            assert (admitted.ignored, rows_of(after.table)) == (1, [other, row])
            admitted, after = kept.operate([("insert", row), ("delete", row), ("delete", other), ("insert", other)])
            assert (admitted.ignored, len(admitted.born), len(admitted.dead)) == (0, 0, 0)


def test_a_snapshot_brings_back_rows_that_died(folder: str) -> None:
    rows = [(n, "a", None) for n in range(4)]
    for path in (nullcontext(), bulk_path(2)):
        _, kept = Kept.empty(schema_of(), folder).operate(inserts(rows))
        _, kept = kept.operate([("delete", rows[1]), ("delete", rows[2])])
        with path:
            admitted, kept = kept.become(rows[:3], pieces=2)
        assert (list(admitted.born), admitted.dead.tolist()) == ([4, 5], [3])
        assert rows_of(kept.table) == [rows[0], rows[1], rows[2]]


def test_the_rows_of_a_small_batch_are_at_hand_without_its_file(folder: str) -> None:
    _, kept = Kept.empty(schema_of((0,)), folder).operate(inserts([(1, "a", 1.5), (2, "b", None)]))
    admitted, after = kept.operate([("insert", (3, "c", 2.5)), ("delete", (1, "a", 1.5))])
    Path(admitted.segments[0].path).unlink()
    change = Change(kept.table, after.table, admitted.born, admitted.dead)
    values = [
        own.values(codes).to_pylist() for own, codes in zip(after.table.dictionaries, change.inserted, strict=True)
    ]
    assert values == [[3], ["c"], [2.5]]
