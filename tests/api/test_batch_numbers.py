"""Batches are numbered 1, 2, 3, …, whatever changes of rules, columns and tables come between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.store.batch_numbers import BatchNumbers

FIRST = [(1, "10115", "Berlin"), (2, "20095", "Hamburg"), (3, "20095", "Hamburg")]


def rows(*values: tuple[int, str, str], city: str = "city") -> pa.Table:
    return pa.table(dict(zip(("id", "zip", city), map(list, zip(*values, strict=True)), strict=True)))


def make(path: Path) -> list[str]:
    """A state with a change before each of its three batches, and one after them; gives what each batch said first."""
    said = []
    with hf.Monitor.create(path, {"towns": rows(*FIRST)}, watch=["fd"], key="id") as watch:
        watch.watch("fd", method="counts")
        said.append(str(watch.apply(inserts=rows((4, "50667", "Bonn")))))
        watch.add_rules("zip -> city")
        said.append(str(watch.apply(inserts=rows((5, "10115", "Brelin")), deletes=rows(FIRST[2]), fail_on="never")))
        watch.rename_column("city", "town")
        said.append(str(watch.apply(inserts=rows((6, "50667", "Bom"), city="town"), fail_on="never")))
        watch.add_rules("key(zip, town)")
    return [each.splitlines()[0] for each in said]


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[hf.Monitor]:
    make(tmp_path / "s")
    with hf.Monitor.open(tmp_path / "s") as opened:
        yield opened


@given(st.lists(st.booleans(), max_size=30))
def test_numbers_count_batches(is_change: list[bool]) -> None:
    numbers = BatchNumbers([seq for seq, change in enumerate(is_change, 1) if change])
    batches = 0
    for seq, change in enumerate(is_change, 1):
        batches += not change
        assert numbers.of(seq) == batches
        assert change or numbers.seq_of(batches) == seq
    assert numbers.seq_of(batches + 1) > len(is_change), "the next batch is no entry yet"


def test_what_apply_says(tmp_path: Path) -> None:
    assert [each.split(":")[0] for each in make(tmp_path / "s")] == ["Batch 1", "Batch 2", "Batch 3"]


def test_the_history_counts_batches_and_has_the_order_of_all_entries(watch: hf.Monitor) -> None:
    found = [(each.seq, each.number, each.is_change) for each in watch.history()]
    changes = [(1, 0, True), (3, 1, True), (5, 2, True), (7, 3, True)]
    assert found == sorted([*changes, (2, 1, False), (4, 2, False), (6, 3, False)])
    assert [(each["seq"], each["batch"]) for each in map(hf.BatchRecord.to_json, watch.history())] == [
        (seq, number) for seq, number, _ in found
    ]
    assert list(map(str, watch.history()[3:6])) == [
        "batch 2 on towns: 1 row inserted, 1 deleted",
        "change of the columns of towns after batch 2",
        "batch 3 on towns: 1 row inserted, 0 deleted",
    ]
    assert "3 batches applied" in repr(watch)
    assert "3 batches applied" in str(watch._repr_html_())
    outcome = watch.apply(inserts=rows((7, "1", "Ulm"), city="town"))
    assert (outcome.batch.number, str(outcome).split(":")[0]) == (4, "Batch 4")


def test_what_is_said_of_rules(watch: hf.Monitor) -> None:
    story = "\n".join(watch.explain("zip -> town"))
    assert "It broke with batch 2 because of id 1 " in story
    assert "got worse with batch 3 because of id 4 " in story
    assert [each["batch"] for each in watch.explanation("zip -> town").to_json()["history"]] == [1, 2, 3]
    events = [(each.seq, each.batch, each.event) for each in watch.memory().events_of("named", "towns", "zip -> town")]
    assert events == [(3, 1, "added"), (4, 2, "lost"), (6, 3, "worse")]
    lines = {(line["kind"], line["text"]): line for line in watch.rule_history()}
    assert lines["fd", "zip -> town"]["last_broke"] == 2
    key = next(line for (_, text), line in lines.items() if text == "key(zip, town)")
    assert key["holds_since"] == 3
    figures = watch.memory().figures()["named", "towns", "zip -> town"]
    assert {each.batch: each.violations for each in figures} == {1: 0, 2: 1, 3: 2}


def test_agree_sets_by_number(watch: hf.Monitor) -> None:
    found = {number: watch.agree_set_change(number) for number in (1, 2, 3)}
    assert [(each.batch, str(each).split(":")[0]) for each in found.values()] == [
        (number, f"towns, batch {number}") for number in (1, 2, 3)
    ]
    assert {each.columns for each in found[3].came} == set()
    assert [each.batch for each in watch.memory().agree_sets("towns")] == [1, 2, 3]
    with pytest.raises(hf.BadInput, match=r"there is no batch 4 in .*; the last is 3"):
        watch.agree_set_change(4)


def test_rows_name_the_batches_that_brought_and_removed_them(watch: hf.Monitor) -> None:
    found = watch.rows(range(6))
    assert [each.inserted_by for each in found] == [0, 0, 0, 1, 2, 3]
    assert {each.deleted_by for each in found} <= {None, 2}


def test_the_page(watch: hf.Monitor) -> None:
    document = watch.document()
    assert [(each["batch"], "changed" in each) for each in document["batches"]] == [
        (0, True), (1, False), (1, True), (2, False), (2, True), (3, False), (3, True),
    ]  # fmt: skip
    assert "Batch 3, the last, broke nothing." in document["overview"]["sentence"]
    pairs = [pair["batch"] for each in document["rules"]["details"].values() for pair in each.get("pairs", ())]
    assert set(pairs) == {2, 3}
    linked = {int(number) for number in json.dumps(document["strips"]).split("#/batch/")[1:] for number in [number[0]]}
    assert linked <= {1, 2, 3}
    assert 2 in linked
    assert "batch 3" in json.dumps([each.get("line", "") for each in document["rules"]["details"].values()])


def test_a_promoted_rule_names_the_batch_that_broke_it(tmp_path: Path) -> None:
    many = rows(*((number, str(number % 50), f"town{number % 50}") for number in range(3000)))
    with hf.Monitor.create(tmp_path / "s", {"towns": many}, watch=["fd"], key="id") as watch:
        watch.add_rules("t.id >= 0")
        watch.apply(inserts=rows((5000, "1", "town1")))
        watch.add_rules("t.zip is not null")
        watch.apply(inserts=rows((5001, "1", "Ulm")))
        assert any(entry.note.endswith("batch 2 broke it") for entry in watch.rules().entries)
        copied = watch.apply(inserts=rows((5002, "1", "Ulm")))
        assert "like those of batch 2" in str(copied)
