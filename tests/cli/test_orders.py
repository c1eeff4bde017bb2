"""List order dependencies and advice on the command line: check, init, apply, violations, explain, advise."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast as hf
from tests.cli.running import Holdfast, refused, write

HEADER = "id,year,salary,bin,grade"
ROWS = ["1,2015,45,1,a", "2,2015,60,2,a", "3,2016,50,1,b", "4,2016,80,2,b"]
RULE = "[year, salary] orders [year, bin]"


@pytest.fixture
def tax(tmp_path: Path) -> Path:
    return write(tmp_path / "tax.csv", [HEADER, *ROWS])


@pytest.fixture
def watched(tmp_path: Path, tax: Path, holdfast: Holdfast) -> Path:
    """A state that watches FDs and keys, and a list order dependency."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(f'rules: [{{name: bins, rule: "{RULE}", note: within a year}}]', encoding="utf-8")
    state = tmp_path / "state"
    assert holdfast("init", state, tax, "--watch", "fd,ucc", "--rules", rules, "--key", "id").code == 0
    return state


def test_check_rules_of_every_class_by_text(holdfast: Holdfast, tax: Path) -> None:
    texts = ["[year, salary desc] orders [year, bin desc]", "not(t.salary < 50)", "year -> grade", "key(salary)"]
    given = [word for text in texts for word in ("--rule", text)]
    said = holdfast("check", tax, *given, "--format", "json")
    assert said.code == 1
    assert [(line["name"], line["violations"]) for line in said.objects] == [
        ("dc1", 1), ("fd1", 0), ("key1", 0), ("lod1", 0),
    ]  # fmt: skip
    (lists,) = said.of_kind("lod")
    assert lists["by"] == [["year", "asc"], ["salary", "desc"]]
    assert lists["then"] == [["year", "asc"], ["bin", "desc"]]
    assert lists["text"] == texts[0]


def test_check_takes_rules_from_one_place(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    refused(holdfast("check", tax), "give either --rules FILE or --rule TEXT")
    refused(holdfast("check", tax, "--rule", RULE, "--rules", tmp_path / "rules.yaml"), "give either")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("[yaer] orders [bin]", ["lod1", "no column 'yaer'", "did you mean 'year'?"]),
        ("[year orders [bin]", ["expected , or ] after year; write [A, B desc] orders [C]"]),
        ("year orders bin", ["is not a rule", "a list order dependency, such as [Year, Salary] orders [Year, Bin]"]),
    ],
)
def test_a_bad_rule_is_refused(holdfast: Holdfast, tax: Path, rule: str, words: list[str]) -> None:
    refused(holdfast("check", tax, "--rule", rule), *words)


def test_distinct_nulls_have_no_order(holdfast: Holdfast, tax: Path) -> None:
    refused(holdfast("check", tax, "--rule", RULE, "--nulls", "distinct"), "lod1", "have no order", "--nulls equal")


def test_odd_rules_are_noted(holdfast: Holdfast, tax: Path) -> None:
    said = holdfast("check", tax, "--rule", "[year] orders [year]", "--rule", "[year, year desc] orders [grade]")
    assert said.code == 0
    assert "no rows can violate this rule" in said.err
    assert "the column 'year' stands in the first list twice" in said.err


def test_a_batch_breaks_and_mends_a_rule(holdfast: Holdfast, watched: Path, tmp_path: Path) -> None:
    """A swap and a split come, and both rows go again."""
    worse = write(tmp_path / "worse.csv", [HEADER, "5,2015,70,1,a", "6,2016,80,3,b"])
    said = holdfast("apply", watched, "--insert", worse, "--format", "json")
    assert said.code == 1
    (line,) = said.of_kind("lod")
    assert (line["violations"], line["new"], line["gone"]) == (2, 2, 0)
    listed = holdfast("violations", watched, "bins", "--format", "json").of_kind("violation")
    assert [[key["id"] for key in each["keys"]] for each in listed] == [[2, 5], [6, 4]]
    assert (
        "id 2 and id 5 violate bins: a swap: both have year 2015; salary 60 of id 2 is below salary 70 of id 5; "
        "bin 2 of id 2 is above bin 1 of id 5" in (holdfast("explain", watched, "bins").out)
    )
    split = holdfast("explain", watched, "bins", "--row", "id=4", "--row", "id=6").out
    assert "a split: both have year 2016; both have salary 80; bin 3 of id 6 is above bin 2 of id 4" in split
    assert "within a year" in split
    mended = write(tmp_path / "mended.csv", [HEADER, "5,2015,70,1,a", "6,2016,80,3,b"])
    said = holdfast("apply", watched, "--delete", mended, "--format", "json")
    assert said.code == 0
    assert [(line["violations"], line["gone"]) for line in said.of_kind("lod")] == [(0, 2)]


def test_the_error_of_a_list_order(holdfast: Holdfast, tax: Path, watched: Path, tmp_path: Path) -> None:
    """One of four rows must go; up to a share of a quarter the rule passes."""
    swapped = "[salary] orders [year, bin]"
    said = holdfast("check", tax, "--rule", swapped, "--error", "0.25", "--format", "json")
    (line,) = said.objects
    assert (said.code, line["violations"], line["to_remove"], line["error"]) == (0, 1, 1, 0.25)
    assert holdfast("check", tax, "--rule", swapped, "--error", "0.24").code == 1
    assert "; 1 row to remove" in holdfast("check", tax, "--rule", swapped).out
    refused(holdfast("check", tax, "--rule", swapped, "--error", "2"), "--error")
    worse = write(tmp_path / "worse.csv", [HEADER, "5,2015,70,1,a", "6,2016,80,3,b"])
    holdfast("apply", watched, "--insert", worse)
    shown = holdfast("explain", watched, "bins").out
    assert "Without 2 rows (33.3333%) it would hold." in shown
    assert "  {year, salary}: [] -> bin   does not hold: 1 row to remove" in shown
    assert "  {year}: salary ~ bin   does not hold: 1 row to remove" in shown
    (line,) = holdfast("explain", watched, "bins", "--format", "json").objects
    assert (line["to_remove"], [part["holds"] for part in line["canonical"]]) == (2, [False, False])


def test_a_rule_that_is_not_watched_is_explained(holdfast: Holdfast, watched: Path) -> None:
    said = holdfast("explain", watched, "[salary] orders [year]")
    assert said.code == 0
    assert "id 3 and id 2 are a swap: salary 50 of id 3 is below salary 60 of id 2" in said.out
    assert "It holds" in holdfast("explain", watched, "[year] orders [grade]").out
    (as_json,) = holdfast("explain", watched, "[bin] orders [salary]", "--format", "json").objects
    assert (as_json["holds"], as_json["broken_by"]) == (False, "split")


def test_a_rule_survives_opening_and_vacuum(holdfast: Holdfast, watched: Path) -> None:
    assert holdfast("vacuum", watched).code == 0
    assert holdfast("verify", watched, "--deep").code == 0
    with hf.Monitor.open(watched) as monitor:
        assert [each.to_json()["violations"] for each in monitor.results("lod")] == [0]


# ---- advice ---------------------------------------------------------------------------------------------------------


def test_advice_on_an_order(holdfast: Holdfast, watched: Path) -> None:
    said = holdfast("advise", watched, "ORDER BY year, salary, bin")
    assert said.code == 0
    assert "ORDER BY year, salary is enough\n" in said.out
    assert "bin is redundant: the columns before it determine it, by [year, salary] orders [year, bin]" in said.out
    assert "--watch od finds more" in said.out
    (line,) = holdfast("advise", watched, "order by year, bin", "--format", "json").objects
    assert line["redundant"] == []
    assert {"order": [["year", "asc"], ["salary", "asc"]], "backwards": False, "rules": [RULE]} in line["served_by"]


def test_advice_shows_whether_an_index_serves(holdfast: Holdfast, watched: Path) -> None:
    said = holdfast("advise", watched, "ORDER BY year, bin", "--have", "year, salary, id", "--have", "grade").out
    assert f"an order by year, salary, id serves it, by {RULE}" in said
    assert "no known rule says that an order by grade serves it" in said
    said = holdfast("advise", watched, "ORDER BY year desc, bin desc", "--have", "year, salary").out
    assert f"an order by year, salary, read backwards, serves it, by {RULE}" in said


def test_advice_on_groups(holdfast: Holdfast, watched: Path) -> None:
    said = holdfast("advise", watched, "GROUP BY year, grade").out
    assert "GROUP BY year is enough\n  grade is redundant: the columns before it determine it, by year -> grade" in said
    said = holdfast("advise", watched, 'distinct id, "salary"').out
    assert "DISTINCT is not needed: no two rows are equal, by key(id)" in said


def test_advice_follows_what_holds(holdfast: Holdfast, watched: Path, tmp_path: Path) -> None:
    worse = write(tmp_path / "worse.csv", [HEADER, "5,2015,70,1,b"])
    assert holdfast("apply", watched, "--insert", worse, "--fail-on", "any").code == 1
    with hf.View.open(watched) as view:
        advice = view.advise("GROUP BY year, grade")
    assert advice.redundant == ()
    assert str(advice) == "GROUP BY year, grade\n  no column is redundant by the known rules"


def test_advice_from_rules_that_were_given(tmp_path: Path, tax: Path) -> None:
    rules = ["year -> grade", "grade -> bin", "key(id)"]
    with hf.Monitor.create(tmp_path / "given", str(tax), watch=[], rules=rules) as monitor:
        assert str(monitor.advise("GROUP BY grade, year")) == "\n".join(
            [
                "GROUP BY grade, year",
                "  GROUP BY year is enough",
                "  grade is redundant: the other columns determine it, by year -> grade",
                "  only some rules say here which columns determine others; --watch fd finds more",
            ]
        )
        assert monitor.advise("DISTINCT bin, grade").redundant == (), "that rule does not hold"
        assert monitor.advise("GROUP BY bin, id").single == ("key(id)",)


def test_advice_without_rules_says_what_to_watch(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    state = tmp_path / "plain"
    assert holdfast("init", state, tax, "--watch", "column").code == 0
    assert "--watch fd,od" in holdfast("advise", state, "ORDER BY year, bin").out


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("SELECT year", ["expected ORDER BY, GROUP BY or DISTINCT; write ORDER BY A"]),
        ("ORDER year", ["expected by after ORDER; write"]),
        ("ORDER BY", ["expected a column name after BY; write"]),
        ("ORDER BY year bin", ["expected the end after year; write"]),
        ("GROUP BY year desc", ["expected a comma or the end after year; write"]),
        ("ORDER BY yaer", ["no column 'yaer'", "did you mean 'year'?"]),
        ("ORDER BY 1", ["expected a column name after BY; put names that aren't plain words in double quotes"]),
        ("ORDER BY year NULLS LAST", ["nulls come first upwards"]),
        ("ORDER BY year desc NULLS FIRST", ["nulls come last downwards"]),
        ("ORDER BY year NULLS bin", ["expected FIRST or LAST after NULLS; write"]),
    ],
)
def test_a_bad_clause_is_refused(holdfast: Holdfast, watched: Path, clause: str, words: list[str]) -> None:
    refused(holdfast("advise", watched, clause), *words)


def test_nulls_as_sql_sorts_them(holdfast: Holdfast, watched: Path) -> None:
    assert holdfast("advise", watched, "ORDER BY year ASC NULLS FIRST, salary DESC NULLS LAST").code == 0


def test_advice_needs_nulls_that_are_equal(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    state = tmp_path / "distinct"
    assert holdfast("init", state, tax, "--watch", "fd", "--nulls", "distinct").code == 0
    refused(holdfast("advise", state, "ORDER BY year"), "where nulls are distinct", "--nulls equal")
