"""What people see of pointwise rules: one line a class, the best first, and what is left out in words."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import holdfast as hf

# In each town who earns less pays no higher rate; towns are many, and so is what holds by chance.
TABLE = pa.table(
    {
        "town": ["a", "a", "a", "b", "b", "b", "c", "c"],
        "pay": [10, 20, 30, 15, 25, 35, 10, 40],
        "rate": [1, 2, 2, 3, 3, 4, 1, 5],
        "year": [2020] * 8,
    }
)


def test_one_line_a_class_with_its_best_reading() -> None:
    found = hf.discover(TABLE, "pod")
    by_class: dict[str, list[Any]] = {}
    for line in found.to_json():
        by_class.setdefault(line["class"], []).append(line)
    assert any(len(lines) > 1 for lines in by_class.values()), "some classes have several readings"
    for lines in by_class.values():
        assert [line["coverage"] for line in lines] == sorted((line["coverage"] for line in lines), reverse=True)
    shown = repr(found).splitlines()
    assert "  {} -> year=" in shown
    assert len([line for line in shown if line.startswith("  {")]) <= len(by_class)


def test_fds_are_left_out_where_fds_are_discovered_too() -> None:
    assert "  {} -> year=" in repr(hf.discover(TABLE, "pod")).splitlines()
    assert "  {} -> year=" not in repr(hf.discover(TABLE, "pod,fd")).splitlines()
    assert "that are FDs" in repr(hf.discover(TABLE, "pod,fd"))


def test_denial_constraints_that_were_found_hold() -> None:
    denials = [line["text"] for line in hf.discover(TABLE, "pod").denials()]
    assert "not(t.year != s.year)" in denials
    assert "not(t.town = s.town and t.pay = s.pay)" in denials, "a key has no reading, and is one all the same"
    checked: Any = hf.check(TABLE, denials)
    assert len(checked.findings) == len(denials)
    assert all(line["violations"] == 0 for line in checked.to_json())


def test_vacuous_rules_are_counted_or_listed() -> None:
    assert "vacuous" in repr(hf.discover(TABLE, "pod"))
    found = hf.discover(TABLE, "pod", vacuous=True)
    assert any(line["vacuous"] for line in found.to_json())
    assert "vacuous" not in repr(found)
