"""Dependencies of several columns: `R(A1, A2) in S(B1, B2)`, from the valid ones of fewer columns.

A candidate has all its parts valid (as in MIND: level by level), from the pairs of single columns on. Within one table
a pair may be trivial, `C in C`, but not all of them are: `t(tenant, parent) in t(tenant, id)`. The rows of a candidate
are the complete ones: those of R without a null in their columns. That makes a whole possible that holds where a part
does not (the rows that break the part have a null elsewhere); finding such wholes needs a test of every choice of
columns, so they are not reported. What is reported does not depend on the order of the search: all that holds, has at
most `max_arity` columns, and has no part that does not hold or has no values. A whole without a complete row is
`empty`, like a column without values. A valid candidate can break by a row born in R or one that died in S, and only
those rows are tested. An invalid one keeps a **witness**, a living row of R whose tuple S lacks, and can become valid
only when the witness dies or a row born in S has its tuple: then another witness is looked for, first in a sample. So a
batch tests only the candidates that it touches, and most of them against their witness alone. Empty parts take no part.
Where an error is allowed, candidates are counted instead (see `several`), on the same levels.

Tuples compare exactly: codes of R's columns are translated into codes of S's.
Cost: testing some tuples is one pass over the codes of S (of R, where rows of S died); a whole test, one over both.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.given.finder import TableFinder, stretches
from holdfast.engines.inclusion import InclusionSettings, derive, tuples
from holdfast.engines.inclusion.state import Attribute, Candidate, INDState, Nary, Pairs
from holdfast.engines.inclusion.translate import Translations
from holdfast.engines.inclusion.witness import SHOWN, Orphans, attributes
from holdfast.rules.inclusion import IND
from holdfast.table.change import Batch, Change
from holdfast.table.load import open_table
from holdfast.table.plain import plain_values
from holdfast.table.runner import Runner
from holdfast.table.table import TableFiles

_SAMPLE = 256
C = TypeVar("C", bound=Candidate)


def discover(state: INDState, runner: Runner, most_shared: int | None = None) -> None:
    """Test all candidates, level by level; where `most_shared` is given, those of at most that many trivial pairs."""
    state.candidates = _levels(state, runner, {}, most_shared)


def follow(state: INDState, batch: Batch, runner: Runner) -> dict[Pairs, int]:
    """Bring the candidates up to date; gives the witnesses of those that were broken."""
    if state.settings.max_arity < 2:
        return {}
    old = {each.pairs: each for each in state.candidates.values()}
    maps, valid = Translations(state), derive.valid_pairs(state)
    left = {pairs: each for pairs, each in old.items() if all(valid[pair] for pair in pairs)}
    answered = _answered(state, left.values(), batch, maps)
    known = {pairs: _after(state, each, batch, maps, pairs in answered) for pairs, each in left.items()}
    state.candidates = _levels(state, runner, known)
    fresh = {pairs: each.witness for pairs, each in known.items() if each.witness is not None}
    return {pairs: row for pairs, row in fresh.items() if old[pairs].holds}


def _levels(
    state: INDState, runner: Runner, known: Mapping[Pairs, Nary], most_shared: int | None = None
) -> dict[str, Nary]:
    """All candidates with their witnesses, of which some may be known."""
    return levels(state, known, lambda new: answers(state, new, runner, _test_group), 0.0, most_shared)


def levels(
    state: INDState,
    known: Mapping[Pairs, C],
    test: Callable[[list[Pairs]], list[C]],
    error: float,
    most_shared: int | None = None,
) -> dict[str, C]:
    """All candidates by text, level by level, of which some may be known, and others are tested. Columns that are
    included with at most an error are the parts of the first level.
    """
    found: dict[Pairs, C] = {}
    valid = _unary_pairs(state, error)
    for arity in range(2, state.settings.max_arity + 1):
        level = [
            pairs for pairs in _joined(state, valid, arity) if most_shared is None or _shared(pairs) <= most_shared
        ]
        new = [pairs for pairs in level if pairs not in known]
        tested = {**known, **dict(zip(new, test(new), strict=True))}
        found |= {pairs: tested[pairs] for pairs in level}
        valid = [pairs for pairs in level if tested[pairs].holds]
        if not valid:
            break
    return {each.ind(state).text: each for each in found.values()}


def _unary_pairs(state: INDState, error: float) -> list[Pairs]:
    """The valid dependencies of one column each, of columns that have values; trivial ones among them."""
    given = state.clusters.values.diagonal() > 0
    return [((int(a), int(b)),) for a, b in np.argwhere(derive.valid_pairs(state, error) & given[:, None])]


def _joined(state: INDState, valid: list[Pairs], arity: int) -> Iterator[Pairs]:
    """Candidates whose every part of one column less is valid, as parts of trivial pairs alone always are.

    In a join trivial pairs come last. So a candidate's two parts that are joined both have a pair that is not trivial,
    and trivial pairs cost nothing where no other pair is valid within their table.
    """
    whole = set(valid)
    table = [attribute.table for attribute in state.attributes]
    groups: dict[Any, list[Pairs]] = {}
    with_trivial_last = (tuple(sorted(each, key=lambda pair: (pair[0] == pair[1], pair))) for each in valid)
    for pairs in sorted(with_trivial_last):
        a, b = pairs[0]
        groups.setdefault((table[a], table[b], pairs[:-1]), []).append(pairs)
    for group in groups.values():
        for left, right in itertools.combinations(group, 2):
            (a, b), (c, d) = left[-1], right[-1]
            joined = tuple(sorted((*left, (c, d))))
            if a == c or b == d or _shared(joined) == arity:
                continue
            parts = itertools.combinations(joined, arity - 1)
            if all(part in whole or _shared(part) == arity - 1 for part in parts):
                yield joined


def _shared(pairs: Pairs) -> int:
    """How many pairs are trivial: columns that both sides have."""
    return sum(a == b for a, b in pairs)


# ---- testing from scratch -------------------------------------------------------------------------------------------


_Where = tuple[tuple[str, TableFiles], ...]  # tables by their files
Look = Callable[[INDState, Sequence[Pairs], Translations], list[C]]  # what a look at some candidates gives


def answers(state: INDState, wanted: list[Pairs], runner: Runner, look: Look[C]) -> list[C]:
    """The candidates as a look at both sides shows them. Those that refer to the same columns are looked at together,
    and share the index of their tuples.
    """
    groups: dict[tuple[int, ...], list[Pairs]] = {}
    for pairs in wanted:
        groups.setdefault(tuple(b for _, b in pairs), []).append(pairs)
    if runner.is_local:
        maps = Translations(state)
        parts = [look(state, group, maps) for group in groups.values()]
    else:
        looks = partial(_look_at_files, tuple(state.attributes), state.settings, look)
        parts = runner.map(looks, [(_where(state, group), group) for group in groups.values()])
    tested = {each.pairs: each for part in parts for each in part}
    return [tested[pairs] for pairs in wanted]


def _where(state: INDState, group: list[Pairs]) -> _Where:
    names = dict.fromkeys(state.attributes[n].table for pairs in group for pair in pairs for n in pair)
    found = [(name, state.tables[name].where) for name in names]
    return tuple((name, where) for name, where in found if where is not None)


def _look_at_files(
    listed: tuple[Attribute, ...], settings: InclusionSettings, look: Look[C], task: tuple[_Where, list[Pairs]]
) -> list[C]:
    """Look at candidates with one referenced side in tables by their files."""
    files, group = task
    state = INDState({name: open_table(where) for name, where in files}, listed, {}, settings)
    return look(state, group, Translations(state))


def _test_group(state: INDState, group: Sequence[Pairs], maps: Translations) -> list[Nary]:
    """First all samples in one pass over the referenced table; the index only if some candidate got through."""
    _, referenced = Nary(group[0]).sides(state)
    index: tuples.Index | None = None
    answers = []
    for pairs, broken in zip(group, _sampled(state, group, maps), strict=True):
        if broken is None:
            index = index or tuples.index_of(*state.place(referenced))
            parts = dependent_tuples(state, Nary(pairs), maps)
            missing = (ids[~index(rows)] for ids, rows in parts)
            broken = next((int(ids[0]) for ids in missing if len(ids)), None)
        answers.append(_with_complete(state, Nary(pairs, broken)))
    return answers


def _with_complete(state: INDState, candidate: Nary) -> Nary:
    """The candidate, with a complete row if it holds and there is one."""
    if not candidate.holds:
        return candidate
    dependent, _ = candidate.sides(state)
    table, columns = state.place(dependent)
    return replace(candidate, complete=TableFinder(table).first_with_values(columns))


def _sampled(state: INDState, group: Sequence[Pairs], maps: Translations) -> list[int | None]:
    """For each candidate a row of a sample of its first rows that breaks it, or none."""
    _, referenced = Nary(group[0]).sides(state)
    none = np.empty(0, np.int64), np.empty((len(referenced), 0), np.int64)
    sampled = [next(dependent_tuples(state, Nary(pairs), maps, _SAMPLE), none) for pairs in group]
    together = np.concatenate([rows for _, rows in sampled], axis=1)
    there = tuples.present(together, *state.place(referenced))
    ends = np.cumsum([len(ids) for ids, _ in sampled])
    answers = zip(sampled, np.split(there, ends[:-1]), strict=True)
    return [None if met.all() else int(ids[np.argmin(met)]) for (ids, _), met in answers]


def dependent_tuples(
    state: INDState, candidate: Nary, maps: Translations, sample: int | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The ids of rows without a null, and their tuples as codes of the referenced columns: all in turn, or a sample."""
    dependent, referenced = candidate.sides(state)
    table, columns = state.place(dependent)
    for shard, places in stretches(table) if sample is None else tuples.samples(table, sample):
        codes = [shard.columns[column][places] for column in columns]
        full = np.logical_and.reduce([code != 0 for code in codes])
        if not full.all():
            places, codes = places[full], [code[full] for code in codes]
        rows = maps.tuples(dependent, referenced, codes)
        if rows.size:
            yield shard.ids_of(places), rows


# ---- after a batch --------------------------------------------------------------------------------------------------


def _after(state: INDState, candidate: Nary, batch: Batch, maps: Translations, answered: bool) -> Nary:
    dependent, referenced = candidate.sides(state)
    own, other = batch.of(dependent[0].table), batch.of(referenced[0].table)
    if own is None and other is None:
        return candidate
    if candidate.holds:
        broken = _broken_by_births(state, candidate, own, maps) if own is not None else None
        if broken is None and other is not None:
            broken = _broken_by_deaths(state, candidate, other, maps)
        if broken is not None:
            return replace(candidate, witness=broken, complete=None)
        stale = own is not None and (candidate.complete is None or candidate.complete in own.dead)
        return _with_complete(state, candidate) if stale else candidate
    if answered or _has_died(candidate.witness, own):
        return _test_group(state, [candidate.pairs], maps)[0]
    return candidate


def _has_died(row: int | None, change: Change | None) -> bool:
    return change is not None and row in change.dead


def _broken_by_births(state: INDState, candidate: Nary, change: Change, maps: Translations) -> int | None:
    """A row born whose tuple the referenced side lacks."""
    dependent, referenced = candidate.sides(state)
    codes = change.inserted[[each.column for each in dependent]]
    full = np.flatnonzero((codes != 0).all(axis=0))
    rows = maps.tuples(dependent, referenced, codes[:, full])
    absent = np.flatnonzero(~tuples.present(rows, *state.place(referenced)))
    return change.born[int(full[absent[0]])] if len(absent) else None


def _broken_by_deaths(state: INDState, candidate: Nary, change: Change, maps: Translations) -> int | None:
    """A living row that has the tuple of a row that died on the referenced side, where no other row has it."""
    dependent, referenced = candidate.sides(state)
    columns = [each.column for each in referenced]
    gone = change.deleted[columns].astype(np.int64)
    gone = gone[:, (gone != 0).all(axis=0)]
    back = maps.tuples(referenced, dependent, gone)
    carried = np.stack([state.counts(a).of(codes) > 0 for a, codes in zip(dependent, back, strict=True)]).all(axis=0)
    gone, back = gone[:, carried], back[:, carried]
    back = back[:, ~tuples.present(gone, change.after, columns)]
    ids = tuples.rows_with(back, *state.place(dependent), 1)
    return int(ids[0]) if len(ids) else None


def _answered(state: INDState, candidates: Iterable[Nary], batch: Batch, maps: Translations) -> set[Pairs]:
    """The candidates of whose witness, which lives, a row was born on the referenced side that has its tuple."""
    by_table: dict[str, list[tuple[Nary, Change]]] = {}
    for each in candidates:
        dependent, referenced = (state.attributes[number].table for number in each.pairs[0])
        change = batch.of(referenced)
        if not each.holds and change is not None and change.born and not _has_died(each.witness, batch.of(dependent)):
            by_table.setdefault(dependent, []).append((each, change))
    found = set()
    for table, some in by_table.items():
        rows, of_candidate = np.unique([each.witness for each, _ in some], return_inverse=True)
        codes = state.tables[table].codes(rows)
        found |= {
            each.pairs
            for (each, change), row in zip(some, of_candidate, strict=True)
            if _has_partner(state, each, codes[:, row], change, maps)
        }
    return found


def _has_partner(state: INDState, candidate: Nary, codes: NDArray[Any], change: Change, maps: Translations) -> bool:
    """Whether a row was born that a row with some codes refers to."""
    dependent, referenced = candidate.sides(state)
    there = np.ones(len(change.born), np.bool_)
    for a, b in zip(dependent, referenced, strict=True):
        there &= change.inserted[b.column] == maps.of(a, b, codes[[a.column]])
    return bool(there.any())


def orphan(state: INDState, ind: IND, row: int) -> Orphans:
    """What broke a dependency of several columns: a row, others with the same tuple, and how many there are."""
    table, columns = state.place(attributes(state, ind.dependent))
    codes = table.codes(np.array([row], np.int64))[columns].astype(np.int64)
    ids = tuples.rows_with(codes, table, columns)
    value = [plain_values(table.dictionaries[c].values(codes[i]))[0] for i, c in enumerate(columns)]
    counted = replace(ind, missing_values=1, missing_rows=len(ids))
    return Orphans.of(table, ind.dependent.columns, ids[:SHOWN], [(value, len(ids))], counted)
