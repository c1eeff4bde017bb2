"""A state that was written some time ago: it opens, has the recorded answers, and goes on."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.monitor import Monitor
from holdfast.api.verification import verify
from holdfast.api.view import View
from holdfast.store.database import FORMAT, fact
from holdfast.table.table import Table
from tests.oracle import column as oracle
from tests.oracle.rows import Row, plain_row
from tests.store.golden import make
from tests.table.building import rows_of


def facts_of(monitor: View, table: str) -> dict[str, dict[str, Any]]:
    lines = (finding.to_json() for finding in monitor.results("column"))
    return {facts["column"]: facts for facts in lines if facts["table"] == table}


def check(monitor: View, keyed: Sequence[Row]) -> None:
    for name, rows in (("keyed", keyed), ("loose", make.LOOSE)):
        table: Table = monitor.tables[name]
        assert rows_of(table) == [plain_row(row) for row in rows]
        for place, column in enumerate(table.schema.names):
            facts = facts_of(monitor, name)[column]
            count, nulls, distinct, *_ = oracle.facts([row[place] for row in rows])
            assert (facts["rows"], facts["nulls"], facts["distinct"]) == (count, nulls, distinct)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return Path(shutil.copytree(make.STATE, tmp_path / "state"))


def test_it_has_the_recorded_answers_and_goes_on(golden: Path) -> None:
    with Monitor.open(golden, write=False) as monitor:
        check(monitor, make.KEYED)
        facts = facts_of(monitor, "keyed")
        assert (facts["text"]["min"], facts["text"]["max"]) == ("", "b")
        assert (facts["real"]["min"], facts["real"]["max"]) == (0.0, "inf")
        assert (facts["price"]["min"], facts["price"]["max"]) == ("0.01", "9999999999999.99")
        assert facts["day"]["frequent"] == [["2024-02-29", 4], ["9999-12-31", 1]]
        assert [count for _, count in facts["moment"]["frequent"]] == [5]
        assert [batch.batch_id for batch in monitor.history()] == ["first", "second", "third", "fourth", "fifth"]
        assert [batch.kind for batch in monitor.history()] == [
            "inserts+deletes",
            "deletes",
            "changes",
            "snapshot",
            "inserts",
        ]
        assert monitor.history()[-1].tables == ("keyed", "loose")
        assert monitor.tables["keyed"].living_ids().tolist() == [0, 3, 4, 5, 6]
    with Monitor.open(golden) as monitor:
        assert monitor.apply(inserts=make.table_of([make.BORN]), table="keyed", batch_id="first").already_applied
        monitor.apply(deletes={"keyed": make.table_of([make.BORN]), "loose": make.loose(make.LOOSE[-1])})
        monitor.apply(inserts=make.loose(make.LOOSE[-1]), table="loose")
        assert [batch.tables for batch in monitor.history(2)] == [("keyed", "loose"), ("loose",)]
        monitor.checkpoint()
        kept = [row for row in make.KEYED if row != make.BORN]
        check(monitor, kept)
    with Monitor.open(golden) as monitor:
        check(monitor, kept)


def test_all_that_it_keeps_is_what_is_found_today(golden: Path) -> None:
    """Before anything is written to it, after a batch, and when it was opened again after a checkpoint."""
    assert verify(golden, deep=True).problems == ()
    with Monitor.open(golden) as monitor:
        monitor.apply(deletes=make.table_of([make.BORN]), table="keyed")
    assert verify(golden, deep=True).problems == ()
    with Monitor.open(golden) as monitor:
        monitor.checkpoint()
    found = verify(golden, deep=True)
    assert found.problems == ()
    with Monitor.open(golden, write=False) as view:
        assert sorted(listing.rule.text for listing in view.violations()) == sorted(make.RULES)
        assert {finding.kind for finding in view.results()} == {*make.WATCHED, "dc"}


def test_the_golden_state_is_small_and_whole() -> None:
    files = [path for path in make.STATE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 300_000
    assert {path.name for path in files if path.suffix != ".arrow"} == {"holdfast.db", "holdfast.sums"}


def test_a_state_made_today_has_the_same_shape(tmp_path: Path) -> None:
    """While the format is this one, a new state has the same answers."""
    assert fact(make.STATE, "format") == str(FORMAT), "run `make golden`"
    make.make(tmp_path / "state")
    with Monitor.open(tmp_path / "state") as monitor:
        check(monitor, make.KEYED)
