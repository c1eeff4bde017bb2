"""Proof or counterexample: whether targets hold in contexts, by a look at all groups of rows that agree on each.

Contexts are proved in threads, each on a walk of its own. What fails gives the pair of rows that breaks it, and some
neighbours from the groups of its context: they agree on much, so that they mostly refute other candidates, too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.evidence import Witnesses
from holdfast.borders.partitions import Columns, Partition, Walk, in_order
from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.kernels import partitions as kernels
from holdfast.kernels.swaps import check_constants, check_orders
from holdfast.pairs.bitsets import Words
from holdfast.table.threads import OnProgress, SoFar, each

RowPairs = NDArray[np.int64]  # [pair, 2]: places

_NEIGHBOURS = 64  # pairs that a context that fails gives besides


@dataclass(frozen=True)
class Question:
    """A context, given as its columns in the order of a walk, and targets that may hold in it."""

    context: Sequence[int]
    targets: Sequence[int]


def witnesses_of(rows: RankedColumns, targets: Targets, pairs: RowPairs) -> Witnesses:
    """Pairs of rows, given by place, with what they agree on and break."""
    sets = np.zeros((3, len(pairs), targets.context_words), np.uint64)
    kernels.compare(rows.cells, pairs, rows.distinct, *sets)
    return Witnesses(rows.ids(pairs), sets[0], targets.broken_by(*sets))


def refuted(columns: Columns, targets: Targets, questions: Sequence[Question], progress: OnProgress) -> RowPairs:
    """Pairs of rows, by place, that break all that doesn't hold of what is asked; none where all holds.

    The questions come in the order of a walk (see `questions_in_order`).
    """
    step = max(1, -(-len(questions) // (4 * (os.cpu_count() or 1))))
    parts = [questions[begin : begin + step] for begin in range(0, len(questions), step)]
    needed = {c for question in questions for c in question.context[:1]}
    for column in needed:
        columns[column]  # made before threads share them

    def work(part: Sequence[Question], done: SoFar) -> RowPairs:
        walk, found = Walk(columns), [np.empty((0, 2), np.int64)]
        for number, question in enumerate(part):
            partition = walk.to(question.context)
            found += _broken(walk, partition, columns.rows, targets, question.targets)
            done(number)
        return np.concatenate(found)

    return np.concatenate([np.empty((0, 2), np.int64), *each(parts, work, None, progress)])


def _broken(
    walk: Walk, partition: Partition, rows: RankedColumns, targets: Targets, wanted: Sequence[int]
) -> list[RowPairs]:
    """Pairs that break what doesn't hold in a partition."""
    if not partition.groups:
        return []
    found = [partition.rows[:2].astype(np.int64)[None]] if targets.key in wanted else []
    constants = np.array([t for t in wanted if t < targets.key], np.int64)
    if len(constants):
        pairs = np.empty((len(constants), 2), np.int64)
        check_constants(partition.rows, partition.starts, rows.cells, constants, rows.distinct, pairs)
        found.append(pairs[pairs[:, 0] >= 0])
    room = walk.room(partition)
    for column, others, falling in _by_column(targets, [t for t in wanted if t > targets.key]):
        pairs = np.empty((len(others), 2), np.int64)
        check_orders(
            partition.rows,
            partition.starts,
            rows.cells,
            column,
            rows.values(column),
            others,
            falling,
            rows.distinct,
            room,
            pairs,
        )
        found.append(pairs[pairs[:, 0] >= 0])
    if any(map(len, found)):
        found.append(partition.neighbours(_NEIGHBOURS))
    return found


def _by_column(targets: Targets, wanted: Sequence[int]) -> list[tuple[int, NDArray[np.int64], NDArray[np.bool_]]]:
    """Pairs of columns by a column that they have in common, so that rows are sorted by few columns: that column, the
    other of each pair, and whether it is to fall.
    """
    left = {target: targets.columns_of(target) for target in wanted}
    grouped = []
    while left:
        columns = [column for pair in left.values() for column in pair]
        common = max(set(columns), key=columns.count)
        own = [target for target, pair in left.items() if common in pair]
        others = [left[target][left[target][0] == common] for target in own]
        falling = [targets.is_descending(target) for target in own]
        grouped.append((common, np.array(others, np.int64), np.array(falling, np.bool_)))
        for target in own:
            del left[target]
    return grouped


def questions_in_order(columns: Columns, contexts: Words, targets: NDArray[np.int64]) -> list[Question]:
    """Contexts, each with one target, as questions: each context once, in the order of a walk."""
    questions: list[Question] = []
    for place, context in in_order(contexts, columns.order):
        if questions and questions[-1].context == context:
            questions[-1].targets.append(int(targets[place]))  # type: ignore[attr-defined]
        else:
            questions.append(Question(context, [int(targets[place])]))
    return questions


def sampled(columns: Columns, most: int) -> list[RowPairs]:
    """Pairs of rows that are neighbours in the order of a column, column by column, at most so many of each.

    Rows that are equal on a column stand in the order of the column before, and so on: neighbours agree on much.
    """
    rows = columns.rows
    order = np.flatnonzero(rows.alive).astype(np.int32)
    found = []
    for column in range(rows.columns):
        before, order = order, np.empty_like(order)
        kernels.sort_rows(before, rows.cells[column], np.empty(rows.values(column), np.int64), order)
        chosen = np.arange(0, len(order) - 1, max(1, len(order) // most))
        found.append(np.stack([order[chosen], order[chosen + 1]], axis=1).astype(np.int64))
    return found
