"""The document of a page: it holds what the state holds, each thing in its place, and no value where it is redacted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.api.suggestions import overview
from holdfast.intake.source import ReadOptions
from holdfast.progress import SILENT
from holdfast.report.bundle import html_page
from tests.report.embedded import embedded

_EVIL = "<script>alert('x')</script>"
_RULES = [
    "zip -> city",
    "not(t.salary < s.salary and t.tax > s.tax)",
    "not(t.city = 'Atlantis')",
    "not(t.city = 'Brelin')",
]


def people(first: int, cities: list[str], taxes: list[int]) -> pa.Table:
    count = len(cities)
    return pa.table(
        {
            "id": list(range(first, first + count)),
            "zip": [10115, 20095, 30159, 10115, 20095, 30159][:count],
            "city": cities,
            "salary": [10 * (first + place) for place in range(count)],
            "tax": taxes,
            _EVIL: [f"{_EVIL}{place}" for place in range(count)],
        }
    )


START = people(1, ["Berlin", "Hamburg", "Hannover"] * 2, [1, 2, 3, 4, 5, 6])
BROKEN = people(7, ["Brelin"], [0])


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hf.Monitor]:
    """A state with three batches: one that breaks rules, one that mends them, and the first again."""
    path = tmp_path_factory.mktemp("document") / "state"
    watch = ["column", "fd", "ucc", "od"]
    with hf.Monitor.create(path, {"people": START}, watch=watch, rules=_RULES, key="id") as monitor:
        monitor.apply(inserts=BROKEN, batch_id="one")
        monitor.apply(deletes=BROKEN, batch_id="two")
        monitor.apply(inserts=BROKEN, batch_id="three")
        yield monitor


def rules_of(made: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int, int]]:
    """The rules as a reader sees them, by class and text: their places, scores and states."""
    block = made["rules"]
    names = [each.get("quoted", each["name"]) for each in made["columns"]]
    texts = block["texts"].split("\n") if block["texts"] else []
    found = {}
    for section in block["sections"]:
        for place in range(section["first"], section["first"] + section["count"]):
            text = "".join(
                names[ord(letter) - 0xE000] if 0xE000 <= ord(letter) <= 0xF8FF else letter for letter in texts[place]
            )
            found[section["kind"], text] = (place, block["scores"][place], block["states"][place])
    return found


def detail(made: dict[str, Any], kind: str, text: str) -> dict[str, Any]:
    place, _, _ = rules_of(made)[kind, text]
    shown: dict[str, Any] = made["rules"]["details"][str(place)]
    return shown


def test_it_lists_what_holds_and_what_broke(state: hf.Monitor) -> None:
    made = state.document()
    shown = rules_of(made)
    for kind in ("fd", "ucc", "od"):
        held = {text for (own, text), (_, _, how) in shown.items() if own == kind and how == 0}
        assert held == {rule.text for rule in state.results(kind)}
    assert shown["fd", "zip -> city"][2] == 2
    assert shown["named", "zip -> city"][2] == 1
    assert shown["dc", "not(t.city = 'Atlantis')"][2] == 0
    assert made["overview"]["sentence"].startswith("3 of your 4 rules are violated.")
    assert "Batch 3, the last, broke" in made["overview"]["sentence"]


def test_a_rule_has_its_track_record_and_reasons(state: hf.Monitor) -> None:
    shown = detail(made := state.document(), "named", "zip -> city")
    assert (shown["violations"], shown["broke"], shown["since"]) == (1, 2, None)
    assert shown["says"] == "Rows that share zip share city."
    pair = shown["pairs"][0]
    assert pair["sentence"] == "Both have zip 10115; city Brelin of id 7 differs from city Berlin of id 1."
    assert pair["marked"] == ["city"]
    assert {row["name"] for row in pair["rows"]} <= {"id 1", "id 4", "id 7"}
    assert shown["worklist"]["sentence"] == "Remove this row, and it holds."
    assert [row["name"] for row in shown["worklist"]["rows"]] == ["id 7"]
    assert "GROUP BY" in shown["copy"]["sql"]
    assert "rule: zip -> city" in shown["copy"]["rule"]
    strip = made["strips"][shown["strip"]]
    assert strip.count("#/batch/") == 3
    assert made["strips"][0].count("#/batch/") == 1
    assert "<svg" in shown["line"]


def test_deleted_rows_are_shown_with_the_values_they_had(state: hf.Monitor) -> None:
    shown = detail(state.document(), "od", "{}: salary ~ tax")
    first = shown["pairs"][-1]
    assert first["batch"] == 1
    assert [row["alive"] for row in first["rows"]].count(False) == 1
    assert first["sentence"].startswith("A swap: salary ")
    assert re.search(r"tax \d+ of id \d is above tax 0 of id \d\.$", first["sentence"])


def test_batches_tell_what_they_did(state: hf.Monitor) -> None:
    made = state.document()
    one, two, three = made["batches"]
    assert [each["id"] for each in (one, two, three)] == ["one", "two", "three"]
    assert [each["rows"] for each in (one, two, three)] == [7, 6, 7]
    assert one["lost"] > 2
    assert (two["lost"], two["gained"] > 2) == (0, True)
    places = {place for event, place, *_ in one["events"] if event == "lost"}
    assert rules_of(made)["named", "zip -> city"][0] in places
    assert sum(one[kind] for kind in ("lost", "worse", "gained", "implied", "untested")) == len(one["events"])


def test_columns_tell_how_they_look(state: hf.Monitor) -> None:
    made = state.document()
    zip_code = next(each for each in made["columns"] if each["name"] == "zip")
    assert (zip_code["nulls"], zip_code["distinct"], zip_code["min"], zip_code["max"]) == (0, 3, "10115", "30159")
    assert zip_code["frequent"][0] == ("10115", 3)


def test_rows_to_look_at_first_break_what_was_given(state: hf.Monitor) -> None:
    first = state.document()["overview"]["look_at"][0]
    assert first["name"] == "id 7"
    assert first["marked"]


def test_a_redacted_document_has_no_values(state: hf.Monitor) -> None:
    made = state.document(redact=True)
    written = json.dumps(made)
    for value in ("Berlin", "Brelin", "Hamburg", "Atlantis", "10115", "20095"):
        assert value not in written
    assert "alert('x')</script>0" not in written
    shown = detail(made, "named", "zip -> city")
    assert re.fullmatch(
        r"Both have zip #\w+; city #\w+ of row \d differs from city #\w+ of row \d\.", shown["pairs"][0]["sentence"]
    )
    assert made["redacted"]


def test_markup_in_names_and_values_stays_text(state: hf.Monitor) -> None:
    page = html_page(state.document())
    assert _EVIL not in page
    made = state.document()
    drawn = [*made["strips"], *(each["distribution"] for each in made["columns"])]
    assert not any(_EVIL in picture for picture in drawn)


def test_a_page_without_room_says_what_it_left_out(state: hf.Monitor) -> None:
    made = state.document(most=3)
    assert len(made["rules"]["texts"].split("\n")) == 3
    assert "the page leaves out" in made["rules"]["left_out"]
    assert made["rules"]["left_out"] in made["notes"]


def test_a_single_look_at_what_holds(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = hf.discover({"people": START}, "fd,ucc", html=page)
    made = embedded(page)
    shown = rules_of(made)
    assert {text for _, text in shown} == {rule.text for rule in found}
    assert all(state == 0 for _, _, state in shown.values())
    assert not made["state"]
    assert made["batches"] == []


def test_a_single_look_at_what_is_likely(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    cities = ["Berlin", "Hamburg", "Hannover"] * 20
    table = pa.table({"zip": [1, 2, 3] * 20, "city": [*cities[:-1], "Hanover"]})
    suggestions, _ = overview({"towns": table}, {}, "equal", ReadOptions(), SILENT, page, False)
    shown = rules_of(embedded(page))
    assert {text for _, text in shown} == {each.text for each in suggestions}
    rule = detail(embedded(page), "fd", "zip -> city")
    assert rule["worklist"]["sentence"] == "Remove this row, and it holds."
    assert rule["worklist"]["rows"][0]["values"][:2] == ["3", "Hanover"]


def test_foreign_keys_are_drawn(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    orders = pa.table({"no": [1, 2, 3], "cust": [1, 1, 2]})
    hf.discover({"orders": orders, "customers": pa.table({"id": [1, 2, 3, 4, 5]})}, "ind", html=page)
    made = embedded(page)
    assert made["references"][0]["sentence"] == "Every orders.cust is a customers.id."
    assert made["picture"].startswith("<svg")


def test_a_batch_of_several_tables_is_one_batch_and_counts_for_each_of_them(tmp_path: Path) -> None:
    def rows(*numbers: int) -> pa.Table:
        return pa.table({"n": list(numbers)})

    with hf.Monitor.create(tmp_path / "s", {"one": rows(1, 2), "two": rows(1)}, watch=["column", "ind"]) as monitor:
        monitor.apply(inserts=rows(3), table="one")
        outcome = monitor.apply(inserts={"one": rows(4, 5), "two": rows(7)}, deletes={"two": rows(1)})
        made = monitor.document()
        assert "<h3>Batch 2 on one, two: 3 rows inserted, 1 deleted. 1 found rule broke.</h3>" in outcome._repr_html_()
    shown = [(each["seq"], each["table"], each["inserted"], each["deleted"], each["rows"]) for each in made["batches"]]
    assert shown == [(1, "one", 1, 0, 3), (2, "one, two", 3, 1, 5 + 1)]
    assert [_most(table["rows_line"]) for table in made["tables"]] == ["at most 5", "at most 1"]


def _most(drawn: str) -> str:
    """The most rows in a line over time."""
    return drawn[drawn.index("at most") :].partition("<")[0]
