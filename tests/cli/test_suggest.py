"""Suggestions at the command line: one screen, JSON, a rule file that others take, a state that watches them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast, write
from tests.report.embedded import embedded


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    """Twenty zip codes with ten rows each, in seven towns of three states; one town is misspelt."""
    lines = ["id,zip,code,city,state"]
    for row in range(200):
        code = row * 7 % 20
        city = "twon 5" if row == 17 else f"town {code % 7}"
        lines.append(f"{row},{10_000 + code},C{code},{city},s{code % 7 % 3}")
    return write(tmp_path / "towns.csv", lines)


def test_one_screen(holdfast: Holdfast, towns: Path) -> None:
    result = holdfast("suggest", towns)
    assert result.code == 0
    assert "key(id)" in result.out
    assert "zip = code" in result.out
    assert "zip nearly determines city" in result.out
    assert "city is 'twon 5', others have 'town 5'" in result.out
    assert "--all lists them" in result.out
    assert len(result.out.splitlines()) < 25
    everything = holdfast("suggest", towns, "--all")
    assert "code -> city" in everything.out
    assert "zip = code" in everything.out


def test_json_has_all_in_the_order_of_ranks(holdfast: Holdfast, towns: Path) -> None:
    lines = holdfast("suggest", towns, "--format", "json").objects
    rules = [line for line in lines if "rank" in line]
    assert [rule["rank"] for rule in rules] == list(range(1, len(rules) + 1))
    assert sorted((rule["score"] for rule in rules), reverse=True) == [rule["score"] for rule in rules]
    implied = next(rule for rule in rules if rule["text"] == "code -> city")
    assert implied["implied_by"]
    assert implied["group"] == "zip"
    assert implied["violations"] == 1
    assert implied["rows"] == [17]
    assert [line["text"] for line in lines if line["kind"] == "same"] == ["zip = code"]
    assert [line["row"] for line in lines if line["kind"] == "doubt"] == [17]


def test_a_rule_file_that_check_and_init_take(holdfast: Holdfast, towns: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    said = holdfast("suggest", towns, "--to", rules)
    assert f"rules to {rules}" in said.err
    assert holdfast("check", towns, "--rules", rules).code == 0
    assert holdfast("init", tmp_path / "state", towns, "--rules", rules).code == 0
    assert holdfast("suggest", towns, "--to", tmp_path / "rules.txt").code == 2


def test_a_state_that_watches_suggestions_alarms(holdfast: Holdfast, towns: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert holdfast("init", state, towns, "--suggest", 20).code == 0
    wrong = write(tmp_path / "wrong.csv", ["id,zip,code,city,state", "200,10000,C1,town 0,s0"])
    right = write(tmp_path / "right.csv", ["id,zip,code,city,state", "201,10000,C0,town 0,s0"])
    assert holdfast("apply", state, "--insert", right).code == 0
    assert holdfast("apply", state, "--insert", wrong).code == 1
    assert "zip nearly determines" in holdfast("suggest", state).out


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ([], True),
        (["--key", "id"], True),
        (["--suggest", 20], True),
        (["--watch", "column", "--suggest", 20], True),
        (["--watch", "column"], False),
        (["--watch", ""], False),
    ],
)
def test_a_plain_init_watches_suggestions(
    holdfast: Holdfast, towns: Path, tmp_path: Path, options: list[str], rules: bool
) -> None:
    state = tmp_path / "state"
    assert holdfast("init", state, towns, *options).code == 0
    lines = holdfast("status", state, "--format", "json").objects
    kinds = {line["kind"] for line in lines}
    assert ("key(id)" in {line.get("text") for line in lines}) == rules
    assert ("column" in kinds) == ("" not in options)


def test_with_rules_alone_no_others_are_watched(holdfast: Holdfast, towns: Path, tmp_path: Path) -> None:
    given = write(tmp_path / "rules.yaml", ["rules: [{name: state, rule: city -> state}]"])
    assert holdfast("init", tmp_path / "state", towns, "--rules", given).code == 0
    lines = holdfast("status", tmp_path / "state", "--format", "json").objects
    assert [line["name"] for line in lines if "severity" in line] == ["state"]


def test_an_overview_without_options(holdfast: Holdfast, towns: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = holdfast("discover", towns, "--html", page)
    assert result.code == 0
    assert result.out.index("likely keys") < result.out.index("distinct") < result.out.index("--suggest 20")
    assert next(column for column in embedded(page)["columns"] if column["name"] == "zip")["same"] == ["code"]
    kinds = [line["kind"] for line in holdfast("discover", towns, "--format", "json").objects]
    assert kinds[0] == "table"
    assert kinds[-1] == "column"
    assert "fd" in kinds


def test_what_is_wrong_is_said(holdfast: Holdfast, towns: Path, tmp_path: Path) -> None:
    assert "can't be suggested" in holdfast("suggest", towns, "--rules", "column").err
    holdfast("init", tmp_path / "state", towns)
    assert "leave out other sources" in holdfast("suggest", tmp_path / "state", towns).err


@pytest.mark.parametrize("lines", [["a,b"], ["a,b", "1,2"], ["a,b", "1,", "1,"]])
def test_tables_without_likely_rules(holdfast: Holdfast, tmp_path: Path, lines: list[str]) -> None:
    few, rules = write(tmp_path / "few.csv", lines), tmp_path / "rules.yaml"
    result = holdfast("suggest", few, "--to", rules)
    assert "no likely rules found" in result.out
    assert f"{rules} is not written" in result.err
    assert not rules.exists()
    assert holdfast("init", tmp_path / "state", few, "--suggest", 5).code == 0
