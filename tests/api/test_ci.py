"""Summaries for CI hosts: where rows stand in their files, and that redacted ones hold no value."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.api.checks import check, given_rules
from holdfast.api.ci import of_check
from holdfast.report.ci.junit import junit_text
from holdfast.report.ci.markdown import markdown_text
from holdfast.report.ci.sarif import sarif_text
from holdfast.report.ci.summary import Place, Summary

# Values that need quotes, that span lines, and that look like empty lines.
CELLS = st.sampled_from(["a", "b", "x,y", "two\nlines", 'say "hi"', "\n\n", "crlf\r\nhere"])
HEADER = ["id", "text", "score"]


def records_of(rows: Sequence[tuple[str, int]], ending: str, blanks: set[int]) -> tuple[str, list[int]]:
    """A CSV file, and the line on which each row begins; after some rows comes an empty line."""
    text, lines = io.StringIO(), []
    writer = csv.writer(text, lineterminator=ending, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(HEADER)
    for number, (cell, score) in enumerate(rows):
        lines.append(1 + text.getvalue().replace("\r\n", "\n").count("\n"))
        writer.writerow([number, cell, score])
        if number in blanks:
            text.write(ending)
    return text.getvalue(), lines


ROWS = st.lists(st.tuples(CELLS, st.integers(-2, 3)), min_size=1, max_size=6)


@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.sets(st.integers(0, 5)))
def test_violations_of_a_check_stand_on_their_lines(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int]], ending: str, blanks: set[int]
) -> None:
    folder = tmp_path_factory.mktemp("ci")
    text, lines = records_of(rows, ending, blanks)
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    rules = given_rules("t.score >= 0")
    summary = of_check(check({"t": str(path)}, rules), rules, {"t": str(path)}, hf.ReadOptions())
    (rule,) = summary.rules
    found = [place for violation in rule.violations for place in violation.places]
    assert found == [Place(str(path), line) for line, (_, score) in zip(lines, rows, strict=True) if score < 0]
    assert summary.failed is any(score < 0 for _, score in rows)


@given(ROWS, ROWS)
def test_violations_of_a_batch_stand_on_their_lines(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int]], more: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("ci")
    paths = [folder / name for name in ("t.csv", "more.csv")]
    lines: list[int] = []
    for path, some in zip(paths, (rows, more), strict=True):
        text, lines = records_of(some, "\n", set())
        path.write_text(text, encoding="utf-8", newline="")
    with hf.Monitor.create(folder / "state", {"t": str(paths[0])}, watch=[], rules="t.score >= 0") as watch:
        outcome = watch.apply(inserts=str(paths[1]))
        summary = watch.ci_summary(outcome, inserted={None: str(paths[1])})
    found = [place for rule in summary.rules for violation in rule.violations for place in violation.places]
    assert found == [Place(str(paths[1]), line) for line, (_, score) in zip(lines, more, strict=True) if score < 0]
    assert summary.failed is outcome.broken
    assert summary.line == outcome.lines()[0]


def texts_of(summary: Summary) -> str:
    """A summary in all formats."""
    return junit_text(summary) + markdown_text(summary) + sarif_text(summary)


RULES = """
rules:
  - {name: one, rule: "zip -> city", note: "secretnote"}
  - {rule: "key(mail)"}
  - {rule: "t.city != 'secretcity0'"}
  - {name: size, rule: "rows >= 100"}
  - {rule: "not(t.zip = s.zip and t.mail != s.mail)", severity: warn}
"""
ROW = st.tuples(
    *(st.sampled_from([f"secret{name}{number}" for number in range(3)]) for name in ("zip", "city", "mail"))
)


@given(st.lists(ROW, min_size=2, max_size=5), st.lists(ROW, min_size=1, max_size=4))
def test_redacted_no_value_is_anywhere(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], more: list[tuple[str, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("ci")
    (folder / "rules.yaml").write_text(RULES, encoding="utf-8")
    for name, some in (("t.csv", rows), ("more.csv", more)):
        lines = [",".join(row) for row in [("zip", "city", "mail"), *some]]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules = given_rules(folder / "rules.yaml")
    sources = {"t": str(folder / "t.csv")}
    checked = check(sources, rules)
    redacted, plain = (of_check(checked, rules, sources, hf.ReadOptions(), redact=hide) for hide in (True, False))
    assert "secret" not in texts_of(redacted)
    assert "secret" in texts_of(plain)
    assert [rule.standing for rule in redacted.rules] == [rule.standing for rule in plain.rules]
    with hf.Monitor.create(folder / "state", sources, watch=["fd", "ucc"], rules=rules) as watch:
        outcome = watch.apply(inserts=str(folder / "more.csv"))
        assert "secret" not in texts_of(watch.ci_summary(outcome, redact=True))


def test_rules_stand_on_their_lines(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(RULES, encoding="utf-8")
    rules = given_rules(tmp_path / "rules.yaml")
    rows = {"zip": ["1", "1"], "city": ["a", "b"], "mail": ["x", "x"]}
    summary = of_check(check({"t": pa.table(rows)}, rules), rules, {}, hf.ReadOptions())
    written = RULES.split("\n")
    for rule in summary.rules:
        assert rule.place is not None
        assert rule.place.file == str(tmp_path / "rules.yaml")
        assert rule.text in written[(rule.place.line or 0) - 1].replace('"', "")


def test_identities_stay_where_rows_come_before() -> None:
    rules = given_rules(["zip -> city", "t.zip != '9'"])
    rows = {"zip": ["1", "1", "9"], "city": ["a", "b", "c"]}
    later = {"zip": ["5", *rows["zip"]], "city": ["z", *rows["city"]]}
    prints = []
    for each in (rows, later):
        summary = of_check(check({"t": pa.table(each)}, rules), rules, {}, hf.ReadOptions())
        prints.append(json.dumps([list(rule.fingerprints()) for rule in summary.rules]))
    assert prints[0] == prints[1]


def test_a_batch_that_was_applied_before_is_skipped(tmp_path: Path) -> None:
    rows = pa.table({"zip": ["1"], "city": ["a"]})
    with hf.Monitor.create(tmp_path / "state", {"t": rows}, watch=[], rules="zip -> city") as watch:
        watch.apply(inserts=rows, batch_id="one")
        summary = watch.ci_summary(watch.apply(inserts=rows, batch_id="one"))
    assert summary.skipped.startswith("Nothing to do")
    assert [rule.standing for rule in summary.rules] == ["holds"]
    assert not summary.failed


def test_what_is_no_alarm_does_not_fail(tmp_path: Path) -> None:
    rows, wrong = pa.table({"zip": ["1"], "city": ["a"]}), pa.table({"zip": ["1"], "city": ["b"]})
    with hf.Monitor.create(tmp_path / "state", {"t": rows}, watch=[], rules="zip -> city") as watch:
        outcome = watch.apply(inserts=wrong, fail_on="never")
        summaries = {which: watch.ci_summary(outcome, fail_on=which) for which in ("never", "given")}
        bad = watch.ci_summary(outcome, fail_on="never", bad="3 of 9 rows were set aside")
    assert {which: [rule.standing for rule in each.rules] for which, each in summaries.items()} == {
        "never": ["warning"], "given": ["failed"],
    }  # fmt: skip
    assert [each.failed for each in summaries.values()] == [False, True]
    assert bad.failed
