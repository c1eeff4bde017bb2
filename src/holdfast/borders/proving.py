"""Proof or counterexample: whether targets hold in contexts, by a look at all groups of rows that agree on each.

Contexts are proved in threads, each on a walk of its own. What fails gives the pair of rows that breaks it, and some
neighbours from the groups of its context: they agree on much, so that they mostly refute other candidates, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.evidence import Witnesses
from holdfast.borders.partitions import ColumnPartitions, Walks, sorted_by
from holdfast.borders.rows import CodedColumns, RankedColumns
from holdfast.borders.targets import Targets
from holdfast.kernels import partitions as kernels
from holdfast.kernels.swaps import ContextSpec, prove
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.keys import KeyTable
from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.table import TableFiles
from holdfast.table.threads import OnProgress, SoFar, each

RowPairs = NDArray[np.int64]  # [pair, 2]: places

_AT_ONCE = 128  # contexts that a thread looks at between two looks at the clock
_WORTH_THREADS = 1 << 20  # looks at rows
_ROWS_A_VALUE = 16  # from which on a context has few values
_LOOK = 1 << 10  # old rows that are looked at first for a partner of new ones; then twice as many, and so on
_NEIGHBOURS = 64  # pairs that a context that fails gives besides
_TASKS = 32  # at most, a round


@dataclass(frozen=True, eq=False)
class ToProve:
    """What is to be proved of contexts that begin with the same columns: these, and the rest as the kernel wants it."""

    prefix: tuple[int, ...]
    spec: ContextSpec
    contexts: Words


def witnesses_of(rows: RankedColumns, targets: Targets, pairs: RowPairs) -> Witnesses:
    """Pairs of rows, given by place, with what they agree on and break."""
    sets = np.zeros((3, len(pairs), targets.context_words), np.uint64)
    kernels.compare(rows.cells, pairs, rows.distinct, *sets)
    return Witnesses(rows.ids(pairs), sets[0], targets.broken_by(*sets))


def contexts_to_prove(
    columns: ColumnPartitions, targets: Targets, contexts: Words, wanted: NDArray[np.int64]
) -> list[ToProve]:
    """Contexts, the first of them each with one target that may hold in it, as parts to prove: each context once, those
    with a common beginning together.
    """
    if not len(contexts):
        return []
    table = KeyTable(contexts.shape[1], len(contexts))
    numbers = table.entries(contexts)
    held, places = _in_order(table.keys, columns.order)
    at = np.argsort(places, kind="stable")  # the place of each context among them
    of = at[numbers[: len(wanted)]]
    entries = np.lexsort((wanted, of))
    spec = _spec_of(targets, held, of[entries], wanted[entries], np.array(columns.order))
    first = _first_two(held)
    cuts = np.flatnonzero(np.r_[True, (first[1:] != first[:-1]).any(axis=1), True])
    cuts = np.union1d(cuts, np.arange(0, len(held), _AT_ONCE))
    found = [
        ToProve(
            tuple(columns.order[c] for c in first[begin] if c >= 0),
            _cut(spec, begin, end),
            table.keys[places[begin:end]],
        )
        for begin, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]
    return sorted(found, key=lambda part: len(part.prefix))  # those that take long first, so that threads end together


def _in_order(contexts: Words, order: Sequence[int]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which columns contexts hold, the columns in an order, and the contexts so that those with a common beginning
    follow one another; and which context stands where.
    """
    held = bitsets.unpacked(contexts)[:, np.asarray(order)].astype(np.bool_)
    packed = np.zeros((len(held), 8 * bitsets.words_for(len(order))), np.uint8)
    in_bytes = np.packbits(held, axis=1)
    packed[:, : in_bytes.shape[1]] = in_bytes
    places = np.lexsort(packed.view(">u8").T[::-1])[::-1]
    return held[places], places


def _first_two(held: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The first two columns that each context holds, -1 where there are fewer."""
    so_far = np.cumsum(held, axis=1)
    found = [np.where(so_far[:, -1] >= nth, np.argmax(so_far == nth, axis=1), -1) for nth in (1, 2)]
    return np.stack(found, axis=1)


def _spec_of(
    targets: Targets,
    held: NDArray[np.bool_],
    of: NDArray[np.int64],
    wanted: NDArray[np.int64],
    order: NDArray[np.int64],
) -> ContextSpec:
    """All contexts as one `ContextSpec`; entry i asks for target `wanted[i]` of context `of[i]`, ascending."""
    count = len(held)
    so_far = np.cumsum(held, axis=1)
    own, column = np.nonzero(held & (so_far > 2))
    is_constant, is_pair = wanted < targets.key, wanted > targets.key
    one, other = targets.columns_of_pairs(wanted[is_pair])
    key = np.zeros(count, np.bool_)
    key[of[wanted == targets.key]] = True
    return ContextSpec(
        _begins(own, count),
        order[column],
        _begins(of[is_constant], count),
        wanted[is_constant],
        _begins(of[is_pair], count),
        one,
        other,
        wanted[is_pair] > targets.columns + targets.pairs,
        key,
    )


def _begins(numbers: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Where the entries of each number begin, of ascending numbers below `count`; the end behind the last."""
    return np.searchsorted(numbers, np.arange(count + 1))


def _cut(spec: ContextSpec, begin: int, end: int) -> ContextSpec:
    """The specs of the contexts from one place to another."""

    def cut(begins: NDArray[np.int64], *arrays: NDArray[Any]) -> list[NDArray[Any]]:
        return [begins[begin : end + 1] - begins[begin], *(array[begins[begin] : begins[end]] for array in arrays)]

    return ContextSpec(  # type: ignore[call-arg]  # mypy doesn't count what lists hold
        *cut(spec.added_from, spec.added),
        *cut(spec.constants_from, spec.constants),
        *cut(spec.orders_from, spec.one, spec.other, spec.falling),
        spec.key[begin:end],
    )


@dataclass(frozen=True, eq=False)
class Proofs:
    """What a look at contexts gave: pairs of rows, by place, that break what doesn't hold, none where all
    holds; and how many ordered pairs of rows the groups of each context put together.
    """

    pairs: RowPairs
    contexts: Words
    within: NDArray[np.int64]

    @staticmethod
    def joined(parts: Iterable[Proofs]) -> Proofs:
        """All of some parts, at least one."""
        pairs, contexts, within = zip(*((part.pairs, part.contexts, part.within) for part in parts), strict=True)
        return Proofs(np.concatenate(pairs), np.concatenate(contexts), np.concatenate(within))


def proved(columns: ColumnPartitions, to_prove: Sequence[ToProve], progress: OnProgress | None = None) -> Proofs:
    """Look which of the targets hold in their contexts."""
    walks, contexts = Walks(columns), sum(len(part.contexts) for part in to_prove)
    looks = columns.rows.count * (len(to_prove) if columns.fresh else contexts)  # few rows share much with new ones
    workers = None if looks > _WORTH_THREADS else 0
    return Proofs.joined(each(to_prove, lambda part, _: _proved(walks, part), workers, progress))


def pairs_together(columns: ColumnPartitions, contexts: Words) -> NDArray[np.int64]:
    """How many ordered pairs of different rows each of some contexts, at least one, puts together."""
    nothing = np.empty(0, np.int64)
    found = proved(columns, contexts_to_prove(columns, Targets(columns.rows.columns), contexts, nothing))
    return found.within[bitsets.places_among(contexts, found.contexts)]


def _proved(walks: Walks, part: ToProve) -> Proofs:
    partition, rows, spec = walks.to(part.prefix), walks.columns.rows, part.spec
    if not partition.groups:
        return Proofs(np.empty((0, 2), np.int64), part.contexts, np.zeros(len(part.contexts), np.int64))
    scratch, path = walks.scratch(partition, int(np.diff(spec.added_from).max()))
    contexts = len(spec.key)
    most = contexts * (_NEIGHBOURS + 1) + len(spec.constants) + len(spec.one)
    pairs, within = np.empty((most, 2), np.int64), np.empty(contexts, np.int64)
    found = prove(
        partition.rows,
        partition.starts,
        rows.cells,
        rows.value_counts,
        rows.distinct,
        walks.columns.fresh,
        spec,
        _NEIGHBOURS,
        path,
        scratch,
        pairs,
        within,
    )
    return Proofs(pairs[:found].copy(), part.contexts, within)


# ---- proofs elsewhere: one job a round, whose tasks open the table by path and read the columns that they need ------


def proved_by(
    runner: Runner, columns: ColumnPartitions, to_prove: Sequence[ToProve], progress: OnProgress | None = None
) -> Proofs:
    """The proofs of all parts, in threads of this process or in tasks elsewhere."""
    rows = columns.rows
    if runner.is_local or rows.where is None:
        return proved(columns, to_prove, progress)
    fresh, upto = (None if place is None else rows.id_at(place) for place in (columns.fresh or None, columns.upto))
    step = -(-len(to_prove) // _TASKS)
    parts = [to_prove[begin : begin + step] for begin in range(0, len(to_prove), step)]
    found = Proofs.joined(runner.map(partial(_run, rows.where, rows.ordered, fresh, upto), parts))
    return replace(found, pairs=rows.places(found.pairs))


def _run(where: TableFiles, ordered: bool, fresh: int | None, upto: int | None, to_prove: Sequence[ToProve]) -> Proofs:
    """One task: parts to prove of a table in files. Only pairs with a row from the id `fresh` on matter, and rows from
    the id `upto` on are not looked at, where these are given. The pairs that it gives are row ids.
    """
    needed = {c for part in to_prove for c in _columns_in(part)}
    rows = (RankedColumns if ordered else CodedColumns)(open_table(where), sorted(needed))
    first, end = (None if row is None else int(rows.places(np.array(row))) for row in (fresh, upto))
    found = proved(ColumnPartitions(rows, first or 0, end), to_prove)
    return replace(found, pairs=rows.ids(found.pairs))


def _columns_in(part: ToProve) -> set[int]:
    spec = part.spec
    return {*part.prefix, *(int(c) for own in (spec.added, spec.constants, spec.one, spec.other) for c in own)}


# ---- constants and keys in contexts of few values, where some rows are old ------------------------------------------


def has_few_values(rows: RankedColumns, contexts: Words) -> NDArray[np.bool_]:
    """Which contexts have so few values that most groups have an old row among the first ones."""
    bits = bitsets.unpacked(contexts)
    doubled = np.log2(np.maximum(rows.value_counts, 1))
    few: NDArray[np.bool_] = bits[:, : len(doubled)] @ doubled <= np.log2(max(rows.count, 1) / _ROWS_A_VALUE)
    return few


def broken_by_new(columns: ColumnPartitions, targets: Targets, contexts: Words, wanted: NDArray[np.int64]) -> RowPairs:
    """Pairs of rows, by place, one of them new, that break constants or keys that held among the old rows: each context
    comes with such a target. All old rows of a group are alike, so that one of them is enough.
    """
    table = KeyTable(contexts.shape[1], len(contexts))
    numbers = table.entries(contexts)
    held = bitsets.elements_of_each(table.keys)

    def work(number: int, _: SoFar) -> RowPairs:
        pairs = _partners(columns, held[number])
        cells, broken = columns.rows.cells, np.zeros(len(pairs), np.bool_)
        for target in wanted[numbers == number].tolist():
            if target == targets.key:
                return pairs
            one, other = cells[target][pairs.T]
            broken |= (one != other) | (columns.rows.distinct & (one == 0))
        return pairs[broken]

    workers = None if columns.rows.count * len(held) > _WORTH_THREADS else 0
    return np.concatenate([np.empty((0, 2), np.int64), *each(range(len(held)), work, workers)])


def _partners(columns: ColumnPartitions, context: Sequence[int]) -> RowPairs:
    """Each new row with the first new one of its group, and this with the first old one, where there are such.

    Where contexts have few values, each group has an old row among the first ones, so that the look ends soon.
    """
    fresh, count = columns.fresh, columns.rows.count
    new, cells = _cells_of(columns.rows, context, fresh, count)
    table = KeyTable(len(context), len(new))
    groups = table.entries_of_lanes(cells)
    firsts, olds = np.empty(table.used, np.int64), np.full(table.used + 1, -1)  # the last one: of all other groups
    firsts[groups[::-1]] = new[::-1]
    begin, step = 0, _LOOK
    while begin < fresh and olds[:-1].min(initial=0) < 0:
        places, cells = _cells_of(columns.rows, context, begin, min(begin + step, fresh))
        at = table.find_lanes(cells)
        lacking = np.flatnonzero(olds[at] < 0)[::-1]
        olds[at[lacking]] = places[lacking]
        begin, step = begin + step, 2 * step
    others, by_age = firsts[groups], np.argsort(olds[:-1])
    by_age = by_age[olds[by_age] >= 0]
    return np.concatenate([np.array([others, new])[:, others != new], [olds[by_age], firsts[by_age]]], axis=1).T


def _cells_of(rows: RankedColumns, context: Sequence[int], begin: int, end: int) -> tuple[NDArray[np.int64], Words]:
    """The places of living rows from one to before another, and their cells in a context, column by column; without
    rows that have a null there, where nulls are distinct.
    """
    cells, there = rows.cells[list(context), begin:end], rows.alive[begin:end]
    if rows.distinct:
        there = there & cells.all(axis=0)
    places = np.flatnonzero(there)
    return places + begin, cells.take(places, axis=1).astype(np.uint64)


def sampled(columns: ColumnPartitions, most: int) -> list[RowPairs]:
    """Pairs of rows that are neighbours in the order of a column, column by column, at most `most` of each.

    Rows that are equal on a column stand in the order of the column before, and so on: neighbours agree on much.
    """
    rows = columns.rows
    order = np.flatnonzero(rows.alive).astype(np.int32)
    found = []
    for column in range(rows.columns):
        order = sorted_by(order, rows.cells[column], int(rows.value_counts[column]))
        chosen = np.arange(0, len(order) - 1, max(1, len(order) // most))
        found.append(np.stack([order[chosen], order[chosen + 1]], axis=1).astype(np.int64))
    return found
