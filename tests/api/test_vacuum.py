"""Deleted for good: after a vacuum no file of the state holds a value that no row has; all else is as it was."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.api import open_state
from holdfast.api.monitor import Monitor
from holdfast.api.view import View
from holdfast.errors import BadInput
from holdfast.store.erasure import without_dead
from holdfast.table.load import load_table
from holdfast.table.table import Table, TableFiles
from tests.table.building import rows_of

SECRET = "Zebulon Quagmire-Ütz"
WATCH = ["column", "fd", "ucc", "ind"]
RULES = """
rules:
  - {table: people, rule: "not(t.city = s.city and t.zip != s.zip)"}
  - {table: people, rule: "not(t.zip < 0)"}
  - {table: people, rule: "name -> zip"}
  - {table: people, rule: "key(name)"}
"""


def people(names: list[str], zips: list[int]) -> pa.Table:
    return pa.table({"name": names, "zip": pa.array(zips, pa.int64()), "city": [f"{name} town" for name in names]})


def made(folder: Path, segments: str | None = None) -> Monitor:
    """A state of two tables in which a value comes, breaks rules of every class, appears in events, and goes."""
    rules = folder / "rules.yaml"
    rules.write_text(RULES)
    tables = {"people": people(["Ann", "Bob"], [1, 2]), "orders": pa.table({"who": ["Ann"], "amount": [1.5]})}
    monitor = Monitor.create(folder / "state", tables, watch=WATCH, rules=rules, segments=segments)
    monitor.apply(inserts=people([SECRET, SECRET], [2, -3]), table="people")
    orders = pa.table({"who": [SECRET, "Bob"], "amount": [0.5, None]})
    monitor.apply(inserts=orders, table="orders")
    monitor.apply(deletes=people([SECRET, SECRET], [2, -3]), table="people")
    monitor.apply(deletes=orders.slice(0, 1), table="orders")
    monitor.checkpoint()
    return monitor


def holding(folder: Path, text: str = SECRET) -> set[str]:
    """The files that hold a text, in UTF-8 or as JSON writes it."""
    forms = {text.encode(), text.encode("ascii", "backslashreplace"), text.split()[0].encode()}
    found = (each for each in folder.rglob("*") if each.is_file())
    return {each.name for each in found if any(form in each.read_bytes() for form in forms)}


def picture(monitor: View) -> list[Any]:
    """All that people see of a state, save the values in events."""
    results = sorted((finding.to_json() for finding in monitor.results()), key=str)
    listed = [violation for listing in monitor.violations() for violation in listing.violations(None)]
    rows = {name: (rows_of(table), table.living_ids().tolist()) for name, table in monitor.tables.items()}
    return [results, listed, rows, monitor.history(), sorted(monitor.rule_history(), key=str)]


# ---- what goes, and what stays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_deleted_value_is_nowhere(tmp_path: Path, elsewhere: bool) -> None:
    state, bulk = tmp_path / "state", tmp_path / "bulk"
    with made(tmp_path, str(bulk) if elsewhere else None) as monitor:
        assert holding(tmp_path), "as long as nobody asks, it stays"
        before = picture(monitor)
        done = monitor.vacuum()
        assert holding(tmp_path) == set(), "also while the state is open"
        assert picture(monitor) == before
        assert done.values > 0
        assert done.events > 0
        assert done.bytes_after < done.bytes_before
        assert (monitor.vacuum().values, monitor.vacuum().events) == (0, 0)
    assert holding(tmp_path) == set()
    assert holding(state, "Bob"), "what lives is there"
    with Monitor.open(state) as monitor:
        assert picture(monitor) == before
        monitor.apply(inserts=people([SECRET], [7]), table="people")
        assert holding(tmp_path)


def test_life_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """The same batches have the same outcomes, with and without a vacuum before each."""
    answers: list[list[Any]] = []
    for name in ("plain", "vacuumed"):
        (tmp_path / name).mkdir()
        with made(tmp_path / name) as monitor:
            answers.append([])
            for n in range(4):
                if name == "vacuumed":
                    monitor.vacuum()
                batch = people(["Ann", f"new {n}"], [n, n - 1])
                outcome = monitor.apply(inserts=batch, table="people")
                lines = [{**line, "batch_id": "", "at": "", "seconds": 0} for line in outcome.to_json()]
                answers[-1] += [lines, [finding.to_json() for finding in monitor.results()]]
    assert answers[0] == answers[1]


def test_events_may_keep_what_they_tell(tmp_path: Path) -> None:
    with made(tmp_path) as monitor:
        assert monitor.vacuum(keep_events=True).events == 0
        assert holding(tmp_path / "state") == {"holdfast.db"}
        assert monitor.vacuum().events > 0
        assert holding(tmp_path / "state") == set()


def test_a_witness_keeps_its_rows_and_what_lives() -> None:
    living = np.array([3, 8], np.int64)
    witness = {"rows": [3, 5], "keys": [{"a": 1}, {"a": 2}]}
    assert without_dead(witness, living) == {"rows": [3, 5], "keys": [{"a": 1}, {}]}
    assert without_dead(witness, np.array([3, 5], np.int64)) == witness
    assert without_dead(witness, living[:0]) == {"rows": [3, 5], "keys": [{}, {}]}
    orphans = {
        "rows": [8, 9],
        "missing": [{"value": ["x", 1], "rows": 4}, {"value": ["y", 1], "rows": 1}],
        "missing_values": 2,
        "missing_rows": 5,
    }
    assert without_dead(orphans, living, ["a", "b"], [{"a": "x", "b": 1}, {"a": "y", "b": 1}]) == {
        **orphans,
        "missing": [{"value": ["x", 1], "rows": 4}, {"value": None, "rows": 1}],
    }


# ---- others ----------------------------------------------------------------------------------------------------------


def test_a_reader_that_holds_on_to_the_past_is_said(tmp_path: Path) -> None:
    with made(tmp_path) as monitor:
        reader = sqlite3.connect(tmp_path / "state" / "holdfast.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM results").fetchall()
        with closing(reader):
            monitor._store._db.execute("PRAGMA busy_timeout = 10")
            with pytest.raises(BadInput, match="a process that reads it holds its log"):
                monitor.vacuum()
        with View.open(tmp_path / "state"):  # which needs no log
            monitor.vacuum()
        assert holding(tmp_path) == set()


def test_a_reader_whose_files_go_looks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Just when it has read which files count, a vacuum removes them, and waits for it to let go of the database."""
    attempts: list[tuple[str, ...]] = []

    def load(where: TableFiles) -> Table:
        attempts.append(tuple(Path(segment.path).name for segment in where.segments))
        if len(attempts) == 1:
            writer.start()
            while set(attempts[0]) & {each.name for each in (tmp_path / "state" / "segments").iterdir()}:
                time.sleep(0.01)
        return load_table(where)

    with made(tmp_path) as monitor:
        before = picture(monitor)
        writer = threading.Thread(target=monitor.vacuum)
        monkeypatch.setattr(open_state, "load_table", load)
        with Monitor.open(tmp_path / "state", write=False) as reader:
            assert picture(reader) == before
        writer.join()
        assert len(attempts) == 3, "it looked at one table, and again at both"
        assert attempts[0] != attempts[1]
        assert holding(tmp_path) == set()


def test_readers_look_while_tables_are_rewritten(tmp_path: Path) -> None:
    """They find a file gone now and then, look again, and see one moment or the next."""
    ended, failed, looks = threading.Event(), [], []

    def look() -> None:
        try:
            while not ended.is_set():
                with Monitor.open(tmp_path / "state", write=False) as reader:
                    rows = rows_of(reader.tables["people"])
                    assert [row[1] for row in rows][:2] == [1, 2]
                    assert {f.to_json()["rows"] for f in reader.results("column") if "people" in str(f.to_json())} == {
                        len(rows)
                    }
                    looks.append(len(rows))
        except BaseException as error:
            failed.append(error)

    with made(tmp_path) as monitor:
        threads = [threading.Thread(target=look) for _ in range(2)]
        for thread in threads:
            thread.start()
        for n in range(15):
            monitor.apply(inserts=people([f"new {n}"], [n]), table="people")
            monitor.vacuum()
        ended.set()
        for thread in threads:
            thread.join()
    assert failed == []
    assert looks


# ---- growth ----------------------------------------------------------------------------------------------------------


def texts(number: int, rows: int = 500) -> pa.Table:
    return pa.table({"t": [f"{number} {row} {'x' * 200}" for row in range(rows)]})


def test_a_table_that_is_replaced_again_and_again_stays_small(tmp_path: Path) -> None:
    """Without anyone asking: in one process, and in one process a batch."""
    with Monitor.create(tmp_path / "state", {"t": texts(0)}) as monitor:
        for n in range(1, 25):
            monitor.apply(snapshot=texts(n))
            assert monitor.tables["t"].nbytes < 4 * 500 * 250
    for n in range(25, 35):
        with Monitor.open(tmp_path / "state") as monitor:
            monitor.apply(snapshot=texts(n))
            assert monitor.tables["t"].nbytes < 4 * 500 * 250
            assert len(monitor.tables["t"].dictionaries[0]) <= 1 + 4 * 500
    with Monitor.open(tmp_path / "state") as monitor:
        assert rows_of(monitor.tables["t"]) == [(text,) for text in texts(34)["t"].to_pylist()]
        assert monitor.results()[0].to_json()["distinct"] == 500


def test_values_of_rows_that_only_die_go_too(tmp_path: Path) -> None:
    first = texts(0, 3000)
    with Monitor.create(tmp_path / "state", {"t": first}) as monitor:
        for n in range(29):
            monitor.apply(deletes=first.slice(100 * n, 100))
        assert monitor.tables["t"].rows == 100
        assert monitor.tables["t"].nbytes < 300_000
