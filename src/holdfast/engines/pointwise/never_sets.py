"""Never-sets and left sides: the minimal boxes in which no pair of rows lies, from the values that pairs have.

Results are gathered in blocks, so that Ctrl-C, progress and the writing away of results happen in between.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdfast.engines.pointwise.box_search import BoxQuestion, Tell
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Space, Values
from holdfast.engines.pointwise.cells import CellSet, PairValues
from holdfast.engines.pointwise.column_blocks import ColumnBlock, blocks_of
from holdfast.pairs.blocks import Blocks
from holdfast.table.threads import SoFar


def never_sets(
    seen: Values | PairValues, space: Space, max_size: int | None = None, progress: SoFar = lambda _: None
) -> Boxes:
    """All minimal never-sets of at most so many marks, each with its mirror, where nulls are equal.

    `seen` are the values of all pairs of different rows, closed under mirrors, in any order and as often as may be; as
    `PairValues`, where several searches share them. `progress` gets the number of results after each stretch of work;
    an exception it raises ends the search. The array lies in a file where it is large.
    """
    marks = [space.left_marks(c) if space.ordered[c] else (EQUAL, OTHER) for c in range(space.columns)]
    return _gathered(BoxQuestion.of(space, marks, max_size, symmetric=True), seen, None, FREE, progress)


def left_sides(
    seen: Values | PairValues,
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
    return _gathered(BoxQuestion.of(space, marks, max_size, symmetric), seen, column, negation, progress)


def keys(seen: Values | PairValues, space: Space, max_size: int | None = None) -> Boxes:
    """All minimal sets of columns on which no pair agrees, where nulls are equal. These are minimal never-sets: if no
    pair met one with `<=` for an `=`, nor its mirror, none would with neither.
    """
    question = BoxQuestion.of(space, [(EQUAL,)] * space.columns, max_size, symmetric=False)
    return _gathered(question, seen, None, FREE, lambda _: None)


def _gathered(
    question: BoxQuestion, seen: Values | PairValues, column: int | None, negation: int, progress: SoFar
) -> Boxes:
    if not isinstance(seen, PairValues):
        seen = PairValues(seen, question.space)
    blocks = Blocks(max(1, -(-len(question.columns) // 8)))

    def tell() -> None:
        progress(len(blocks))

    for block in _found(question, seen, column, negation, tell):
        blocks.add(block.view(np.uint64))
    return blocks.rows().view(np.uint8)[:, : len(question.columns)]


def _found(question: BoxQuestion, seen: PairValues, column: int | None, negation: int, tell: Tell) -> Iterator[Boxes]:
    columns = [c for c in range(len(question.columns)) if c != column]
    cells, values = seen.cells, seen.values
    if column is not None:
        cells = None if cells is None else cells.where(column, negation)
        values = values if cells is not None else values[(values[:, column] & negation) != 0]
    blocks = blocks_of(question, columns)
    if blocks is not None:
        return _of_blocks(question, cells, values, blocks, tell)
    return question.answered_by_lists(values, columns, tell) if cells is None else question.answered(cells, tell)


def _of_blocks(
    question: BoxQuestion, cells: CellSet | None, values: Values, blocks: list[ColumnBlock], tell: Tell
) -> Iterator[Boxes]:
    """A box is never met, and is minimal, by its own columns alone."""
    for block in blocks:
        own = CellSet.of(values, question.space, block.columns) if cells is None else cells.only(block.columns)
        for found in question.on(block.columns).answered(own, tell):
            yield found[block.gives(found)]
