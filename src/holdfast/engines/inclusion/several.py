"""Dependencies of several columns: exact ones (see `nary`) or, where an error is allowed, partial ones, counted here.

The **error** of `R(A1, A2) in S(B1, B2)` is the share of the distinct tuples of R without a null that S lacks. One is
reported if its error is at most the one allowed, and so is that of each of its parts: the parts are a condition, as for
exact ones, and do not follow. For the error may be less than that of a part: of the values 1 and 2 of A1 one may be
missing, half of them, and of a hundred tuples only the one that has it. (Numbers of missing values alone never fall
from a part to the whole, where no row has a null.) So the search goes level by level, from parts that hold to wholes,
and finds all that it should, in whatever order.

Each candidate keeps four numbers: how many distinct tuples and rows it has, and how many of both are missing. A batch
changes them by what it does to its own tuples alone: those of rows that came and went on either side. How many rows of
both sides have such a tuple is counted after the batch, and follows for before it.

Invariant: the numbers of each candidate are those that a count from scratch gives.
Cost: a count from scratch is one pass over the codes of both sides, and memory for the distinct tuples of R; a batch
costs a pass over the codes of both sides for each candidate between tables that it changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import Witness
from holdfast.engines.given.finder import TableFinder, WantedTuples
from holdfast.engines.inclusion import derive, nary, tuples, witness
from holdfast.engines.inclusion.state import INDState, Pairs, PartialNary, pairs_of
from holdfast.engines.inclusion.translate import Translations
from holdfast.engines.inclusion.tuples import Index, TupleCodes
from holdfast.engines.inclusion.witness import SHOWN, Orphans
from holdfast.pairs.keys import KeyTable
from holdfast.rules.inclusion import IND
from holdfast.table.change import Batch, Change
from holdfast.table.plain import plain_values
from holdfast.table.runner import Runner
from holdfast.table.table import Table

Counts = NDArray[np.int64]


def discover(state: INDState, runner: Runner) -> None:
    """Test or count all candidates."""
    if state.allows_partial:
        state.partial = _levels(state, runner, {})
    else:
        nary.discover(state, runner)


def follow(state: INDState, batch: Batch, runner: Runner) -> None:
    """Bring the candidates up to date."""
    if not state.allows_partial:
        state.broken = nary.follow(state, batch, runner)
        return
    maps = Translations(state)
    known = {each.pairs: _after(state, each, batch, maps) for each in state.partial.values()}
    state.partial = _levels(state, runner, known)


def holding(state: INDState) -> dict[str, IND]:
    """The dependencies of several columns that hold, by text."""
    return {text: each.ind(state) for text, each in (state.candidates | state.partial).items() if each.holds}


def _levels(state: INDState, runner: Runner, known: Mapping[Pairs, PartialNary]) -> dict[str, PartialNary]:
    if state.settings.max_arity < 2:
        return {}
    error = state.settings.error
    return nary.levels(state, known, lambda new: nary.answers(state, new, runner, _count_group), error)


# ---- counting from scratch ------------------------------------------------------------------------------------------


def _count_group(state: INDState, group: Sequence[Pairs], maps: Translations) -> list[PartialNary]:
    """Candidates that refer to the same columns, with their numbers."""
    _, referenced = PartialNary(group[0]).sides(state)
    index = tuples.index_of(*state.place(referenced))
    return [_counted(state, pairs, maps, index) for pairs in group]


def _counted(state: INDState, pairs: Pairs, maps: Translations, index: Index) -> PartialNary:
    held, rows = _tuples_held(state, pairs)
    return PartialNary(pairs, state.settings.error, *_numbers(rows, _are_there(state, pairs, held, maps, index)))


def _tuples_held(state: INDState, pairs: Pairs) -> tuple[TupleCodes, Counts]:
    """The distinct tuples without a null of the dependent side, and how many rows have each."""
    dependent, _ = PartialNary(pairs).sides(state)
    known, rows = KeyTable(len(dependent)), np.zeros(0, np.int64)
    for _, _, codes in tuples.pieces(*state.place(dependent)):
        numbers = known.entries_of_lanes(codes[:, (codes != 0).all(axis=0)].view(np.uint64))
        rows = np.pad(rows, (0, known.used - len(rows)))
        rows += np.bincount(numbers, minlength=known.used)
    return known.keys.view(np.int64).T, rows


def _are_there(state: INDState, pairs: Pairs, held: TupleCodes, maps: Translations, index: Index) -> NDArray[np.bool_]:
    """Which tuples of the dependent side the referenced one has."""
    over = maps.tuples(*PartialNary(pairs).sides(state), held)
    known = (over >= 0).all(axis=0)  # others have a value that the referenced side never had
    there = np.zeros(held.shape[1], np.bool_)
    there[known] = index(over[:, known])
    return there


def _numbers(rows: Counts, there: NDArray[np.bool_]) -> list[int]:
    """How many tuples and rows there are, and how many of both are missing, given the rows of each tuple."""
    missing = rows * ~there
    return [int(each) for each in (np.count_nonzero(rows), rows.sum(), np.count_nonzero(missing), missing.sum())]


# ---- after a batch --------------------------------------------------------------------------------------------------


def _after(state: INDState, candidate: PartialNary, batch: Batch, maps: Translations) -> PartialNary:
    """A candidate with its numbers after a batch."""
    dependent, referenced = candidate.sides(state)
    (table, columns), (other_table, other_columns) = state.place(dependent), state.place(referenced)
    own, other = batch.of(dependent[0].table), batch.of(referenced[0].table)
    touched = [_complete(part, columns) for part in _both(own)]
    touched += [maps.tuples(referenced, dependent, _complete(part, other_columns)) for part in _both(other)]
    together = np.concatenate([np.empty((len(columns), 0), np.int64), *touched], axis=1)
    wanted = WantedTuples(table, columns, together[:, (together >= 0).all(axis=0)])
    held = wanted.tuples
    if not held.shape[1]:
        return candidate
    over = maps.tuples(dependent, referenced, held)
    known = (over >= 0).all(axis=0)
    partners_before, partners = np.zeros((2, held.shape[1]), np.int64)
    partners_before[known], partners[known] = _rows_of(other_table, other_columns, over[:, known], other)
    rows_before, rows = _rows_of(table, columns, held, own)
    news, olds = _numbers(rows, partners > 0), _numbers(rows_before, partners_before > 0)
    before = candidate.values, candidate.rows, candidate.missing_values, candidate.missing_rows
    now = (number + new - old for number, new, old in zip(before, news, olds, strict=True))
    return PartialNary(candidate.pairs, candidate.error, *now)


def _both(change: Change | None) -> tuple[NDArray[np.unsignedinteger], ...]:
    """The rows that came and went, as codes."""
    return () if change is None else (change.inserted, change.deleted)


def _complete(codes: NDArray[np.unsignedinteger], columns: Sequence[int]) -> TupleCodes:
    """The tuples of some rows that have no null."""
    own = codes[list(columns)].astype(np.int64)
    return own[:, (own != 0).all(axis=0)]


def _rows_of(table: Table, columns: Sequence[int], held: TupleCodes, change: Change | None) -> tuple[Counts, Counts]:
    """How many rows had each of some distinct tuples before a change, and how many have it now."""
    now = np.zeros(held.shape[1], np.int64)
    for _, numbers in TableFinder(table).rows_with(columns, held):
        now += np.bincount(numbers, minlength=len(now))
    if change is None:
        return now, now
    wanted = WantedTuples(table, columns, held)
    came, went = (wanted.numbers_of(_complete(part, columns)) for part in _both(change))
    born, died = (np.bincount(each[each >= 0], minlength=len(now)) for each in (came, went))
    return now - born + died, now


# ---- what broke one -------------------------------------------------------------------------------------------------


def what_broke(state: INDState, ind: IND, touched: witness.Touched) -> Witness | None:
    """The tuples that the referenced side lacks, of the smallest part of a lost dependency that fails, or of all."""
    whole = pairs_of(witness.compared(state, ind))
    valid = derive.valid_pairs(state, state.settings.error)
    single = next((pair for pair in whole if not valid[pair]), None)
    if single is not None:
        one, other = (state.attributes[number] for number in single)
        return witness.orphans(state, one, other, touched)
    failing = (each.pairs for each in state.partial.values() if not each.holds and set(each.pairs) <= set(whole))
    return _orphans(state, min(failing, key=len, default=whole))


def _orphans(state: INDState, pairs: Pairs) -> Orphans | None:
    maps = Translations(state)
    dependent, referenced = PartialNary(pairs).sides(state)
    held, rows = _tuples_held(state, pairs)
    there = _are_there(state, pairs, held, maps, tuples.index_of(*state.place(referenced)))
    if there.all():
        return None
    table, columns = state.place(dependent)
    lost = np.flatnonzero(~there)[:SHOWN]
    ids = _first_rows(table, columns, held[:, lost])
    shown = [plain_values(table.dictionaries[c].values(codes)) for c, codes in zip(columns, held[:, lost], strict=True)]
    counted = PartialNary(pairs, state.settings.error, *_numbers(rows, there)).ind(state)
    missing = zip(map(list, zip(*shown, strict=True)), rows[lost].tolist(), strict=True)
    return Orphans.of(table, counted.dependent.columns, ids, missing, counted)


def _first_rows(table: Table, columns: Sequence[int], held: TupleCodes) -> Counts:
    """The first row of each of some distinct tuples."""
    first = np.full(held.shape[1], table.next_id, np.int64)
    for ids, numbers in TableFinder(table).rows_with(columns, held):
        np.minimum.at(first, numbers, ids)
        if (first < table.next_id).all():
            break
    return first
