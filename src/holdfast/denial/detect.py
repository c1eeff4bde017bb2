"""All violations of a table, from scratch, never quadratic where the answer is small.

Rows are put into an index by their equality columns and sorted by the leading other column; then all rows ask it, in
blocks of neighbours (see `holdfast.kernels.boxprobe`). Blocks whose boxes rule each other out are never compared.

Cost: O(n log n) to sort, and about O(n + violations) to ask, for equalities with up to two other predicates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.denial.indexes import Index
from holdfast.denial.model import DenialConstraint
from holdfast.denial.operands import Operands, Spaces, living
from holdfast.denial.plan import Plan, Quest, arrange, compile_constraint
from holdfast.denial.violations import LIMIT, NOBODY, Found, Pairs, no_pairs, paired
from holdfast.index.boxtree import TooMany
from holdfast.kernels.boxprobe import OTHERS, YOUNGER
from holdfast.table.images import NULL_KEY
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Table

_FEW = 8  # rows in company are worth asking alone where they are at most one in so many


def detect(
    table: Table, constraints: Sequence[DenialConstraint], runner: Runner | None = None, limit: int = LIMIT
) -> list[Found]:
    """The violations of each constraint; counts alone of one that has more than `limit`.

    A table that lies in files may be searched by a runner of tasks, in slices (see `probes`).
    """
    if runner is not None and not isinstance(runner, Threads):
        from holdfast.denial.probes import detect_in_tasks

        return detect_in_tasks(table, constraints, runner, limit)
    plans = [compile_constraint(constraint, table.schema) for constraint in constraints]
    spaces = Spaces(table.schema, plans)
    spaces.follow(table)
    return detect_in(living(spaces, table), plans, spaces, table, limit, runner)


def detect_in(
    rows: Operands, plans: Sequence[Plan], spaces: Spaces, table: Table, limit: int, threads: Threads | None
) -> list[Found]:
    """The violations among some rows. Indexes are made one after the other, each for all plans that share it."""
    made, serving = arrange([plan.as_t for plan in plans], rows.distinct)
    found: dict[int, Found] = {n: single(plan, rows, limit) for n, plan in enumerate(plans) if plan.single}
    for n, plan in enumerate(plans):
        if any(c.mine != c.theirs for c in plan.as_t.by_key):
            found[n] = _crossing(plan, rows, spaces, limit, threads)
    for number, arrangement in enumerate(made):
        mine = [n for n, place in enumerate(serving) if place == number and n not in found]
        if mine:
            alike = all(_is_alike(plans[n].as_t) for n in mine)
            index = Index(arrangement, spaces, table, rows, loners=not alike)
            asking = rows if index.company is None else _only(rows, index.company)
            listed = {n: pairs_between(plans[n], index, asking, limit, threads) for n in mine}
            found |= {n: Found(plans[n].constraint, len(p), p) for n, p in listed.items() if p is not None}
            if any(p is None for p in listed.values()):  # counting takes rows with themselves: all must be there
                index = Index(arrangement, spaces, table, rows) if alike else index
                found |= {n: _counted(plans[n], index, rows, threads) for n, p in listed.items() if p is None}
    return [found[n] for n in range(len(plans))]


def _only(rows: Operands, ids: NDArray[np.int64]) -> Operands:
    """The rows with some ids, where these are few; else all of them."""
    if len(ids) * _FEW > len(rows):
        return rows
    mask = np.zeros(len(rows), np.bool_)
    mask[np.searchsorted(rows.ids, ids)] = True
    return rows.subset(mask)


def _crossing(plan: Plan, rows: Operands, spaces: Spaces, limit: int, threads: Threads | None) -> Found:
    """The pairs of a constraint with an equality between two columns: rows whose value doesn't occur in the other
    column are left out beforehand, which often leaves few.
    """
    may_ask, may_be_found = np.ones(len(rows), np.bool_), np.ones(len(rows), np.bool_)
    for condition in plan.as_t.by_key:
        size = spaces.codes(condition.mine, rows.table)
        if condition.mine != condition.theirs and size is not None:
            mine, theirs = rows.keys(condition.mine), rows.keys(condition.theirs)
            may_ask &= _occurs(theirs, mine[may_be_found], size)
            may_be_found &= _occurs(mine, theirs[may_ask], size)
    asking, found = rows.subset(may_ask), rows.subset(may_be_found)
    (arrangement,), _ = arrange([plan.as_t], rows.distinct)
    index = Index(arrangement, spaces, rows.table, found)
    listed = pairs_between(plan, index, asking, limit, threads)
    if listed is not None:
        return Found(plan.constraint, len(listed), listed)
    count = index.count(plan.as_t, asking, threads, rows.subset(may_ask & may_be_found))
    return Found(plan.constraint, count // 2 if plan.symmetric else count, None)


def _occurs(codes: NDArray[np.int64], among: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """Which codes are not null and occur among others."""
    seen = np.zeros(size + 1, np.bool_)  # the last place is null's
    seen[np.where(among == NULL_KEY, size, among)] = True
    seen[size] = False
    return seen[np.where(codes == NULL_KEY, size, codes)]


def single(plan: Plan, rows: Operands, limit: int) -> Found:
    """The rows that violate a constraint about single rows."""
    ids = row_ids(plan, rows)
    return Found(plan.constraint, len(ids), paired(ids, np.full(len(ids), NOBODY)) if len(ids) <= limit else None)


def row_ids(plan: Plan, rows: Operands) -> NDArray[np.int64]:
    """The ids of the rows that pass a plan's checks on t."""
    mask = rows.passing(plan.checks)
    return rows.ids if mask is None else rows.ids[mask]


def pairs(plan: Plan, index: Index, rows: Operands, limit: int, threads: Threads | None) -> Found:
    """The pairs among rows that are all in an index."""
    listed = pairs_between(plan, index, rows, limit, threads)
    if listed is not None:
        return Found(plan.constraint, len(listed), listed)
    return _counted(plan, index, rows, threads)


def _counted(plan: Plan, index: Index, rows: Operands, threads: Threads | None) -> Found:
    count = index.count(plan.as_t, rows, threads)
    return Found(plan.constraint, count // 2 if plan.symmetric else count, None)


def _is_alike(quest: Quest) -> bool:
    """Whether those who ask and those found are the same rows by the same key, so that one alone finds nobody."""
    return quest.asking == quest.found and all(c.mine == c.theirs for c in quest.by_key)


def pairs_between(
    plan: Plan, index: Index, asking: Operands, limit: int, threads: Threads | None = None
) -> Pairs | None:
    """The pairs of rows that ask as t with rows in the index, each once; None where they are more than the limit."""
    partners = YOUNGER if plan.symmetric else OTHERS
    try:
        ts, ss = index.probe(plan.as_t, asking, partners, limit=limit, blocks=True, threads=threads)
    except TooMany:
        return None
    return paired(ts, ss) if len(ts) else no_pairs()
