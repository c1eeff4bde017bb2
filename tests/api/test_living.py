"""Changes of rules and columns: one transaction each, idempotent by their ids, told by the history; and a process that
dies at any moment leaves the state before one or the state after it.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.rules.file import Rules, rules_of
from holdfast.store.store import Store
from holdfast.table import files
from tests.laws.living import equals_one_made_anew, told

ORDERS = pa.table({"id": [1, 2, 3, 4], "cust": [1, 1, 2, 3], "zip": ["a", "a", "b", "b"], "city": ["x", "x", "y", "z"]})
CUSTOMERS = pa.table({"id": [1, 2], "name": ["one", "two"]})
KINDS = pa.table({"id": [1, 2], "kind": ["a", "b"]})
Step = Callable[[hf.Monitor, str], Any]

STEPS: dict[str, Step] = {
    "rules": lambda watch, at: watch.add_rules(for_orders("zip -> city", "t.city is not null"), change_id=at),
    "reference": lambda watch, at: watch.add_rules("orders.cust in customers.id", change_id=at),
    "both": lambda watch, at: watch.apply(
        inserts={"orders": with_id(ORDERS, 9), "customers": with_id(CUSTOMERS, 3)}, batch_id=at
    ),
    "table": lambda watch, at: watch.add_table("kinds", KINDS, key="id", change_id=at),
    "watch": lambda watch, at: watch.watch("ucc", change_id=at),
    "rename": lambda watch, at: watch.rename_column("zip", "postcode", table="orders", change_id=at),
    "retype": lambda watch, at: watch.retype_column("cust", "decimal(22,2)", table="orders", change_id=at),
    "add": lambda watch, at: watch.add_column("tel", "text", table="orders", change_id=at),
    "unwatch": lambda watch, at: watch.unwatch("fd", change_id=at),
    "drop": lambda watch, at: watch.drop_column("city", table="orders", change_id=at),
    "drop table": lambda watch, at: watch.drop_table("customers", change_id=at),
}


def with_id(table: pa.Table, number: int) -> pa.Table:
    """The first row, with another key."""
    return table.slice(0, 1).set_column(0, "id", pa.array([number]))


def for_orders(*texts: str) -> Rules:
    """Rules of the table of orders."""
    given = rules_of(texts)
    return replace(given, entries=tuple(replace(each, table="orders") for each in given.entries))


def fresh(folder: Path) -> Path:
    tables = {"orders": ORDERS, "customers": CUSTOMERS}
    hf.Monitor.create(folder, tables, watch=["fd", "column"], key={"orders": "id", "customers": "id"}).close()
    return folder


class Died(BaseException):
    """Stands for `kill -9`."""


def die_at_flush(number: int, patch: pytest.MonkeyPatch) -> None:
    """Die when a file is about to reach the disk for the n-th time; a process that is dead does nothing any more."""
    flush, left = files.flush, [number]

    def counted(path: Any) -> None:
        left[0] -= 1
        if not left[0]:
            patch.setattr(files, "remove", lambda _path: None)
            patch.setattr(Store, "remove_orphans", lambda _self: None)
            raise Died
        flush(path)

    patch.setattr(files, "flush", counted)


def run(state: Path) -> None:
    with hf.Monitor.open(state) as watch:
        for name, step in STEPS.items():
            step(watch, name)


def test_a_dead_process_leaves_the_state_before_a_change_or_after_it(tmp_path: Path) -> None:
    """At each place at which a file reaches the disk; and going on gives what one without an accident has."""
    whole = fresh(tmp_path / "whole")
    run(whole)
    with hf.View.open(whole) as view:
        expected = told(view)
    base = fresh(tmp_path / "base")
    for number in range(1, 200, 3):
        state = tmp_path / "state"
        shutil.rmtree(state, ignore_errors=True)
        hf.backup(base, state)
        died = True
        with pytest.MonkeyPatch.context() as patch, suppress(Died):
            die_at_flush(number, patch)
            run(state)
            died = False
        with hf.Monitor.open(state) as watch:
            done = [batch.batch_id for batch in watch.history()]
            assert done == list(STEPS)[: len(done)]
            equals_one_made_anew(watch)
        if not died:
            assert number > len(STEPS)
            break
        run(state)
        with hf.View.open(state) as view:
            assert told(view) == expected
        left = {each.name for each in (state / "segments").iterdir()}
        store = Store(state)
        assert left == store.named(), "no files are left behind"
        store.close()
    else:
        pytest.fail("it never lived through all of it")


def test_the_figures_of_a_change_are_those_of_its_events(tmp_path: Path) -> None:
    """How many events of each kind it had, and how many in all; of a batch, what its tables and its events say."""
    state = fresh(tmp_path / "state")
    run(state)
    with hf.View.open(state) as view:
        counts, events = view.memory().counts(), view.memory().events()
        assert counts[1] == {"added": 2}
        kinds = Counter((each.seq, each.event) for each in events)
        assert kinds == {(seq, kind): rules for seq, own in counts.items() for kind, rules in own.items()}
        kept = view._store._db.execute("SELECT count(*) FROM events").fetchone()
        assert kept == (len(events),), "all of them are told"
        assert {"added", "removed"} < {kind for _, kind in kinds}
        for batch in view.history():
            own = counts.get(batch.seq, {})
            if batch.batch_id == "both":
                assert (batch.gained, batch.lost) == (own.get("gained", 0), own.get("lost", 0))
                assert [asdict(part) for part in batch.parts] == [
                    {"table": name, "inserted": 1, "deleted": 0, "ignored": 0} for name in ("orders", "customers")
                ]
                assert (batch.inserted, batch.deleted, batch.ignored) == (2, 0, 0)
            else:
                assert (batch.gained, batch.lost, batch.changed) == (0, 0, sum(own.values()))
            assert batch.seconds > 0


def test_a_change_is_made_once(tmp_path: Path) -> None:
    """The same id again changes nothing, and says so."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        first = watch.watch("ucc", change_id="monday")
        again = watch.watch("ucc", change_id="monday")
        assert not first.already_applied
        assert again.already_applied
        assert again.about == first.about
        assert "made before" in str(again)
        assert len(watch.history()) == 1
        assert watch.watch("ucc").batch is None, "nothing is left to change, and the history hears nothing of it"
        assert len(watch.history()) == 1


def test_an_order_with_its_new_customer_breaks_nothing_also_after_a_reference_was_added(tmp_path: Path) -> None:
    """Orphans are those that are there; the batch of both tables brings none, and mends one."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        added = watch.add_rules("orders.cust in customers.id")
        assert [line["violations"] for line in added.about["added"]] == [1]
        outcome = STEPS["both"](watch, "both")
        assert not outcome.broken
        assert watch.given("ref1")["violations"] == 0  # type: ignore[index]


def test_a_change_is_seen_at_once(tmp_path: Path) -> None:
    """Also by what looks at no table, and so reads nothing again from disk."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        assert watch.given("ref1") is None
        watch.add_rules("orders.cust in customers.id")
        assert watch.given("ref1") is not None
        watch.add_table("kinds", KINDS, key="id")
        assert "kinds" in repr(watch)
        watch.drop_table("customers")
        assert "customers" not in repr(watch)
        assert watch.given("ref1") is None


def test_a_reader_hears_of_a_change(tmp_path: Path) -> None:
    """A view that follows loads the state anew where its rules or columns are others."""
    state = fresh(tmp_path / "state")
    with hf.View.open(state) as view, hf.Monitor.open(state) as watch:
        watch.add_rules(for_orders("zip -> city"))
        assert view.follow()
        assert [each["name"] for each in view._given()] == ["fd1"]
        watch.rename_column("zip", "postcode", table="orders")
        assert view.follow()
        assert [each["text"] for each in view._given()] == ["postcode -> city"]
        assert not view.follow()


def test_what_is_remembered_of_a_rule_stays_with_it_under_its_new_name(tmp_path: Path) -> None:
    """Events and figures, and how it fared."""
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
        assert "broke with batch 2" in story or "got worse with batch 2" in story
        assert ("named", "orders", "postcode -> city") in watch.memory().figures()


def test_rules_that_have_no_meaning_any_more_are_told(tmp_path: Path) -> None:
    """With the column that they speak of, they go."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules(for_orders("zip -> city", "key(id)"))
        changed = watch.drop_column("city", table="orders")
        assert [line["name"] for line in changed.about["removed"]] == ["fd1"]
        assert "no meaning now" in str(changed)
        assert [entry.name for entry in watch.rules().entries] == ["key1"]


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda watch: watch.drop_column("id", table="orders"), "part of the key"),
        (lambda watch: watch.drop_column("nothing", table="orders"), "has no column 'nothing'"),
        (lambda watch: watch.rename_column("zip", "city", table="orders"), "two columns 'city'"),
        (lambda watch: watch.rename_column("zip", "", table="orders"), "an empty name"),
        (lambda watch: watch.retype_column("city", "integer", table="orders"), "can't become integer"),
        (lambda watch: watch.retype_column("city", "wide", table="orders"), "there is no type 'wide'"),
        (lambda watch: watch.remove_rules("nobody"), "there is no rule 'nobody'"),
        (lambda watch: watch.unwatch("od"), "not watched here"),
        (lambda watch: watch.watch("dc"), "given, not found"),
        (lambda watch: watch.ignore("key(id)", table="orders"), "not watched here"),
        (lambda watch: watch.promote("nonsense"), "'nonsense' is not a rule; write one such as"),
        (lambda watch: watch.drop_table("nothing"), "there is no table 'nothing'"),
    ],
)
def test_what_is_refused_changes_nothing(tmp_path: Path, act: Callable[[hf.Monitor], Any], sentence: str) -> None:
    """One sentence says why."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        with pytest.raises(hf.BadInput, match=sentence):
            act(watch)
        assert watch.history() == []
        equals_one_made_anew(watch)


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


def test_what_can_not_be_told_can_not_be_pinned(tmp_path: Path) -> None:
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


def test_no_column_changes_for_rows_that_are_refused(tmp_path: Path) -> None:
    """A key that is taken, and a type that no wider one holds."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        files = {path.name for path in (tmp_path / "state" / "segments").iterdir()}
        taken = ORDERS.slice(0, 1).append_column("tel", pa.array([5]))
        wrong = with_id(ORDERS, 9).drop_columns(["city"]).set_column(1, "cust", pa.array(["x"]))
        for rows, sentence in (
            (taken, "key that is taken"),
            (wrong, "column 'cust' is text, and integer in the table"),
        ):
            with pytest.raises(hf.BadInput, match=sentence):
                watch.apply(inserts=rows, table="orders", evolve=True)
        assert watch.tables["orders"].schema.names == ORDERS.column_names
        assert watch.history() == []
        assert {path.name for path in (tmp_path / "state" / "segments").iterdir()} == files
        watch.apply(inserts=with_id(taken, 9), table="orders", evolve=True)
        equals_one_made_anew(watch)


def test_a_rule_with_a_day_stays_where_dates_become_timestamps(tmp_path: Path) -> None:
    """It is told as edited, not as gone."""
    rows = pa.table({"id": [1, 2], "day": [date(2026, 1, 1), date(2026, 1, 2)]})
    with hf.Monitor.create(tmp_path / "state", {"t": rows}, watch=["column"], key="id") as watch:
        watch.add_rules(["max(day) <= DATE '2026-01-20'", "t.day < DATE '2026-02-01'", "t.id > 0"])
        changed = watch.retype_column("day", "timestamp")
        assert ("removed" in changed.about, len(changed.about["edited"])) == (False, 2)
        assert "row1: t.day < TIMESTAMP '2026-02-01 00:00:00+00:00': edited; 0 violations" in str(changed)
        equals_one_made_anew(watch)


def test_what_is_kept_of_rows_follows_their_columns(tmp_path: Path) -> None:
    """The key that rows are called by, too; and a new column with an old name has no old values."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules("orders.cust in customers.id")
        watch.add_rules("t.city != 'q'", table="orders")
        wrong = pa.table({"id": [7], "cust": [70], "zip": ["c"], "city": ["q"]})
        watch.apply(inserts={"orders": wrong})
        watch.apply(deletes={"orders": wrong})
        watch.rename_column("id", "no", table="orders")
        watch.rename_column("zip", "post", table="orders")
        watch.add_column("zip", "text", table="orders")
        for name, told in (("row1", "no 7 (city q)"), ("ref1", "no 7 (cust 70)")):
            assert f"because of {told}" in " ".join(watch.explain(name))
        (row,) = watch.rows([4], table="orders")
        assert row.kept is not None
        assert (row.kept.key, row.kept.values) == ({"no": 7}, {"no": 7, "cust": 70, "post": "c", "city": "q"})
        assert "batches" in watch.document()


def test_a_page_and_vacuum_know_rules_and_tables_that_left(tmp_path: Path) -> None:
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules("orders.cust in customers.id")
        watch.add_rules("key(name)", table="customers")
        watch.apply(inserts={"orders": pa.table({"id": [7], "cust": [70], "zip": ["c"], "city": ["q"]})})
        watch.apply(inserts={"customers": pa.table({"id": [8], "name": ["one"]})})
        watch.remove_rules("ref1")
        watch.vacuum()
        watch.drop_table("customers")
        watch.vacuum()
        assert "batches" in watch.document()
        watch.add_table("customers", KINDS, key="id")
        watch.apply(inserts={"customers": pa.table({"id": [8], "kind": ["a"]})})
        assert "batches" in watch.document()


def test_a_page_tells_marks_and_changes(tmp_path: Path) -> None:
    """Pinned rules that broke come first, ignored ones are left out, and changes say what they did."""
    state = tmp_path / "state"
    rows = pa.table({"id": list(range(60)), "zip": [n % 5 for n in range(60)], "city": [n % 5 for n in range(60)]})
    with hf.Monitor.create(state, {"t": rows}, watch=["fd"], key="id") as watch:
        watch.pin("city -> zip")
        watch.ignore("zip -> city")
        watch.apply(inserts=pa.table({"id": [60, 61], "zip": [1, 9], "city": [7, 1]}))
        document = watch.document()
        texts = [rule["text"] for rule in watch.rule_history() if rule["broke"]]
        assert {"zip -> city", "city -> zip"} <= set(texts)
        told = [batch.get("changed") for batch in document["batches"]]
        assert told == [["city -> zip: pinned"], ["zip -> city: ignored from now on"], None]
        marks = {int(place): detail.get("mark") for place, detail in document["rules"]["details"].items()}
        assert sorted(filter(None, marks.values())) == ["ignored", "pinned"]
        broke = [marks[place] for place in document["overview"]["broke"]]
        assert (broke[0], "ignored" in broke) == ("pinned", False)


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


def test_a_batch_of_several_tables_changes_the_columns_of_each(tmp_path: Path) -> None:
    """And a second try with another file is as if the first one had not been."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        orders = with_id(ORDERS, 9).append_column("tel", pa.array([5]))
        customers = with_id(CUSTOMERS, 9).append_column("age", pa.array([1.5]))
        watch.apply(inserts={"orders": orders, "customers": customers}, batch_id="both", evolve=True)
        assert [batch.batch_id for batch in watch.history()] == ["both:columns", "both:columns-2", "both"]
        assert watch.tables["orders"].schema.names[-1] == "tel"
        assert watch.tables["customers"].schema.names[-1] == "age"
        again = with_id(orders, 9).append_column("fax", pa.array([1]))
        with pytest.raises(hf.BadInput, match="taken"):
            watch.apply(inserts={"orders": again}, batch_id="again", evolve=True)
        watch.apply(
            inserts={"orders": with_id(again, 10).append_column("more", pa.array([1]))}, batch_id="again", evolve=True
        )
        assert [batch.batch_id for batch in watch.history()][3:] == ["again:columns", "again"]
        equals_one_made_anew(watch)


def test_tables_come_and_go(tmp_path: Path) -> None:
    """With the rules that speak of them; and one of the same name may come again."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.watch("ind")
        added = watch.add_table("kinds", KINDS, key="id")
        assert "table 'kinds': watched from now on; 2 rows, 2 columns" in str(added)
        watch.add_rules(["orders.cust in kinds.id", "kinds.id in customers.id"])
        watch.apply(inserts=pa.table({"id": [3], "kind": ["c"]}), table="kinds")
        equals_one_made_anew(watch)
        dropped = watch.drop_table("customers")
        assert [line["text"] for line in dropped.about["removed"]] == ["kinds.id in customers.id"]
        equals_one_made_anew(watch)
        watch.add_table("customers", CUSTOMERS.slice(0, 1), key="id")
        watch.apply(inserts={"customers": with_id(CUSTOMERS, 7), "orders": with_id(ORDERS, 8)})
        equals_one_made_anew(watch)
        assert watch.document()["batches"][-1]["table"] == "customers, orders"
        with pytest.raises(hf.BadInput, match="already"):
            watch.add_table("orders", ORDERS)


def test_a_stream_that_can_be_read_once_evolves_a_table_all_the_same(tmp_path: Path) -> None:
    """A table looks at the columns of a batch before it reads the rows."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        rows = with_id(ORDERS, 9).append_column("tel", pa.array([5]))
        stream = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches())
        outcome = watch.apply(inserts=stream, table="orders", evolve=True)
        assert outcome.batch.inserted == 1
        assert watch.tables["orders"].schema.names[-1] == "tel"
