"""Never-sets and left sides: the minimal boxes in which no pair of rows lies, from the values that pairs have.

A never-set is a minimal unsatisfied conjunction of predicates (see `boxes`).

A search for boxes of at most L marks is faster on each of some blocks of columns than on all columns at once. With
columns in groups, a block is a union of L groups, so any L columns lie in one. Small groups make small blocks, and
many.

Results are gathered in blocks of memory, so that Ctrl-C, progress and the writing away of results happen in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb

import numpy as np

from holdfast.engines.pointwise.box_search import BoxQuestion, Tick
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Mask, Space, Values
from holdfast.engines.pointwise.cells import CellSet, PairValues, are_numbered, cells_of, fits
from holdfast.pairs.blocks import Blocks
from holdfast.table.threads import SoFar

_OF_WORD = 27  # cells, about
_EACH = 1e6  # words that might be worked on while a search is set up

Group = Sequence[int]


def never_sets(
    seen: Values | PairValues, space: Space, max_size: int | None = None, progress: SoFar = lambda _: None
) -> Boxes:
    """All minimal never-sets of at most `max_size` marks, each with its mirror, where nulls are equal.

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
    """All minimal left sides of at most `max_size` marks that no pair meets with a value of `negation` in a column.

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

    def tick() -> None:
        progress(len(blocks))

    for block in _found(question, seen, column, negation, tick):
        blocks.add(block.view(np.uint64))
    return blocks.rows().view(np.uint8)[:, : len(question.columns)]


def _found(question: BoxQuestion, seen: PairValues, column: int | None, negation: int, tick: Tick) -> Iterator[Boxes]:
    columns = [c for c in range(len(question.columns)) if c != column]
    cells, values = seen.cells, seen.values
    if column is not None:
        cells = None if cells is None else cells.where(column, negation)
        values = values if cells is not None else values[(values[:, column] & negation) != 0]
    blocks = blocks_of(question, columns)
    if blocks is not None:
        return _of_blocks(question, cells, values, blocks, tick)
    return question.answered_by_lists(values, columns, tick) if cells is None else question.answered(cells, tick)


def _of_blocks(
    question: BoxQuestion, cells: CellSet | None, values: Values, blocks: list[ColumnBlock], tick: Tick
) -> Iterator[Boxes]:
    """A box is never met, and is minimal, by its own columns alone."""
    for block in blocks:
        own = CellSet.of(values, question.space, block.columns) if cells is None else cells.only(block.columns)
        for found in question.on(block.columns).answered(own, tick):
            yield found[block.gives(found)]


# ---- blocks of columns ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnBlock:
    """A union of groups of columns. Of several blocks that a box lies in, the first one gives it: the one without any
    group that the box does not need while one before it is left out.
    """

    columns: list[int]
    needed: list[Group]  # those after the first one that is left out

    @staticmethod
    def of(groups: Sequence[Group], chosen: tuple[int, ...]) -> ColumnBlock:
        """Of some of the groups, by their places, ascending."""
        left_out = next((place for place in range(len(groups)) if place not in chosen), len(groups))
        columns = list(chain.from_iterable(groups[place] for place in chosen))
        return ColumnBlock(columns, [groups[place] for place in chosen if place > left_out])

    def gives(self, boxes: Boxes) -> Mask:
        """Which of the boxes with marks on these columns no block before has."""
        mask = np.ones(len(boxes), np.bool_)
        for group in self.needed:
            mask &= (boxes[:, list(group)] != FREE).any(axis=1)
        return mask


def blocks_of(question: BoxQuestion, columns: Sequence[int]) -> list[ColumnBlock] | None:
    """The blocks that promise the least work; None: all columns at once."""
    best, least = None, _work(question, columns) if are_numbered(question.space, columns) else float("inf")
    for size in range(1, len(columns)):
        groups = [columns[begin : begin + size] for begin in range(0, len(columns), size)]
        if len(groups) <= question.most or not question.most:
            break
        largest = sorted(groups, key=lambda group: cells_of(question.space, group))[-question.most :]
        block = list(chain.from_iterable(largest))
        work = comb(len(groups), question.most) * (_EACH + _work(question, block))
        if fits(question.space, block) and work < least:
            best, least = groups, work
    if best is None:
        return None
    return [ColumnBlock.of(best, chosen) for chosen in combinations(range(len(best)), question.most)]


def _work(question: BoxQuestion, columns: Sequence[int]) -> float:
    """How many words a search would look at that had nothing to leave out."""
    boxes, words, work = [1.0], cells_of(question.space, columns) / _OF_WORD, 0.0  # boxes by their number of marks
    for c in columns:
        marks = len(question.columns[c].choices) - 1
        words = max(1.0, words / len(question.columns[c].digits))
        work += sum(boxes) * (1 + marks) * words
        more = [0.0, *(marks * many for many in boxes)]
        boxes = [stay + come for stay, come in zip([*boxes, 0.0], more, strict=True)][: question.most + 1]
    return work
