"""Boxes: conjunctions of predicates on two rows, at most one a column. Many at once, as arrays.

A pair of rows (t, s) has one **value** in each column: t is less, equal or more there than s; or `OTHER`: on a column
that is compared for equality alone, the two differ; and where nulls are distinct, a null makes the comparison unknown.
A **mark** is a predicate on a column (the papers' word), as the set of values that it allows, in bits. A column without
a mark allows all of them, `FREE`. A **box** is a conjunction: a row of marks, one a column. A pair lies in a box iff in
every column its value, one bit, is in the mark. A box in which no pair of different rows lies is **never** met.

A mark is weaker than another iff it allows more. A box is weaker than another iff its mark is weaker in some column and
stronger in none (papers: incpod, section III, "containment". The paper's definition says "for all marked columns of
X, if X' has a mark there", so that an X' with more columns than X would be contained in X; its examples mean the
opposite, which is what is done here: every mark of the weaker one is implied by a mark of the stronger one).
The paper is silent on whether t and s may be one row. With t = s no rule with `<` on the right and without a strict
mark on the left could ever hold, and a key would be met by every row; so pairs are of two different rows.

A box and its mirror image, the same seen from the other row, ask the same of a pair. One of the two is
**canonical**: its first inequality, if any, is `<` or `<=`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.kernels.marginals import pack
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.keys import KeyTable
from holdfast.table.table import Schema

Mask = NDArray[np.bool_]
Boxes = NDArray[np.uint8]  # [box, column] of marks
Values = NDArray[np.uint8]  # [pair, column] of single bits: the values of pairs of rows

LESS, EQUAL, MORE, OTHER = 1, 2, 4, 8
BITS = LESS, EQUAL, MORE, OTHER
FREE = LESS | EQUAL | MORE | OTHER
MARKS = {"<": LESS, "<=": LESS | EQUAL, "=": EQUAL, ">=": EQUAL | MORE, ">": MORE}
OPERATORS = {mark: operator for operator, mark in MARKS.items()}
MIRRORED = np.array([bits & ~(LESS | MORE) | (bits & LESS) << 2 | (bits & MORE) >> 2 for bits in range(16)], np.uint8)
LEANING = np.array([bool(mark & MORE) * 1 - bool(mark & LESS) * 1 for mark in range(16)], np.int8)
COLUMNS_OF_WORD = 15  # of four bits each; and a word is a number above 0


@dataclass(frozen=True)
class Space:
    """How the columns of a table are compared.

    `ordered[c]`: column c takes all five marks; other columns take `=` alone. `unknown`: nulls are distinct, and so a
    comparison may be unknown: then it meets no mark, and it meets the negation of every mark.
    """

    ordered: tuple[bool, ...]
    unknown: bool = False

    @staticmethod
    def of(schema: Schema, ordered: Collection[int] = ()) -> Space:
        """That of the tables of a schema: texts have an order where some text columns are said to be ordered."""
        plain = (pa.types.is_string(column.type) for column in schema.columns)
        return Space(tuple(not text or c in ordered for c, text in enumerate(plain)), schema.nulls.are_distinct)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.ordered)

    @cached_property
    def radix(self) -> list[int]:
        """How many values pairs may have in each column."""
        return [self.values(column).bit_count() for column in range(self.columns)]

    @cached_property
    def digits(self) -> NDArray[np.int64]:
        """The digit that stands for each value of each column, `[column, value]`; -1 where the column has none such."""
        found = np.full((self.columns, FREE + 1), -1)
        for column in range(self.columns):
            digits = [bit for bit in BITS if bit & self.values(column)]
            found[column, digits] = range(len(digits))
        return found

    def values(self, column: int) -> int:
        """All values that pairs may have in a column, as bits."""
        if not self.ordered[column]:
            return EQUAL | OTHER
        return FREE if self.unknown else LESS | EQUAL | MORE

    def values_of(self, agree: Words, less: Words, more: Words) -> Values:
        """The values of pairs, given the columns on which the two rows agree, and the first is less, and more."""
        every = (bitsets.unpacked(each)[:, : self.columns] for each in (agree, less, more))
        equal, *others = (each.view(np.bool_) for each in every)
        less_more = [each & np.array(self.ordered, np.bool_) for each in others]
        return np.select([equal, *less_more], [np.uint8(each) for each in (EQUAL, LESS, MORE)], np.uint8(OTHER))

    def left_marks(self, column: int) -> tuple[int, ...]:
        """The marks that a left side may have on a column."""
        return tuple(MARKS.values()) if self.ordered[column] else (EQUAL,)

    def negated(self, column: int, mark: int) -> int:
        """The values of a column that break a mark on the right side."""
        return self.values(column) & ~mark


def mirrored(boxes: Boxes) -> Boxes:
    """Boxes, or values, seen from the other row: `<` and `>` change places."""
    return MIRRORED[boxes]


def values_of_pairs(cells: NDArray[np.uint32], pairs: NDArray[np.int64], space: Space) -> Values:
    """The values of pairs of rows, given the ranks `[column, row]` of all rows; null has rank 0."""
    ones, others = np.ascontiguousarray(pairs.T)
    values = np.empty((len(cells), len(pairs)), np.uint8)
    for own, ranks, ordered in zip(values, cells, space.ordered, strict=True):
        one, other = ranks.take(ones), ranks.take(others)
        if ordered:
            np.left_shift(LESS, (one >= other).view(np.uint8) + (one > other), out=own)
        else:
            own[:] = np.where(one == other, np.uint8(EQUAL), np.uint8(OTHER))
        if space.unknown:
            own[(one == 0) | (other == 0)] = OTHER
    return values.T


def places_met(boxes: Boxes, values: Values) -> NDArray[np.int64]:
    """For each box the place of one of some values that lies in it, -1 where none does; a few for all boxes."""
    places = bitsets.containers(excluded(boxes), ~packed(values))
    left = np.flatnonzero(places >= 0)
    while len(left):
        within = (boxes[left] & values[places[left[0]]] != 0).all(axis=1)
        places[left[within]], left = places[left[0]], left[~within]
    return places


def is_canonical(boxes: Boxes) -> Mask:
    """Which boxes are the canonical one of two mirrors."""
    leaning = LEANING[boxes]
    first = np.argmax(leaning != 0, axis=1)
    return np.asarray(leaning[np.arange(len(boxes)), first] <= 0)


def leans(boxes: Boxes) -> Mask:
    """Which boxes have an inequality, so that their mirror is another box."""
    return np.asarray((LEANING[boxes] != 0).any(axis=1))


def canonical(boxes: Boxes) -> Boxes:
    """Of each box the canonical one of it and its mirror."""
    return np.where(is_canonical(boxes)[:, None], boxes, mirrored(boxes))


def marks_of(boxes: Boxes) -> NDArray[np.int64]:
    """How many marks each box has."""
    return np.asarray(np.count_nonzero(boxes != FREE, axis=1))


def packed(boxes: Boxes) -> Words:
    """Boxes, or values, as words: four bits a column."""
    words = np.zeros((len(boxes), max(1, -(-boxes.shape[1] // COLUMNS_OF_WORD))), np.uint64)
    pack(np.ascontiguousarray(boxes), COLUMNS_OF_WORD, words)
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


def among(boxes: Boxes, others: Boxes) -> Mask:
    """Which boxes are among others."""
    return bitsets.among(packed(boxes), packed(others))


@dataclass(frozen=True)
class Choice:
    """A mark, or none; for each step that weakens it the values that are added; and on which side it leans: -1
    for `<` and `<=`, 1 for `>` and `>=`, 0 for the others.
    """

    mask: int
    added: tuple[int, ...]
    leaning: int


def choices(marks: Sequence[int], values: int) -> tuple[Choice, ...]:
    """Of a column that has these values, and may have these marks; the last one leaves it free."""
    made = []
    for mark in marks:
        weaker = [other for other in (*marks, values) if other & mark == mark != other]
        steps = [other for other in weaker if not any(less & other == less != other for less in weaker)]
        leaning = bool(mark & MORE) - bool(mark & LESS)
        made.append(Choice(mark, tuple(step & ~mark for step in steps), leaning))
    return (*made, Choice(FREE, (), 0))


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
