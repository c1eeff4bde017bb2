"""Rules on the command line: check, violations, explain, and what `apply` says when a rule breaks."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import holdfast as hf
from holdfast.store.store import Store
from tests.cli.running import Holdfast, refused, write
from tests.cli.session_files import write_files

HEADER = "id,state,salary,rate,day"
ROWS = ["1,TX,100,1.0,2024-01-01", "2,TX,200,2.0,2024-01-02", "3,NY,100,3.0,2024-01-03"]
RULES = """
rules:
  - name: fair
    rule: "not(t.state = s.state and t.salary > s.salary and t.rate < s.rate)"
    note: who earns more pays no lower rate
  - {name: once, rule: "not(t.state = s.state and t.day = s.day)", severity: warn}
  - {name: paid, rule: "not(t.salary <= 0)"}
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.yaml"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.fixture
def tax(tmp_path: Path) -> Path:
    return write(tmp_path / "tax.csv", [HEADER, *ROWS])


@pytest.fixture
def watched(tmp_path: Path, tax: Path, rules: Path, holdfast: Holdfast) -> Path:
    """A state in which row 3 breaks `fair` and `once` with row 1."""
    state = tmp_path / "watched"
    assert holdfast("init", state, tax, "--rules", rules, "--key", "id").code == 0
    worse = write(tmp_path / "worse.csv", [HEADER, "4,TX,300,1.5,2024-01-02"])
    assert holdfast("apply", state, "--insert", worse).code == 1
    return state


def test_check_holds(holdfast: Holdfast, tax: Path, rules: Path) -> None:
    result = holdfast("check", tax, "--rules", rules, "--format", "json")
    assert result.code == 0
    assert [(line["name"], line["violations"]) for line in result.objects] == [("fair", 0), ("once", 0), ("paid", 0)]


def test_check_fails_and_shows_the_rows(holdfast: Holdfast, tmp_path: Path, rules: Path) -> None:
    bad = write(tmp_path / "bad.csv", [HEADER, *ROWS, "4,TX,300,1.5,2024-02-02"])
    result = holdfast("check", bad, "--rules", rules, "--rows")
    assert result.code == 1
    assert "t: row 3" in result.out
    assert "s: row 1" in result.out
    some = holdfast("check", bad, "--rule", "t.salary < 0", "--limit", "1").out
    assert some.endswith("… and 3 more; see --limit\n")  # check has no --output


def test_a_suggested_key_names_the_rows_that_violate_a_rule(holdfast: Holdfast, tmp_path: Path) -> None:
    """But where they are equal on it: then their numbers do."""
    write_files(tmp_path)
    state = tmp_path / "state"
    assert holdfast("init", state, tmp_path / "customers.csv").code == 0
    assert holdfast("apply", state, "--insert", tmp_path / "tuesday.csv").code == 1
    assert "t: customer C1118" in holdfast("violations", state, "zip -> city", "--rows").out
    assert holdfast("apply", state, "--insert", tmp_path / "tuesday.csv").code == 1
    assert "t: row 1100" in holdfast("violations", state, "key(customer)", "--rows").out
    assert "t_row" in holdfast("violations", state, "key(customer)").out
    assert "t_row" not in holdfast("violations", state, "zip -> city").out


def test_a_warning_is_no_error(holdfast: Holdfast, tmp_path: Path, rules: Path) -> None:
    odd = write(tmp_path / "odd.csv", [HEADER, *ROWS, "4,NY,100,3.0,2024-01-03"])
    assert holdfast("check", odd, "--rules", rules).code == 0


def test_apply_shows_new_and_gone_violations(holdfast: Holdfast, watched: Path, tmp_path: Path) -> None:
    mended = write(tmp_path / "mended.csv", [f"{HEADER},op", "4,TX,300,2.5,2024-01-09,update"])
    result = holdfast("apply", watched, "--changes", mended, "--format", "json")
    assert result.code == 0
    changes = {
        line["name"]: (line["before"]["violations"], line["violations"]) for line in result.objects if "name" in line
    }
    assert changes == {"fair": (1, 0), "once": (1, 0)}


def test_violations_as_json_and_files(holdfast: Holdfast, watched: Path, tmp_path: Path) -> None:
    result = holdfast("violations", watched, "--format", "json").of_kind("violation")
    assert [(line["rule"], line["rows"]) for line in result] == [("fair", [3, 1]), ("once", [1, 3])]
    assert (result[0]["t"]["rate"], result[0]["s"]["rate"], result[0]["t"]["day"]) == (1.5, 2.0, "2024-01-02")
    for name in ("v.csv", "v.parquet", "v.arrow", "v.jsonl"):
        assert holdfast("violations", watched, "fair", "--output", tmp_path / name).code == 0
    expected = {"t_row": [3], "s_row": [1], "t.id": [4], "s.id": [2], "t.rate": [1.5], "s.rate": [2.0]}
    for table in (parquet.read_table(tmp_path / "v.parquet"), csv.read_csv(tmp_path / "v.csv")):
        assert table.select(list(expected)).to_pydict() == expected
    assert json.loads((tmp_path / "v.jsonl").read_text())["rows"] == [3, 1]


def test_violations_side_by_side(holdfast: Holdfast, watched: Path) -> None:
    result = holdfast("violations", watched, "fair", "--rows")
    assert result.code == 0
    assert "t: id 4" in result.out
    assert "row 3" not in result.out
    assert "1.5" in result.out


def test_explain_says_why(holdfast: Holdfast, watched: Path) -> None:
    result = holdfast("explain", watched, "fair", "--row", 1, "--row", 3)
    assert result.code == 0
    assert (
        "id 4 and id 2 violate fair: both have state 'TX'; salary 300 of id 4 is above salary 200 of id 2" in result.out
    )
    assert "What to fix first" in result.out
    refused(holdfast("explain", watched, "fair", "--row", 0, "--row", 1), "id 1 and id 2 don't violate rule fair")
    refused(holdfast("explain", watched, "fair", "--row", 99, "--row", 1), "row 99 and id 2 don't violate rule fair")
    refused(holdfast("violations", watched, "nope"), "there is no rule 'nope'", "fair, once, paid")


def test_counts_alone(holdfast: Holdfast, tmp_path: Path, rules: Path) -> None:
    state = tmp_path / "counted"
    more = write(tmp_path / "more.csv", [HEADER, *ROWS, "4,TX,300,1.5,2024-01-02"])
    result = holdfast("init", state, f"tax={more}", "--rules", rules, "--count-only", "--format", "json")
    assert result.code == 0
    assert "only their number is stored" in result.err
    assert {line["name"]: line["violations"] for line in result.objects if line["kind"] == "dc"} == {
        "fair": 1, "once": 1, "paid": 0,
    }  # fmt: skip
    refused(holdfast("violations", state, "fair", "--output", tmp_path / "v.csv"), "only the number", "--pair-limit")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("not(t.state = s.state and t.salery > s.salery)", ["salery", "salary"]),
        ("not(t.state < s.state)", ["state", "ordered"]),
        ("not(t.state = s.salary)", ["state", "salary"]),
        ("not(t.state = )", [": not(t.state = ^)\n"]),
        ("share(null 名) <= 1%", ["write 0.01 for 1 %", ": share(null 名) <= 1^%\n"]),
        ("state -> rite", ["no column 'rite'", "did you mean 'rate'"]),
        ("state = rate", ["'state = rate' is not a rule; the nearest kind is"]),
    ],
)
def test_a_bad_rule_is_refused(holdfast: Holdfast, tmp_path: Path, tax: Path, rule: str, words: list[str]) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(f'rules: [{{name: r, rule: "{rule}"}}]', encoding="utf-8")
    result = holdfast("check", tax, "--rules", path)
    assert result.code == 2
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err
    assert not (tmp_path / "none").exists()
    assert holdfast("init", tmp_path / "none", tax, "--rules", path).code == 2


def test_a_key_that_breaks_shows_the_rows(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    state = tmp_path / "found"
    assert holdfast("init", state, tax, "--watch", "ucc,fd").code == 0
    again = write(tmp_path / "again.csv", [HEADER, "1,CA,900,9.0,2024-09-09"])
    result = holdfast("apply", state, "--insert", again, "--fail-on", "any")
    assert result.code == 1
    named = "row 0 (id 1, state TX, salary 100, rate 1.0) and row 3 (id 1, state CA"
    assert f"  key(id) (1.00)   because of {named}" in result.out
    explained = holdfast("explain", state, "id -> state")
    assert "is broken by 1 pair of rows" in explained.out
    assert holdfast("status", state, "--rules", "ucc", "--format", "json").code == 0


def test_history_has_the_track_record_of_rules(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    state = tmp_path / "found"
    assert holdfast("init", state, tax, "--watch", "ucc", "--max-lhs", 1).code == 0
    again = write(tmp_path / "again.csv", [HEADER, "1,CA,900,9.0,2024-09-09"])
    assert holdfast("apply", state, "--insert", again, "--fail-on", "any").code == 1
    assert _track_records(holdfast, state)["key(id)"] == (None, 1)
    assert holdfast("apply", state, "--delete", again).code == 0
    assert _track_records(holdfast, state) == {"key(id)": (2, 1), "key(rate)": (0, 0), "key(day)": (0, 0)}
    assert "batch 2" in holdfast("history", state, "--rules").out


def _track_records(holdfast: Holdfast, state: Path) -> dict[str, tuple[int | None, int]]:
    lines = holdfast("history", state, "--rules", "--format", "json").objects
    return {line["text"]: (line["holds_since"], line["broke"]) for line in lines}


@pytest.fixture
def shop(tmp_path: Path) -> list[Path]:
    customers = write(tmp_path / "customers.csv", ["id,name", "1,Ann", "2,Bob", "3,Cy"])
    return [write(tmp_path / "orders.csv", ["cust_id,amount", "1,10.5", "2,20.5", "1,30.5"]), customers]


def test_foreign_keys_are_ranked_and_drawn(holdfast: Holdfast, tmp_path: Path, shop: list[Path]) -> None:
    found = holdfast("discover", *shop, "--rules", "ind", "--format", "json", "--picture", tmp_path / "fk.mmd")
    (best,) = found.of_kind("ind")
    assert (best["text"], best["reasons"]["key"]) == ("orders.cust_id in customers.id", 1)
    drawn = (tmp_path / "fk.mmd").read_text(encoding="utf-8")
    assert "cust_id → id" in drawn
    assert holdfast("discover", *shop, "--rules", "ind", "--picture", tmp_path / "fk.dot").code == 0
    assert (tmp_path / "fk.dot").read_text(encoding="utf-8").startswith("digraph")
    assert holdfast("discover", *shop, "--rules", "ind", "--picture", tmp_path / "fk.png").code == 2


def test_pictures_need_no_other_program(
    holdfast: Holdfast, tmp_path: Path, shop: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    picture = tmp_path / "fk.svg"
    for _ in range(2):
        assert holdfast("discover", *shop, "--rules", "ind", "--picture", picture).code == 0, "it overwrites its own"
    said = [each.text for each in ET.parse(picture).iter() if each.text]
    assert {"orders", "cust_id", "customers", "id", "100 %"} <= set(said)
    assert "orders.cust_id in customers.id: 100 %" in said, "the tooltip of the line"
    assert "var(" not in picture.read_text(encoding="utf-8"), "programs that draw SVG know no variables of CSS"
    write(picture, ["<svg><title>mine</title></svg>"])
    refused(holdfast("discover", *shop, "--rules", "ind", "--picture", picture), "fk.svg")


def test_an_inclusion_that_breaks_shows_the_orphans(holdfast: Holdfast, tmp_path: Path, shop: list[Path]) -> None:
    state = tmp_path / "shop"
    assert holdfast("init", state, *shop, "--watch", "ind").code == 0
    orphan = write(tmp_path / "orphan.csv", ["cust_id,amount", "99,1.5"])
    result = holdfast("apply", state, "--insert", orphan, "--table", "orders", "--fail-on", 0.8)
    assert result.code == 1
    assert "Failed: orders.cust_id in customers.id broke (score 0.97) (orders, orphan.csv)\n" in result.out
    assert "  row 3: cust_id 99 is no id of customers\n" in result.out
    assert "99 in 1 row" in holdfast("explain", state, "orders.cust_id in customers.id").out


def test_dependencies_by_name(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text('rules: [{name: one, rule: "state -> rate"}, {rule: key(day), severity: warn}]', encoding="utf-8")
    result = holdfast("check", tax, "--rules", rules, "--format", "json")
    assert result.code == 1
    one, key = result.objects
    assert (one["kind"], one["name"], one["violations"], one["pairs"]) == ("fd", "one", 1, 1)
    assert (one["lhs"], one["rhs"], one["error"], one["g3"]) == (["state"], "rate", 1 / 3, 1 / 3)
    assert (key["kind"], key["name"], key["columns"], key["violations"]) == ("ucc", "key1", ["day"], 0)
    shown = holdfast("check", tax, "--rules", rules, "--rows").out
    assert "rows to remove" in shown
    assert "t: row 1" in shown


def test_dependencies_by_name_are_kept(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    rules, state = tmp_path / "rules.yaml", tmp_path / "named"
    rules.write_text('rules: [{name: one, rule: "state -> rate", note: one rate a state}]', encoding="utf-8")
    assert holdfast("init", state, tax, "--rules", rules, "--watch", "fd").code == 0
    more = write(tmp_path / "more.csv", [HEADER, "4,NY,5,7.0,2024-01-04", "5,NY,5,7.0,2024-01-05"])
    result = holdfast("apply", state, "--insert", more, "--format", "json")
    assert result.code == 1
    (one,) = (line for line in result.objects if line.get("name") == "one")
    assert (one["before"]["violations"], one["violations"], one["g3"], one["note"]) == (1, 2, 0.4, "one rate a state")
    listed = holdfast("violations", state, "one", "--format", "json").of_kind("violation")
    assert [line["rows"] for line in listed] == [[1, 0], [2, 3]]
    explained = holdfast("explain", state, "one").out
    assert "most say 7.0; look at row 2 (rate 3.0, id 3, salary 100, day 2024-01-03)" in explained
    refused(holdfast("explain", state, "one", "--row", 1), "leave it out")
    rest = write(tmp_path / "rest.csv", [HEADER, ROWS[1], ROWS[2]])
    assert holdfast("apply", state, "--delete", rest).code == 0
    records = {line.get("name"): line for line in holdfast("history", state, "--rules", "--format", "json").objects}
    assert (records["one"]["holds_since"], records["one"]["broke"], records["one"]["kind"]) == (2, 0, "fd")
    assert holdfast("apply", state, "--insert", rest).code == 1
    records = {line.get("name"): line for line in holdfast("history", state, "--rules", "--format", "json").objects}
    assert (records["one"]["holds_since"], records["one"]["broke"]) == (None, 1)


def test_many_rules_are_kept_with_their_engine(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    state = tmp_path / "many"
    assert holdfast("init", state, tax, "--watch", "column,ucc,fd").code == 0
    again = write(tmp_path / "again.csv", [HEADER, "1,CA,900,9.0,2024-09-09"])
    assert holdfast("apply", state, "--insert", again, "--fail-on", "any").code == 1
    whole = write(tmp_path / "whole.csv", [HEADER, *ROWS, "1,CA,900,9.0,2024-09-09"])
    for rules in ("fd", "ucc"):
        result = holdfast("status", state, "--rules", rules, "--format", "json").of_kind(rules)
        assert result == holdfast("discover", f"tax={whole}", "--rules", rules, "--format", "json").of_kind(rules)
    store = Store(state)
    assert {finding["kind"] for finding in store.rules.results()} == {"column"}
    store.close()
    shown = holdfast("status", state, "--top", 2).out
    assert "functional dependencies, the first 2" in shown
    records = holdfast("history", state, "--rules").out
    assert "key(id)" in records


@pytest.mark.parametrize("rules", ["dc", "named"])
def test_rules_that_are_given_are_not_looked_for(holdfast: Holdfast, tmp_path: Path, tax: Path, rules: str) -> None:
    refused(holdfast("discover", tax, "--rules", rules), "given, not found", "rule file")
    refused(holdfast("init", tmp_path / "none", tax, "--watch", rules), "given, not found", "rule file")
    assert not (tmp_path / "none").exists()
    refused(holdfast("discover", tax, "--rules", "nope"), "no rule class 'nope'", "column, ucc, fd, ind")


def test_approximate_rules_show_their_error(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    state = tmp_path / "nearly"
    assert holdfast("init", state, tax, "--watch", "fd", "--error", 0.4).code == 0
    more = write(tmp_path / "more.csv", [HEADER, "4,TX,100,1.0,2024-01-04"])
    result = holdfast("apply", state, "--insert", more, "--verbose")
    assert "changed their error" in result.out
    assert "16.6667%" in result.out  # one of six pairs has one rate and two ids
    found = {line["text"]: line["error"] for line in holdfast("status", state, "--format", "json").of_kind("fd")}
    assert (found["rate -> id"], found["state -> rate"]) == (1 / 6, 2 / 6)


def test_python_has_the_same(tmp_path: Path) -> None:
    table = pa.table({"zip": ["1", "1", "2"], "city": ["A", "B", "C"]})
    checked = hf.check(table, ["not(t.zip = s.zip and t.city != s.city)"])
    assert checked.violated
    assert checked.listings[0].to_arrow().column("t.city").to_pylist() == ["A"]
    rules = ["not(t.zip = s.zip and t.city != s.city)"]
    with hf.Monitor.create(tmp_path / "s", {"t": table}, rules=rules) as watch:
        outcome = watch.apply(deletes=table.slice(1, 1))
        (change,) = outcome.violations.values()
        assert change.added is not None
        assert change.resolved is not None
        assert (len(change.added), change.resolved.tolist()) == (0, [[0, 1]])
        assert watch.violations()[0].count == 0
    with hf.Monitor.open(tmp_path / "s", write=False) as look:
        assert look.violations()[0].count == 0


def test_objects_draw_themselves(tmp_path: Path) -> None:
    table = pa.table({"zip": ["1", "1", "2"], "city": ["A", "A", "C"], "id": [1, 2, 3]})
    found = hf.discover(table, rules=["fd", "ucc", "column"])
    assert len(found) == len(found.findings) == len(found.to_json())
    page = found._repr_html_()
    assert "functional dependencies" in page
    assert "zip -&gt; city" in page
    with hf.Monitor.create(tmp_path / "s", {"t": table}, watch=["fd"], rules=["zip -> city"]) as watch:
        outcome = watch.apply(inserts=pa.table({"zip": ["1"], "city": ["B"], "id": [4]}))
        assert [rule.text for rule in outcome.lost] == ["zip -> city"]
        assert outcome.witness(outcome.lost[0]) is not None
        drawn = outcome._repr_html_()
        assert "zip -&gt; city   because of row 0 (zip 1, city A, id 1) and row 3 (zip 1, city B, id 4)" in drawn
        assert "Failed: zip -&gt; city has 1 new violation" in drawn
        mended = watch.apply(deletes=pa.table({"zip": ["1"], "city": ["B"], "id": [4]}))
        assert not mended.lost
        assert not mended.broken
        assert len(mended.implied) == sum(len(diff.lost) for diff in mended.diffs.values())


@pytest.mark.parametrize("text", ["rules: []\n", "", "# nothing\n"])
def test_a_file_without_rules_is_refused(holdfast: Holdfast, tmp_path: Path, tax: Path, text: str) -> None:
    path = tmp_path / "none.yaml"
    path.write_text(text, encoding="utf-8")
    refused(
        holdfast("check", tax, "--rules", path), str(path), "start it with rules:" if ":" not in text else "no rules"
    )
    refused(holdfast("init", tmp_path / "s", tax, "--rules", path), str(path))
    with pytest.raises(hf.BadInput, match="there are no rules"):
        hf.check(pa.table({"a": [1]}), [])


def test_a_key_that_names_a_column_twice_is_refused(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    refused(holdfast("init", tmp_path / "s", tax, "--key", "id,id"), "tax", "'id' twice")
    with pytest.raises(hf.BadInput, match="'a' twice"):
        hf.Monitor.create(tmp_path / "s", {"t": pa.table({"a": [1]})}, key=["a", "a"])


def test_columns_of_any_name(tmp_path: Path) -> None:
    """In rules that are given and in rules that are found, whose texts are given again."""
    names = ["not", "key", "t", "in", "a -> b", "x, y", 'say "hi"']
    rows = {name: [number % (place + 1) for number in range(8)] for place, name in enumerate(names)}
    rules = [*(f'"{name.replace(chr(34), 2 * chr(34))}" -> "not"' for name in names[1:]), "not -> key", "key(not, key)"]
    rules += ['not(t.not > s.not and t."a -> b" = s."a -> b")']
    with hf.Monitor.create(tmp_path / "s", {"in": pa.table(rows)}, watch=["fd", "ucc", "ind"], rules=rules) as watch:
        assert len(watch.violations()) == len(rules)
        assert len({listing.rule.text for listing in watch.violations()}) == len(rules)
        for listing in watch.violations():
            assert watch.violations(listing.rule.text)[0].count == listing.count
        for found in watch.results():
            if found.kind != "dc":
                assert watch.explain(found.text), found.text
    with hf.Monitor.open(tmp_path / "s") as again:
        assert len(again.violations()) == len(rules)
