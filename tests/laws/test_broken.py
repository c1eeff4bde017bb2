"""What counts as broken: in the exit code, in the outcome of a batch, and in the history of rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.results.outcome import Outcome
from holdfast.table.nulls import NullMode
from tests.oracle import functional as oracle

NAMES = ("id", "a", "b", "c")
GIVEN: tuple[tuple[str, tuple[int, ...], int | None], ...] = (
    ("a -> b", (1,), 2),
    ("() -> c", (), 3),
    ("a, b -> c", (1, 2), 3),
    ("key(a)", (1,), None),
)
ONE, TWO = "not(t.a < 0)", "not(t.a = s.a and t.b > s.b)"
Row = tuple[Any, ...]
small = st.sampled_from([None, 0, 1])


def table_of(rows: Sequence[Row], operations: Sequence[str] | None = None) -> pa.Table:
    made = pa.table({name: pa.array([row[i] for row in rows], pa.int64()) for i, name in enumerate(NAMES)})
    return made if operations is None else made.append_column("op", pa.array(operations, pa.string()))


@contextmanager
def watching(rows: Sequence[Row], rules: Sequence[str] | None = None, **more: Any) -> Iterator[hf.Monitor]:
    with TemporaryDirectory() as folder:
        more.setdefault("watch", [])
        with hf.Monitor.create(Path(folder) / "s", {"t": table_of(rows)}, rules=rules, **more) as monitor:
            yield monitor


def moved(outcome: Outcome) -> dict[str, tuple[int | None, int | None]]:
    """How many violations of each rule are new, and how many are gone, as JSON says."""
    lines = [line for line in outcome.to_json() if line.get("event") == "changed"]
    return {line["text"]: (line["new"], line["gone"]) for line in lines if "severity" in line}


def test_a_tie_that_moves_is_no_new_violation() -> None:
    rows = [(1, 7, 1, 0), (2, 7, 2, 0), (3, 7, 2, 0)]
    with watching(rows, ["a -> b"], key=["id"]) as monitor:
        assert monitor.violations()[0].listed.tolist() == [[0, 1]]
        outcome = monitor.apply(deletes=table_of(rows[2:]))
        assert not outcome.broken
        assert moved(outcome) == {"a -> b": (0, 0)}
        assert monitor.violations()[0].listed.tolist() == [[1, 0]], "as found from scratch: the oldest row stays"


@settings(max_examples=30)
@given(
    first=st.lists(st.tuples(st.just(0), small, small, small), max_size=8),
    inserts=st.lists(st.tuples(st.just(0), small, small, small), max_size=4),
    doomed=st.lists(st.integers(0, 20), max_size=6),
    nulls=st.sampled_from(["equal", "distinct"]),
)
def test_new_and_gone_are_counted_group_by_group(
    first: list[Row], inserts: list[Row], doomed: list[int], nulls: NullMode
) -> None:
    places = {place % len(first) for place in doomed} if first else set()
    after = [row for place, row in enumerate(first) if place not in places] + inserts
    with watching(first, [text for text, _, _ in GIVEN], nulls=nulls) as monitor:
        outcome = monitor.apply(deletes=table_of([first[place] for place in places]), inserts=table_of(inserts))
        counts = moved(outcome)
    worse = False
    for text, lhs, rhs in GIVEN:
        old, now = (oracle.to_remove_by_group(rows, lhs, rhs, nulls) for rows in (first, after))
        steps = [now[group] - old[group] for group in {*old, *now}]
        new, gone = sum(step for step in steps if step > 0), -sum(step for step in steps if step < 0)
        assert counts.get(text, (0, 0)) == (new, gone)
        worse |= new > 0
        assert inserts or not new, "a delete adds no violation"
    assert outcome.broken == worse


def test_an_update_that_no_rule_looks_at_is_no_new_violation() -> None:
    rows = [(1, -1, 0, 0), (2, 5, 1, 0), (3, 5, 2, 0)]
    with watching(rows, [ONE, TWO, "key(a)"], key=["id"]) as monitor:
        change = [(1, -1, 0, 9), (2, 5, 1, 9), (3, 5, 2, 9)]
        outcome = monitor.apply(changes=table_of(change, ["update"] * 3))
        assert not outcome.broken
        assert all(counts == (0, 0) for counts in moved(outcome).values())
        added = outcome.violations[ONE].added
        assert added is not None
        assert added.tolist() == [[3, -1]], "the rows have new ids"
        still = monitor.apply(changes=table_of([(3, 5, 3, 9)], ["update"]))
        assert not still.broken, "the same two rows violate the rule as before"
        worse = monitor.apply(changes=table_of([(1, 5, 9, 9)], ["update"]))
        assert worse.broken
        assert moved(worse) == {ONE: (0, 1), TWO: (2, 0), "key(a)": (1, 0)}


def test_where_numbers_alone_are_kept_one_violation_for_another_is_not_none() -> None:
    rows = [(1, 5, 1, 0), (2, 5, 2, 0)]
    with watching(rows, [TWO], key=["id"], count_only=True) as monitor:
        other = monitor.apply(inserts=table_of([(3, 6, 1, 0)]))
        assert other.moved(TWO) == (0, 0), "nothing came or went"
        for_another = monitor.apply(deletes=table_of(rows[:1]), inserts=table_of([(4, 5, 3, 0)]))
        assert for_another.moved(TWO) == (None, None)
        assert not for_another.broken, "as many as before"
        assert monitor.apply(inserts=table_of([(5, 5, 4, 0)])).moved(TWO) == (None, None)


def test_another_violation_is_new_though_their_number_stays() -> None:
    with watching([(1, -1, 0, 0)], [ONE], key=["id"]) as monitor:
        outcome = monitor.apply(deletes=table_of([(1, -1, 0, 0)]), inserts=table_of([(2, -2, 0, 0)]))
        assert moved(outcome) == {ONE: (1, 1)}
        assert outcome.broken


@pytest.mark.parametrize("error", [0.0, 0.2])
@pytest.mark.parametrize("rows", [0, 1])
def test_a_rule_without_pairs_to_test_it_is_not_listed_and_does_not_break(rows: int, error: float) -> None:
    first = [(1, 1, 1, 1)][:rows]
    with watching(first, watch=["ucc", "fd"], error=error) as monitor:
        assert monitor.results() == []
        grown = monitor.apply(inserts=table_of([(2, 1, 2, 1), (3, 1, 2, 1)]))
        assert not grown.alarms("any")
        assert not grown.lost
        assert grown.gained
        assert grown.gained == monitor.results()
        shrunk = monitor.apply(snapshot=table_of([(3, 1, 2, 1)]))
        assert not shrunk.alarms("any")
        assert shrunk.batch.lost == 0
        assert monitor.results() == []
        assert list(monitor.rule_history()) == []


def test_values_that_come_into_an_empty_column_break_nothing() -> None:
    with watching([(1, None, 5, 9)], watch=["ind"], max_arity=2) as monitor:
        assert {rule.text for rule in monitor.results()} == {f"t.a in t.{name}" for name in ("id", "b", "c")}
        outcome = monitor.apply(inserts=table_of([(5, 5, 5, 9)]))
        assert (outcome.alarms("any"), outcome.lost, outcome.implied, outcome.batch.lost) == ([], [], [], 0)
        assert sorted(rule.text for rule in outcome.untested) == ["t.a in t.c"]
        events = [(line["event"], line["text"]) for line in outcome.to_json()[1:] if line["event"] != "gained"]
        assert ("untested", "t.a in t.c") in events
        assert not [line for line in monitor.rule_history() if line["broke"]]
        broken = monitor.apply(inserts=table_of([(6, 7, 5, 9)]))
        assert broken.alarms("any"), "now a rule is lost that values had tested"


def test_a_pair_of_columns_that_no_row_fills_breaks_nothing() -> None:
    """No row has both a and b, so nothing tests a pair of columns with them."""
    rows = [(1, 1, None, None), (2, None, 1, None), (1, None, None, 2), (2, None, None, 1)]
    with watching(rows, watch=["ind"], max_arity=2) as monitor:
        found = {rule.text: rule.to_json() for rule in monitor.results()}
        assert found["t(a, b) in t(id, c)"].get("empty") is True
        outcome = monitor.apply(inserts=table_of([(1, 1, 1, 2)]))
        assert "t(a, b) in t(id, c)" in {rule.text for rule in outcome.untested}
        assert "t(a, b) in t(id, c)" not in {rule.text for rule in outcome.lost}


UNTESTED = {"ucc": "key(a)", "fd": "a -> b", "od": "{}: a ~ b"}


@pytest.mark.parametrize("kind", UNTESTED)
@pytest.mark.parametrize("method", ["counts", "borders"])
def test_rules_that_no_pair_of_rows_could_break(kind: str, method: str) -> None:
    """Where nulls equal nothing, and fewer than two rows have values in the columns: such a rule is marked, is listed
    last, and is not suggested. Values that break it make it untested, without an alarm.
    """
    text, rows = UNTESTED[kind], [(1, None, 1, 1), (2, None, 2, 1), (3, None, 1, 1), (4, 7, 2, 1)]
    with watching(rows, watch=[kind], nulls="distinct", method=method) as monitor:
        ranked = [rule.to_json() for result in monitor.ranked() for rule in result.values()]
        empty = [line.get("empty", False) for line in ranked]
        assert text in {line["text"] for line in ranked if line.get("empty")}
        assert (empty, not all(empty)) == (sorted(empty), True)
        assert f"{text} is empty: fewer than two of 4 rows have values in a" in str(monitor.explain(text))
        assert text not in {each.text for each in monitor.suggest()}
        outcome = monitor.apply(inserts=table_of([(5, 8, 2, 1), (6, 7, 1, 1), (7, 6, 2, 1)]))
        assert text in {rule.text for rule in outcome.untested}
        assert text not in {rule.text for rule in (*outcome.lost, *outcome.alarms("any"))}
        assert outcome.batch.lost == len(outcome.lost)
        events = {line["text"]: line["event"] for line in outcome.to_json()[1:]}
        assert events[text] == "untested"
        remembered = {event.text: event.event for event in monitor.memory().events() if event.seq == outcome.batch.seq}
        assert remembered[text] == "untested"
        assert not [line for line in monitor.rule_history() if line["text"] == text and line["broke"]]


@pytest.mark.parametrize("kind", UNTESTED)
@pytest.mark.parametrize("method", ["counts", "borders"])
def test_a_rule_that_is_tested_from_now_on_has_changed(kind: str, method: str) -> None:
    """And so has one of which the rows are gone that tested it."""
    text, rows, more = UNTESTED[kind], [(1, None, 1, 1), (2, None, 2, 1)], [(3, 7, 1, 1), (4, 8, 2, 1)]
    with watching(rows, watch=[kind], nulls="distinct", method=method) as monitor:
        for side, empty in (("inserts", (True, False)), ("deletes", (False, True))):
            changed: Any = monitor.apply(**{side: table_of(more)}).changed
            assert {old.text: (old.empty, new.empty) for old, new in changed}[text] == empty


def test_columns_that_nulls_are_equal_in_are_tested() -> None:
    with watching([(1, None, 1, 1), (2, None, 2, 1)], watch=["fd", "ucc", "od"]) as monitor:
        assert not [rule for rule in monitor.results() if "empty" in rule.to_json()]
