"""Each change of rules or columns is one transaction: idempotent by its id, and listed in the history. A process
that dies at any moment leaves the state before one or the state after it.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import holdfast as hf
from holdfast.store.bulk_files import BulkFiles
from holdfast.store.store import Store
from holdfast.table import files
from tests.api.orders import KINDS, STEPS, for_orders, fresh, run
from tests.laws.living import assert_equals_fresh_state, findings


class Died(BaseException):
    """Stands for `kill -9`."""


def die_at_flush(number: int, patch: pytest.MonkeyPatch) -> None:
    """Die when a file is about to reach the disk for the n-th time; a process that is dead does nothing any more."""
    flush, left = files.flush, [number]

    def counted(path: Any) -> None:
        left[0] -= 1
        if not left[0]:
            patch.setattr(files, "remove", lambda _path: None)
            patch.setattr(BulkFiles, "remove_orphans", lambda _self: None)
            raise Died
        flush(path)

    patch.setattr(files, "flush", counted)


def test_a_dead_process_leaves_the_state_before_a_change_or_after_it(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """At any place at which a file reaches the disk; and going on gives what one without an accident has."""
    whole = fresh(tmp_path / "whole")
    run(whole)
    with hf.View.open(whole) as view:
        expected = findings(view)
    base = fresh(tmp_path / "base")
    for number in range(1, 200, 1 if pytestconfig.getoption("--everywhere") else 3):
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
            assert_equals_fresh_state(watch)
        if not died:
            assert number > len(STEPS)
            break
        run(state)
        with hf.View.open(state) as view:
            assert findings(view) == expected
        left = {each.name for each in (state / "segments").iterdir()}
        store = Store(state)
        assert left == store.bulk.named(), "no files are left behind"
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
        assert kept == (len(events),), "all of them are listed"
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
    """A view that follows loads the state again when its rules or columns changed."""
    state = fresh(tmp_path / "state")
    with hf.View.open(state) as view, hf.Monitor.open(state) as watch:
        watch.add_rules(for_orders("zip -> city"))
        assert view.follow()
        assert [each["name"] for each in view._given()] == ["fd1"]
        watch.rename_column("zip", "postcode", table="orders")
        assert view.follow()
        assert [each["text"] for each in view._given()] == ["postcode -> city"]
        assert not view.follow()


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
        (lambda watch: watch.promote("nonsense"), "'nonsense' is not a rule; the nearest kind is"),
        (lambda watch: watch.drop_table("nothing"), "there is no table 'nothing'"),
    ],
)
def test_what_is_refused_changes_nothing(tmp_path: Path, act: Callable[[hf.Monitor], Any], sentence: str) -> None:
    """One sentence says why."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        with pytest.raises(hf.BadInput, match=sentence):
            act(watch)
        assert watch.history() == []
        assert_equals_fresh_state(watch)
