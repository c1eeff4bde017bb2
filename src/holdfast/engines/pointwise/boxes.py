"""Many boxes, and many rules, at once: which of two mirrors is told; boxes as rows of words, for looking them up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.layout import choices
from holdfast.engines.pointwise.marks import FREE, LESS, MORE, Boxes, Space, mirrored
from holdfast.kernels.marginals import pack
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.keys import KeyTable

Flags = NDArray[np.bool_]
LEANING = np.array([bool(mask & MORE) * 1 - bool(mask & LESS) * 1 for mask in range(16)], np.int8)
COLUMNS_OF_WORD = 15  # of four bits each; and a word is a number above 0


class Sides(NamedTuple):
    """The left and right sides of rules `left -> column operator`, one a row.

    The operator is a mask: LESS, LESS | EQUAL or EQUAL.
    """

    left: Boxes
    column: NDArray[np.int64]
    operator: NDArray[np.uint8]

    @staticmethod
    def of(left: Boxes, column: int, operator: int) -> Sides:
        """With the same right side."""
        return Sides(left, np.full(len(left), column, np.int64), np.full(len(left), operator, np.uint8))

    @staticmethod
    def joined(columns: int, parts: Sequence[Sides]) -> Sides:
        """All of them; there may be none."""
        none = Sides.of(np.empty((0, columns), np.uint8), 0, 0)
        left, column, operator = zip(none, *parts, strict=True)
        return Sides(np.concatenate(left), np.concatenate(column), np.concatenate(operator))

    def where(self, flags: Flags) -> Sides:
        """Those that are flagged."""
        return Sides(self.left[flags], self.column[flags], self.operator[flags])


def is_told(boxes: Boxes) -> Flags:
    """Which boxes are the one of two mirrors that is told: whose first inequality, if any, is `<` or `<=`."""
    leaning = LEANING[boxes]
    first = np.argmax(leaning != 0, axis=1)
    told: Flags = leaning[np.arange(len(boxes)), first] <= 0
    return told


def leans(boxes: Boxes) -> Flags:
    """Which boxes have an inequality, so that their mirror is another box."""
    any_: Flags = (LEANING[boxes] != 0).any(axis=1)
    return any_


def folded(boxes: Boxes) -> Boxes:
    """Of each box the mirror that is told."""
    return np.where(is_told(boxes)[:, None], boxes, mirrored(boxes))


def marks_of(boxes: Boxes) -> NDArray[np.int64]:
    """How many marks each box has."""
    many: NDArray[np.int64] = np.count_nonzero(boxes != FREE, axis=1)
    return many


def packed(masks: Boxes) -> Words:
    """Boxes, or values, as words: four bits a column."""
    words = np.zeros((len(masks), max(1, -(-masks.shape[1] // COLUMNS_OF_WORD))), np.uint64)
    pack(np.ascontiguousarray(masks), COLUMNS_OF_WORD, words)
    return words


def excluded(boxes: Boxes) -> Words:
    """What boxes exclude, as words: one is weaker than another iff its bits are some of the other's."""
    return packed(np.uint8(FREE) & ~boxes)


def numbered(boxes: Boxes) -> NDArray[np.int64]:
    """A number for each box, the same for equal ones."""
    words = packed(boxes)
    return KeyTable(words.shape[1], len(words)).entries(words)


def distinct(boxes: Boxes) -> Boxes:
    """Each box, or row of values, once."""
    numbers = numbered(boxes)
    some = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
    some[numbers] = np.arange(len(boxes))
    return boxes[some]


def among(boxes: Boxes, others: Boxes) -> Flags:
    """Which boxes are among others."""
    return bitsets.among(packed(boxes), packed(others))


def weakenings(boxes: Boxes, space: Space) -> list[tuple[Boxes, NDArray[np.int64]]]:
    """All boxes that come from others by one step that weakens a mark, in parts; and from which each one comes."""
    parts = []
    for column in range(space.columns):
        for choice in choices(space.left_marks(column), space.values(column))[:-1]:
            for added in choice.added:
                of = np.flatnonzero(boxes[:, column] == choice.mask)
                weaker = boxes[of]
                wider = choice.mask | added
                weaker[:, column] = FREE if wider == space.values(column) else wider
                parts.append((weaker, of))
    return parts
