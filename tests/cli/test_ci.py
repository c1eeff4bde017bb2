"""`check` and `apply` write what CI hosts show: JUnit XML, SARIF and Markdown."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from sarif_pydantic import Sarif

from tests.cli.running import HEADER, Holdfast, Ran, refused, write
from tests.cli.session_files import write_files
from tests.report.ci.test_junit import outcome_of, refuse_invalid

RULES = [
    "rules:",
    '  - {name: scores, rule: "t.score >= 2"}',
    '  - {rule: "key(id)"}',
    '  - {rule: "rows >= 9", severity: warn}',
]
FORMATS = ("--junit", "--sarif", "--markdown")


class Files:
    """The three files, and what they say."""

    def __init__(self, folder: Path) -> None:
        self.junit, self.sarif, self.markdown = (folder / name for name in ("ci.xml", "ci.sarif", "ci.md"))

    @property
    def words(self) -> list[object]:
        """The options."""
        return ["--junit", self.junit, "--sarif", self.sarif, "--markdown", self.markdown]

    @property
    def cases(self) -> Counter[str]:
        """What became of the cases."""
        root = ElementTree.parse(self.junit).getroot()
        refuse_invalid(root)
        return Counter(outcome_of(case) for case in root.iter("testcase"))

    @property
    def run(self) -> dict[str, Any]:
        """The run of the SARIF report."""
        text = self.sarif.read_text(encoding="utf-8")
        Sarif.model_validate_json(text)
        return dict(json.loads(text)["runs"][0])


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return write(tmp_path / "rules.yaml", RULES)


def test_a_check(holdfast: Holdfast, people: Path, rules: Path, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(people.parent)
    ran = holdfast("check", "people.csv", "--rules", rules.name, *files.words)
    assert (ran.code, ran.out) == (1, holdfast("check", "people.csv", "--rules", rules.name).out)
    assert files.cases == {"failure": 1, "skipped": 1, "passed": 1}
    (first, second) = sorted(files.run["results"], key=lambda each: str(each["level"]))
    assert (first["ruleId"], first["message"]["text"]) == ("people/scores", "scores: row 0: score 1.5 is below 2")
    place = first["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("rules.yaml", 2)
    row = first["relatedLocations"][0]["physicalLocation"]
    assert (row["artifactLocation"]["uri"], row["region"]["startLine"]) == ("people.csv", 2)
    assert second["message"]["text"] == "rows >= 9 is violated"
    assert "**Failed:** `scores has 1 violation`" in files.markdown.read_text(encoding="utf-8")


def test_a_check_of_what_holds(holdfast: Holdfast, people: Path, files: Files) -> None:
    ran = holdfast("check", people, "--rule", "key(id)", *files.words, "--format", "json")
    assert ran.code == 0
    assert [line["violations"] for line in ran.objects] == [0]
    assert files.cases == {"passed": 1}
    assert files.run["results"] == []
    assert "people: The rule holds" in files.markdown.read_text(encoding="utf-8")


def test_batches(holdfast: Holdfast, people: Path, rules: Path, files: Files) -> None:
    state = people.with_name("state")
    assert holdfast("init", state, people, "--rules", rules, "--key", "id").code == 0
    quiet = write(people.with_name("quiet.csv"), [HEADER, "4,Di,3.5,2024-01-03"])
    loud = write(people.with_name("loud.csv"), [HEADER, "5,Ed,9,2024-01-03", "6,Flo,0.5,2024-01-03"])
    assert holdfast("apply", state, "--insert", quiet, *files.words).code == 0
    assert files.cases == {"passed": 3}
    ran = holdfast("apply", state, "--insert", loud, "--batch-id", "b", *files.words)
    assert ran.code == 1
    assert files.cases == {"failure": 1, "passed": 2}
    (result,) = files.run["results"]
    assert result["message"]["text"] == "scores: id 6: score 0.5 is below 2"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    for line in ran.out.splitlines()[:3]:  # the verdict, what failed, and the row
        assert line.removeprefix("Failed: ").strip() in files.markdown.read_text(encoding="utf-8")
    assert holdfast("apply", state, "--insert", loud, "--batch-id", "b", *files.words).code == 0
    assert files.cases == {"skipped": 3}
    written = files.markdown.read_text(encoding="utf-8")
    assert written.count("### Holdfast: passed") == 2
    assert written.count("### Holdfast: failed") == 1


@pytest.mark.parametrize("fail_on", ["given", "likely", "any", "never", "0.7"])
def test_a_batch_fails_where_its_report_does(holdfast: Holdfast, tmp_path: Path, files: Files, fail_on: str) -> None:
    """Whichever rules count: given ones, suggested ones that warn, and found ones that break."""
    write_files(tmp_path)
    state, rules = tmp_path / "state", write(tmp_path / "rules.yaml", ["rules:", '  - {rule: "key(customer)"}'])
    watch = ["--watch", "fd", "--max-lhs", "1", "--rules", rules]
    assert holdfast("init", state, tmp_path / "customers.csv", *watch).code == 0
    for day in ("monday", "tuesday", "monday"):
        ran = holdfast("apply", state, "--insert", tmp_path / f"{day}.csv", "--fail-on", fail_on, *files.words)
        assert ran.code == bool(files.cases["failure"]), ran.out
    assert ran.code == (fail_on != "never")  # the customers of Monday are there twice


def test_too_many_bad_rows_are_a_failure(holdfast: Holdfast, state: Path, files: Files) -> None:
    bad = write(state.with_name("bad.csv"), [HEADER, "8,Di,3.5,2024-01-03", "9,Di"])
    ran = holdfast("apply", state, "--insert", bad, "--quarantine", state.with_name("aside"), *files.words)
    assert ran.code == 1
    assert files.cases["failure"] == 1
    assert "were set aside" in files.markdown.read_text(encoding="utf-8")


def test_input_that_is_refused_is_an_error(holdfast: Holdfast, people: Path, state: Path, files: Files) -> None:
    for words in (["check", "none.csv", "--rule", "key(id)"], ["apply", state, "--insert", "none.csv"]):
        ran = holdfast(*words, *files.words)
        refused(ran, "none.csv: there is no such file")
        assert files.cases == {"error": 1}
        assert files.run["invocations"][0]["executionSuccessful"] is False
        assert "none.csv: there is no such file" in files.markdown.read_text(encoding="utf-8")
    refused(holdfast("check", people, "--rule", "t.name >= 3", *files.words, "--redact"))
    assert "t.name" not in files.junit.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", FORMATS)
def test_files_that_cannot_be_written(holdfast: Holdfast, people: Path, state: Path, option: str) -> None:
    for words in (["check", people, "--rule", "key(id)"], ["apply", state, "--delete", people]):
        refused(holdfast(*words, option, people.parent), "this is a folder")
        refused(holdfast(*words, option, people.parent / "none" / "x"), "there is no folder")
        refused(holdfast(*words, option, state / "segments" / "x"), "belongs to the state")
    assert holdfast("status", state).code == 0


@pytest.mark.parametrize("option", FORMATS[:2])
def test_another_file_is_never_overwritten(holdfast: Holdfast, people: Path, option: str) -> None:
    content = people.read_bytes()
    refused(holdfast("check", people, "--rule", "key(id)", option, people), "already there", "of ours")
    assert people.read_bytes() == content


def test_no_earlier_report_is_left_where_words_are_refused(holdfast: Holdfast, state: Path, files: Files) -> None:
    more = write(state.with_name("more.csv"), [HEADER, "5,Ed,9,2024-01-03"])
    assert holdfast("apply", state, "--insert", more, *files.words).code == 0
    assert files.junit.exists()
    refused(holdfast("apply", state, "--insert", more, *files.words, "--fail-on", "sometimes"), "sometimes")
    assert not files.junit.exists()
    assert not files.sarif.exists()
    assert files.markdown.exists()


def test_markdown_is_added_to_what_is_there(holdfast: Holdfast, people: Path, files: Files) -> None:
    files.markdown.write_text("# Mine\n\n", encoding="utf-8")
    holdfast("check", people, "--rule", "key(id)", "--markdown", files.markdown)
    assert files.markdown.read_text(encoding="utf-8").startswith("# Mine\n\n### Holdfast: passed\n")


def test_redacted(holdfast: Holdfast, people: Path, files: Files) -> None:
    holdfast("check", people, "--rule", "t.score >= 2", "--rule", "t.name != 'Ann'", *files.words, "--redact")
    written = "".join(path.read_text(encoding="utf-8") for path in (files.junit, files.sarif, files.markdown))
    assert "Ann" not in written
    assert "t.name != …" in written
    assert "row 0" in written
    assert "1.5" not in written


def test_sensitive_values_are_in_no_file(holdfast: Holdfast, people: Path, rules: Path, files: Files) -> None:
    state = people.with_name("state")
    assert holdfast("init", state, people, "--rules", rules, "--key", "id", "--sensitive", "score").code == 0
    loud = write(people.with_name("loud.csv"), [HEADER, "5,Ed,0.125,2024-01-03"])
    odd = write(people.with_name("odd.csv"), [HEADER, "7,Ed,secretscore,2024-01-03"])
    assert "0.125" in holdfast("apply", state, "--insert", loud, *files.words).out
    refused(holdfast("apply", state, "--insert", odd, *files.words), "secretscore")
    assert files.cases == {"error": 1}
    for path in (files.junit, files.sarif, files.markdown):
        assert not {"0.125", "secretscore"} & set(path.read_text(encoding="utf-8").replace("'", " ").split())


def test_redact_alone_is_refused(holdfast: Holdfast, people: Path) -> None:
    refused(holdfast("check", people, "--rule", "key(id)", "--redact"), "--junit, --sarif and --markdown")


def test_a_batch_that_is_applied_says_so_where_its_files_fail(
    holdfast: Holdfast, state: Path, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = write(state.with_name("more.csv"), [HEADER, "5,Ed,9,2024-01-03"])

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    ran: Ran = holdfast("apply", state, "--insert", more, "--junit", files.junit)
    monkeypatch.undo()
    assert ran.code == 2
    assert "no space left" in ran.err
    assert "the batch is applied" in ran.err
