"""The verdict on a batch: one line on a quiet day, and what failed, errors first, with what most other rows say."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.report.printing import print_outcome
from tests.cli.running import write

ORDERS = pa.table({"id": range(12), "zip": [n % 3 for n in range(12)], "city": [f"town {n % 3}" for n in range(12)]})
RULES = ["zip -> city", "key(id)", "t.zip >= 0", "not(t.zip = s.zip and t.city != s.city)"]


def _more(*rows: tuple[int, int | None, str]) -> pa.Table:
    ids, zips, cities = zip(*rows, strict=True)
    return pa.table({"id": pa.array(ids), "zip": pa.array(zips), "city": pa.array(cities)})


def _watch(folder: Path, rules: Path | list[str] | None = None) -> hf.Monitor:
    return hf.Monitor.create(folder / "s", {"orders": ORDERS}, watch=["column"], rules=rules or RULES)


def test_a_quiet_day_is_one_line(tmp_path: Path) -> None:
    with _watch(tmp_path) as watch:
        assert str(watch.apply(inserts=_more((12, 1, "town 1"), (13, 2, "town 2")))) == (
            "Batch 1: 2 rows. All 4 rules hold."
        )
        assert str(watch.apply(deletes=_more((13, 2, "town 2")))) == "Batch 2: 1 row deleted. All 4 rules hold."
        watch.apply(inserts=_more((14, 1, "twon 1")))
        quiet = str(watch.apply(inserts=_more((15, 2, "town 2"))))
        assert quiet == "Batch 4: 1 row. No new violations; 2 of 4 rules hold."
        mended = str(watch.apply(deletes=_more((14, 1, "twon 1")))).splitlines()
        assert mended[0] == "Batch 5: 1 row deleted. All 4 rules hold."
        assert mended[1].startswith("Holds again: ")


def test_nothing_watched_and_one_rule(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", {"t": ORDERS}, watch=["column"]) as watch:
        assert str(watch.apply(inserts=_more((12, 1, "town 1")))) == "Batch 1: 1 row. No rules are watched."
    with _watch(tmp_path / "one", ["zip -> city"]) as watch:
        assert str(watch.apply(inserts=_more((12, 1, "town 1")))) == "Batch 1: 1 row. The rule holds."


def test_what_failed_comes_with_rows_and_what_most_others_say(tmp_path: Path) -> None:
    with _watch(tmp_path) as watch:
        state = watch.path
        lines = str(watch.apply(inserts=_more((12, 1, "twon 1"), (13, -1, "town 9"), (3, 0, "town 0")))).splitlines()
    assert lines[0] == "Batch 1: 3 rows. 4 of 4 rules failed."
    failed = [line for line in lines if line.startswith("Failed: ")]
    assert failed == [
        "Failed: not(t.zip = s.zip and t.city != s.city) has 4 new violations",
        "Failed: zip -> city has 1 new violation",
        "Failed: key(id) has 1 new violation",
        "Failed: t.zip >= 0 has 1 new violation",
    ]
    assert "  row 12: zip 1, city 'twon 1' ('town 1' in 4 of 5)" in lines
    assert "  row 14: id 3, as row 3 has" in lines
    assert "  row 13: zip -1 is below 0" in lines
    assert "  row 12 takes part in all 4 of them" in lines
    assert f'  See: holdfast explain {state} "zip -> city"' in lines


def test_a_key_that_breaks_by_nulls_says_how_many_rows_have_none(tmp_path: Path) -> None:
    people = pa.table({"email": pa.array(["a@x", "b@x", None])})
    with hf.Monitor.create(tmp_path / "s", {"people": people}, watch=[], rules=["key(email)"]) as watch:
        lines = str(watch.apply(inserts=pa.table({"email": pa.array([None] * 3, pa.string())}))).splitlines()
        assert lines[1:3] == ["Failed: key(email) has 3 new violations", "  4 rows have no email"]
        assert "4 rows have no email; look at " in "\n".join(watch.explain("key(email)"))


def test_rules_that_the_same_rows_break_are_one_block(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 1, 2], "b": [1, 1, 2], "c": [1, 1, 2]})
    with hf.Monitor.create(tmp_path / "s", {"t": table}, watch=[], rules=["a -> b", "a -> c"]) as watch:
        lines = str(watch.apply(inserts=pa.table({"a": [1], "b": [5], "c": [6]}))).splitlines()
    assert lines[:3] == [
        "Batch 1: 1 row. 2 of 2 rules failed.",
        "Failed: a -> b has 1 new violation",
        "  row 3: a 1, b 5 (1 in 2 of 3)",
    ]
    assert lines[3] == "  The same rows break 1 more rule: a -> c"


def test_errors_come_before_warnings_and_the_largest_change_first(tmp_path: Path) -> None:
    given = ["rules:", "  - {rule: t.id >= 0, severity: warn}", "  - rule: t.zip >= 0", "  - rule: t.zip > -9"]
    rules = write(tmp_path / "rules.yaml", given)
    with _watch(tmp_path, rules) as watch:
        lines = str(watch.apply(inserts=_more((-1, -9, "x"), (-2, -1, "x"), (-3, -1, "x")))).splitlines()
        assert [line for line in lines if not line.startswith(" ")] == [
            "Batch 1: 3 rows. 2 of 3 rules failed.",
            "Failed: t.zip >= 0 has 3 new violations",
            "Failed: t.zip > -9 has 1 new violation",
            "Warning: t.id >= 0 has 3 new violations",
        ]
        lines = str(watch.apply(inserts=_more((-4, 1, "x")))).splitlines()
        assert lines[0] == "Batch 2: 1 row. No errors; 1 warning with 1 new violation."


def test_what_moved_is_shown_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with _watch(tmp_path) as watch:
        watch.apply(inserts=_more((12, 1, "twon 1")))
        outcome = watch.apply(inserts=_more((13, -1, "town 9")))
        print_outcome(outcome)
        assert "distinct" not in capsys.readouterr().out
        print_outcome(outcome, loud="verbose")
        table = capsys.readouterr().out
    assert "distinct" in table
    assert "t.zip >= 0" in table.partition("severity")[2]
    assert "zip -> city" not in table.partition("severity")[2], "its count did not move"


def test_new_exceptions_of_suggestions_that_never_held_exactly_are_counted(tmp_path: Path) -> None:
    note = "when suggested: 9 of 12 rows agree (score 0.97)"
    rule = f'  - {{rule: zip -> city, severity: warn, note: "{note}"}}'
    rules = write(tmp_path / "rules.yaml", ["rules:", rule, "  - rule: key(id)"])
    with _watch(tmp_path, rules) as watch:
        outcome = watch.apply(inserts=_more((12, 1, "twon 1")))
        assert str(outcome) == "Batch 1: 1 row. No errors; 1 warning with 1 new violation (-v shows them)."
        assert len(list(outcome.verdict(verbose=True).blocks())) == 1
        lines = str(watch.apply(inserts=_more((12, 1, "tonw 1")))).splitlines()
        assert lines[0] == "Batch 2: 1 row. 1 of 2 rules failed."
        assert lines[-1] == "Also 1 warning with 1 new violation of suggested rules (-v shows them)."


def test_pairs_of_rows_do_not_count_among_new_exceptions(tmp_path: Path) -> None:
    """One wrong row makes a pair with each of many others."""
    note = "when suggested: 9 of 12 rows agree (score 0.97)"
    rule = f'  - {{rule: "not(t.zip = s.zip and t.city != s.city)", severity: warn, note: "{note}"}}'
    rules = write(tmp_path / "rules.yaml", ["rules:", rule, "  - rule: key(id)"])
    with _watch(tmp_path, rules) as watch:
        outcome = watch.apply(inserts=_more((12, 1, "twon 1")))
        assert str(outcome) == "Batch 1: 1 row. No errors; 1 warning (-v shows them)."
