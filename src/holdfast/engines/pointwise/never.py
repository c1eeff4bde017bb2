"""Never-sets and left sides: the minimal boxes in which no pair of rows lies, from the values that pairs have.

Results are gathered in blocks, so that Ctrl-C, progress and the writing away of results happen in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

import numpy as np

from holdfast.engines.pointwise.cells import Seen, cells_of, fits
from holdfast.engines.pointwise.marks import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Space, Values
from holdfast.engines.pointwise.search import Question, Tell
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.blocks import Blocks
from holdfast.table.threads import SoFar


def never_sets(
    seen: Values | Seen, space: Space, max_size: int | None = None, progress: SoFar = lambda _: None
) -> Boxes:
    """All minimal never-sets of at most so many marks, each with its mirror, where nulls are equal.

    `seen` are the values of all pairs of different rows, closed under mirrors, in any order and as often as may be; as
    `Seen`, where there is more to ask of them. `progress` gets the number of results after each stretch of work; an
    exception it raises ends the search. The array lies in a file where it is large.
    """
    marks = [space.left_marks(c) if space.ordered[c] else (EQUAL, OTHER) for c in range(space.columns)]
    return _gathered(Question.of(space, marks, max_size, symmetric=True), seen, None, FREE, progress)


def left_sides(
    seen: Values | Seen,
    space: Space,
    column: int | None,
    negation: int = FREE,
    max_size: int | None = None,
    progress: SoFar = lambda _: None,
) -> Boxes:
    """All minimal left sides of at most so many marks that no pair meets which has a value of `negation` in a column.

    The column itself is free in them. Without a column: all minimal left sides that no pair meets at all.
    """
    marks = [space.left_marks(c) if c != column else () for c in range(space.columns)]
    symmetric = bool(negation & LESS) == bool(negation & MORE)
    return _gathered(Question.of(space, marks, max_size, symmetric), seen, column, negation, progress)


def _gathered(question: Question, seen: Values | Seen, column: int | None, negation: int, progress: SoFar) -> Boxes:
    if not isinstance(seen, Seen):
        seen = Seen(seen, question.space)
    blocks = Blocks(max(1, -(-len(question.columns) // 8)))

    def tell() -> None:
        progress(len(blocks))

    for block in _found(question, seen, column, negation, tell):
        blocks.add(block.view(np.uint64))
    return blocks.rows().view(np.uint8)[:, : len(question.columns)]


def _found(question: Question, seen: Seen, column: int | None, negation: int, tell: Tell) -> Iterator[Boxes]:
    if seen.cells is not None:
        return question.answered_by_cells(seen.cells if column is None else seen.cells.where(column, negation), tell)
    columns = [c for c in range(len(question.columns)) if c != column]
    values = seen.values if column is None else seen.values[(seen.values[:, column] & negation) != 0]
    groups = _groups(question, columns)
    return question.answered(values, columns, tell) if groups is None else _of_groups(question, values, groups, tell)


def _groups(question: Question, columns: Sequence[int]) -> list[Sequence[int]] | None:
    """The columns in groups such that any `most` of these fit into one search; None if there are none."""
    for size in range(len(columns) - 1, 0, -1):
        groups = [columns[begin : begin + size] for begin in range(0, len(columns), size)]
        largest = sorted(groups, key=lambda group: cells_of(question.space, group))[-question.most :]
        if len(groups) > question.most > 0 and fits(question.space, list(chain.from_iterable(largest))):
            return groups
    return None


def _of_groups(question: Question, seen: Values, groups: list[Sequence[int]], tell: Tell) -> Iterator[Boxes]:
    """Each box with marks on so many columns lies within the columns of as many groups: a box is never met, and is
    minimal, by its own columns alone. One that lies within several such blocks of columns is given once.
    """
    known: Words = np.empty((0, max(1, -(-len(question.columns) // 8))), np.uint64)
    for block in combinations(groups, question.most):
        within = list(chain.from_iterable(block))
        found = [known, *(part.view(np.uint64).copy() for part in question.answered(seen, within, tell))]
        fresh = bitsets.minus(np.concatenate(found)[len(known) :], known)
        known = np.concatenate([known, fresh])
        yield fresh.view(np.uint8)
