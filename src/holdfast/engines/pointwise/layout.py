"""What may be chosen on a column while boxes are searched for, and how the columns lie in memory in that search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.marks import FREE, LESS, MORE
from holdfast.kernels.never import SLABS, Columns

_WORD = 64  # bits
_BITS = (1, 2, 4, 8)
_WAYS = 2  # in which a mark is weakened by one step, at most


@dataclass(frozen=True)
class Choice:
    """A mark, or none: the values it allows; for each way to weaken it by one step those that are added then; and on
    which side it leans: -1 for `<` and `<=`, 1 for `>` and `>=`, 0 for the others.
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


@dataclass(frozen=True, eq=False)
class Layout:
    """The cells of some columns as bits: the last columns share a word, as far as they fit."""

    columns: Columns
    weight: NDArray[np.int64]  # [column of the search, value] what a value adds to the place of a cell
    cells_of_word: int

    @staticmethod
    def of(
        places: Sequence[int], values: Sequence[int], choices: Sequence[Sequence[Choice]], symmetric: bool
    ) -> Layout:
        """Of columns at these places, in this order, with their values and choices."""
        radix = [own.bit_count() for own in values]
        cells = [prod(radix[d:]) for d in range(len(radix) + 1)]
        tail = next(d for d in range(len(cells)) if cells[d] <= _WORD)
        bits = [cells[d + 1] if d >= tail else 0 for d in range(len(radix))]
        words = [max(1, own // cells[tail]) for own in cells]
        most = max(map(len, choices))
        columns = Columns(
            column=np.array(places, np.int64),
            choices=np.array([len(own) for own in choices], np.int64),
            masks=np.zeros((len(radix), most), np.uint8),
            leaning=np.zeros((len(radix), most), np.int8),
            joined=np.zeros((len(radix), most, SLABS), np.int64),
            ways=np.zeros((len(radix), most), np.int64),
            added=np.zeros((len(radix), most, _WAYS, SLABS), np.int64),
            words=np.array(words, np.int64),
            bits=np.array(bits, np.int64),
            symmetric=int(symmetric),
        )
        weight = np.zeros((len(radix), FREE + 1), np.int64)
        for d, own in enumerate(values):
            digits = [bit for bit in _BITS if bit & own]
            weight[d, digits] = np.arange(len(digits)) * cells[d + 1]
            for c, choice in enumerate(choices[d]):
                slab = bits[d] or words[d + 1]
                columns.masks[d, c], columns.leaning[d, c] = choice.mask, choice.leaning
                columns.joined[d, c] = _slabs(choice.mask, digits, slab)
                columns.ways[d, c] = len(choice.added)
                for a, mask in enumerate(choice.added):
                    columns.added[d, c, a] = _slabs(mask, digits, slab)
        return Layout(columns, weight, cells[tail])


def _slabs(mask: int, digits: list[int], slab: int) -> list[int]:
    """Where the slabs of some values begin; the first one again and again, where they are fewer than `SLABS`."""
    begins = [slab * digit for digit, bit in enumerate(digits) if bit & mask]
    return begins + begins[:1] * (SLABS - len(begins))
