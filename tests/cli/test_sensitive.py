"""Columns are declared sensitive: at the start, and later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Holdfast, refused, write
from tests.report.embedded import embedded

ROWS = ["id,mail,zip", "1,ann@example.org,10115", "2,bob@example.org,20095"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write(tmp_path / "people.csv", ROWS)


def test_a_page_has_none_of_their_values(holdfast: Holdfast, tmp_path: Path, people: Path) -> None:
    state, page = tmp_path / "state", tmp_path / "page.html"
    assert holdfast("init", state, people, "--sensitive", "mail").code == 0
    assert holdfast("report", state, "--html", page).code == 0
    assert "example.org" not in json.dumps(embedded(page))
    assert "10115" in json.dumps(embedded(page))
    listed = {line["column"]: line["about"] for line in holdfast("columns", state, "show", "--format", "json").objects}
    assert listed == {"id": "", "mail": "sensitive", "zip": ""}


def test_they_are_declared_later_and_taken_back(holdfast: Holdfast, tmp_path: Path, people: Path) -> None:
    state, page = tmp_path / "state", tmp_path / "page.html"
    holdfast("init", state, people)
    done = holdfast("columns", state, "sensitive", "mail", "zip")
    assert done.out.splitlines()[1:] == [
        "  column 'mail' is sensitive from now on",
        "  column 'zip' is sensitive from now on",
    ]
    holdfast("columns", state, "sensitive", "zip", "--undo")
    holdfast("columns", state, "rename", "mail", "address")
    holdfast("report", state, "--html", page)
    assert "example.org" not in json.dumps(embedded(page))
    assert "10115" in json.dumps(embedded(page))
    refused(holdfast("columns", state, "sensitive", "mial"), "'mial' is no column of people")


def test_of_several_tables_they_are_named_with_theirs(holdfast: Holdfast, tmp_path: Path, people: Path) -> None:
    tables = [people, f"others={people}"]
    refused(holdfast("init", tmp_path / "s", *tables, "--sensitive", "mail"), "--sensitive mail: name the table")
    assert (
        holdfast("init", tmp_path / "s", *tables, "--sensitive", "people:mail", "--sensitive", "others:zip").code == 0
    )
    listed = holdfast("columns", tmp_path / "s", "show", "--format", "json").objects
    found = [(line["table"], line["column"]) for line in listed if line["about"] == "sensitive"]
    assert found == [("people", "mail"), ("others", "zip")]
