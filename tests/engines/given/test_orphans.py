"""The laws of the keeper of references."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes
from holdfast.engines.given.keeper import NO_PAIRS, Answer, Cut, listed, merged
from holdfast.engines.inclusion.references import OrphansKeeper, OrphansState
from holdfast.engines.watched import WatchedTable
from holdfast.rules.given import GivenRule, TableRules
from holdfast.table.change import Batch, Change
from holdfast.table.rows import Rows
from holdfast.table.runner import Threads
from holdfast.table.table import Table
from tests.engines.inclusion.several import SCHEMAS, Row, Several, filled, first_rows, rows_of, watched
from tests.oracle.inclusion import same

Mask = NDArray[np.bool_]
TEXTS = ("a.n in b.m", "b.f in c.long", "a(n, s) in b(m, t)", "b(m, f) in c(k, long)")
Inserts = tuple[list[Row], list[int]]  # rows to insert, and the places of rows to delete
parts = st.fixed_dictionaries(
    {}, optional={name: st.tuples(rows_of(name, 3), st.lists(st.integers(0, 9), max_size=3)) for name in SCHEMAS}
)
_PIECES = 3


# ---- pieces ----------------------------------------------------------------------------------------------------------


def some_of(rows: Rows, mask: Mask) -> Rows:
    """The rows where a mask is true."""
    return rows.some(np.flatnonzero(mask))


def only(table: Table, ids: NDArray[np.int64]) -> Table:
    """A table as if none of its other rows had lived."""
    return table.changed([], np.setdiff1d(table.living_ids(), ids))


@dataclass(frozen=True)
class PartOfChange:
    """What a batch did to some rows of a table."""

    table: str
    after: Table
    inserted: Codes
    deleted: Codes
    come: Rows
    gone: Rows

    @staticmethod
    def of(change: Change, living: NDArray[np.int64], born: Mask, dead: Mask) -> PartOfChange:
        """With the rows that live after it, and masks of those that it brought and took."""
        codes = change.inserted[:, born], change.deleted[:, dead]
        rows = some_of(change.come, born), some_of(change.gone, dead)
        return PartOfChange(change.table, only(change.after, living), *codes, *rows)


def same_in_any_order(answers: Sequence[Answer], whole: Answer) -> None:
    """Answers of pieces add up to that of the whole, in both orders."""
    for order in (answers, answers[::-1]):
        assert plain(reduce(merged, order, [listed(NO_PAIRS, NO_PAIRS)] * len(whole))) == plain(whole)


def plain(answer: Answer) -> list[Any]:
    """All that an answer says, its violations in no order."""
    return [
        ([sorted(map(tuple, pairs.tolist())) for pairs in (each.added, each.resolved)], *each[2:]) for each in answer
    ]


# ---- the laws --------------------------------------------------------------------------------------------------------


def keeper_of(texts: Sequence[str], tables: Mapping[str, WatchedTable]) -> OrphansKeeper:
    rules = tuple(GivenRule(f"r{number}", "", text) for number, text in enumerate(texts))
    return OrphansKeeper.of({"": TableRules(rules)}, tables)


def look(
    keeper: OrphansKeeper,
    state: OrphansState,
    subject: Mapping[str, WatchedTable],
    changes: Sequence[Change | PartOfChange],
) -> Answer:
    for change in changes:
        subject[change.table].follow(change, Threads())  # type: ignore[arg-type]  # a part is like a change
    state = keeper.ready(state, Batch(changes))  # type: ignore[arg-type]
    come, gone = ({each.table: rows for each, rows in zip(changes, some, strict=True)} for some in _both(changes))
    return keeper.look(state, come, gone)[1]


def _both(changes: Sequence[Change | PartOfChange]) -> tuple[list[Any], list[Any]]:
    return [each.come for each in changes], [each.gone for each in changes]


def kept(state: OrphansState) -> list[Any]:
    return [(each.orphans.tolist(), each.support, each.rows) for each in state.references]


@settings(max_examples=30)
@given(first=first_rows)
def test_a_first_look_is_a_look_at_rows_that_are_all_born(first: dict[str, list[Row]]) -> None:
    several = Several()
    subject = watched(several.tables)
    keeper = keeper_of((*TEXTS, "a.n in a.d", "a(n, d) in a(d, n)"), subject)
    state = keeper.begin(subject, Threads())
    answer = look(keeper, state, subject, [several.change(name, rows) for name, rows in first.items()])
    begun = keeper.begin(watched(several.tables), Threads())
    assert kept(state) == kept(begun)
    assert keeper.tallies(state) == keeper.tallies(begun)
    assert [sorted(each.added[:, 0].tolist()) for each in answer] == [
        each.orphans.tolist() for each in begun.references
    ]


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=25)
@given(first=first_rows, stream=st.lists(parts, min_size=1, max_size=3))
def test_pieces_by_the_hash_of_values_add_up(
    text: str, first: dict[str, list[Row]], stream: list[dict[str, Inserts]]
) -> None:
    several = filled(first)
    subject = watched(several.tables)
    keeper = keeper_of([text], subject)
    cuts = {cut.table: cut for cut in keeper.cuts()[0]}
    assert {cut.by for cut in cuts.values()} == {"hash"}
    state = keeper.begin(subject, Threads())
    pieces = [
        watched({name: only(table, _ids_of(table, cuts.get(name), piece)) for name, table in several.tables.items()})
        for piece in range(_PIECES)
    ]
    states = [keeper.begin(piece, Threads()) for piece in pieces]
    for batch in stream:
        changes = [several.change(name, *batch[name]) for name in batch]
        whole = look(keeper, state, subject, changes)
        answers = [
            look(keeper, states[piece], pieces[piece], [_part(each, cuts.get(each.table), piece) for each in changes])
            for piece in range(_PIECES)
        ]
        same_in_any_order(answers, whole)
        (reference,) = state.references
        own = [each.references[0] for each in states]
        assert sorted(row for each in own for row in each.orphans.tolist()) == reference.orphans.tolist()
        assert sum(each.support for each in own) == reference.support
        assert sum(each.rows for each in own) == reference.rows


def _part(change: Change, cut: Cut | None, piece: int) -> PartOfChange:
    born, dead = (_in_piece(table, ids, cut, piece) for table, ids in (
        (change.after, np.asarray(change.born, np.int64)), (change.before, change.dead)
    ))  # fmt: skip
    return PartOfChange.of(change, _ids_of(change.after, cut, piece), born, dead)


def _ids_of(table: Table, cut: Cut | None, piece: int) -> NDArray[np.int64]:
    ids = table.living_ids()
    return ids[_in_piece(table, ids, cut, piece)]


def _in_piece(table: Table, ids: NDArray[np.int64], cut: Cut | None, piece: int) -> NDArray[np.bool_]:
    """Which rows lie in a piece: by the values of the columns by which their table is cut."""
    columns = cut.columns if cut is not None else ()
    values = [[row[table.schema.names[c]] for c in columns] for row in table.values(ids).to_pylist()]
    hashes = [zlib.crc32(repr([v if v is None else same(v, "typed") for v in row]).encode()) for row in values]
    return np.array([each % _PIECES == piece for each in hashes], np.bool_)


def test_a_plan_can_be_sent() -> None:
    several = filled({"a": [(1, None, "x")], "b": [(1, 1.0, "x", None)], "c": []})
    keeper = keeper_of(TEXTS, watched(several.tables))
    sent = pickle.loads(pickle.dumps(keeper))
    assert sent == keeper
    subject = watched(several.tables)
    assert kept(sent.begin(subject, Threads())) == kept(keeper.begin(subject, Threads()))
