"""Why rows break a rule, in words: one style for every class, and never more than the values say."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.changes.diff import Witness
from holdfast.rules.conditions import Arithmetic, Condition
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule
from holdfast.rules.sentences import PlainRows, Why, explained, sentence, why
from holdfast.table.nulls import Nulls
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.oracle import list_order
from tests.rules.some import COLUMNS, Row, broken, conditions, is_true, list_rules, of_each_class

Values = dict[str, Any]


def said(text: str, *rows: Values, nulls: Nulls = Nulls.EQUAL, called: str = "", **more: Any) -> str:
    names = [f"Id {number}" for number, _ in enumerate(rows, 1)]
    rule = parse(text)
    return sentence(rule, why(rule, rows, names, nulls, **more), names, called)


def of(**values: Any) -> Values:
    return values


@pytest.mark.parametrize(
    ("text", "rows", "expected"),
    [
        ("not(t.State = s.State and t.Salary > s.Salary)", [of(State="CA", Salary=9), of(State="CA", Salary=5)],
         "both have State 'CA'; Salary 9 of Id 1 is above Salary 5 of Id 2"),
        ("not(t.a = s.a and t.b = s.b and t.c != s.c)", [of(a=1, b=2, c="x"), of(a=1, b=2, c=3)],
         "both have a 1; both have b 2; c 'x' of Id 1 differs from c 3 of Id 2"),
        ("not(t.a < s.b and t.c >= s.c)", [of(a=1, b=0, c=7), of(a=9, b=2, c=7)],
         "a 1 of Id 1 is below b 2 of Id 2; c 7 of Id 1 is at least c 7 of Id 2"),
        ("not(t.Age < 0)", [of(Age=-1)], "Age -1 of Id 1 is below 0"),
        ("a -> b", [of(a=1, b=None), of(a=1, b="x")], "both have a 1; b null of Id 1 differs from b 'x' of Id 2"),
        ("() -> b", [of(b=1), of(b=2)], "b 1 of Id 1 differs from b 2 of Id 2"),
        ("key(a, b)", [of(a=1, b=2), of(a=1, b=2)], "both have a 1; both have b 2"),
        ("key()", [of(a=1), of(a=2)], "these are two rows"),
        ("{c}: [] -> a", [of(a=1, c=2), of(a=3, c=2)], "a split: both have c 2; a 1 of Id 1 differs from a 3 of Id 2"),
        ("{}: a ~ b", [of(a=1, b=2), of(a=3, b=1)],
         "a swap: a 1 of Id 1 is below a 3 of Id 2; b 2 of Id 1 is above b 1 of Id 2"),
        ("{a<=, c>} -> b<", [of(a=1, b=2, c=3), of(a=1, b=2, c=1)],
         "both have a 1; c 3 of Id 1 is above c 1 of Id 2; both have b 2"),
        ("{a<=} -> b<", [of(a=1, b=2), of(a=2, b=1)],
         "a 1 of Id 1 is below a 2 of Id 2; b 2 of Id 1 is above b 1 of Id 2"),
        ("[y, a] orders [b]", [of(y=1, a=2, b=3), of(y=1, a=2, b=2)],
         "a split: both have y 1; both have a 2; b 3 of Id 1 is above b 2 of Id 2"),
        ("[y, a desc] orders [y, b]", [of(y=1, a=9, b=3), of(y=1, a=2, b=2)],
         "a swap: both have y 1; a 9 of Id 1 is above a 2 of Id 2; b 3 of Id 1 is above b 2 of Id 2"),
        ("a -> b where t.c = 1", [of(a=1, b=2, c=1), of(a=1, b=3, c=1)],
         "c 1 of Id 1 equals 1; c 1 of Id 2 equals 1; both have a 1; b 2 of Id 1 differs from b 3 of Id 2"),
    ],
)  # fmt: skip
def test_rules_about_pairs_of_rows(text: str, rows: list[Values], expected: str) -> None:
    verb = "violates" if len(rows) == 1 else "violate"
    names = " and ".join(f"Id {number}" for number, _ in enumerate(rows, 1))
    assert said(text, *rows, called="fair") == f"{names} {verb} fair: {expected}"
    assert said(text, *rows) == f"{names} {verb} {text}: {expected}"


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("t.Age between 0 and 120", of(Age=150), "Age 150 is not between 0 and 120"),
        ("t.Net <= t.Gross", of(Net=7, Gross=5), "Net 7 is above Gross 5"),
        ("t.State in ('NY', 'CA')", of(State="TX"), "State 'TX' is not in ('NY', 'CA')"),
        ("t.Phone is not null", of(Phone=None), "Phone is null"),
        ("t.Phone is null", of(Phone="1"), "Phone '1' is not null"),
        ("t.Zip like '1%'", of(Zip="2"), "Zip '2' is not like '1%'"),
        ("t.Zip not matches '[0-9]+'", of(Zip="2"), "Zip '2' matches '[0-9]+'"),
        ("t.a > 5 and t.b in (1, 2)", of(a=7, b=7), "b 7 is not in (1, 2)"),
        ("t.a > 5 and t.b in (1, 2)", of(a=3, b=7), "a 3 is at most 5; b 7 is not in (1, 2)"),
        ("t.a > 5 or t.b like 'x%'", of(a=3, b="y"), "a 3 is at most 5, and b 'y' is not like 'x%'"),
        ("t.a > 5 and t.b like 'x%'", of(a=9, b="y"), "b 'y' is not like 'x%'"),
        ("t.Day >= DATE '2020-01-31' and t.a = 1", of(Day="2019-12-31", a=1), "Day '2019-12-31' is below DATE "
         "'2020-01-31'"),
        ("t.a < 5 where t.b = 1", of(a=7, b=1), "b 1 equals 1; a 7 is at least 5"),
        ("orders.cust in customers.id", of(cust=7), "cust 7 is no id of customers"),
        ("orders(a, b) in customers(c, d)", of(a=7, b=None), "a 7 and b null are no c and d of customers"),
        ("max(a) <= 5", of(a=7, b=1), "this row has a 7"),
    ],
)  # fmt: skip
def test_rules_about_one_row(text: str, row: Values, expected: str) -> None:
    assert said(text, row) == f"Id 1: {expected}"


def test_what_values_do_not_tell_is_not_said() -> None:
    """Of two patterns one is not met; which one, a table knows. Sums are written with what they are made of."""
    row = of(c="y", a=7, b=5)
    assert said("t.c like 'x%' and t.c matches 'z'", row) == "Id 1: this row has c 'y'"
    assert said("t.a - t.b > 5", row) == "Id 1: t.a - t.b (a 7, b 5) is at most 5"

    class Table:
        """Knows both."""

        def truth(self, condition: Condition) -> bool:
            return "like" not in condition.text

        def value(self, operand: Arithmetic) -> int:
            assert operand.text == "t.a - t.b"
            return 2

    assert said("t.c like 'x%' and t.c matches 'z'", row, evaluator=Table()) == "Id 1: c 'y' does not match 'z'"
    assert said("t.a - t.b > 5", row, evaluator=Table()) == "Id 1: t.a - t.b (2) is at most 5"


def test_the_order_of_rows_and_the_columns_at_fault() -> None:
    rule, rows = parse("{c}: a ~ b"), [of(a=3, b=1, c=0), of(a=1, b=2, c=0)]
    said = why(rule, rows, ["Id 1", "Id 2"])
    assert said == Why(
        "both have c 0; a 1 of Id 2 is below a 3 of Id 1; b 2 of Id 2 is above b 1 of Id 1", (1, 0), ("a", "b"), "swap"
    )
    assert said.closed.startswith("A swap: both have c 0; ")
    assert sentence(rule, said, ["Id 1", "Id 2"]).startswith("Id 2 and Id 1 violate {c}: a ~ b: a swap: ")
    alone = why(parse("t.a > 5 and t.b > 5"), [of(a=9, b=1)], ["Id 1"])
    assert (alone.marked, alone.closed) == (("b",), "b 1 is at most 5.")


def test_rows_whose_values_are_not_known_have_no_reason() -> None:
    rule = parse("a -> b")
    for rows in ([of(a=1, b=2), {}], [of(a=1, b=2)], [of(a=1), of(a=1)]):
        said = why(rule, rows, ["Id 1", "Id 2"])
        assert (said.reason, said.text, said.closed, said.marked) == ("", "", "", ("b",))


def test_hashed_values_and_null_meanings() -> None:
    rows = [of(a="x", b=1), of(a="x", b=2)]
    assert said("a -> b", *rows, show=lambda value: f"#{str(value)[-1]}").endswith(
        "both have a #x; b #1 of Id 1 differs from b #2 of Id 2"
    )
    gaps = [of(a=1, b=None), of(a=1, b=None)]
    assert said("a -> b", *gaps, nulls=Nulls.DISTINCT).endswith("b null of Id 1 differs from b null of Id 2")
    assert said("{a=} -> b<=", gaps[0], of(a=1, b=2), nulls=Nulls.DISTINCT).endswith("both have a 1; b of Id 1 is null")


def test_numbers_that_json_has_as_text() -> None:
    one, other = of(a="9.50", b="nan"), of(a="10.00", b="7.0")
    assert "a '9.50' of Id 1 is below a '10.00' of Id 2" in said("{}: a ~ b", one, other, numeric={"a", "b"})
    assert said("t.a < 10 and t.b < 10", of(a="9.50", b="10.5"), numeric={"a", "b"}) == "Id 1: b '10.5' is at least 10"


def test_a_witness_is_explained_by_key_or_number() -> None:
    schema = Schema("t", (Column("id", pa.int64()), Column("a", pa.int64())))
    rows = ({"id": 1, "a": 2}, {"id": 2, "a": 3})
    by_number = explained(parse("{id<} -> a>="), Witness((7, 3), rows), schema)
    assert (
        by_number.sentence
        == "row 7 and row 3: id 1 of row 7 is below id 2 of row 3; a 2 of row 7 is below a 3 of row 3"
    )
    keys = ({"id": 1}, {"id": 2})
    assert explained(parse("() -> a"), Witness((7, 3), rows, keys), schema).sentence.startswith("id 1 and id 2: a 2 of")


# ---- laws -----------------------------------------------------------------------------------------------------------

values = st.one_of(st.none(), st.integers(0, 2))
triples = st.tuples(values, values, values)
many = settings(max_examples=300, deadline=None)


def plain(row: Row) -> Values:
    return dict(zip(COLUMNS, row, strict=True))


@many
@given(condition=conditions(COLUMNS), row=triples)
def test_what_is_sure_is_so(condition: Condition, row: Row) -> None:
    truth = PlainRows({"t": plain(row)}).truth(condition)
    assert truth is None or truth == is_true(condition, row, row)


@of_each_class
@many
@given(data=st.data(), rows=st.tuples(triples, triples), nulls=st.sampled_from([Nulls.EQUAL, Nulls.DISTINCT]))
def test_rows_are_spoken_of_as_they_break_the_rule(
    rules: st.SearchStrategy[Rule], data: st.DataObject, rows: tuple[Row, Row], nulls: Nulls
) -> None:
    """The breach that is said is met by the rows in the order in which they are spoken of."""
    rule = data.draw(rules)
    found = broken(rule, dict(enumerate(rows)), nulls) if rule.kind != "table" else set()
    for pair in found:
        said = why(rule, [plain(rows[number]) for number in pair], [f"row {number}" for number in pair], nulls)
        t, s = (rows[pair[said.order[place]]] for place in (0, -1))
        met = [b for b in rule.breaches(nulls) if all(is_true(part, t, s) for part in b.predicates)]
        assert said.reason
        assert any(set(said.marked) <= set(breach.faults) for breach in met)
        assert all(f"{column} " in said.reason for column in said.marked)


@many
@given(rule=list_rules(COLUMNS), t=triples, s=triples)
def test_splits_and_swaps_are_those_of_the_definition(rule: Any, t: Row, s: Row) -> None:
    lists = [[(COLUMNS.index(each.name), each.descending) for each in side] for side in (rule.by, rule.then)]
    for (one, other), kind in list_order.violations({0: t, 1: s}, lists[0], lists[1]).items():
        said = why(rule, [plain((t, s)[one]), plain((t, s)[other])], ["t", "s"])
        assert (said.kind, said.order) == (kind, (0, 1))
