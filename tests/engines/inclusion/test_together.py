"""Batches that change several tables at once: the diff is that of the whole batch, whichever table came first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.registry import make_engine
from holdfast.rules.given import GivenRule, TableRules
from holdfast.rules.inclusion import parse
from holdfast.table.change import Batch as Changes
from holdfast.table.runner import Threads
from holdfast.table.types import Column
from tests.engines.inclusion.several import SCHEMAS, Row, Several, filled, first_rows, rows_of, texts_of, watched
from tests.engines.inclusion.test_references import GIVEN
from tests.oracle import inclusion as oracle

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
        changes = Changes([self.several.change(name, *batch[name]) for name in order])
        for change in changes:
            self.tables[change.table].follow(change, Threads())
        return self.engine.explained(self.state, self.engine.follow(self.state, changes, Threads()), changes)

    def result(self) -> dict[str, Any]:
        return dict(self.engine.result(self.state))

    def rediscovered(self) -> dict[str, Any]:
        return dict(self.engine.result(self.engine.discover(watched(self.several.tables), Threads())))


def plain(diff: Diff) -> list[Any]:
    """A diff as plain data, without its order."""
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
        assert plain(diff)[same] == plain(again)[same], "whichever table comes first"
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
        assert plain(diff) == plain(again), "whichever table comes first"
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


# ---- rows with a key, which batches update --------------------------------------------------------------------------

Schemas = dict[str, tuple[Column, ...]]
few = st.sampled_from([None, 0, 1, 2])
KEYED: Schemas = {
    "a": (Column("id", pa.int64()), Column("n", pa.int64()), Column("p", pa.int64()), Column("s", pa.string())),
    "b": (Column("id", pa.int64()), Column("m", pa.float64()), Column("t", pa.string())),
}
KEYED_TEXTS = ("a.n in b.m", "b.m in a.p", "a.p in a.n", "a(n, s) in b(m, t)", "a(n, p) in a(p, n)", "b.id in a.id")
letters = st.sampled_from([None, "x", "y"])
_VALUES = {"a": st.tuples(few, few, letters), "b": st.tuples(few, letters)}
Given = dict[int, tuple[Any, ...] | None]  # by key, what a row is now; None: it is gone
keyed_parts = st.fixed_dictionaries(
    {},
    optional={
        name: st.dictionaries(st.integers(0, 5), st.one_of(st.none(), values, values), max_size=5)
        for name, values in _VALUES.items()
    },
)


class Keyed(Together):
    """Tables that batches change, and plain dictionaries of the same rows by key."""

    def __init__(self, engine: Engine[Any, Any], rows: dict[str, Given], schemas: Schemas = KEYED) -> None:
        super().__init__(engine, Several(schemas, key=(0,)))
        self.rows: dict[str, dict[int, Row]] = {name: {} for name in schemas}
        self.put(rows)

    def put(self, batch: Mapping[str, Given]) -> Diff:
        parts = {}
        for name, given_rows in batch.items():
            old, own = self.several.rows[name], self.rows[name]
            inserts = [(key, *values) for key, values in given_rows.items() if values is not None]
            parts[name] = inserts, [place for place, row in enumerate(old) if row[0] in given_rows]
            own |= {row[0]: row for row in inserts}
            self.rows[name] = {key: row for key, row in own.items() if given_rows.get(key, ()) is not None}
        return self.apply(parts, parts)

    def orphans(self, text: str) -> set[int]:
        """The keys of the rows without a partner, by definition."""
        ind = parse(text)
        left, right = (
            [[column.name for column in KEYED[side.table]].index(name) for name in side.columns]
            for side in (ind.dependent, ind.referenced)
        )
        referenced = list(self.rows[ind.referenced.table].values())
        return oracle.orphans(self.rows[ind.dependent.table], left, referenced, right)


@settings(max_examples=80)
@given(first=keyed_parts, stream=st.lists(keyed_parts, min_size=1, max_size=4))
def test_given_references_of_rows_that_are_updated(first: dict[str, Given], stream: list[dict[str, Given]]) -> None:
    rules = tuple(GivenRule(f"r{number}", "", text) for number, text in enumerate(KEYED_TEXTS))
    kept = Keyed(make_engine("reference", given={"": TableRules(rules)}), first)
    for batch in stream:
        before, were = kept.result(), {text: kept.orphans(text) for text in KEYED_TEXTS}
        rows = {name: dict(own) for name, own in kept.rows.items()}
        diff = kept.put(batch)
        assert diff.patch(before) == kept.result() == kept.rediscovered()
        assert {text: len(each) for text, each in _orphans(kept).items()} == {
            text: len(kept.orphans(text)) for text in KEYED_TEXTS
        }
        for text in KEYED_TEXTS:
            now, table = kept.orphans(text), parse(text).dependent.table
            updated = {key for key, row in rows[table].items() if kept.rows[table].get(key, row) != row}
            new, gone, again = now - were[text], were[text] - now, now & were[text] & updated
            moved = diff.violations.get(text)
            found = (moved.new, moved.gone, moved.restated) if moved is not None else (0, 0, 0)
            assert found == (len(new), len(gone), len(again))
            _check_example(kept, table, new, None if moved is None else moved.example)


def _check_example(kept: Together, table: str, new: set[int], example: tuple[int, ...] | None) -> None:
    """Of violations that are new one is shown: a row that lives."""
    assert bool(new) == bool(example)
    if example:
        (key,) = kept.several.tables[table].values(np.array(example))["id"].to_pylist()
        assert key in new


@settings(max_examples=60)
@given(first=keyed_parts, stream=st.lists(keyed_parts, min_size=1, max_size=3), arity=st.integers(1, 3))
def test_found_dependencies_of_rows_that_are_updated(
    first: dict[str, Given], stream: list[dict[str, Given]], arity: int
) -> None:
    _follow_found(Keyed(make_engine("ind", {"max_arity": arity}), first), stream, arity)


# Two tables of which one often has all pairs of values that the other one has, so that dependencies of both columns
# hold, and break while those of one column still hold.
PAIRS: Schemas = {
    "a": (Column("id", pa.int64()), Column("n", pa.float64()), Column("s", pa.string())),
    "b": (Column("id", pa.int64()), Column("m", pa.int64()), Column("t", pa.string())),
}
_pairs = st.tuples(st.sampled_from([0, 1]), st.sampled_from(["x", "y"]))
_full: Given = dict(enumerate([(0, "x"), (0, "y"), (1, "x"), (1, "y")]))
pair_parts = st.fixed_dictionaries(
    {
        "a": st.dictionaries(st.integers(0, 3), st.one_of(st.none(), _pairs), max_size=2),
        "b": st.dictionaries(st.integers(0, 4), st.one_of(st.none(), _pairs), max_size=3),
    }
)


@settings(max_examples=60)
@given(
    first=st.dictionaries(st.integers(0, 3), _pairs, min_size=1), stream=st.lists(pair_parts, min_size=1, max_size=4)
)
def test_found_dependencies_of_pairs(first: Given, stream: list[dict[str, Given]]) -> None:
    kept = Keyed(make_engine("ind", {"max_arity": 2}), {"a": first, "b": _full}, PAIRS)
    assert "a(n, s) in b(m, t)" in kept.result()
    _follow_found(kept, stream, 2)


def _follow_found(kept: Keyed, stream: list[dict[str, Given]], arity: int) -> None:
    """What is found is what the definition says, batch by batch."""
    for batch in stream:
        before = kept.result()
        diff = kept.put(batch)
        found, tables = kept.result(), kept.several.plain()
        assert diff.patch(before) == found == kept.rediscovered()
        assert {text for text, ind in found.items() if ind.arity == 1} == texts_of(oracle.unary(tables))
        several = oracle.several(tables, "typed", arity)
        assert {text for text, ind in found.items() if ind.arity > 1} == texts_of(several)
        broken = {text for text in diff.lost if before[text].arity == 1 and not before[text].empty}
        assert broken == {text for text in diff.witnesses if before[text].arity == 1}, "what was tested has witnesses"
        _check_witnesses(kept, diff)


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


def test_witnesses_are_orphans_after_the_whole_batch(state: Path) -> None:
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
