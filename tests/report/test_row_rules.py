"""Rules about rows and tables on a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from tests.report.test_document import detail

PEOPLE = pa.table({"id": [1, 2, 3], "age": [77377, 20, None], "town": ["Rome", "Atlantis", "Bern"]})
RULES = [
    "t.age < 120",
    "t.town in ('Rome', 'Bern')",
    "t.town like 'R%' or t.age = 20 or t.town matches 'Xanadu|Bern'",
    "share(null age) <= 0.25",
    "max(age) <= 33733",
]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hf.Monitor]:
    path = tmp_path_factory.mktemp("document") / "state"
    with hf.Monitor.create(path, {"people": PEOPLE}, watch=["column"], rules=RULES, key="id") as monitor:
        monitor.apply(inserts=pa.table({"id": [4], "age": [88888], "town": ["Ur"]}))
        yield monitor


def _detail(state: hf.Monitor, place: int) -> dict[str, Any]:
    return detail(state.document(), "row" if place < 3 else "table", RULES[place])


def test_a_rule_about_a_row_tells_why(state: hf.Monitor) -> None:
    plain, listed, several = (_detail(state, place) for place in range(3))
    assert plain["says"] == "In every row t: t.age < 120."
    assert plain["pairs"][0]["sentence"] == "age 77377 is at least 120."
    assert plain["pairs"][0]["marked"] == ["age"]
    assert plain["copy"]["sql"] == 'SELECT * FROM "people" t\nWHERE NOT (t."age" < 120)'
    assert plain["worklist"]["sentence"] == "Remove these 2 rows, and it holds."
    assert [pair["sentence"] for pair in listed["pairs"]] == [
        "town Atlantis is not in ('Rome', 'Bern').",
        "town Ur is not in ('Rome', 'Bern').",
    ]
    assert listed["copy"]["sql"].endswith("WHERE NOT (t.\"town\" IN ('Rome', 'Bern'))")
    assert several["pairs"][0]["sentence"] == (
        "town Ur is not like 'R%', and age 88888 differs from 20, and town Ur does not match 'Xanadu|Bern'."
    )


def test_a_rule_about_a_table_tells_its_rows(state: hf.Monitor) -> None:
    greatest = _detail(state, 4)
    assert greatest["says"] == "The greatest value of age is at most 33733."
    assert greatest["evidence"] == ["Now it is 88888."]
    assert greatest["copy"]["sql"] == (
        'SELECT MAX(t."age") AS value FROM "people" t\nHAVING NOT (MAX(t."age") <= 33733)'
    )
    assert {pair["sentence"] for pair in greatest["pairs"]} == {"This row has age 77377.", "This row has age 88888."}


def test_a_redacted_rule_has_no_constants(state: hf.Monitor) -> None:
    made = state.document(redact=True)
    written = json.dumps(made)
    for value in ("77377", "33733", "Rome", "Atlantis", "Xanadu", "R%"):
        assert value not in written
