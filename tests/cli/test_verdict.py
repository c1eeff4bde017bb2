"""The verdict on a batch in the terminal: tables and files by name, less and more of it, and rules that broke first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast, write


def test_the_most_important_rule_of_several_tables_names_table_and_file(holdfast: Holdfast, tmp_path: Path) -> None:
    one = write(tmp_path / "one.csv", ["zip,city", "1,Bonn", "2,Ulm"])
    two = write(tmp_path / "two.csv", ["zip,city", "1,Bonn", "2,Ulm"])
    rules = write(tmp_path / "r.yaml", ["rules: [{name: one-city, table: two, rule: zip -> city}]"])
    assert holdfast("init", tmp_path / "s", one, two, "--rules", rules).code == 0
    more = write(tmp_path / "more.csv", ["zip,city", "1,Born"])
    ran = holdfast("apply", tmp_path / "s", "--table", "two", "--insert", more)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines()[1] == "Failed: one-city has 1 new violation (two, more.csv)"
    write(more, ["zip,city", "2,Uln"])
    again = holdfast("apply", tmp_path / "s", "--table", "two", "--insert", more, "--quiet")
    assert again.out == "Failed: one-city has 1 new violation (two, more.csv)\n"
    fine = write(tmp_path / "fine.csv", ["zip,city", "7,Bern"])
    assert holdfast("apply", tmp_path / "s", "--table", "two", "--insert", fine, "-q").out == ""
    loud = holdfast("apply", tmp_path / "s", "--table", "two", "--insert", fine, "-v").out
    assert "Took " in loud
    assert holdfast("apply", tmp_path / "s", "--table", "two", "--insert", fine, "-v", "-q").code == 2


@pytest.fixture
def broken(holdfast: Holdfast, tmp_path: Path) -> Path:
    """A state with a rule that holds, one that broke, and one that never held."""
    source = write(tmp_path / "towns.csv", ["id,zip,city", "1,1,Bonn", "2,2,Ulm", "3,2,Ulm"])
    rules = write(
        tmp_path / "r.yaml", ["rules:", *(f"  - rule: {rule}" for rule in ("key(id)", "zip -> city", "key(city)"))]
    )
    assert holdfast("init", tmp_path / "s", source, "--rules", rules, "--watch", "column").code == 0
    more = write(tmp_path / "more.csv", ["id,zip,city", "4,1,Born"])
    assert holdfast("apply", tmp_path / "s", "--insert", more).code == 1
    return tmp_path / "s"


def test_status_begins_with_how_many_rules_hold_and_those_that_do_not(holdfast: Holdfast, broken: Path) -> None:
    lines = holdfast("status", broken).out.splitlines()
    assert lines[0] == "1 of 3 rules holds."
    rules = ("zip -> city", "key(city)", "key(id)")
    shown = [rule for line in lines for rule in rules if f" {rule} " in line]
    assert sorted(shown[:2]) == ["key(city)", "zip -> city"], "those that don't hold"
    assert shown[2:] == ["key(id)"]
    assert "distinct" not in "\n".join(lines)
    assert "distinct" in holdfast("status", broken, "--verbose").out
    assert "zip -> city" in holdfast("status", broken, "--rules", "named").out
    assert "no violations" not in holdfast("status", broken, "--rules", "named").out


def test_violations_leave_out_rules_without_any(holdfast: Holdfast, broken: Path) -> None:
    shown = holdfast("violations", broken).out
    assert "zip -> city: 1 violation\n" in shown
    assert "key(id)" not in shown
    assert holdfast("violations", broken, "key(id)").out == "no violations\n"


def test_help_says_values_as_people_write_them(holdfast: Holdfast) -> None:
    for words in ([], ["apply"], ["rules"], ["rules", "state", "add"]):
        shown = holdfast(*words, "--help").out
        assert "<" not in shown
        assert "range" not in shown
    assert "FILE" in holdfast("apply", "--help").out


def test_help_shows_first_what_many_need(holdfast: Holdfast) -> None:
    short, whole = (holdfast("init", words).out for words in ("--help", "--help-all"))
    more = "More with --help-all: what is kept and shown; settings of rule classes; how files are read."
    assert more in " ".join(short.split())
    for few in ("--sep", "--max-lhs"):
        assert few not in short
        assert few in whole
    assert len(holdfast("--help").out.splitlines()) < 50, "a line for each command"
