"""Rules meet tables: each constraint finds its table, and errors still name the file and the line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.errors import BadInput
from holdfast.rules.bind import bind
from holdfast.rules.file import Rules, read_rules, rules_of
from holdfast.table.table import Schema
from holdfast.table.types import Column

TAX = Schema("tax", (Column("Zip", pa.string()), Column("Rate", pa.float64()), Column("Grade", pa.string())))
PEOPLE = Schema("people", (Column("Age", pa.int64()), Column("Size", pa.string())))
BOTH = {"tax": TAX, "people": PEOPLE}


def _rules(folder: Path, text: str) -> Rules:
    path = folder / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    return read_rules(path)


def test_each_table_gets_its_constraints(tmp_path: Path) -> None:
    rules = _rules(
        tmp_path,
        """
rules:
  - {table: tax, rule: not(t.Rate < 1), severity: warn, note: why}
  - {table: people, rule: not(t.Size < s.Size and t.Age > s.Age)}
  - {table: tax, rule: "not(t.Grade > 'A')"}
  - {table: tax, rule: "Zip -> Rate"}
ordered: {tax: [Grade], people: [Size]}
""",
    )
    bound = bind(rules, BOTH).given["dc"]
    assert [each.text for each in bound["tax"].rules] == ["not(t.Rate < 1.0)", "not(t.Grade > 'A')"]
    assert [each.name for each in bound["people"].rules] == ["dc2"]
    assert bound["tax"].ordered == {"Grade"}
    first = bound["tax"].rules[0]
    assert (first.name, first.table, first.severity, first.note) == ("dc1", "tax", "warn", "why")


def test_each_table_gets_its_dependencies(tmp_path: Path) -> None:
    rules = _rules(tmp_path, """
rules:
  - {table: tax, rule: "Grade, Zip -> Rate", severity: warn, note: why}
  - {table: people, rule: key(Age)}
  - {table: people, rule: not(t.Age < 0)}
""")  # fmt: skip
    bound = bind(rules, BOTH).given["named"]
    (first,) = bound["tax"].rules
    assert (first.name, first.table, first.text, first.severity, first.note) == (
        "fd1", "tax", "Zip, Grade -> Rate", "warn", "why",
    )  # fmt: skip
    assert [(each.name, each.text) for each in bound["people"].rules] == [("key1", "key(Age)")]
    with pytest.raises(BadInput, match=r"rules.yaml, line 1: rule 'a': .* there is no column 'Zup'; did you mean"):
        bind(_rules(tmp_path, 'rules: [{name: a, rule: "Zup -> Rate"}]'), {"tax": TAX})
    with pytest.raises(BadInput, match="rule 'fd2' says the same as rule 'fd1'; remove one"):
        bind(rules_of(["Zip, Grade -> Rate", "Grade, Zip -> Rate"]), {"tax": TAX})


def test_the_table_may_be_left_out_where_there_is_one() -> None:
    bound = bind(rules_of(["not(t.Zip = s.Zip)"]), {"tax": TAX}).given["dc"]
    assert [(each.table, each.text) for each in bound["tax"].rules] == [("tax", "not(t.Zip = s.Zip)")]
    assert bind(Rules(), BOTH).given == {}


ERRORS = [
    (
        "rules:\n  - {name: a, rule: not(t.Zip = s.Zip)}",
        2,
        "rule 'a' names no table; begin it with one of tax:, people:",
    ),
    (
        "rules:\n  - {table: tix, rule: not(t.Zip = s.Zip)}",
        2,
        "is about the table 'tix', which is not here; did you mean 'tax'?",
    ),
    (
        "rules:\n  - {name: a, table: tax, rule: not(t.Zap = 1)}",
        2,
        "rule 'a': t.Zap = 1 names the column 'Zap', which the",
    ),
    (
        "rules:\n  - {name: a, table: tax, rule: not(t.Zip < s.Zip)}",
        2,
        "rule 'a': t.Zip < s.Zip needs an order of text",
    ),
    (
        "rules:\n  - {table: tax, rule: not(t.Rate = 1)}\n  - {table: tax, rule: not(1.0 = t.Rate)}",
        3,
        "rule 'dc2' says the same as rule 'dc1'; remove one",
    ),
    (
        "rules: [{rule: not(t.Age < 0), table: people}]\nordered: [Grad]",
        2,
        "ordered names the column 'Grad', which is not here; did you mean 'Grade'?",
    ),
    (
        "rules: [{rule: not(t.Age < 0), table: people}]\nordered: {people: [Grade]}",
        2,
        "ordered names the column 'Grade', which is not here; there are Age, Size",
    ),
    (
        "rules: [{rule: not(t.Age < 0), table: people}]\nordered: {peeple: [Size]}",
        2,
        "ordered names the table 'peeple', which is not here; did you mean 'people'?",
    ),
]


@pytest.mark.parametrize(("text", "line", "sentence"), ERRORS, ids=[sentence for _, _, sentence in ERRORS])
def test_errors_name_the_file_and_the_line(tmp_path: Path, text: str, line: int, sentence: str) -> None:
    rules = _rules(tmp_path, text)
    with pytest.raises(BadInput) as caught:
        bind(rules, BOTH)
    assert f"rules.yaml, line {line}: " in str(caught.value)
    assert sentence in str(caught.value)
