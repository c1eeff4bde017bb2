"""Never-sets and left sides: the minimal boxes in which no pair of rows lies, from the values that pairs have.

Results are gathered in blocks, so that Ctrl-C, progress and the writing away of results happen in between.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdfast.engines.pointwise.blocks import Block, blocks_of
from holdfast.engines.pointwise.cells import Cells, Seen
from holdfast.engines.pointwise.marks import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Space, Values
from holdfast.engines.pointwise.search import Question, Tell
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


def keys(seen: Values | Seen, space: Space, max_size: int | None = None) -> Boxes:
    """All minimal sets of columns on which no pair agrees, where nulls are equal. These are minimal never-sets: if no
    pair met one with `<=` for an `=`, nor its mirror, none would with neither.
    """
    question = Question.of(space, [(EQUAL,)] * space.columns, max_size, symmetric=False)
    return _gathered(question, seen, None, FREE, lambda _: None)


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
    question: Question, cells: Cells | None, values: Values, blocks: list[Block], tell: Tell
) -> Iterator[Boxes]:
    """A box is never met, and is minimal, by its own columns alone."""
    for block in blocks:
        own = Cells.of(values, question.space, block.columns) if cells is None else cells.only(block.columns)
        for found in question.on(block.columns).answered(own, tell):
            yield found[block.gives(found)]
