"""What people see: which values meet, witnesses, explanations, proposals and pictures."""

from __future__ import annotations

from decimal import Decimal
from difflib import SequenceMatcher
from typing import TYPE_CHECKING
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.inclusion import InclusionSettings, discover, picture, rank
from holdfast.engines.registry import make_engine
from holdfast.errors import BadInput
from holdfast.table.types import Column
from tests.engines.inclusion.several import Row, Several, Watched, filled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Schemas = dict[str, tuple[Column, ...]]
SHOP: Schemas = {
    "customers": (Column("id", pa.int64()), Column("name", pa.string()), Column("none", pa.string())),
    "orders": (Column("no", pa.int64()), Column("cust", pa.decimal128(9, 1)), Column("size", pa.int64())),
}


def shop() -> Several:
    customers = [(i, f"customer {i}", None) for i in range(1, 11)]
    orders = [(100 + i, Decimal(1 + i % 9), 1 + i % 3) for i in range(40)]
    return filled({"customers": customers, "orders": orders}, SHOP)


def test_numbers_meet_across_types_and_texts_do_not() -> None:
    types = {"i": pa.int64(), "d": pa.decimal128(9, 2), "f": pa.float64(), "s": pa.string(), "b": pa.bool_()}
    schema = {"t": tuple(Column(name, kept) for name, kept in types.items())}
    rows = [(1, Decimal("1.00"), 1.0, "1", True)]
    typed = set(Watched(filled({"t": rows}, schema)).result())
    assert typed == {f"t.{a} in t.{b}" for a in "idf" for b in "idf" if a != b}
    text = set(Watched(filled({"t": rows}, schema), InclusionSettings(compare="text")).result())
    assert text == {"t.i in t.s", "t.s in t.i"}, "1, 1.00, 1.0 and true are four texts"


@pytest.mark.parametrize(("text", "equal"), [("0.5", True), ("0.1", False)])
def test_floats_and_decimals_compare_by_exact_value_in_all_classes_of_rules(text: str, equal: bool) -> None:
    """No float is exactly 0.1. Were it the nearest one that counts, two decimals could equal one float."""
    numbers = pa.array([Decimal(text)] * 2, pa.decimal128(3, 2))
    tables = {"t": pa.table({"n": [1, 2], "f": [float(text)] * 2, "d": numbers})}
    pairs = "not(t.f = s.d and t.n != s.n)"
    checked = hf.check(tables, ["t.f in t.d", "t.f = t.d", pairs]).to_json()
    broken = {line["text"]: line["violations"] > 0 for line in checked}
    assert broken == {"t.f in t.d": not equal, "t.f = t.d": not equal, pairs: equal}
    assert ("t.f in t.d" in {rule.text for rule in hf.discover(tables, rules=["ind"])}) is equal
    schema: Schemas = {"t": (Column("f", pa.float64()), Column("d", pa.decimal128(3, 2)))}
    explained = Watched(filled({"t": [(float(text), Decimal(text))]}, schema)).explain("t.f in t.d")
    assert ("Read both as decimals" in " ".join(explained.lines())) is not equal


def test_empty_columns_are_in_everything_and_marked() -> None:
    found = Watched(shop()).result()
    empty = {text for text, ind in found.items() if ind.empty}
    assert empty == {
        f"customers.none in {x}" for x in ("customers.id", "customers.name", "orders.no", "orders.cust", "orders.size")
    }
    assert found["customers.none in orders.no"].to_json()["empty"] is True


def test_a_lost_foreign_key_tells_its_orphans() -> None:
    watched = Watched(shop())
    assert "orders.cust in customers.id" in watched.result()
    (score,) = (each.score for each in rank.proposals(watched.state) if each.text == "orders.cust in customers.id")
    diff = watched.apply(
        "orders", [(200, Decimal(77), 1), (201, Decimal(77), 1), (202, Decimal(78), 1), (203, None, 1)]
    )
    assert diff.worth is not None
    worth = diff.worth["orders.cust in customers.id"]
    assert worth.support == 43, "a row with a null could not break it"
    assert worth.score == pytest.approx(score, abs=0.05)
    witness = diff.witnesses["orders.cust in customers.id"].to_json()
    assert witness["missing"] == [{"value": "77.0", "rows": 2}, {"value": "78.0", "rows": 1}]
    assert (witness["missing_values"], witness["missing_rows"]) == (2, 3)
    assert witness["rows"] == [41, 42, 40]
    assert witness["values"] == [{"cust": "77.0"}, {"cust": "78.0"}, {"cust": "77.0"}]


def test_a_death_on_the_right_leaves_orphans_on_the_left() -> None:
    watched = Watched(shop())
    diff = watched.apply("customers", (), [2])
    witness = diff.witnesses["orders.cust in customers.id"].to_json()
    assert witness["missing"] == [{"value": "3.0", "rows": 5}]
    assert (len(witness["rows"]), witness["missing_rows"]) == (3, 5)


def test_near_inclusions_are_found_with_an_error() -> None:
    watched = Watched(shop(), InclusionSettings(error=0.1))
    watched.apply("orders", [(200, Decimal(77), 1)])
    found = watched.result()["orders.cust in customers.id"]
    assert (found.missing_values, found.missing_rows, found.row_coverage) == (1, 1, 40 / 41)
    assert found.value_coverage == 9 / 10


def test_the_error_is_a_share_of_distinct_values() -> None:
    """One value of ten is missing, in 91 of 100 rows: a tenth of the values, however many rows carry it."""
    schema: Schemas = {"a": (Column("x", pa.int64()),), "b": (Column("y", pa.int64()),)}
    rows: dict[str, list[Row]] = {
        "a": [(i,) for i in range(9)] + [(9,)] * 91,
        "b": [(i,) for i in range(100) if i != 9],
    }
    assert "a.x in b.y" in Watched(filled(rows, schema), InclusionSettings(error=0.1)).result()
    assert "a.x in b.y" not in Watched(filled(rows, schema), InclusionSettings(error=0.09)).result()
    rare: dict[str, list[Row]] = {"a": [(0,)] * 99 + [(9,)], "b": rows["b"]}
    assert "a.x in b.y" not in Watched(filled(rare, schema), InclusionSettings(error=0.1)).result(), (
        "half of the values"
    )
    tenths: dict[str, list[Row]] = {"a": [(i,) for i in range(100)], "b": [(i,) for i in range(71)]}
    found = Watched(filled(tenths, schema), InclusionSettings(error=0.29)).result()
    assert "a.x in b.y" in found, "0.29 is the decimal: 29 of 100"


def test_a_whole_is_listed_where_all_its_parts_hold() -> None:
    """Rows with a null don't count, so q(q0, q1) in p(p0, p2) holds; its part q1 in p2 does not."""
    numbers = pa.int64()
    schema: Schemas = {
        "p": (Column("p0", pa.string()), Column("p2", numbers)),
        "q": (Column("q0", pa.string()), Column("q1", numbers)),
    }
    rows: dict[str, list[Row]] = {"p": [("a", 0)], "q": [(None, None), ("a", 0), (None, 1)]}
    watched = Watched(filled(rows, schema), InclusionSettings(max_arity=2))
    assert watched.explain("q(q0, q1) in p(p0, p2)").holds
    assert "q(q0, q1) in p(p0, p2)" not in watched.result()
    watched.apply("q", (), [2])
    assert "q(q0, q1) in p(p0, p2)" in watched.result()


def test_explain() -> None:
    watched = Watched(shop())
    assert str(watched.explain("orders.cust in customers.id")) == "orders.cust in customers.id holds."
    watched.apply("orders", [(200, Decimal(77), 1)])
    explained = watched.explain("orders.cust in customers.id")
    assert not explained.holds
    assert explained.to_json()["clusters"] == [{"columns": ["orders.cust"], "values": 1}]
    assert "1 value in 1 row; included are 90.00% of the values and 97.56% of the rows" in str(explained)
    other = watched.explain("customers.name in customers.id")
    assert not other.comparable
    assert "types don't compare" in str(other)
    assert "no value at all" in str(watched.explain("customers.none in orders.no"))
    several = watched.explain("orders(cust, size) in customers(id, id)").to_json()
    assert (several["missing_rows"], several["missing_values"]) == (26, 7)
    for text in ("orders.nothing in customers.id", "nothing.x in customers.id"):
        with pytest.raises(BadInput, match="nothing"):
            watched.explain(text)


def test_proposals_and_their_picture() -> None:
    watched = Watched(shop())
    best = rank.proposals(watched.state)[0]
    assert best.text == "orders.cust in customers.id"
    reasons = dict(best.reasons)
    assert (reasons["key"], reasons["names"], reasons["covered"]) == (1.0, 0.9, 0.9)
    worthy = rank.worthy(rank.proposals(watched.state))
    assert [each.text for each in worthy] == ["orders.cust in customers.id"]
    assert next(iter(watched.result())) == "orders.cust in customers.id", "the result begins with it"
    assert picture.graphviz(SHOP, worthy).splitlines()[3:6] == [
        '  t0 [label="customers"];', '  t1 [label="orders"];', '  t1 -> t0 [label="cust → id"];',
    ]  # fmt: skip
    assert picture.mermaid(SHOP, worthy).splitlines() == [
        "flowchart LR", "  %% foreign_keys", '  t0["customers"]', '  t1["orders"]', '  t1 -->|"cust → id"| t0',
    ]  # fmt: skip
    assert "orders.cust in customers.id: 100 %" in hf.svg_of(SHOP, worthy)


def test_each_dependency_is_rated_once() -> None:
    """On a table of 500 columns there are a hundred thousand."""
    watched, real = Watched(shop()), rank._rated
    with patch.object(rank, "_rated", side_effect=real) as rated:
        found = make_engine("ind").ranked(watched.state)
    assert rated.call_count == len(found)
    best = {each.text: each for each in rank.proposals(watched.state)}
    assert found == {text: best.get(text, ind) for text, ind in watched.result().items()}


@given(*[st.text("abcde", max_size=9)] * 2)
def test_how_alike_names_are(one: str, other: str) -> None:
    """What has few letters in common is not compared any closer."""
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    begins = min(len(one), len(other)) >= 3 and (one.startswith(other) or other.startswith(one))
    expected = 1.0 if one == other else 0.9 if begins else ratio * 0.8 if ratio >= 0.6 else 0.0
    assert rank._alike([one], [other]) == (expected if one and other else 0.0)


def test_settings() -> None:
    assert make_engine("ind", {"error": 0.5}).declared.name == "ind"
    with pytest.raises(BadInput, match="choose from: typed, text"):
        make_engine("ind", {"compare": "loosely"})
    with pytest.raises(BadInput, match="is a share"):
        make_engine("ind", {"error": 1.0})
    with pytest.raises(BadInput, match="at least one column"):
        make_engine("ind", {"max_arity": 0})


@pytest.mark.spark
@pytest.mark.parametrize(("compare", "error"), [("typed", 0.0), ("text", 0.0), ("typed", 0.4)])
def test_threads_and_spark_agree(spark: SparkSession, compare: str, error: float) -> None:
    from holdfast.spark.runner import SparkRunner

    options = InclusionSettings(error, compare, 2)  # type: ignore[arg-type]
    several = shop()
    several.change("orders", [(500, Decimal(2), 2)], [0, 3])
    with patch.object(discover, "_VALUES_AT_ONCE", 20):
        there = Watched(several, options, SparkRunner(spark))
    here = Watched(several, options)
    assert there.clusters() == here.clusters()
    assert there.result() == here.result()
    there.apply("customers", [(77, "x", "y")], [1])
    assert there.result() == here.rediscovered()
