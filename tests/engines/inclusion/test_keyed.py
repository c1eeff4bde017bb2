"""Inclusion dependencies of tables with a key, where values come and go within one batch: through a state on disk."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from tests.oracle import rows as oracle
from tests.oracle.rows import Operation, Row

SCHEMA = pa.schema([("id", pa.int64()), ("n", pa.int64()), ("f", pa.float64()), ("s", pa.string())])
rows = st.tuples(
    st.integers(1, 3),
    st.sampled_from([None, 1, 2, 50]),
    st.sampled_from([None, 1.0, 2.0, 0.5]),
    st.sampled_from([None, "a", "b"]),
)
operations = st.lists(st.tuples(st.sampled_from(["insert", "update", "delete"]), rows), max_size=8)


def table_of(some: list[Row]) -> pa.Table:
    return pa.table([pa.array(list(values), f.type) for f, values in zip(SCHEMA, _columns(some), strict=True)], SCHEMA)


def feed_of(listed: list[Operation]) -> pa.Table:
    return table_of([row for _, row in listed]).append_column("op", pa.array([kind for kind, _ in listed], pa.string()))


def _columns(some: list[Row]) -> list[tuple[Any, ...]]:
    return list(zip(*some, strict=True)) if some else [()] * len(SCHEMA)


def check(monitor: hf.Monitor, some: list[Row]) -> None:
    """Maintained rules equal rediscovered ones, in the same order; and all have a history."""
    found = hf.discover({"t": table_of(some), "u": table_of([])}, rules=["ind"], max_arity=2)
    assert monitor.results() == list(found)
    assert len(list(monitor.rule_history())) >= len(found)


@settings(max_examples=30)
@given(stream=st.lists(operations, min_size=1, max_size=4), reopen=st.integers(0, 3))
def test_values_that_come_and_go(stream: list[list[Operation]], reopen: int) -> None:
    kept: list[Row] = [(1, None, None, None)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        tables = {"t": table_of(kept), "u": table_of([])}
        monitor = hf.Monitor.create(path, tables, watch=["ind", "column"], key=["id"], max_arity=2)
        for number, listed in enumerate(stream):
            outcome = oracle.apply(kept, listed, key=[0])
            if outcome.missing or outcome.duplicate:
                wrong = {*outcome.missing, *outcome.duplicate}
                listed = [each for place, each in enumerate(listed) if place not in wrong]
                outcome = oracle.apply(kept, listed, key=[0])
            monitor.apply(changes=feed_of(listed), table="t")
            kept = outcome.rows
            monitor.results()
            if number == reopen:
                monitor.checkpoint()
                monitor.close()
                monitor = hf.Monitor.open(path)
            found = hf.discover({"t": table_of(kept), "u": table_of([])}, rules=["ind"], max_arity=2)
            assert _lines(monitor.results("ind")) == _lines(found)
            assert len(list(monitor.rule_history())) >= len(found)
        monitor.close()


def _lines(found: Any) -> list[dict[str, Any]]:
    return [finding.to_json() for finding in found]


def test_a_value_that_an_update_and_a_delete_leave_behind(tmp_path: Path) -> None:
    first = pa.table({"id": pa.array([1], pa.int32()), "b": pa.array([None], pa.int32())})
    feed = pa.table({"id": [1, 3, 3], "b": [1, 1, 1], "op": ["update", "insert", "delete"]})
    with hf.Monitor.create(tmp_path / "s", {"t1": first}, watch=["ind"], key=["id"]) as monitor:
        monitor.apply(changes=feed)
        assert {rule.text for rule in monitor.results()} == {"t1.id in t1.b", "t1.b in t1.id"}
        assert len(list(monitor.rule_history())) == 2
    with hf.Monitor.open(tmp_path / "s") as monitor:
        assert {rule.text for rule in monitor.results()} == {"t1.id in t1.b", "t1.b in t1.id"}
