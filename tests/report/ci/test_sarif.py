"""SARIF is what another library of the format reads, and has a result for each violation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sarif_pydantic import Sarif

from holdfast.report.ci.sarif import sarif_text, uri_of
from holdfast.report.ci.summary import Place, RuleSummary, Summary, Violation
from tests.report.ci.summaries import summaries, violations

LEVELS = {"failed": "error", "warning": "warning", "known": "note"}


def run_of(summary: Summary) -> dict[str, Any]:
    """The one run of a document."""
    document = json.loads(sarif_text(summary))
    (run,) = document["runs"]
    return dict(run)


@given(summaries)
def test_another_library_reads_and_writes_the_same(summary: Summary) -> None:
    text = sarif_text(summary)
    again = Sarif.model_validate_json(text).model_dump_json(by_alias=True, exclude_unset=True)
    assert json.loads(again) == json.loads(text)


@given(summaries)
def test_a_result_for_each_violation(summary: Summary) -> None:
    run = run_of(summary)
    rules = run["tool"]["driver"]["rules"]
    broken = [rule for rule in summary.rules if rule.standing != "holds"]
    levels = [LEVELS[rule.standing] for rule in broken for _ in range(max(len(rule.violations), 1))]
    assert [result["level"] for result in run["results"]] == levels
    assert len(rules) == len(summary.rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]  # a host refuses results without one
        assert location["logicalLocations"]
        assert len(set(result["partialFingerprints"].values())) == 1
    assert run["invocations"][0]["executionSuccessful"] is not bool(summary.refused)


@given(st.lists(violations, max_size=5), st.randoms())
def test_fingerprints_tell_violations_apart_in_any_order(listed: list[Violation], chance: Any) -> None:
    mixed = list(listed)
    chance.shuffle(mixed)
    first, second = (RuleSummary("t", "r", "r", "failed", violations=some) for some in (listed, mixed))
    assert len(set(first.fingerprints())) == len(listed)
    assert sorted(first.fingerprints()) == sorted(second.fingerprints())
    renamed = RuleSummary("t", "other", "r", "failed", violations=listed)  # a name is no part of the rule
    assert list(renamed.fingerprints()) == list(first.fingerprints())


def test_a_result_lies_at_its_rule_and_relates_to_its_rows() -> None:
    rows = Violation("row 3: bad", "3", (Place("a b.csv", 5), Place("a b.csv", 2)))
    ruled = RuleSummary("t", "r", "r", "failed", place=Place("rules.yaml", 3), violations=[rows])
    (result,) = run_of(Summary("", [ruled]))["results"]
    assert _lines(result["locations"]) == [("rules.yaml", 3)]
    assert _lines(result["relatedLocations"]) == [("a%20b.csv", 5), ("a%20b.csv", 2)]
    free = RuleSummary("t", "r", "r", "failed", violations=[rows])
    (result,) = run_of(Summary("", [free]))["results"]
    assert _lines(result["locations"]) == [("a%20b.csv", 5)]
    assert "relatedLocations" not in result


def _lines(locations: list[dict[str, Any]]) -> list[tuple[str, int]]:
    found = [each["physicalLocation"] for each in locations]
    return [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in found]


def test_it_says_how_many_are_left_out() -> None:
    rule = RuleSummary("t", "r", "r", "failed", count=900, violations=[Violation("a", "a")])
    (note,) = run_of(Summary("", [rule]))["invocations"][0]["toolExecutionNotifications"]
    assert note == {"level": "note", "message": {"text": "t/r: of 900 violations the first 1 are listed"}}


def test_addresses_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert uri_of("a/ü b#.csv") == "a/%C3%BC%20b%23.csv"
    assert uri_of(str(tmp_path / "a.csv")) == "a.csv"
    assert uri_of("/elsewhere/a b.csv") == "file:///elsewhere/a%20b.csv"


def test_names_of_long_rules_are_short_and_differ() -> None:
    rules = [RuleSummary("t", "r" * 500 + last, "r", "failed") for last in "ab"]
    first, second = (rule["id"] for rule in run_of(Summary("", rules))["tool"]["driver"]["rules"])
    assert first != second
    assert len(first) == 200
