"""One incident: rows that copy a wrong value that was reported are shown and counted, and raise no alarm again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.store import rule_events

START = pa.table({"id": [1, 2, 3, 4], "zip": ["a", "a", "a", "b"], "city": ["x", "x", "x", "z"], "v": [1, 1, 3, 4]})
OTHERS = pa.table({"k": ["a", "b", "c"]})
FD, KEY, ROW, PAIR = "zip -> city", "key(zip, city, v)", "t.v >= 0", "not(t.zip = s.zip and t.v > 4 and s.v < 4)"
REFERENCE = "t.zip in others.k"


def row(number: int, zip_code: str | None, city: str, v: int = 3) -> pa.Table:
    return pa.table({"id": [number], "zip": pa.array([zip_code], pa.string()), "city": [city], "v": [v]})


def made(tmp_path: Path, *rules: str) -> hf.Monitor:
    tables = {"t": START, "others": OTHERS}
    watch = hf.Monitor.create(tmp_path / "s", tables, watch=[], key={"t": "id"})
    for rule in rules:
        watch.add_rules(rule, table="t")
    return watch


def broken(watch: hf.Monitor, rows: pa.Table, **more: Any) -> tuple[bool, bool]:
    """Whether new rows raise an alarm, and whether they do where anything does."""
    outcome = watch.apply(inserts=rows, table="t", **more)
    return outcome.broken, bool(outcome.alarms("any"))


@pytest.mark.parametrize(
    ("rule", "wrong", "copy", "other"),
    [
        (FD, ("a", "q"), ("a", "q"), ("a", "r")),
        (FD, ("a", "q"), ("a", "q"), ("b", "q")),
        (ROW, ("a", "x", -1), ("b", "z", -1), ("a", "x", -2)),
        (REFERENCE, ("u", "x"), ("u", "y"), ("w", "x")),
        (KEY, ("b", "z", 4), ("b", "z", 4), ("a", "x", 3)),
    ],
)
def test_a_copied_value_is_no_new_incident(tmp_path: Path, rule: str, wrong: Any, copy: Any, other: Any) -> None:
    with made(tmp_path, rule) as watch:
        assert broken(watch, row(10, *wrong)) == (True, True)
        assert broken(watch, row(11, *copy)) == (False, True)
    with hf.Monitor.open(tmp_path / "s") as watch:
        outcome = watch.apply(inserts=row(12, *copy), table="t")
        assert not outcome.broken
        assert "known wrong value" in str(outcome)
        assert "like those of batch " in str(outcome)
        (line,) = [each for each in outcome.to_json() if each.get("new")]
        assert line["violations"] == sum(1 for _ in watch.violations(rule)[0].violations())
        assert line["repeats_batch"] == watch.history()[-3].number
        assert broken(watch, row(13, *other)) == (True, True)


def test_nulls_and_pairs_of_rows_are_new_each_time(tmp_path: Path) -> None:
    with made(tmp_path, "t.zip is not null", PAIR) as watch:
        for number in range(2):
            assert broken(watch, row(10 + number, None, "x")) == (True, True)
            assert broken(watch, row(20 + number, "a", "x", 9)) == (True, True)


def test_one_new_value_among_copies_is_an_alarm(tmp_path: Path) -> None:
    with made(tmp_path, FD) as watch:
        broken(watch, row(10, "a", "q"))
        assert broken(watch, pa.concat_tables([row(11, "a", "q"), row(12, "b", "q")])) == (True, True)


def test_a_value_that_was_mended_everywhere_is_a_new_incident(tmp_path: Path) -> None:
    with made(tmp_path, FD, REFERENCE) as watch:
        broken(watch, pa.concat_tables([row(10, "a", "q"), row(11, "a", "q"), row(12, "b", "q")]))
        watch.apply(deletes=row(10, "a", "q"), table="t")
        assert broken(watch, row(13, "a", "q")) == (False, True), "one was left"
        watch.apply(deletes=pa.concat_tables([row(11, "a", "q"), row(13, "a", "q")]), table="t")
        assert broken(watch, row(14, "a", "q")) == (True, True)
        broken(watch, row(15, "u", "x"))
        watch.apply(inserts=pa.table({"k": ["u"]}), table="others")
        watch.apply(deletes=pa.table({"k": ["u"]}), table="others")
        assert broken(watch, row(16, "u", "x")) == (False, True), "it is reported that the partner went"


def test_what_comes_after_violations_are_accepted_is_new(tmp_path: Path) -> None:
    with made(tmp_path, FD) as watch:
        broken(watch, row(10, "a", "q"))
        watch.accept(FD)
        assert broken(watch, row(11, "a", "q")) == (True, True)
        assert broken(watch, row(12, "a", "q")) == (False, True)


def test_an_alarm_of_a_found_rule_begins_an_incident(tmp_path: Path) -> None:
    zips = [number % 40 for number in range(1200)]
    towns = pa.table({"id": list(range(1200)), "zip": zips, "city": zips})
    with hf.Monitor.create(tmp_path / "s", {"t": towns}, watch=["fd"], key="id") as watch:
        wrong = [pa.table({"id": [2000 + n], "zip": [7], "city": [city]}) for n, city in enumerate((99, 99, 98))]
        outcomes = [watch.apply(inserts=each) for each in wrong]
        assert [outcome.broken for outcome in outcomes] == [True, False, True]


def test_the_newest_incidents_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_events, "MOST_INCIDENTS", 2)
    with made(tmp_path, ROW) as watch:
        for number in range(3):
            broken(watch, row(10 + number, "a", "x", -1 - number))
        assert broken(watch, row(20, "a", "x", -3)) == (False, True)
        assert broken(watch, row(21, "a", "x", -1)) == (True, True)


def test_a_rule_about_the_table_and_one_about_rows_may_break_together(tmp_path: Path) -> None:
    with made(tmp_path, "distinct(city) <= 2", ROW) as watch:
        assert broken(watch, row(10, "a", "q", -1)) == (True, True)
        assert broken(watch, row(11, "a", "r", -1)) == (False, True)
