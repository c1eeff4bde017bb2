"""Keep the violations true under a batch (papers: weever, sections 5.4 to 5.6), for all constraints at once.

Rows that died leave the indexes, and the pairs they were in are dropped. Rows born go into the indexes, all of them,
and then ask, sorted, as t and as s. As t they meet all rows, as s only those that were there before the batch, so a
pair of two new rows is found once. An update is a death and a birth in one batch.

Where only a count is kept, the rows that die are counted before they leave, and those born once they are in: as t and
as s, less the pairs within the batch, which both counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.denial import detect
from holdfast.denial.indexes import Index
from holdfast.denial.operands import Operands, living
from holdfast.denial.plan import Plan
from holdfast.denial.state import State
from holdfast.denial.violations import NOBODY, Delta, Pairs, no_pairs, paired, sides
from holdfast.engine import Change
from holdfast.index.boxtree import TooMany
from holdfast.kernels.boxprobe import BELOW, OLDER, OTHERS
from holdfast.table.runner import Threads
from holdfast.table.table import Table

Ids = NDArray[np.int64]


def maintain(state: State, change: Change) -> list[Delta]:
    """Bring the violations up to date with a batch, and tell what it did to those of each constraint."""
    indexes = state.ready(change.before, change.after)
    dead = _batch(state, change.after, change.dead, change.deleted if len(change.dead) else None)
    born_ids = np.arange(change.born.start, change.born.stop)
    born = _batch(state, change.after, born_ids, change.inserted if len(born_ids) else None)
    before = [violations.count for violations in state.violations]
    lost = [
        _count(state, number, dead) if violations.graph is None else 0
        for number, violations in enumerate(state.violations)
    ]
    for index in indexes if len(dead) else []:
        index.delete(dead)
    if len(born):
        _put_in(state, change.after, born)
    return [_take_in(state, number, dead, born, before[number], lost[number]) for number in range(len(state.plans))]


def _batch(state: State, table: Table, ids: Ids, codes: NDArray[np.uint32] | None) -> Operands:
    none = np.empty(0, np.uint32)
    return Operands(state.spaces, table, ids, lambda column: none if codes is None else codes[column])


def _put_in(state: State, after: Table, born: Operands) -> None:
    assert state.indexes is not None
    everything: Operands | None = None
    for number, index in enumerate(state.indexes):
        if index.is_swamped(born):
            everything = living(state.spaces, after) if everything is None else everything
            state.indexes[number] = Index(index.arrangement, state.spaces, after, everything)
        else:
            index.insert(born)


def _take_in(state: State, number: int, dead: Operands, born: Operands, before: int, lost: int) -> Delta:
    """One constraint: what the batch added and resolved."""
    plan, kept = state.plans[number], state.violations[number]
    if kept.graph is None:
        return _recount(state, number, born, before - lost)
    resolved = kept.graph.remove_rows(dead.ids)
    room = state.limit - len(kept.graph)
    added = _new_pairs(state, number, born, room)
    if added is None:
        kept.count_only(kept.count + _count(state, number, born))
        return Delta(plan.constraint, before, kept.count, None, None)
    kept.graph.add(*sides(added))
    return Delta(plan.constraint, before, kept.count, added, _in_order(resolved))


def _in_order(pairs: Pairs) -> Pairs:
    return paired(*sides(pairs)) if len(pairs) > 1 else pairs


def _recount(state: State, number: int, born: Operands, left: int) -> Delta:
    """A constraint of which only the count is kept; its pairs are listed again once they are few enough."""
    kept = state.violations[number]
    before = kept.count
    kept.count_only(left + _count(state, number, born))
    delta = Delta(kept.constraint, before, kept.count, None, None)
    if kept.count <= state.limit:
        _list_again(state, number, born.table)
    return delta


def _list_again(state: State, number: int, table: Table) -> None:
    plan, kept = state.plans[number], state.violations[number]
    rows = living(state.spaces, table)
    if plan.single:
        found = detect.single(plan, rows, state.limit)
    else:
        found = detect.pairs(plan, _index(state, number, 0), rows, state.limit, Threads())
    if found.pairs is None or found.count != kept.count:
        raise AssertionError(f"{plan.constraint.text}: {found.count} violations were found, but {kept.count} counted")
    kept.list_again(found.pairs)


def _index(state: State, number: int, role: int) -> Index:
    assert state.indexes is not None
    return state.indexes[state.serving[number][role]]


def _new_pairs(state: State, number: int, born: Operands, room: int) -> Pairs | None:
    """The pairs that rows born are in, each once; None where they are more than there is room for."""
    plan = state.plans[number]
    if not len(born):
        return no_pairs()
    if plan.single:
        ids = detect.row_ids(plan, born)
        return paired(ids, np.full(len(ids), NOBODY)) if len(ids) <= room else None
    try:
        return _probe(plan, _index(state, number, 0), _index(state, number, 1), born, room)
    except TooMany:
        return None


def _probe(plan: Plan, as_t: Index, as_s: Index, born: Operands, room: int) -> Pairs:
    if plan.symmetric:
        younger, older = as_t.probe(plan.as_t, born, OLDER, limit=room)
        return paired(older, younger) if len(older) else no_pairs()
    ts, partners = as_t.probe(plan.as_t, born, OTHERS, limit=room)
    ss, olds = as_s.probe(plan.as_s, born, BELOW, bound=int(born.ids[0]), limit=room - len(ts))
    if not len(ts) and not len(ss):
        return no_pairs()
    return paired(np.concatenate([ts, olds]), np.concatenate([partners, ss]))


def _count(state: State, number: int, batch: Operands) -> int:
    """How many violations some rows are in; all of them are in the indexes now."""
    plan = state.plans[number]
    if not len(batch):
        return 0
    if plan.single:
        return len(detect.row_ids(plan, batch))
    as_t, as_s = _index(state, number, 0), _index(state, number, 1)
    within = Index(as_t.arrangement, state.spaces, batch.table, batch).count(plan.as_t, batch)
    asked = as_t.count(plan.as_t, batch)
    if plan.symmetric:
        return asked - within // 2
    return asked + as_s.count(plan.as_s, batch) - within
