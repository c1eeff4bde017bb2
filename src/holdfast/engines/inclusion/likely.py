"""Likely foreign keys among several tables: references that hold, or nearly, and look as if they were meant.

The score is that of `rank`, moved into the frame of all classes: a reference just good enough to be drawn scores
LIKELY, one for which every reason speaks scores 1. Two things differ from the rank of what holds, as data are dirty: a
column may lack a partner in one row of twenty, and what it refers to may be a key but for one row in fifty.

Of references from the same columns one is meant, and the others follow from what tables have in common: all but the
best are worth half. Where names have nothing in common, numbers cost a fifth: those of a key are mostly counted from 1
on, and small numbers are among them by chance; a column that both sides share has no say in that. Few rows that could
have had no partner cost more the fewer they are. One of several columns must score above each of its parts. Within a
table it may share one column with itself, of two values or more: more columns are hardly ever meant, and where two
columns are equal they are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holdfast.engines.chance import of_dependency
from holdfast.engines.inclusion import InclusionSettings, derive, discover, nary, several, tuples, witness
from holdfast.engines.inclusion.rank import WORTHY, carried, proposals
from holdfast.engines.inclusion.state import INDState
from holdfast.engines.inclusion.translate import translate
from holdfast.engines.inclusion.values import NUMBER
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LEAST_OF_SEVERAL, LIKELY, ROWS_TO_REMOVE
from holdfast.engines.watched import WatchedTable
from holdfast.progress import Progress
from holdfast.rules.error_measures import g3
from holdfast.rules.inclusion import IND, Side
from holdfast.table.runner import Runner

COVERED = 0.95  # a reference may lack a partner in some rows, not in more than these leave
NEARLY_KEY = 0.98  # the share of distinct values from which on a column may be a key with errors in it
_UNLIKE = 0.8  # what a reference between numbers is worth whose names have nothing in common


def likely(subject: Mapping[str, WatchedTable], wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
    """The references that look most like foreign keys. Within one table nothing refers to another."""
    if len(subject) < 2:
        return []
    settings = InclusionSettings(max_arity=max(1, wanted.max_lhs))
    state = discover.discover(INDState.of(subject, settings, runner, progress), runner)
    nary.discover(state, runner, most_shared=1)
    state.found = {**_nearly(state), **several.holding(state)}
    proposed = [each for each in proposals(state, NEARLY_KEY) if not _shares_constant(state, each)]
    rated = _above_their_parts([(each, _score(state, each)) for each in proposed])
    scored = sorted(_best_of_each_side(rated), key=lambda each: (-each[1], each[0].text))
    return [_scored(state, ind, score) for ind, score in scored[: wanted.top] if score > 0]


def in_frame(score: float) -> float:
    """A score of `rank` in the frame of all classes."""
    if score < WORTHY:
        return score / WORTHY * LIKELY
    return LIKELY + (score - WORTHY) / (1 - WORTHY) * (1 - LIKELY)


def _score(state: INDState, ind: IND) -> float:
    assert ind.score is not None
    rows = carried(state, ind)
    numbers = all(left.kind == NUMBER for left, right in witness.compared(state, ind) if left != right)
    unlike = numbers and _names_alike(ind) == 0
    return in_frame(ind.score) * (_UNLIKE if unlike else 1.0) * rows / (rows + 1)


def _shares_constant(state: INDState, ind: IND) -> bool:
    """Whether a column that both sides share says nothing yet, as it has one value."""
    shared = [left for left, right in witness.compared(state, ind) if left == right]
    return any(len(state.counts(each).occurring()) < 2 for each in shared)


def _names_alike(ind: IND) -> float:
    """How alike names are by themselves, not because both sides share a column."""
    shared = sum(left == right for left, right in _parts(ind))
    return dict(ind.reasons)["names"] - round(shared / ind.arity, 4)


def _nearly(state: INDState) -> dict[str, IND]:
    """Dependencies of one column that hold in all rows but a few."""
    rows = state.clusters.rows
    carried = rows.diagonal()[:, None]
    return derive.chosen(state, (rows >= COVERED * carried) & (carried > 0))


def _above_their_parts(rated: list[tuple[IND, float]]) -> list[tuple[IND, float]]:
    """Without those of several columns that one of their columns is as good as."""
    single = {(ind.dependent, ind.referenced): score for ind, score in rated if ind.arity == 1}

    def stands(ind: IND, score: float) -> bool:
        parts = [single.get(pair, 0.0) for pair in _parts(ind)]
        return ind.arity == 1 or (score >= LEAST_OF_SEVERAL and score > max(parts))

    return [(ind, score) for ind, score in rated if stands(ind, score)]


def _parts(ind: IND) -> Iterator[tuple[Side, Side]]:
    for left, right in zip(ind.dependent.columns, ind.referenced.columns, strict=True):
        yield Side(ind.dependent.table, (left,)), Side(ind.referenced.table, (right,))


def _best_of_each_side(rated: list[tuple[IND, float]]) -> Iterator[tuple[IND, float]]:
    met: set[Side] = set()
    for each, score in sorted(rated, key=lambda one: (-one[1], one[0].text)):
        yield each, score / 2 if each.dependent in met else score
        met.add(each.dependent)


def _scored(state: INDState, ind: IND, score: float) -> Scored:
    support, share = carried(state, ind), g3(ind.missing_rows, state.tables[ind.table].rows)
    rows = _orphans(state, ind) if ind.missing_rows and score >= LIKELY else ()
    chance = of_dependency(support, ind.missing_rows, state.tables[ind.table].rows)
    said = _sentence(ind, support)
    return Scored(ind, ind.table, score, support, said, ind.missing_rows, share, rows, chance=chance)


def _orphans(state: INDState, ind: IND) -> tuple[int, ...]:
    """The first rows whose value of one column is missing on the other side, by id."""
    a, b = witness.bound(state, ind)
    codes = state.counts(a).occurring()
    missing = codes[state.counts(b).of(translate(state, a, b, codes)) == 0]
    rows = tuples.rows_with(missing[None, :], state.tables[a.table], [a.column], ROWS_TO_REMOVE)
    return tuple(rows[:ROWS_TO_REMOVE].tolist())


def _sentence(ind: IND, support: int) -> str:
    reasons = dict(ind.reasons)
    lacking = (
        f"{ind.missing_rows:,} of {support:,} rows of {ind.dependent.table} have no partner in {ind.referenced.table}"
        if ind.missing_rows
        else f"all {support:,} rows of {ind.dependent.table} have their partner in {ind.referenced.table}"
    )
    key = {1.0: "a key", 0.0: "no key"}.get(reasons["key"], f"a key but for {1 - reasons['key']:.1%} of its rows")
    return f"{lacking}; {ind.referenced} is {key}, names alike {reasons['names']:.0%}, in use {reasons['covered']:.0%}"
