"""Batches that change several tables at once: what is told is that of the whole batch, whichever table came first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.api.watched import Watched
from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.registry import ALL_TABLES, make_engine
from holdfast.progress import SILENT
from holdfast.rules.given import GivenRule, TableRules
from holdfast.rules.inclusion import parse
from holdfast.table.change import Batch as Changes
from holdfast.table.runner import Threads
from tests.engines.inclusion.several import SCHEMAS, Row, Several, filled, first_rows, rows_of, watched
from tests.engines.inclusion.test_references import GIVEN

Batch = tuple[list[Row], list[int]]  # rows to insert, and the places of rows to delete
parts = st.fixed_dictionaries(
    {}, optional={name: st.tuples(rows_of(name, 3), st.lists(st.integers(0, 9), max_size=3)) for name in SCHEMAS}
)
streams = st.lists(parts, max_size=3)


class Together:
    """An engine's state of several tables, kept up to date by batches of several of them."""

    def __init__(self, engine: Engine[Any, Any], several: Several) -> None:
        self.engine, self.several, self.tables = engine, several, watched(several.tables)
        self.state = engine.discover(self.tables, Threads())

    def apply(self, batch: Mapping[str, Batch], order: Iterable[str]) -> Diff:
        changes = [self.several.change(name, *batch[name]) for name in order]
        subject = (self.engine.declared.name, ALL_TABLES)
        all_of_it = Watched(self.tables, {subject[0]: self.engine}, {subject: self.state})
        return all_of_it.follow(Changes(changes), SILENT).get(subject, Diff())

    def result(self) -> dict[str, Any]:
        return dict(self.engine.result(self.state))

    def rediscovered(self) -> dict[str, Any]:
        return dict(self.engine.result(self.engine.discover(watched(self.several.tables), Threads())))


def told(diff: Diff) -> list[Any]:
    """All that a diff tells, in no order."""
    findings = [sorted(part, key=str) for part in (diff.gained, diff.lost, diff.changed.items())]
    return [*findings, diff.violations, diff.worth, sorted(map(str, diff.witnesses.items()))]


@settings(max_examples=40)
@given(first=first_rows, stream=streams, error=st.sampled_from([0.0, 0.4]), arity=st.integers(1, 3))
def test_found_dependencies(
    first: dict[str, list[Row]], stream: list[dict[str, Batch]], error: float, arity: int
) -> None:
    engine = make_engine("ind", {"error": error, "max_arity": arity})
    one, other = (Together(engine, filled(first)) for _ in range(2))
    for batch in stream:
        before = one.result()
        diff, again = one.apply(batch, batch), other.apply(batch, reversed(batch))
        assert diff.patch(before) == one.result() == one.rediscovered()
        assert diff.lost.keys() <= before.keys() - one.result().keys()
        same = slice(5 if arity > 1 else None)  # of what broke a wider one, another row may be found first
        assert told(diff)[same] == told(again)[same], "whichever table comes first"
        _check_witnesses(one, diff)


def _check_witnesses(kept: Together, diff: Diff) -> None:
    """Rows that broke a dependency live, and have no partner after the whole batch."""
    for text, witness in diff.witnesses.items():
        table = kept.several.tables[parse(text).dependent.table]
        assert set(witness.rows) <= set(table.living_ids().tolist())
        rule = GivenRule("r", parse(text).dependent.table, text)
        references = make_engine("reference", given={"": TableRules((rule,))})
        found = references.discover(watched(kept.several.tables), Threads())
        (listing,) = references.listings(found, watched(kept.several.tables))
        if not parse(text).dependent.columns[1:]:
            assert listing.pairs is not None
            assert set(witness.rows) <= set(listing.pairs[:, 0].tolist())


@settings(max_examples=40)
@given(first=first_rows, stream=streams)
def test_given_references(first: dict[str, list[Row]], stream: list[dict[str, Batch]]) -> None:
    engine = make_engine("reference", given={"": TableRules(tuple(GIVEN))})
    one, other = (Together(engine, filled(first)) for _ in range(2))
    for batch in stream:
        before, were = one.result(), _orphans(one)
        diff, again = one.apply(batch, batch), other.apply(batch, reversed(batch))
        assert diff.patch(before) == one.result() == one.rediscovered()
        assert told(diff) == told(again), "whichever table comes first"
        now = _orphans(one)
        for text in were:
            moved = diff.violations.get(text)
            assert (set() if moved is None else _first(moved.added)) == now[text] - were[text]
            assert (set() if moved is None else _first(moved.resolved)) == were[text] - now[text]
            assert (text in diff.changed) == (now[text] != were[text] or before[text] != one.result()[text])


def _first(pairs: Any) -> set[int]:
    return {row for row, _ in pairs.tolist()}


def _orphans(kept: Together) -> dict[str, set[int]]:
    return {
        each.rule.text: _first(each.pairs) for each in kept.engine.listings(kept.state, watched(kept.several.tables))
    }


# ---- as users hold them ---------------------------------------------------------------------------------------------

CUSTOMERS = pa.table({"id": [1, 2], "name": ["Ann", "Bob"]})
ORDERS = pa.table({"no": [10, 11], "cust": [1, 2]})
RULE = "orders.cust in customers.id"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    both = {"orders": ORDERS, "customers": CUSTOMERS}
    made = hf.Monitor.create(
        tmp_path / "s", both, watch=["column", "ind"], rules=RULE, key={"orders": "no", "customers": "id"}
    )
    made.close()
    return tmp_path / "s"


def orders(*rows: tuple[int, int]) -> pa.Table:
    return pa.table({"no": [no for no, _ in rows], "cust": [cust for _, cust in rows]})


def customers(*ids: int) -> pa.Table:
    return pa.table({"id": list(ids), "name": [f"c{number}" for number in ids]})


@pytest.mark.parametrize("first", ["orders", "customers"])
def test_an_order_with_its_new_customer_breaks_nothing(state: Path, first: str) -> None:
    new = {"orders": orders((12, 3)), "customers": customers(3)}
    with hf.Monitor.open(state) as m:
        outcome = m.apply(inserts={first: new[first], **new}, batch_id="both")
        assert outcome.batch.tables == tuple({first: None, **new})
        assert (outcome.batch.inserted, outcome.batch.lost, outcome.moved(RULE)) == (2, 0, (0, 0))
        assert not outcome.alarms("any")
        assert m.violations()[0].count == 0
        assert not [event for event in m.memory().events() if event.text == RULE]
        assert m.apply(inserts=new, batch_id="both").already_applied
    with hf.Monitor.open(state) as m:
        assert m.violations()[0].count == 0
        assert len(m.history()) == 1
    assert not hf.verify(state, deep=True).problems


def test_what_broke_is_told_by_rows_that_are_orphans_after_the_whole_batch(state: Path) -> None:
    with hf.Monitor.open(state) as m:
        outcome = m.apply(inserts={"orders": orders((12, 3), (13, 4)), "customers": customers(3)})
        assert [rule.text for rule in outcome.lost if rule.text == RULE] == [RULE]
        witness = next(outcome.witness(rule) for rule in outcome.lost if rule.text == RULE)
        assert witness is not None
        assert (witness.rows, witness.keys) == ((3,), ({"no": 13},))
        assert outcome.moved(RULE) == (1, 0)
        (event,) = [each for each in m.memory().events() if each.text == RULE and each.engine == "reference"]
        assert event.witness is not None
        assert event.witness.values == ({"no": 13, "cust": 4},)
        # The orphan gets another number and another customer who is not there, while its own one comes: still one.
        update = pa.table({"op": ["update"], "no": [13], "cust": [5]})
        for first in ("orders", "customers"):
            both = {"orders": update, "customers": pa.table({"op": ["upsert"], "id": [4], "name": ["d"]})}
            outcome = m.apply(changes={first: both[first], **both})
            assert outcome.moved(RULE) == (0, 0)
        gone = m.apply(deletes={"customers": customers(2).select(["id"]), "orders": orders((11, 2)).select(["no"])})
        assert gone.moved(RULE) == (0, 0), "an order that goes with its customer"


def test_nothing_is_half_applied(state: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "c.csv"
    wrong.write_text("id,name\nthree,Cid\n")
    with hf.Monitor.open(state) as m:
        before = files_of(state)
        with pytest.raises(hf.BadInput, match="'three' is not a whole number"):
            m.apply(inserts={"orders": orders((12, 3)), "customers": wrong}, batch_id="x")
        with pytest.raises(hf.BadInput, match="repeats a declared key"):
            m.apply(inserts={"customers": customers(3), "orders": orders((10, 3))}, batch_id="x")
        assert files_of(state) == before
        assert (m.tables["orders"].rows, m.tables["customers"].rows, m.history()) == (2, 2, [])
        assert not m.apply(inserts={"orders": orders((12, 3)), "customers": customers(3)}, batch_id="x").already_applied


def files_of(state: Path) -> set[str]:
    return {path.name for path in (state / "segments").iterdir()}
