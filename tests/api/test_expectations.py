"""Expectations in a state: what a batch is compared with, what is said of it, and what changes do to that."""

from __future__ import annotations

import datetime
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import holdfast as hf
from holdfast.errors import BadInput
from holdfast.expectations import judging
from holdfast.results.redaction import for_others
from holdfast.store.layout import DATABASE

FIRST = datetime.date(2024, 3, 4)


def rows(day: int, count: int = 70, table: str = "o", **columns: Any) -> pa.Table:
    """The orders of a day."""
    random = np.random.default_rng([day, count])
    return pa.table(
        {
            "id": [f"{table}{day}-{number}" for number in range(count)],
            "on": pa.array([FIRST + datetime.timedelta(days=day)] * count, pa.date32()),
            "status": columns.get("status", random.choice(["open", "paid", "sent"], count, p=[0.2, 0.5, 0.3])),
            "amount": columns.get("amount", np.round(random.lognormal(3, 0.5, count), 2)),
            "mail": pa.array(
                columns.get("mail", [f"{each}@x" for each in random.integers(0, 10**9, count)]), pa.string()
            ),
        }
    )


def first(days: int = 40) -> pa.Table:
    """The orders of many days."""
    return pa.concat_tables(rows(day, 60 + 7 * day % 20) for day in range(days))


@contextmanager
def watched(folder: Path, data: Any = None, **more: Any) -> Iterator[hf.Monitor]:
    """A state with expectations, and no rules."""
    source = first() if data is None else data
    tables = source if isinstance(source, dict) else {"orders": source}
    with hf.Monitor.create(folder / "state", tables, watch=[], expect=True, **more) as watch:
        yield watch


def said(outcome: hf.Outcome) -> list[str]:
    """The figures that were far outside."""
    return [f"{each.severity} {each}" for each in outcome.unusual]


def test_a_month_with_problems(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        assert said(watch.apply(rows(40))) == []
        outcome = watch.apply(rows(41, 6))
        assert str(outcome).splitlines() == [
            "Batch 2: 6 rows. 1 expectation failed.",
            "Failed: orders has 6 rows; 61 to 78 are usual (median 70 of 39 batches)",
            f'  Usual from now on? holdfast expect {tmp_path}/state accept "orders: rows_in_batch"',
        ]
        assert outcome.broken
        assert outcome.why() == "1 expectation failed: orders: rows_in_batch"
        assert not outcome.alarms("never")
        assert outcome.to_json()[1]["event"] == "unusual"
        assert said(watch.apply(rows(42, 210))) == ["error orders: rows_in_batch"]
        assert said(watch.apply(rows(43, mail=[None] * 35 + ["a@x"] * 35))) == ["error orders: share(null mail)"]
        outcome = watch.apply(rows(44, amount=rows(44)["amount"].to_numpy() * 100))
        assert said(outcome) == ["warn orders: avg(amount)"]
        assert not outcome.broken
        assert "No errors; 1 warning." in str(outcome)
        assert said(watch.apply(rows(45, status=["sent"] * 60 + ["open"] * 10))) == [
            "warn orders: share(status = 'sent')"
        ]
        assert said(watch.apply(rows(46, status=["??"] * 40 + ["paid"] * 30))) == ["warn orders: share(other status)"]
        assert said(watch.apply(rows(20, table="late"))) == ["error orders: newest(on)"]
        assert said(watch.apply(rows(47, 0))) == ["error orders: rows_in_batch"]
        assert said(watch.apply(rows(48))) == []
        assert [batch for batch, _ in watch._store.expectations.unusual()] == [9, 8, 7, 6, 5, 4, 3, 2]


def test_much_that_is_unusual_is_said_in_a_few_lines(tmp_path: Path) -> None:
    def wide(day: int, values: str = "uvw") -> pa.Table:
        random = np.random.default_rng(day)
        kinds = {f"kind{number}": random.choice(list(values), 60) for number in range(9)}
        return pa.table({"id": range(100 * day, 100 * day + 60), **kinds})

    with watched(tmp_path, pa.concat_tables(wide(day) for day in range(5))) as watch:
        for day in range(5, 14):
            watch.apply(wide(day))
        outcome = watch.apply(wide(14, "u"))
    assert len(outcome.unusual) == 9
    blocks = list(outcome.verdict().blocks())
    assert len(blocks) == 4
    assert blocks[3].rows[0].startswith("Also far outside: orders: share(")
    assert blocks[3].rows[0].endswith(" and 2 more")


def test_nothing_is_said_before_eight_batches(tmp_path: Path) -> None:
    with watched(tmp_path, history="off") as watch:
        for day in range(40, 48):
            assert said(watch.apply(rows(day))) == []
        assert said(watch.apply(rows(48, 3))) == ["error orders: rows_in_batch"]
    with watched(tmp_path / "few", history="off") as watch:
        outcomes = [watch.apply(rows(day, count)) for day, count in enumerate([70, 71, 69, 72, 3, 70, 900, 70], 40)]
        assert not any(outcome.unusual for outcome in outcomes)


def test_batches_of_another_rhythm_than_the_days_of_the_first_load(tmp_path: Path) -> None:
    with watched(tmp_path / "weeks") as watch:
        for week in range(7):
            data = pa.concat_tables(rows(40 + 7 * week + day) for day in range(7))
            assert said(watch.apply(data)) == [], week
    with watched(tmp_path / "pieces") as watch:
        for piece in range(30):
            data = rows(40 + piece // 6, 5 + piece * 7 % 13, table=str(piece))
            assert said(watch.apply(data)) == [], piece
    with watched(tmp_path / "gap") as watch:
        watch.apply(rows(40))
        watch.apply(rows(41))
        weekend = pa.concat_tables(rows(day) for day in (42, 43, 44))
        assert said(watch.apply(weekend)) == [], "three days at once, after a gap"


def test_three_batches_in_a_row_are_what_is_usual(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        for day in range(40, 43):
            watch.apply(rows(day))
        spoken = [len(watch.apply(rows(day, 200)).unusual) for day in range(43, 52)]
        assert spoken == [1, 1, 1, 0, 0, 0, 0, 0, 0]
        assert said(watch.apply(rows(52, 20))) == ["error orders: rows_in_batch"], "eight batches of the new kind"
    with watched(tmp_path / "other") as watch:
        for day in range(40, 46):
            watch.apply(rows(day))
        spoken = [len(watch.apply(rows(day, count)).unusual) for day, count in enumerate([3, 300, 3, 300, 3], 46)]
        assert spoken == [1] * 5, "they don't agree"


def test_accepted_muted_and_switched_off(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        watch.apply(rows(40))
        with pytest.raises(BadInput, match="the last batch of orders was as usual; there is nothing to accept"):
            watch.accept_figure("rows_in_batch")
        watch.apply(rows(41, 200))
        assert str(watch.accept_figure("orders: rows_in_batch")).splitlines() == [
            "change of the rules after batch 2",
            "  orders: rows_in_batch: accepted",
        ]
        assert said(watch.apply(rows(42, 210))) == []
        assert said(watch.apply(rows(43, mail=[None] * 70))) == ["error orders: share(null mail)"]
        watch.mute_figure("share(null mail)", change_id="mute")
        assert watch.mute_figure("share(null mail)", change_id="mute").already_applied
        assert said(watch.apply(rows(44, mail=[None] * 70))) == []
        assert watch.mute_figure("share(null mail)", undo=True).about
        assert not watch.mute_figure("share(null mail)", undo=True).about, "it was not muted"
        watch.expect(False)
        assert said(watch.apply(rows(45, amount=[10_000.0] * 70))) == []
        assert not watch.expectations().are_on
        watch.expect()
        assert said(watch.apply(rows(46, amount=[10_000.0] * 70))) == ["warn orders: avg(amount)"]
    with pytest.raises(BadInput, match="did you mean 'orders: share"), hf.Monitor.open(tmp_path / "state") as watch:
        watch.mute_figure("share(null mails)")


def test_what_was_said_survives_the_process(tmp_path: Path) -> None:
    """A process for each batch says what one process says."""
    batches = [rows(40), rows(41, 5), rows(42), rows(43, mail=[None] * 70), rows(44, 4), rows(45, 200), rows(46)]
    with watched(tmp_path / "one") as watch:
        expected = [said(watch.apply(batch)) for batch in batches]
    with watched(tmp_path / "many"):
        pass
    found = []
    for batch in batches:
        with hf.Monitor.open(tmp_path / "many" / "state") as watch:
            found.append(said(watch.apply(batch)))
    assert found == expected
    assert sum(map(len, found)) == 4


def test_a_table_that_was_empty_at_first(tmp_path: Path) -> None:
    with watched(tmp_path, rows(0, 0)) as watch:
        assert [each.text for each in watch.expectations()] == ["rows_in_batch"]
        for day in range(12):
            assert said(watch.apply(rows(day))) == []
        (wrong,) = watch.apply(rows(12, status=["sent"] * 60 + ["open"] * 10)).unusual
        assert (
            wrong.sentence
            == "orders.status is 'paid' in 0% of 70 rows; 40% to 56% are usual (median 51% of 11 batches)"
        )


def test_a_batch_that_fails_leaves_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(tmp_path) as watch:
        watch.apply(rows(40))
        before = _stored(tmp_path)
        with monkeypatch.context() as patched:
            patched.setattr("holdfast.store.commits.add_segments", _fails)
            with pytest.raises(RuntimeError):
                watch.apply(rows(41, 5))
        assert _stored(tmp_path) == before
        assert said(watch.apply(rows(41, 5), batch_id="b")) == ["error orders: rows_in_batch"]
        assert said(watch.apply(rows(41, 5), batch_id="b")) == [], "it was applied before"


def _fails(*_: object) -> None:
    raise RuntimeError


def _stored(folder: Path) -> list[Any]:
    with sqlite3.connect(folder / "state" / DATABASE) as database:
        return database.execute("SELECT * FROM batch_figures ORDER BY seq").fetchall()


def test_each_table_has_batches_of_its_own(tmp_path: Path) -> None:
    """One that is absent from a batch has no batch of 0 rows, and deletes are none."""
    with watched(tmp_path, {"orders": first(), "other": first()}, history={"orders": "on", "other": "off"}) as watch:
        watch.apply({"orders": rows(40), "other": rows(40)})
        for day in range(41, 45):
            assert said(watch.apply({"other": rows(day)})) == []
        assert said(watch.apply(deletes={"orders": rows(40)})) == []
        assert said(watch.apply({"orders": rows(45, 0), "other": rows(45)})) == ["error orders: rows_in_batch"]
        assert said(watch.apply({"orders": rows(46), "other": rows(46, 0)})) == [], "it has 6 batches"


def test_tables_that_come_and_go(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        watch.add_table("more", first())
        watch.apply({"orders": rows(40), "more": rows(40)})
        outcome = watch.apply({"orders": rows(41, 5), "more": rows(41, 4)})
        assert said(outcome) == ["error orders: rows_in_batch", "error more: rows_in_batch"]
        assert str(outcome).splitlines()[0] == "Batch 2 on orders, more: 9 rows. 2 expectations failed."
        watch.drop_table("orders")
        assert {each.table for each in watch.expectations()} == {"more"}
        assert said(watch.apply(rows(42, 3))) == ["error more: rows_in_batch"]


def test_snapshots_are_compared_by_the_rows_of_the_whole_table(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        whole = first()
        for day in range(40, 52):
            whole = pa.concat_tables([whole, rows(day, 1 + day % 3)])
            assert said(watch.apply(snapshot=whole)) == [], "a few rows are new each day"
        assert said(watch.apply(snapshot=whole.slice(0, 900))) == ["error orders: rows_in_batch"]
        assert said(watch.apply(snapshot=whole)) == [], "all are back"


def test_several_batches_a_day_need_eight_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nights are not days: a feed that comes every two hours is not compared with the last hours."""
    with watched(tmp_path, history="off") as watch:
        for hour in range(0, 222, 2):
            monkeypatch.setattr(time, "time", lambda hour=hour: 1_700_000_000.0 + 3600 * hour)
            count = 300 if 8 <= hour % 24 < 20 else 40
            assert said(watch.apply(rows(hour, 3 if hour == 220 else count))) == (
                ["error orders: rows_in_batch"] if hour == 220 else []
            )


def test_pieces_of_days_are_no_days(tmp_path: Path) -> None:
    """The first load was cut into days, and then many come by day, and few by night."""
    with watched(tmp_path) as watch:
        for hour in range(0, 24 * 6, 2):
            count = 90 if 8 <= hour % 24 < 20 else 4
            assert said(watch.apply(rows(40 + hour // 24, count, table=f"{hour}-"))) == []


def test_columns_that_change(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        watch.apply(rows(40))
        watch.rename_column("mail", "email")
        watch.rename_column("on", "day")
        watch.drop_column("amount")

        def batch(day: int, **more: Any) -> pa.Table:
            own = rows(day, **more).drop_columns("amount")
            return own.rename_columns(["id", "day", "status", "email"])

        assert said(watch.apply(batch(41, mail=[None] * 70))) == ["error orders: share(null email)"]
        assert said(watch.apply(batch(20, table="late"))) == ["error orders: newest(day)"]
        assert "amount" not in str(watch.expectations())
        watch.vacuum()
        assert said(watch.apply(batch(43, status=["sent"] * 70))) == ["warn orders: share(status = 'sent')"]


def test_a_vacuum_forgets_values_that_no_row_has(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        watch.apply(rows(40))
        watch.apply(rows(41, status=["sent"] * 70))
        assert "sent" in _dump(tmp_path)
        gone = list(watch.tables["orders"].values(watch.tables["orders"].living_ids()).to_pylist())
        watch.apply(deletes=pa.Table.from_pylist([each for each in gone if each["status"] == "sent"], rows(0).schema))
        watch.vacuum()
        assert "sent" not in _dump(tmp_path)
        assert said(watch.apply(rows(42, mail=[None] * 70))) == ["error orders: share(null mail)"]
        assert hf.verify(tmp_path / "state", deep=True).problems == ()


def _dump(folder: Path) -> str:
    query = "SELECT json FROM figure_layouts UNION ALL SELECT json FROM unusual_figures"
    with sqlite3.connect(folder / "state" / DATABASE) as database:
        return str(database.execute(query).fetchall())


@pytest.mark.parametrize("how", ["plain", "suggest", "watch", "rules", "not", "by name"])
def test_where_batches_have_expectations(tmp_path: Path, how: str) -> None:
    settings: dict[str, dict[str, Any]] = {
        "plain": {}, "suggest": {"suggest": 2}, "watch": {"watch": "fd"}, "rules": {"rules": ["key(id)"]},
        "not": {"expect": False}, "by name": {"watch": "fd", "expect": True},
    }  # fmt: skip
    with hf.Monitor.create(tmp_path / "state", {"orders": first(3)}, **settings[how]) as watch:
        assert watch.expectations().are_on == (how in ("plain", "suggest", "by name"))


def test_quarantined_rows_are_no_rows_of_the_batch(tmp_path: Path) -> None:
    with watched(tmp_path, key="id") as watch:
        watch.apply(rows(40))
        twice = pa.concat_tables([rows(40), rows(41, 5)])
        outcome = watch.apply(twice, quarantine=tmp_path / "bad")
        assert said(outcome) == ["error orders: rows_in_batch"]
        assert outcome.unusual[0].value == 5


@pytest.mark.parametrize("name", ["abalone", "bridges", "flight_1k", "hepatitis", "hospital", "iris", "ncvoter_1k"])
@pytest.mark.parametrize("mixed", [False, True])
def test_halves_of_real_tables_raise_no_alarm(tmp_path: Path, shared_data: Path, name: str, mixed: bool) -> None:
    data = pa.csv.read_csv(shared_data / f"{name}.csv").slice(0, 3_000)
    if mixed:
        data = data.take(np.random.default_rng(0).permutation(data.num_rows))
    half, warnings = data.num_rows // 2, 0
    with watched(tmp_path, data.slice(0, half)) as watch:
        for places in np.array_split(np.arange(half, data.num_rows), 10):
            outcome = watch.apply(data.take(places))
            assert not outcome.broken, outcome
            warnings += bool(outcome.unusual)
    assert warnings <= (0 if mixed else 2), "rows that are sorted by a column are of another kind each time"


def test_the_window_is_long_enough_for_weekdays() -> None:
    assert judging.WINDOW >= judging.DAYS >= 3 * 7


@pytest.mark.parametrize("sensitive", ["", "status", "mail"])
def test_what_leaves_the_team_has_no_values(tmp_path: Path, sensitive: str) -> None:
    with watched(tmp_path, sensitive=[sensitive] if sensitive else []) as watch:
        watch.apply(rows(40))
        outcome = watch.apply(rows(41, status=["sent"] * 70))
        watch.mute_figure("share(status = 'sent')")
        redacted, page = for_others(outcome.verdict()), watch.document(redact=True)
        plain, open_page = for_others(outcome.verdict(), values=True), watch.document()
    assert [block.heading for block in redacted.blocks()] == ["Warning: orders.status is far outside of what is usual"]
    assert "'sent'" not in str([*redacted.blocks()]) + json.dumps(page["batches"])
    shown = "'sent'" in str([*plain.blocks()])
    assert shown == ("is 'sent' in 100%" in json.dumps(open_page["batches"])) == (sensitive != "status")


def test_json_of_expectations(tmp_path: Path) -> None:
    with watched(tmp_path) as watch:
        plain = watch.expectations().to_json()
    assert json.loads(json.dumps(plain))[0] == {
        "kind": "expectation", "table": "orders", "text": "rows_in_batch", "severity": "error", "figure": "rows",
        "median": 69.5, "low": 61.0, "high": 78.15, "batches": 38, "muted": False,
    }  # fmt: skip


@pytest.mark.parametrize("wrong", ["rows", "other: rows_in_batch", ""])
def test_figures_that_are_not_watched(tmp_path: Path, wrong: str) -> None:
    with watched(tmp_path) as watch, pytest.raises(BadInput, match=f"there is no expectation '{wrong}'"):
        watch.accept_figure(wrong)
