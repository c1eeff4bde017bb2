"""Blocks of columns: a search for boxes of few marks is faster on each of some blocks than on all columns at once.

Each set of so many columns lies in one of the blocks. These are all unions of as many groups of columns: small groups
make small blocks, and many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.box_search import BoxQuestion
from holdfast.engines.pointwise.boxes import FREE, Boxes
from holdfast.engines.pointwise.cells import are_numbered, cells_of, fits

_OF_WORD = 27  # cells, about
_EACH = 1e6  # words that might be worked on while a search is set up

Group = Sequence[int]


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

    def gives(self, boxes: Boxes) -> NDArray[np.bool_]:
        """Which of the boxes with marks on these columns no block before has."""
        flags = np.ones(len(boxes), np.bool_)
        for group in self.needed:
            flags &= (boxes[:, list(group)] != FREE).any(axis=1)
        return flags


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
