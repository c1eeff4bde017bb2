"""Suggestions about one row on the screen: a line for each column, and one for all that always have a value."""

from __future__ import annotations

import pyarrow as pa

import holdfast as hf


def section(table: pa.Table) -> list[str]:
    """The lines of the section about each row, without scores."""
    found = hf.suggest({"t": table}, "row")
    (rows,) = (each for each in found.sections() if each.heading == "each row")
    return [line.text for line in rows.lines]


def test_rules_are_shown_column_by_column() -> None:
    table = pa.table({
        "id": [f"K-{number:05d}" for number in range(400)],
        "a column": [number * number % 9973 for number in range(400)],
        "state": ["new", "done"] * 200,
        "note": [None, *["x"] * 199] * 2,
    })  # fmt: skip
    lines = section(table)
    assert lines[0] == "never null: id, a column, state"
    assert "id: matches 'K-[0-9]{5}'" in lines
    assert "state: in ('done', 'new')" in lines
    assert any(line.startswith("a column: between 0 and ") for line in lines)
    assert lines[-1] == "t.note is not null", "a rule with exceptions has a line of its own"


def test_rules_of_several_columns_come_first() -> None:
    numbers = range(1, 400)
    table = pa.table({"a": [3 * n % 97 + n % 89 for n in numbers], "b": [3 * n % 97 for n in numbers]})
    table = table.append_column("c", pa.array([n % 89 for n in numbers]))
    assert section(table)[:2] == ["t.a = t.b + t.c", "never null: all 3 columns"]


def test_long_sets_are_cut() -> None:
    (line,) = (line for line in section(pa.table({"a": [f"value {n % 20}" for n in range(400)]})) if " in " in line)
    assert line.endswith("…")
    assert len(line) < 70
