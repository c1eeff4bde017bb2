"""Rules are added, removed, promoted, pinned and ignored, and classes watched, in a state that goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from tests.api.orders import ORDERS, STEPS, for_orders, fresh


def test_what_is_remembered_of_a_rule_stays_with_it_under_its_new_name(tmp_path: Path) -> None:
    """Its events, figures and track record."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules(for_orders("zip -> city"))
        watch.apply(inserts={"orders": pa.table({"id": [5], "cust": [1], "zip": ["a"], "city": ["q"]})})
        before = watch.given("fd1")
        watch.rename_column("zip", "postcode", table="orders")
        after = watch.given("fd1")
        assert before is not None
        assert after is not None
        assert (after["tested_since"], after["broke_since"]) == (before["tested_since"], before["broke_since"])
        story = "\n".join(watch.explain("fd1"))
        assert "broke with batch 1" in story or "got worse with batch 1" in story
        assert ("named", "orders", "postcode -> city") in watch.memory().figures()


def test_rules_that_have_no_meaning_any_more_are_reported(tmp_path: Path) -> None:
    """With the column that they speak of, they go."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules(for_orders("zip -> city", "key(id)"))
        changed = watch.drop_column("city", table="orders")
        assert [line["name"] for line in changed.about["removed"]] == ["fd1"]
        assert "no meaning now" in str(changed)
        assert [entry.name for entry in watch.rules().entries] == ["key1"]


def test_a_rule_is_removed_by_its_text_in_whatever_order_its_columns_stand(tmp_path: Path) -> None:
    """Also where several tables are watched."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules(["zip, cust -> city", "key(id)"], table="orders")
        removed = watch.remove_rules("cust, zip -> city")
        assert [line["name"] for line in removed.about["removed"]] == ["fd1"]


def test_a_rule_file_removes_the_rules_of_its_own_tables(tmp_path: Path) -> None:
    """Also where another table has a rule with the same text."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules("rows >= 1", table="orders")
        watch.add_rules("rows >= 1", table="customers")
        file = tmp_path / "rules.yaml"
        file.write_text('rules: [{table: orders, rule: "rows >= 1"}]')
        assert [line["table"] for line in watch.remove_rules(file).about["removed"]] == ["orders"]
        with pytest.raises(hf.BadInput, match="there is no rule 'rows >= 1'"):
            watch.remove_rules(file)


def test_a_table_chooses_among_rules_with_the_same_text(tmp_path: Path) -> None:
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules("rows >= 1", table="orders")
        watch.add_rules("rows >= 1", table="customers")
        for table in ("orders", "customers"):
            assert watch.explanation("rows >= 1", table=table).to_json()["table"] == table


def test_only_rules_that_can_be_listed_can_be_pinned(tmp_path: Path) -> None:
    """A rule that does not hold, or that follows from a shorter one; what is pinned may break, and stays so."""
    rows = pa.table({"id": list(range(60)), "zip": [n % 5 for n in range(60)], "city": [n % 5 for n in range(60)]})
    with hf.Monitor.create(tmp_path / "state", {"t": rows}, watch=["fd", "od"], key="id") as watch:
        for rule in ("zip -> id", "id, zip -> city", "{id, zip}: [] -> city"):
            with pytest.raises(hf.BadInput, match="promote it, or pin one that is found"):
                watch.pin(rule)
        watch.pin("zip -> city")
        watch.apply(inserts=pa.table({"id": [60], "zip": [1], "city": [7]}))
        assert watch.pin("zip -> city").batch is None


def test_a_rule_that_is_given_has_no_mark(tmp_path: Path) -> None:
    rows = pa.table({"id": list(range(60)), "zip": [n % 5 for n in range(60)], "city": [n % 5 for n in range(60)]})
    with hf.Monitor.create(tmp_path / "state", {"t": rows}, watch=["fd"], key="id") as watch:
        watch.ignore("zip -> city")
        promoted = watch.promote("zip -> city")
        assert [line["text"] for line in promoted.about["unmarked"]] == ["zip -> city"]
        assert not watch.marks().ignored


def test_a_page_shows_pinned_and_ignored_rules_and_changes(tmp_path: Path) -> None:
    """Pinned rules that broke are given, and come first; ignored ones are left out; changes say what they did."""
    state = tmp_path / "state"
    rows = pa.table({"id": list(range(60)), "zip": [n % 5 for n in range(60)], "city": [n % 5 for n in range(60)]})
    with hf.Monitor.create(state, {"t": rows}, watch=["fd"], key="id") as watch:
        watch.pin("city -> zip")
        watch.ignore("zip -> city")
        watch.apply(inserts=pa.table({"id": [60, 61], "zip": [1, 9], "city": [7, 1]}))
        document = watch.document()
        texts = [rule["text"] for rule in watch.rule_history() if rule["broke"]]
        assert {"zip -> city", "city -> zip"} <= set(texts)
        changes = [batch.get("changed") for batch in document["batches"]]
        assert changes == [
            ["city -> zip: pinned"],
            ["zip -> city: ignored from now on"],
            None,
            ["fd1: city -> zip: now given; 1 violation"],
        ]
        marks = {int(place): detail.get("mark") for place, detail in document["rules"]["details"].items()}
        assert sorted(filter(None, marks.values())) == ["ignored", "pinned"]
        broke = [marks[place] for place in document["overview"]["broke"]]
        assert (broke[0], "ignored" in broke) == (None, False), "what was pinned is given now"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"error": 0.1}, "would change as well"),
        ({"pair_limit": 3}, "does not concern ucc"),
        ({"eror": 1}, "no setting"),
    ],
)
def test_settings_of_one_class_leave_others_as_they_are(tmp_path: Path, settings: Any, sentence: str) -> None:
    """What two classes share stays as it was for the one that is watched."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch, pytest.raises(hf.BadInput, match=sentence):
        watch.watch("ucc", **settings)


def test_a_class_says_which_settings_it_takes_over(tmp_path: Path) -> None:
    """The settings are those of the state, so what was said of one class holds for the next that has the setting."""
    with hf.Monitor.create(tmp_path / "state", ORDERS, watch="fd", error=0.1, max_lhs=2) as watch:
        made = watch.watch("ucc")
        assert "ucc: watched from now on, with error 0.1, max_lhs 2; " in str(made)
        assert made.about["watched"][0]["settings"] == {"error": 0.1, "max_lhs": 2}
        assert str(watch.watch("column")).splitlines()[1].startswith("  column: watched from now on; ")


def test_after_each_change_the_open_monitor_has_what_the_disk_has(tmp_path: Path) -> None:
    """After changes of rules alone it goes on with what is in memory, and reads nothing again."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        for name, step in STEPS.items():
            step(watch, name)
            with hf.Monitor.open(tmp_path / "state", write=False) as view:
                assert [rule.to_json() for rule in watch.results()] == [rule.to_json() for rule in view.results()]
                assert watch.rules() == view.rules()
