"""Rules about rows and tables on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast, refused, write

HEADER = "id,age,state,phone,gross,tax,net"
ROWS = ["1,30,NY,555-1234,10,1,9", "2,,CA,,5,1,4", "3,50,CA,555-0000,7,2,5"]
RULES = """
rules:
  - {name: age, rule: "t.age between 0 and 120", note: people are people}
  - {name: state, rule: "t.state in ('NY', 'CA')", severity: warn}
  - {name: phone, rule: "t.phone matches '[0-9]{3}-[0-9]{4}'"}
  - {name: net, rule: "t.gross - t.tax = t.net"}
  - {rule: "t.phone is not null or t.age is null"}
  - {name: size, rule: "rows >= 3"}
  - {name: nulls, rule: "share(null phone) <= 0.4"}
  - {rule: "max(age) < 100"}
"""
WORSE = ["4,200,ZZ,5,8,1,6", "5,3,NY,,8,1,7", "6,3,NY,,8,1,7"]


@pytest.fixture
def state(tmp_path: Path, holdfast: Holdfast) -> Path:
    """A state in which one batch broke rules."""
    people = write(tmp_path / "people.csv", [HEADER, *ROWS])
    rules = write(tmp_path / "rules.yaml", RULES.splitlines())
    path = tmp_path / "state"
    assert holdfast("check", people, "--rules", rules).code == 0
    assert holdfast("init", path, people, "--rules", rules, "--key", "id").code == 0
    return path


def test_a_batch_breaks_rules_and_another_mends_them(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    worse = write(tmp_path / "worse.csv", [HEADER, *WORSE])
    result = holdfast("apply", state, "--insert", worse, "--format", "json")
    assert result.code == 1
    lines = result.of_kind("row", "table")
    assert {line["name"]: (line["new"], line["violations"]) for line in lines} == {
        "age": (1, 1),
        "state": (1, 1),
        "phone": (1, 1),
        "net": (1, 1),
        "row1": (2, 2),
        "nulls": (1, 1),
        "table1": (1, 1),
    }
    assert {line["name"]: line["value"] for line in result.of_kind("table")} == {"nulls": 0.5, "table1": 200}
    result = holdfast("apply", state, "--delete", worse, "--format", "json")
    assert result.code == 0
    assert {line["name"]: (line["gone"], line["violations"]) for line in result.of_kind("row", "table")} == {
        line["name"]: (line["new"], 0) for line in lines
    }


def test_rules_about_batches_are_not_checked_without_one(holdfast: Holdfast, tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", ["id", "1", "2"])
    checked = holdfast("check", table, "--rule", "rows_in_batch >= 20", "--rule", "rows >= 1")
    assert checked.code == 0
    assert "rows_in_batch >= 20 is about batches; there is none here, so it passes unchecked" in checked.err
    assert "rows >= 1 is" not in checked.err


def test_a_rule_about_a_table_says_what_its_quantity_is(holdfast: Holdfast, tmp_path: Path) -> None:
    """Once, and times without a fraction of zeros."""
    first = write(tmp_path / "t.csv", ["id,at", "1,2024-05-01 10:00:00"])
    rules = write(tmp_path / "rules.yaml", ['rules: [{rule: "newest(at) >= now - 2 days"}]'])
    assert holdfast("init", tmp_path / "state", first, "--rules", rules).code == 0
    ran = holdfast(
        "apply", tmp_path / "state", "--insert", write(tmp_path / "n.csv", ["id,at", "2,2024-05-02 10:00:00"])
    )
    assert ran.out.splitlines()[1:3] == [
        "Failed: newest(at) >= now - 2 days is violated (n.csv)",
        "  newest(at) is 2024-05-02 10:00:00",
    ]
    explained = holdfast("explain", tmp_path / "state", "table1").out
    assert "It does not hold: newest(at) is 2024-05-02 10:00:00." in explained


def test_why(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    assert holdfast("apply", state, "--insert", write(tmp_path / "worse.csv", [HEADER, *WORSE])).code == 1
    for rule, sentence in {
        "age": "Id 4: age 200 is not between 0 and 120.",
        "state": "Id 4: state 'ZZ' is not in ('NY', 'CA').",
        "phone": "Id 4: phone '5' does not match '[0-9]{3}-[0-9]{4}'.",
        "net": "Id 4: t.gross - t.tax (7) differs from net 6.",
        "row1": "Id 5: phone is null, and age 3 is not null.",
        "nulls": "It does not hold: share(null phone) is 0.5.",
        "size": "It holds: rows is 6.",
    }.items():
        assert sentence.replace("Id", "id") in holdfast("explain", state, rule).out
    assert "id 5: phone is null" in holdfast("explain", state, "row1", "--row", "id=5").out
    assert "violations" not in holdfast("explain", state, "age").out.splitlines()[1]
    more = [f"{each.replace('4,', '7,', 1)}" for each in WORSE if each.startswith("4,")]
    assert holdfast("apply", state, "--insert", write(tmp_path / "more.csv", [HEADER, *more])).code in (0, 1)
    assert "2 violations, for example id 4: age 200 is not between" in holdfast("explain", state, "age").out
    refused(holdfast("explain", state, "age", "--row", "id=1"), "id 1 doesn't violate rule age")
    refused(
        holdfast("explain", state, "nulls", "--row", "id=1"), "rows don't explain violations of rules about a table"
    )
    shown = holdfast("violations", state, "nulls", "--format", "json").objects
    assert [line["rows"] for line in shown if line["kind"] == "violation"] == [[1], [4], [5]]
    listed = holdfast("violations", state, "age", "--rows").out
    assert "t: id 4" in listed


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("t.age between 0 and", "or a constant, after and"),
        ("t.aged > 5", "did you mean 'age'?"),
        ("t.age like '5%'", "like is for columns of text"),
        ("t.phone matches '(5'", "has a bad pattern (missing ))"),
        ("t.state < 'NY'", "needs an order of text"),
        ("share(null phone) < 5", ": a share is from 0 to 1"),
        ("t.gross * t.gross * t.gross * t.gross > 0", "divide by 1 to calculate in floating point"),
    ],
)
def test_a_rule_without_sense_is_refused_with_a_sentence(
    holdfast: Holdfast, tmp_path: Path, rule: str, sentence: str
) -> None:
    people = write(tmp_path / "people.csv", [HEADER, *ROWS])
    refused(holdfast("check", people, "--rule", rule), sentence)


def test_orphans_are_listed_and_kept(holdfast: Holdfast, tmp_path: Path) -> None:
    orders = write(tmp_path / "orders.csv", ["id,cust", "1,10", "2,20", "3,"])
    customers = write(tmp_path / "customers.csv", ["id", "10"])
    rules = write(tmp_path / "rules.yaml", ["rules:", "  - {name: fk, rule: orders.cust IN customers.id}"])
    state = tmp_path / "state"
    assert holdfast("init", state, orders, customers, "--rules", rules).code == 0
    listed = [line for line in holdfast("violations", state, "fk", "--format", "json").objects if "rows" in line]
    assert [line["t"]["id"] for line in listed] == [2]
    come = write(tmp_path / "come.csv", ["id", "20"])
    assert holdfast("apply", state, "--table", "customers", "--insert", come).code == 0
    assert not [line for line in holdfast("violations", state, "fk", "--format", "json").objects if "rows" in line]
    assert holdfast("apply", state, "--table", "customers", "--delete", customers).code == 1
    listed = [line for line in holdfast("violations", state, "fk", "--format", "json").objects if "rows" in line]
    assert [line["t"]["id"] for line in listed] == [1]
