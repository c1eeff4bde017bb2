"""What may be chosen on a column while boxes are searched for, as arrays for `kernels/never.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from math import prod
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import FREE, Choice
from holdfast.kernels.never import ADDED, SLABS, WAYS, Columns, Tail

_WORD = 64  # bits


@dataclass(frozen=True)
class ChoiceColumn:
    """A column of a search: its values one by one, and what may be chosen."""

    digits: tuple[int, ...]
    choices: tuple[Choice, ...]


def head(places: Sequence[int], columns: Sequence[ChoiceColumn]) -> Columns:
    """The columns but for the last ones, at these places of a box."""
    shape = len(columns), max((len(column.choices) for column in columns), default=1)
    made = Columns(
        place=np.array(places, np.int64),
        choices=np.array([len(column.choices) for column in columns], np.int64),
        masks=np.zeros(shape, np.uint8),
        leaning=np.zeros(shape, np.int64),
        joined=np.zeros((*shape, SLABS), np.int64),
        ways=np.zeros(shape, np.int64),
        added=np.zeros((*shape, WAYS, ADDED), np.int64),
        words=np.array([prod(len(own.digits) for own in columns[d:]) for d in range(len(columns) + 1)], np.int64),
    )
    for d, column in enumerate(columns):
        for c, choice in enumerate(column.choices):
            made.masks[d, c], made.leaning[d, c], made.ways[d, c] = choice.mask, choice.leaning, len(choice.added)
            made.joined[d, c] = _slabs(choice.mask, column, made.words[d + 1], SLABS)
            for way, mask in enumerate(choice.added):
                made.added[d, c, way] = _slabs(mask, column, made.words[d + 1], ADDED)
    return made


def roles(columns: Sequence[ChoiceColumn]) -> NDArray[np.int64]:
    """What each value of a column is to each choice: -1 if it is allowed, w if the w-th step adds it, 0 if neither."""
    made = np.zeros((len(columns), max((len(column.choices) for column in columns), default=1), SLABS), np.int64)
    for d, column in enumerate(columns):
        for c, choice in enumerate(column.choices):
            for digit, bit in enumerate(column.digits):
                added = [1 + way for way, mask in enumerate(choice.added) if bit & mask]
                made[d, c, digit] = -1 if bit & choice.mask else sum(added)
    return made


def _slabs(mask: int, column: ChoiceColumn, words: int, many: int) -> list[int]:
    """Where the slabs of some values begin; the first one again, where they are fewer than `many`."""
    begins = [words * digit for digit, bit in enumerate(column.digits) if bit & mask]
    return begins + begins[:1] * (many - len(begins))


def tail(places: Sequence[int], columns: Sequence[ChoiceColumn]) -> Tail:
    """The last columns, at these places of a box, with all boxes on them."""
    return Tail(np.array(places, np.int64), *_all_boxes(tuple(columns)))


@cache
def _all_boxes(columns: tuple[ChoiceColumn, ...]) -> tuple[NDArray[Any], ...]:
    """What `Tail` tells of each box on some columns."""
    boxes = list(product(*(column.choices for column in columns)))
    masks = [[choice.mask for choice in box] for box in boxes]
    weaker = [[_cells(columns, near) for near in _weaker(box)] for box in boxes]
    most = max(1, *map(len, weaker))
    return (
        np.array([_cells(columns, own) for own in masks], np.uint64),
        np.array([own + [2**_WORD - 1] * (most - len(own)) for own in weaker], np.uint64),
        np.array(masks, np.uint8).reshape(len(boxes), len(columns)),
        np.array([sum(mask != FREE for mask in own) for own in masks], np.int64),
        np.array([next((own.leaning for own in box if own.leaning), 0) for box in boxes], np.int64),
    )


def _weaker(box: tuple[Choice, ...]) -> list[list[int]]:
    """The masks of all boxes that are weaker than this by one step."""
    masks = [choice.mask for choice in box]
    return [[*masks[:c], masks[c] | added, *masks[c + 1 :]] for c, own in enumerate(box) for added in own.added]


def _cells(columns: tuple[ChoiceColumn, ...], masks: list[int]) -> int:
    """The cells that lie in a box, as bits."""
    bits, width = 1, 1
    for column, mask in zip(reversed(columns), reversed(masks), strict=True):
        bits = reduce(or_, (bits << digit * width for digit, bit in enumerate(column.digits) if bit & mask))
        width *= len(column.digits)
    return bits
