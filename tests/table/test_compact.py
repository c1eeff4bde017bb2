"""Compaction changes nothing but the files: same rows, same ids, and life goes on."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.table import rewrite
from holdfast.table.load import load_table
from holdfast.table.rewrite import compacted
from holdfast.table.table import TableFiles
from tests.oracle.rows import Operation
from tests.table.building import Kept, operated, rows_of, schema_of

row = st.tuples(st.integers(0, 3), st.sampled_from(["", "a", "\U0001f600"]), st.sampled_from([None, 0.5]))
operation = st.tuples(st.sampled_from(["insert", "insert", "delete"]), row)


def compact_all(kept: Kept) -> Kept:
    segments = compacted(kept.table, kept.folder)
    if segments is None:
        return kept
    named = TableFiles(kept.files.schema, segments, kept.files.next_id)
    after = replace(kept, table=load_table(named).following(kept.table), files=named)
    assert len(segments) <= len(kept.files.segments)
    assert after.table.living_ids().tolist() == kept.table.living_ids().tolist()
    assert rows_of(after.table) == rows_of(kept.table)
    assert (after.table.rows, after.table.next_id) == (kept.table.rows, kept.table.next_id)
    return after


@pytest.mark.parametrize("key", [(), (0,)], ids=["no key", "key"])
@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.lists(operation, max_size=6), st.booleans(), st.booleans()), max_size=7))
def test_streams_with_compaction_now_and_then(
    key: tuple[int, ...], folder: str, steps: list[tuple[list[Operation], bool, bool]]
) -> None:
    kept = Kept.empty(schema_of(key), folder)
    kept = Kept(replace(kept.table, where=kept.files), kept.files, folder)
    with patch.object(rewrite, "_FEWEST", 2), patch.object(rewrite, "_LARGEST", 9):
        for operations, in_bulk, compacting in steps:
            kept = operated(kept, operations, in_bulk)
            if compacting:
                kept = compact_all(kept)
    assert rows_of(kept.reloaded()) == rows_of(kept.table)


def test_small_segments_become_one(folder: str) -> None:
    kept = Kept.empty(schema_of(), folder)
    for n in range(12):
        _, kept = kept.operate([("insert", (n, "a", None)), ("insert", (n, "b", None))])
    after = compact_all(kept)
    assert len(after.files.segments) == 1
    assert compacted(after.table, folder) is None
