"""Violations that are known are accepted: they are counted and shown, and only new ones raise an alarm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.engines.given import baseline
from holdfast.engines.given.baseline import is_worse
from holdfast.rules.registry import parse

START = pa.table({"id": [1, 2, 3, 4], "zip": ["a", "a", "a", "b"], "city": ["x", "x", "y", "z"], "v": [1, -1, 3, None]})
FD, ROW = "zip -> city", "t.v >= 0"


def made(tmp_path: Path, *rules: str, **settings: Any) -> hf.Monitor:
    return hf.Monitor.create(tmp_path / "s", {"t": START}, watch=[], rules=rules, key="id", **settings)


def row(number: int, zip_code: str = "c", city: str = "q", v: int | None = 1) -> pa.Table:
    return pa.table({"id": [number], "zip": [zip_code], "city": [city], "v": pa.array([v], pa.int64())})


def accepted(view: hf.View, rule: str) -> tuple[int, int | None]:
    found = view.given(rule)
    assert found is not None
    return found["violations"], found.get("accepted")


def test_new_violations_raise_an_alarm_and_accepted_ones_do_not(tmp_path: Path) -> None:
    with made(tmp_path, FD, ROW) as watch:
        changed = watch.accept("fd1")
        assert str(changed).splitlines()[1] == "  fd1: zip -> city: accepted; 1 violation"
        assert accepted(watch, FD) == (1, 1)
        assert str(watch.violations("fd1")[0]).splitlines()[0] == "fd1: 1 violation of zip -> city, all accepted"
        assert not watch.apply(inserts=row(5)).broken
        assert [rule.text for rule in watch.apply(inserts=row(6, "a", "k")).alarms()] == [FD]
        assert accepted(watch, FD) == (2, 1)
        assert watch.apply(deletes=row(6, "a", "k")).broken is False
        assert accepted(watch, FD) == (1, 1)
        assert watch.accept("fd1").batch is None, "there is nothing more to accept"


def test_it_is_undone_and_stands_in_the_history(tmp_path: Path) -> None:
    with made(tmp_path, FD) as watch:
        watch.accept(FD, change_id="known")
        assert watch.accept(FD, change_id="known").already_applied
        undone = watch.accept("fd1", undo=True)
        assert str(undone).splitlines()[1] == "  fd1: zip -> city: no longer accepted; 1 violation"
        assert [list(about) for about in watch.changes().values()] == [["accepted"], ["unaccepted"]]
        assert accepted(watch, FD) == (1, None)
        assert watch.accept("fd1", undo=True).batch is None


def test_what_no_given_rule_is_called_is_refused(tmp_path: Path) -> None:
    with made(tmp_path, FD) as watch, pytest.raises(hf.BadInput, match=r"there is no given rule 'fd2'.*fd1"):
        watch.accept("fd2")


def test_updates_keep_what_is_accepted(tmp_path: Path) -> None:
    with made(tmp_path, ROW) as watch:
        watch.accept(ROW)
        assert not watch.apply(upserts=row(2, v=-1)).broken
        assert accepted(watch, ROW) == (1, 1)
        watch.apply(upserts=row(2, v=5))
        assert watch.apply(upserts=row(2, v=-1)).broken, "it was mended in between"
        assert accepted(watch, ROW) == (1, 0)


@pytest.mark.parametrize(
    ("rule", "fine", "worse"),
    [
        ("rows <= 3", {"deletes": row(1)}, {"inserts": row(9)}),
        ("share(null v) <= 0.1", {"inserts": row(9)}, {"inserts": row(9, v=None)}),
        ("max(v) <= 2", {"inserts": row(9, v=2)}, {"inserts": row(9, v=4)}),
        ("min(v) >= 0", {"inserts": row(9, v=-1)}, {"inserts": row(9, v=-2)}),
    ],
)
def test_a_rule_about_a_table_is_accepted_as_long_as_it_is_no_worse(
    tmp_path: Path, rule: str, fine: Any, worse: Any
) -> None:
    with made(tmp_path, rule) as watch:
        watch.accept("table1")
        if rule != "rows <= 3":
            assert not watch.apply(**fine).broken
            assert accepted(watch, rule) == (1, 1)
        outcome = watch.apply(**{name: each.set_column(0, "id", pa.array([10])) for name, each in worse.items()})
        assert [each.text for each in outcome.alarms()] == [rule]
        assert accepted(watch, rule) == (1, 0)
    with hf.Monitor.open(tmp_path / "s") as watch:
        assert accepted(watch, rule) == (1, 0)
        assert not watch.apply(inserts=row(11)).broken, "it was an alarm already"


def test_a_table_that_held_in_between_is_accepted_no_longer(tmp_path: Path) -> None:
    with made(tmp_path, "max(v) <= 2") as watch:
        watch.accept("table1")
        watch.apply(deletes=row(3))
        assert watch.apply(inserts=row(9, v=3)).broken


@pytest.mark.parametrize(
    ("rule", "now", "then", "expected"),
    [
        ("rows = 5", 7, 6, True), ("rows = 5", 4, 7, False), ("rows != 5", 5, 5, False),
        ("min(day) >= date '2024-01-01'", "2023-12-30", "2023-12-31", True),
        ("max(price) <= 9.5", "10.25", "9.75", True), ("max(price) <= 9.5", "9.75", "10.25", False),
        ("max(name) = 'x'", "y", "z", True), ("max(name) = 'x'", "y", "y", False),
    ],
)  # fmt: skip
def test_when_a_quantity_is_worse(rule: str, now: Any, then: Any, expected: bool) -> None:
    value: Any = parse(rule)
    assert is_worse(value, now, then) == expected


def test_too_many_new_violations_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "MOST_OPEN", 2)
    with made(tmp_path, ROW) as watch:
        watch.accept(ROW)
        many = pa.concat_tables([row(number, v=-1) for number in range(10, 14)])
        assert watch.apply(inserts=many).broken
        assert accepted(watch, ROW) == (5, 1)
        watch.apply(deletes=many.slice(0, 2))
        assert accepted(watch, ROW) == (3, 1)
        assert watch.apply(inserts=row(20, v=-2)).broken


def test_it_stays_where_columns_get_other_names_and_types(tmp_path: Path) -> None:
    with made(tmp_path, FD, ROW) as watch:
        watch.accept("fd1")
        watch.accept("row1")
        watch.apply(inserts=row(6, "a", "k", -2))
        watch.rename_column("zip", "postcode")
        assert accepted(watch, "postcode -> city") == (2, 1)
        watch.add_column("more", "integer")
        assert accepted(watch, "postcode -> city") == (2, 1)
        assert accepted(watch, "row1") == (2, 1)
    with hf.Monitor.open(tmp_path / "s") as watch:
        assert accepted(watch, "postcode -> city") == (2, 1)


def test_a_rule_that_is_removed_and_given_again_has_nothing_accepted(tmp_path: Path) -> None:
    with made(tmp_path, FD, ROW) as watch:
        watch.accept("fd1")
        watch.remove_rules("fd1")
        watch.add_rules(FD)
        assert accepted(watch, FD) == (1, None)
    with hf.Monitor.open(tmp_path / "s") as watch:
        assert accepted(watch, FD) == (1, None)


def test_a_page_says_what_is_accepted(tmp_path: Path) -> None:
    with made(tmp_path, FD, ROW) as watch:
        watch.accept("fd1")
        overview = watch.document()["overview"]
        assert overview["sentence"].startswith("1 of your 2 rules is violated.")
        watch.accept("row1")
        document = watch.document()
        assert document["overview"]["sentence"].startswith("All 2 of your rules hold, but for accepted violations.")
        details = document["rules"]["details"].values()
        assert [(each["violations"], each["accepted"]) for each in details] == [(1, 1), (1, 1)]
