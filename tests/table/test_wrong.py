"""Rows that can't be applied: reported where they may be set aside, refused where not; and upserts, each key once."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.table.admit import Incoming
from holdfast.table.refused_rows import WrongRows
from holdfast.table.resolve import WRONG, Mode, OnMissing
from tests.oracle import rows as oracle
from tests.oracle.rows import Operation, Row
from tests.table.building import Kept, bulk_path, counted, deletes, in_files, inserts, rows_of, schema_of

KEY = (0,)
rows = st.tuples(st.sampled_from([None, 0, 1, 2]), st.sampled_from(["", "a"]), st.just(0.5))
operations = st.lists(st.tuples(st.sampled_from(["insert", "insert", "delete", "update", "upsert"]), rows), max_size=10)
START: list[Row] = [(0, "a", 0.5), (7, "b", 1.5)]
in_memory_and_in_files = pytest.mark.parametrize("in_bulk", [False, True], ids=["in memory", "in files"])


def started(folder: str) -> Kept:
    _, kept = Kept.empty(schema_of(KEY), folder).operate(inserts(START))
    return kept


def admitted(kept: Kept, incoming: Incoming, in_bulk: bool) -> tuple[WrongRows, Kept]:
    if in_bulk:
        staged = in_files(incoming, kept.folder)
        incoming = replace(incoming, chunks=(), paths=staged.paths)
    with bulk_path() if in_bulk else nullcontext():
        done, after = kept.admit(incoming)
    return done.wrong, after


def expected_wrong(operations: list[Operation], on_missing: OnMissing) -> tuple[list[Row], dict[int, str]]:
    """By brute force: rows without a key are taken out, and the others follow one by one."""
    keyed = [place for place, (_, row) in enumerate(operations) if row[0] is not None]
    outcome = oracle.apply(START, [operations[place] for place in keyed], KEY)
    wrong = {place: "unkeyed" for place in range(len(operations)) if place not in keyed}
    wrong |= {keyed[place]: "duplicate" for place in outcome.duplicate}
    wrong |= {keyed[place]: "missing" for place in outcome.missing if on_missing == "error"}
    return outcome.rows, wrong


@in_memory_and_in_files
@settings(max_examples=40)
@given(operations=operations, on_missing=st.sampled_from(["error", "ignore"]), pieces=st.integers(1, 3))
def test_wrong_rows_are_reported_and_the_rest_applied(
    in_bulk: bool, folder: str, operations: list[Operation], on_missing: OnMissing, pieces: int
) -> None:
    kept = started(folder)
    incoming = replace(kept.incoming("changes", operations, on_missing, pieces), tolerant=True)
    wrong, after = admitted(kept, incoming, in_bulk)
    left, expected = expected_wrong(operations, on_missing)
    reasons = [WRONG[why] for why in wrong.why.tolist()]
    assert dict(zip(wrong.places.tolist(), reasons, strict=True)) == expected
    assert wrong.places.tolist() == sorted(expected)
    assert counted(after.table) == Counter(left)
    decoded = after.table.decode(wrong.codes).to_pylist()
    assert [tuple(row.values()) for row in decoded] == [operations[place][1] for place in sorted(expected)]
    if not expected:
        return
    good = [each for place, each in enumerate(operations) if place not in expected]
    _, alone = kept.operate(good, on_missing)
    assert counted(alone.table) == counted(after.table), "as if the good rows had come alone"
    with pytest.raises(BadInput, match="table things: "):
        admitted(kept, replace(incoming, tolerant=False), in_bulk)


@in_memory_and_in_files
@settings(max_examples=30)
@given(
    gone=st.sampled_from([[], [(0, "x", None)], [(0, "x", None), (7, "x", None)]]),
    new=st.lists(rows.filter(lambda row: row[0] is not None), max_size=6),
)
def test_upserts(in_bulk: bool, folder: str, gone: list[Row], new: list[Row]) -> None:
    kept = started(folder)
    given_rows: list[Operation] = [*deletes(gone), *(("upsert", row) for row in new)]
    mode: Mode = "upserts"
    incoming = replace(kept.incoming(mode, given_rows), before=len(gone))
    names = [row[0] for row in new]
    repeated = [place for place, name in enumerate(names) if names.count(name) > 1]
    living = {row[0]: row for row in START if row[0] not in [row[0] for row in gone]}
    if not repeated:
        _, after = admitted(kept, incoming, in_bulk)
        assert counted(after.table) == Counter((living | {row[0]: row for row in new}).values())
        return
    first = [place for place in repeated if names[place] == names[repeated[0]]]
    with pytest.raises(
        BadInput, match=rf"rows {first[0] + 1}.* and {first[-1] + 1} of the upserts .* \(n={names[first[0]]}\)"
    ):
        admitted(kept, incoming, in_bulk)
    assert rows_of(kept.table) == START
    wrong, after = admitted(kept, replace(incoming, tolerant=True), in_bulk)
    assert wrong.places.tolist() == [len(gone) + place for place in repeated], "nobody knows which of them is meant"
    alone = {row[0]: row for place, row in enumerate(new) if place not in repeated}
    assert counted(after.table) == Counter((living | alone).values())


def test_upserts_in_a_feed_follow_each_other(folder: str) -> None:
    _, after = started(folder).operate(
        [("upsert", (0, "x", 1.0)), ("delete", (0, "", None)), ("upsert", (0, "y", 2.0))]
    )
    assert rows_of(after.table) == [(7, "b", 1.5), (0, "y", 2.0)]


def test_an_upsert_needs_a_key(folder: str) -> None:
    with pytest.raises(BadInput, match="table things: an upsert needs a declared key"):
        Kept.empty(schema_of(), folder).operate([("upsert", (0, "x", 1.0))])
