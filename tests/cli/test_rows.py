"""Rows as people know them: named by the declared key everywhere, and `holdfast rows`."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.table.row_names import names_of
from holdfast.text.row_names import conditions, shown
from tests.cli.running import Holdfast, Ran, refused, write

HEADER = "id,day,zip,city"
ROWS = ["901,2024-01-01,1,A", "902,2024-01-02,1,A", "903,2024-01-03,2,B"]
WORSE = "904,2024-01-04,1,C"
RULES = """
rules:
  - {name: city, rule: "not(t.zip = s.zip and t.city != s.city)"}
  - {name: low, rule: "not(t.zip < 0)"}
  - {name: zip, rule: "zip -> city"}
"""
A_NUMBER = re.compile(r"\brow \d|\brows \d|\b[ts]: \d|_row")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.yaml"
    path.write_text(RULES, encoding="utf-8")
    return path


def watched(holdfast: Holdfast, folder: Path, rules: Path, *more: str) -> Path:
    """A state of that table, just begun."""
    table = write(folder / "places.csv", [HEADER, *ROWS])
    state = folder / "watched"
    assert holdfast("init", state, table, "--rules", rules, "--watch", "ucc,fd,ind", *more).code == 0
    return state


def worse(holdfast: Holdfast, state: Path, *more: str) -> Ran:
    """The batch whose row breaks all."""
    return holdfast("apply", state, "--insert", write(state.parent / "worse.csv", [HEADER, WORSE]), *more)


@pytest.mark.parametrize(
    ("key", "names"),
    [("id", ["id 901", "id 904"]), ("id,day", ["id 901, day 2024-01-01", "id 904, day 2024-01-04"])],
)
def test_with_a_key_text_names_no_number(
    holdfast: Holdfast, tmp_path: Path, rules: Path, key: str, names: list[str]
) -> None:
    state = watched(holdfast, tmp_path, rules, "--key", key)
    result = worse(holdfast, state)
    assert result.code == 1
    assert f"  zip -> city   because of {names[0]} and {names[1]}\n" in result.out
    explained = holdfast("explain", state, "city")
    assert f"{names[0]} and {names[1]} violate city: both have zip 1; city 'A' of {names[0]} differs" in explained.out
    shown = holdfast("violations", state, "city")
    with_rows = holdfast("violations", state, "city", "--rows")
    assert f"t: {names[0]}" in with_rows.out
    dependency = holdfast("explain", state, "zip")
    assert f"; look at {names[1]}\n" in dependency.out
    broke = f"It broke with batch 1 because of {names[0]} (zip 1, city A) and {names[1]} (zip 1, city C).\n"
    assert dependency.out.endswith(broke)
    for ran in (result, explained, shown, with_rows, dependency):
        assert not A_NUMBER.search(ran.out), ran.out


def test_without_a_key_text_shows_values(holdfast: Holdfast, tmp_path: Path, rules: Path) -> None:
    state = watched(holdfast, tmp_path, rules)
    result = worse(holdfast, state)
    first, last = "row 0 (zip 1, city A, id 901, day 2024-01-01)", "row 3 (zip 1, city C, id 904, day 2024-01-04)"
    assert f"  zip -> city   because of {first} and {last}\n" in result.out
    explained = holdfast("explain", state, "city").out
    assert (
        "row 0 and row 3 violate city: both have zip 1; city 'A' of row 0 differs from city 'C' of row 3" in explained
    )
    assert last in explained, "of the rows to fix first"
    assert "t: row 0" in holdfast("violations", state, "city", "--rows").out
    assert "t_row" in holdfast("violations", state, "city").out


def violations_of(holdfast: Holdfast, state: Path, rule: str) -> list[dict[str, Any]]:
    lines = holdfast("violations", state, rule, "--format", "json").objects
    return [line for line in lines if line["kind"] == "violation"]


def test_json_shows_numbers_and_keys(holdfast: Holdfast, tmp_path: Path, rules: Path) -> None:
    state = watched(holdfast, tmp_path, rules, "--key", "id,day")
    result = worse(holdfast, state, "--format", "json")
    keys = [{"id": 901, "day": "2024-01-01"}, {"id": 904, "day": "2024-01-04"}]
    (lost,) = (line for line in result.objects if line.get("event") == "lost" and line["text"] == "zip -> city")
    assert (lost["witness"]["rows"], lost["witness"]["keys"]) == ([0, 3], keys)
    assert [row["city"] for row in lost["witness"]["values"]] == ["A", "C"]
    listed = violations_of(holdfast, state, "city")
    assert (listed[0]["rows"], listed[0]["keys"]) == ([0, 3], keys)
    named = violations_of(holdfast, state, "zip")
    assert (named[0]["rows"], named[0]["keys"]) == ([3, 0], keys[::-1])


def test_json_without_a_key_shows_numbers_and_values(holdfast: Holdfast, tmp_path: Path, rules: Path) -> None:
    state = watched(holdfast, tmp_path, rules)
    result = worse(holdfast, state, "--format", "json")
    (lost,) = (line for line in result.objects if line.get("event") == "lost" and line["text"] == "zip -> city")
    assert set(lost["witness"]) == {"rows", "values"}
    assert "keys" not in violations_of(holdfast, state, "city")[0]


def test_orphans_are_named_by_the_key_of_their_table(holdfast: Holdfast, tmp_path: Path) -> None:
    customers = write(tmp_path / "customers.csv", ["id", "1", "2"])
    orders = write(tmp_path / "orders.csv", ["no,cust", "71,1", "72,2", "73,1"])
    state, keys = tmp_path / "shop", ("--key", "orders:no", "--key", "customers:id")
    assert holdfast("init", state, orders, customers, "--watch", "ind", *keys).code == 0
    gone = write(tmp_path / "gone.csv", ["id", "1"])
    result = holdfast("apply", state, "--delete", gone, "--table", "customers", "--format", "json")
    (lost,) = (line for line in result.objects if line.get("event") == "lost")
    assert (lost["witness"]["rows"], lost["witness"]["keys"]) == ([2, 0], [{"no": 73}, {"no": 71}])
    assert "Rows, for example: no 73 and no 71\n" in holdfast("explain", state, "orders.cust in customers.id").out
    assert holdfast("apply", state, "--insert", gone, "--table", "customers").code == 0
    result = holdfast("apply", state, "--delete", gone, "--table", "customers")
    assert re.search(r"  orders.cust in customers.id \(0.\d\d\)   because of no 73 and no 71\n", result.out)


def test_a_pair_is_explained_by_its_keys(holdfast: Holdfast, tmp_path: Path, rules: Path) -> None:
    state = watched(holdfast, tmp_path, rules, "--key", "id,day")
    assert worse(holdfast, state).code == 1
    pair = ("--row", "id=904, day=2024-01-04", "--row", "id=902")
    assert "id 902, day 2024-01-02 and id 904, day 2024-01-04 violate" in holdfast("explain", state, "city", *pair).out
    refused(holdfast("explain", state, "city", "--row", "zip=1"), "3 rows have that", "by its key or its number")
    refused(holdfast("explain", state, "city", "--row", "id=7"), "no row has id=7")
    refused(holdfast("explain", state, "city", "--row", "7th"), "write a column and its value")
    refused(holdfast("explain", state, "low", "--row", "id=902"), "id 902, day 2024-01-02 doesn't violate rule low")


def test_rows_by_number_and_by_value(holdfast: Holdfast, tmp_path: Path, rules: Path) -> None:
    state = watched(holdfast, tmp_path, rules, "--key", "id")
    feed = [f"{HEADER},op", "902,2024-01-02,1,Z,update", "903,,,,delete", f"{WORSE},insert"]
    assert holdfast("apply", state, "--changes", write(tmp_path / "feed.csv", feed)).code == 1
    lines = holdfast("rows", state, 0, 1, 3, "--format", "json").objects
    first = {"kind": "row", "table": "places", "row": 0, "key": {"id": 901}, "alive": True, "inserted_by": 0}
    values = {"id": 901, "day": "2024-01-01", "zip": 1, "city": "A"}
    assert lines[0] == {**first, "deleted_by": None, "kept_in": "files", "values": values}
    assert [(row["alive"], row["inserted_by"], row["deleted_by"]) for row in lines[1:]] == [
        (False, 0, 1),
        (True, 1, None),
    ]
    assert [row["values"]["city"] for row in lines[1:]] == ["A", "Z"], (
        "an updated row is one that died and one that came"
    )
    again = holdfast("rows", state, "--where", "id=902", "--where", "day=2024-01-04", "--format", "json").objects
    assert [row["row"] for row in again] == [1, 3, 4]
    assert [row["row"] for row in holdfast("rows", state, "--where", "zip=1, city=A", "--format", "json").objects] == [
        0,
        1,
    ]
    shown = holdfast("rows", state, 0, 2)
    assert "row 0 of places (id 901): there from the start\n" in shown.out
    assert "row 2 of places (id 903): there from the start, deleted by batch 1; its values are still in" in shown.out
    assert re.search(r"│ 2 +│ 903 │ 2024-01-03 │ 2 +│ B +│", shown.out)


def test_wide_rows_are_shown_one_below_the_other(
    holdfast: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"column_{i}" for i in range(30)]
    table = write(tmp_path / "wide.csv", [",".join(names), ",".join(f"value_{i}" for i in range(30))])
    assert holdfast("init", tmp_path / "wide", table).code == 0
    monkeypatch.setattr("holdfast.report.terminal._ENDLESS", 80)  # else nothing is cut, as nobody looks at a pipe
    output = holdfast("rows", tmp_path / "wide", 0).out
    assert re.search(r"│ column_29 │ value_29 │", output)


def test_rows_that_are_not_there(holdfast: Holdfast, state: Path) -> None:
    refused(holdfast("rows", state, 0, 99), "table people has no row 99", "numbered from 0 to 3")
    refused(holdfast("rows", state), "give the numbers of rows")
    refused(holdfast("rows", state, "--where", "id=77"), "no row has id=77")
    refused(holdfast("rows", state, "--where", "id=x"), "column 'id': 'x' is no value of type")
    refused(holdfast("rows", state, "--where", "nope=x"), "no column 'nope'", "id, name, score, day")
    refused(holdfast("rows", state, 0, "--table", "nope"), "no table 'nope'")
    refused(holdfast("rows", state, 0, "--limit", 0), "'--limit'", "equal to 1")
    assert holdfast("rows", state, "--where", "score=null", "--format", "json").objects[0]["row"] == 1


def test_a_limit(holdfast: Holdfast, state: Path) -> None:
    result = holdfast("rows", state, 0, 1, 2, "--limit", 1)
    assert "… and 2 more; see --limit" in result.out
    assert len(holdfast("rows", state, 0, 1, 2, "--limit", 2, "--format", "json").objects) == 2


PLACES = pa.table({"id": ["x 1", "null", ""], "zip": [1, 1, None], "city": ["A", "A", "B"]})


def one(*row: object) -> pa.Table:
    """A row for that table."""
    return pa.table({name: pa.array([v], PLACES[name].type) for name, v in zip(PLACES.column_names, row, strict=True)})


@pytest.mark.parametrize("key", [["id"], []])
def test_rows_that_died_are_kept_by_files_then_by_events(tmp_path: Path, key: list[str]) -> None:
    with hf.Monitor.create(tmp_path / "s", {"t": PLACES}, watch=["fd", "ucc"], key=key) as watch:
        broken = watch.apply(inserts=one("new", 1, "C"))
        (rule,) = (rule for rule in broken.lost if rule.text == "zip -> city")
        named = "id 'x 1' and id new" if key else "row 0 (id 'x 1', zip 1, city A) and row 3 (id new, zip 1, city C)"
        assert str(broken.witness(rule)) == named
        watch.apply(deletes=one("new", 1, "C"))
        watch.apply(inserts=one("other", 5, "C"))
        watch.apply(deletes=one("other", 5, "C"))
        (row,) = watch.rows([3])
        assert (row.alive, row.inserted_by, row.deleted_by) == (False, 1, 2)
        assert row.name == ("id new" if key else "row 3")
        for number in range(8):
            watch.apply(inserts=one(f"more {number}", 10 + number, f"D{number}"))
        died = names_of(watch.tables["t"], np.array([3, 0]))
        assert died == (["id new", "id 'x 1'"] if key else named.split(" and ")[::-1])
        watch.checkpoint()
        assert names_of(watch.tables["t"], np.array([3, 99])) == ["row 3", "row 99"]
        kept, lost, alive = watch.rows([3, 4, 12])
        assert kept.values == {"id": "new", "zip": 1, "city": "C"}
        assert (kept.alive, kept.inserted_by, kept.deleted_by) == (False, 1, None)
        assert kept.to_json()["event"] == {"batch": 1, "rule": next(iter(broken.lost)).text}
        assert "its values are from batch" in str(kept)
        assert (lost.values, lost.alive, lost.inserted_by) == (None, False, 3)
        assert str(lost) == "row 4 of t: inserted by batch 3, deleted; its values are no longer stored"
        assert (alive.alive, alive.inserted_by) == (True, 12)
        watch.apply(deletes=one("more 7", 17, "D7"))
        assert watch.rows([12])[0].deleted_by == 13
    with hf.Monitor.open(tmp_path / "s", write=False) as look:
        assert look.rows([3])[0] == kept
        assert [row.number for row in look.rows(where={"zip": 1, "city": "A"})] == [0, 1]
        assert [row.number for row in look.rows(where={"id": "null"})] == [1]
        assert [row.number for row in look.rows(where={"zip": None})] == [2]
        assert look.rows(where={"zip": 99}) == []
        assert len(look.rows(where={})) == 11, "all that the files hold"


def test_a_violation_that_is_gone_can_be_looked_at(tmp_path: Path) -> None:
    rule = "not(t.zip = s.zip and t.city != s.city)"
    with hf.Monitor.create(tmp_path / "s", {"t": PLACES}, rules=[rule], key=["id"]) as watch:
        watch.apply(inserts=one("new", 1, "C"))
        outcome = watch.apply(deletes=one("new", 1, "C"))
        resolved = outcome.violations[rule].resolved
        assert resolved is not None
        assert [row.name for row in watch.rows(resolved[0].tolist())] == ["id 'x 1'", "id new"]


def test_orphans_that_died_are_kept_by_their_own_table(tmp_path: Path) -> None:
    tables = {"orders": pa.table({"no": [7], "cust": [1]}), "customers": pa.table({"id": [1]})}
    with hf.Monitor.create(tmp_path / "s", tables, watch=["ind"], key={"orders": ["no"]}) as watch:
        orphan = pa.table({"no": [8], "cust": [99]})
        assert watch.apply(inserts=orphan, table="orders").lost
        watch.apply(deletes=orphan, table="orders")
        for number in range(9):
            watch.apply(inserts=pa.table({"no": [100 + number], "cust": [1]}), table="orders")
            watch.apply(inserts=pa.table({"id": [100 + number]}), table="customers")
        watch.checkpoint()
        (kept,) = watch.rows([1], table="orders")
        assert (kept.values, kept.name, kept.alive) == ({"no": 8, "cust": 99}, "no 8", False)
        assert watch.rows([1], table="customers")[0].alive
        with pytest.raises(hf.BadInput, match="several tables"):
            watch.rows([1])


ODD = pa.table(
    {
        "real": [1.5, float("nan")],
        "decimal": [Decimal("1.50"), Decimal("-2.00")],
        "flag": [True, False],
        "day": [dt.date(2024, 1, 1), dt.date(1, 1, 1)],
        "at": [dt.datetime(2024, 1, 1, 12, 0, 0, 5), dt.datetime(1969, 1, 2)],
        "moment": pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * 2),
        "clock": [dt.time(1, 2, 3, 4), dt.time(0)],
        "span": [dt.timedelta(seconds=3), dt.timedelta(days=-1, microseconds=5)],
        "text, too": ['a\'b, "c"=\n', ""],
        "word": ["null", None],
    }
)


def test_rows_are_found_by_values_of_every_type_as_they_are_shown(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", {"t": ODD}) as watch:
        for number, row in enumerate(watch.rows([0, 1])):
            assert row.values is not None
            for name, value in row.values.items():
                where = conditions(f"{shown(name, 99)}={shown(value, 99)}")
                assert number in [each.number for each in watch.rows(where=where)], (name, value)
                where = {name: ODD[name][number].as_py()}
                assert number in [each.number for each in watch.rows(where=where)], (name, value)
        for odd in (object(), [1], 2**70, "tomorrow"):
            with pytest.raises(hf.BadInput, match="column 'day'"):
                watch.rows(where={"day": odd})
