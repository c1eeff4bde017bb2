"""Rules about a table: their language, their types, their counts and figures. The laws check maintenance."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.registry import given_class
from holdfast.rules.constants import Constant
from holdfast.rules.measure import Quantity, TableRule
from holdfast.rules.sql import query
from tests.engines.row.conditions import NAMES, TEXTS, row_lists, table_of
from tests.oracle import row as oracle

Rows = list[tuple[Any, ...]]
OPERATORS: st.SearchStrategy[Any] = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
QUANTITIES = st.one_of(
    st.just(Quantity("rows")),
    st.builds(
        Quantity, st.sampled_from(["share", "distinct", "min", "max"]), st.sampled_from(["Zip", "a b", "rows", ""])
    ),
)

# ---- texts ----------------------------------------------------------------------------------------------------------


@given(quantity=QUANTITIES, operator=OPERATORS, number=st.one_of(st.integers(), st.decimals(0, 1, places=3)))
def test_a_text_reads_back(quantity: Quantity, operator: Any, number: Any) -> None:
    rule = TableRule(quantity, operator, Constant(number))
    assert TableRule.parse(rule.text) == rule
    found = given_class(rule.text)
    assert found is not None
    assert found.name == "table"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ROWS>=1000", "rows >= 1000"),
        ("Share( NULL Phone ) ≤ .01", "share(null Phone) <= 0.01"),
        ('distinct("first name") <> 5', 'distinct("first name") != 5'),
        ("max(Day) < date '2030-01-01'", "max(Day) < DATE '2030-01-01'"),
        ("min(A) > -1.5", "min(A) > -1.5"),
    ],
)
def test_texts_have_one_form(text: str, written: str) -> None:
    assert TableRule.parse(text).text == written


@pytest.mark.parametrize(
    ("text", "name"),
    [("rows -> a", "named"), ("max(a, b) in u(c, d)", "reference"), ("min.a in max.b", "reference")],
)
def test_other_classes_keep_their_texts(text: str, name: str) -> None:
    found = given_class(text)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    ("text", "sentence", "at"),
    [
        ("rows >= ", "or a constant, after >=", 7),
        ("rows >= 'x'", "expected a number: rows is one", 8),
        ("share(Phone) <= 0.1", "write t.Phone for a column", 6),
        ("distinct(State, City) = 5", "expected ) after State", 14),
        ("min() > 1", "expected a column after (", 4),
        ("max(a)", "expected an operator after )", 6),
        ("rows >= 5 and rows <= 6", "a rule about a table is one comparison", 10),
        ("rows > " + "-" * 1000 + "1", "nested too deep; write several rules", 57),
    ],
)
def test_errors_point_at_the_character(text: str, sentence: str, at: int) -> None:
    with pytest.raises(hf.BadInput) as error:
        TableRule.parse(text)
    first, _, mark = str(error.value).split("\n")
    assert sentence in first
    assert mark.index("^") - 2 == at


PEOPLE = pa.table({"age": [1, None, 3], "name": ["a", "b", None], "ok": [True, None, False]})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("share(null age) <= 5", "a share is from 0 to 1"),
        ("rows >= Infinity", "does not compare with a number"),
        ("distinct(ages) = 5", "names the column 'ages'"),
        ("min(age) >= 'x'", "compares integer with text; write a number"),
        ("max(name) = 'x'", "needs an order of text"),
        ("min(ok) = true", "needs an order of booleans"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(hf.BadInput, match=sentence):
        hf.check(PEOPLE, text)


# ---- what holds -----------------------------------------------------------------------------------------------------

_CONSTANTS: dict[str, list[Any]] = {"rows": [0, 1, 3], "share": [0, Decimal("0.5"), 1], "distinct": [0, 1, 2]}
_MOMENTS = ["avg", "sum", "stddev"]
_PARTS = [None, 0, Decimal("0.25"), Decimal("0.5"), Decimal("0.75"), 1]
_OF_COLUMN: dict[str, list[Any]] = {
    "i": [0, Decimal("0.5"), 2**60],
    "f": [0, 0.5, 1.0],
    "d": [Decimal("0.5"), 1],
    "long": [1, Decimal("0.5")],
    "s": ["a", "b"],
}


@st.composite
def _rules(draw: st.DrawFn) -> TableRule:
    measure: Any = draw(st.sampled_from(["rows", "share", "distinct", "min", "max", "quantile", *_MOMENTS]))
    column = "" if measure == "rows" else draw(st.sampled_from(sorted(_OF_COLUMN)))
    if measure in _MOMENTS and column == "s":
        column = "i"
    part = draw(st.sampled_from(_PARTS)) if measure == "quantile" else None
    if measure == "quantile" and part is None:
        measure = "median"
    quantity = Quantity(measure, column, part=None if part is None else Constant(part))
    constants = st.sampled_from(_CONSTANTS.get(measure) or _OF_COLUMN[column]).map(Constant)
    if draw(st.booleans()):
        return TableRule(quantity, "between", draw(constants), draw(constants))
    return TableRule(quantity, draw(OPERATORS), draw(constants))


def _broken(some: Rows, rule: TableRule) -> bool:
    column = NAMES.index(rule.quantity.column) if rule.quantity.column else None
    part = None if rule.quantity.part is None else rule.quantity.part.value
    limits = [each.value for each in rule.ends]
    return oracle.is_broken(some, rule.quantity.measure, column, rule.operator, *limits, part=part)


def _checked(some: Rows, rule: TableRule, folder: Path) -> hf.Checked:
    file = folder / "rules.json"
    file.write_text(json.dumps({"rules": [{"rule": rule.text}], "ordered": TEXTS}), encoding="utf-8")
    return hf.check({"t": table_of(some)}, file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rules")


@settings(max_examples=300)
@given(some=row_lists, rule=_rules())
def test_as_the_oracle_and_duckdb_say(some: Rows, rule: TableRule, folder: Path) -> None:
    broken = _broken(some, rule)
    checked = _checked(some, rule, folder)
    (line,) = checked.to_json()
    assert line["violations"] == int(broken), line
    if not _is_rounded_by_databases(some, rule):
        with duckdb.connect() as database:
            database.register("t", table_of(some))
            assert bool(database.execute(query(rule, "t", ())).fetchall()) == broken
    listed = {row for row in range(len(some)) if broken and _shows(rule, some[row])}
    assert set(checked.listings[0].listed[:, 0].tolist()) == listed


def _is_rounded_by_databases(some: Rows, rule: TableRule) -> bool:
    """Whether DuckDB rounds a mean or a deviation, can't sum infinities, or takes the share for a float."""
    return rule.quantity.measure in _MOMENTS and bool(some)


def _shows(rule: TableRule, row: tuple[Any, ...]) -> bool:
    """Whether a row is one to look at: the table would be better off without it."""
    measure, operator = rule.quantity.measure, rule.operator
    if measure == "share":
        return row[NAMES.index(rule.quantity.column)] is None and operator in ("<", "<=", "=", "between")
    if operator == "between":
        value = row[NAMES.index(rule.quantity.column)] if rule.quantity.column else None
        sign, limit = (">=", rule.ends[0]) if measure == "min" else ("<=", rule.ends[-1])
        return measure in ("min", "max") and value is not None and _alone(row, rule, measure, sign, limit)
    if (measure, operator[0]) not in (("min", ">"), ("max", "<")):
        return False
    return _alone(row, rule, measure, operator, rule.ends[0])


def _alone(row: tuple[Any, ...], rule: TableRule, measure: str, operator: str, limit: Constant) -> bool:
    return oracle.is_broken([row], measure, NAMES.index(rule.quantity.column), operator, limit.value)


def test_counts_and_figures(folder: Path) -> None:
    rules = ["rows >= 5", "share(null name) <= 0.25", "distinct(age) = 2", "min(age) >= 2", "max(age) <= 3"]
    checked = hf.check(PEOPLE, rules)
    assert [(line["value"], line["violations"]) for line in checked.to_json()] == [
        (3, 1),
        (1 / 3, 1),
        (2, 0),
        (1, 1),
        (3, 0),
    ]
    assert {line["counted"] for line in checked.to_json()} == {"the table"}
    assert "table1: rows >= 5 does not hold; rows is 3" in str(checked)
    file = folder / "people.json"
    file.write_text(json.dumps({"rules": [{"rule": rule} for rule in rules]}), encoding="utf-8")
    with hf.Monitor.create(folder / "state", {"people": PEOPLE}, rules=file, watch=["column"]) as monitor:
        assert monitor.explain("table2")[1:] == [
            f"It does not hold: share(null name) is {1 / 3}.",
            "Look at 1 row, for example: row 2 (name null, age 3, ok False)",
        ]
        outcome = monitor.apply(inserts=pa.table({"age": [5, 6], "name": ["c", "d"], "ok": [True, True]}))
        found = {
            line["name"]: (line["new"], line["gone"], line["value"]) for line in outcome.to_json()[1:] if "name" in line
        }
        assert found == {"table1": (0, 1, 5), "table2": (0, 1, 0.2), "table3": (1, 0, 4), "table5": (1, 0, 6)}
        (witness,) = [e.witness for e in monitor.memory().events() if e.text == "max(age) <= 3"]
        assert witness is not None
        assert witness.rows == (3,)
    with hf.Monitor.open(folder / "state") as monitor:
        assert [line["value"] for f in monitor.results("table") if (line := f.to_json())] == [5, 0.2, 4, 1, 6]


def test_a_table_without_rows_breaks_nothing_but_the_number_of_rows() -> None:
    rules = ["rows >= 1", "share(null name) >= 0.5", "min(age) >= 2", "max(age) = 3", "distinct(age) > 0"]
    lines = hf.check(PEOPLE.slice(0, 0), rules).to_json()
    assert [line["violations"] for line in lines] == [1, 0, 0, 0, 1]
    assert [line["value"] for line in lines] == [0, None, None, None, 0]
