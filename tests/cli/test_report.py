"""`holdfast report` and `discover --html`: one page, and one sentence where there can be none."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Holdfast
from tests.report.embedded import embedded


def test_a_report_is_one_page(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    ran = holdfast("report", state, "--html", page)
    assert ran.code == 0
    assert "open it in a browser" in ran.out
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_discover_writes_a_page_too(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    for words in ([], ["--rules", "fd"], ["--redact"]):
        page = tmp_path / f"page{len(words)}.html"
        assert holdfast("discover", people, "--html", page, *words).code == 0
        names = [column["name"] for column in embedded(page)["columns"]]
        assert (names, embedded(page)["redacted"]) == (["id", "name", "score", "day"], "--redact" in words)


def test_a_page_that_can_not_be_written_is_refused_before_the_work(holdfast: Holdfast, state: Path) -> None:
    ran = holdfast("report", state, "--html", state / "nowhere" / "report.html")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no folder" in ran.err


def test_a_report_of_no_state_is_refused(holdfast: Holdfast, tmp_path: Path) -> None:
    ran = holdfast("report", tmp_path, "--html", tmp_path / "report.html")
    assert ran.code == 2
    assert "not a Holdfast state" in ran.err
    assert not (tmp_path / "report.html").exists()
