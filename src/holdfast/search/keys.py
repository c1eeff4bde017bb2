"""Key spaces: a 64-bit integer for each value of a column, as little or as much as its comparisons need.

| what a column is compared with | its keys |
|---|---|
| itself, by `=` and `!=` | its codes |
| itself by order, or by order a column of the same type | its order keys, which are the values' own images |
| other columns by `=` and `!=` alone; by order, a text or a number of another type | **joint**: from one dictionary |

Null is NULL_KEY everywhere. Keys stay as they are while dictionaries grow, until `generation` changes: after
that, stored keys must be fetched again.
Cost: following m new values is O(m log n), once a column; a key is one array access.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.table import images
from holdfast.table.dictionary import Dictionary, encode
from holdfast.table.images import NULL_KEY
from holdfast.table.numbers import common_images, is_number
from holdfast.table.order import OrderKeys
from holdfast.table.shard import AnyCodes
from holdfast.table.table import Table

Keys = NDArray[np.int64]
_FEW = 8  # fewer codes than one in this many of a dictionary are looked up; for more, the keys of all are kept


class CodeSpace:
    """Codes as keys: enough for `=` and `!=` within a column."""

    generation = 0  # how often all keys had to be replaced
    is_lasting = True  # whether another process gives the same values the same keys

    def follow(self, table: Table) -> None:
        """Codes are given once and never change."""

    def of(self, column: int, codes: AnyCodes) -> Keys:  # noqa: ARG002
        """The codes, null as NULL_KEY."""
        keys = codes.astype(np.int64)
        keys[keys == 0] = NULL_KEY
        return keys


class OrderSpace:
    """Order keys: for order within a column, and between columns of one type whose keys are the values' images.

    Images last, and are looked up in the dictionary where they are few; labels of text are given as values come.
    """

    def __init__(self, columns: Iterable[int]) -> None:
        self._columns = tuple(columns)
        self._labels: dict[int, OrderKeys] = {}
        self.is_lasting = False

    @property
    def generation(self) -> int:
        """How often all keys had to be replaced."""
        return sum(keys.generation for keys in self._labels.values())

    def follow(self, table: Table) -> None:
        """Let the order keys follow."""
        self._encoding = table.encoding  # no rows
        self.is_lasting = not any(images.is_wide(table.dictionaries[column].kept) for column in self._columns)
        if not self.is_lasting:
            self._labels = {column: table.order_keys(column) for column in self._columns}

    def of(self, column: int, codes: AnyCodes) -> Keys:
        """The order keys."""
        if column in self._labels:
            return self._labels[column].of(codes)
        if len(codes) * _FEW < len(self._encoding.dictionaries[column]):
            return _images_of(self._encoding.dictionaries[column], codes)
        return self._encoding.order_keys(column).of(codes)


def _images_of(dictionary: Dictionary, codes: AnyCodes) -> Keys:
    """The images of some codes, null as NULL_KEY."""
    keys = np.full(len(codes), NULL_KEY)
    for run in dictionary.runs:
        inside = np.flatnonzero((codes >= run.first) & (codes < run.first + len(run)))
        keys[inside] = run.values[codes[inside].astype(np.int64) - run.first]
    return keys


class JointSpace:
    """Keys of several columns from one dictionary that holds the values of all of them.

    `ordered` asks for keys that compare as the values do; else the joint codes are the keys.
    """

    is_lasting = False  # codes and labels are given as values come

    def __init__(self, columns: Iterable[int], ordered: bool) -> None:
        self.generation = 0
        self.ordered = ordered
        self._columns = tuple(columns)
        self._forget()

    def _forget(self) -> None:
        self._joint: Dictionary | None = None
        self._order: OrderKeys | None = None
        self._followed: dict[int, Dictionary] = {}
        self._codes = {column: np.zeros(1, np.int64) for column in self._columns}
        self._keys: dict[int, Keys] = {}

    def follow(self, table: Table) -> None:
        """Give joint codes to new values of all columns, and keys to the joint codes."""
        now = {column: table.dictionaries[column] for column in self._columns}
        if all(self._followed.get(column) is now[column] for column in self._columns):
            return
        if any(not now[column].extends(old) for column, old in self._followed.items()):
            self._forget()
            self.generation += 1
        types = [dictionary.kept for dictionary in now.values()]
        mixed = not all(kept.equals(types[0]) or comparable(kept, types[0]) for kept in types)
        joint = self._joint or Dictionary(pa.string() if mixed else types[0])  # mixed ones have bytes as images
        for column, dictionary in now.items():
            joint = self._take_in(column, dictionary, joint, mixed)
        self._joint = joint
        if self.ordered:
            self._order = self._order or OrderKeys(joint)
            generation = self._order.generation
            self._order.follow(joint)
            self.generation += self._order.generation - generation
        self._keys = {column: self._keys_of(codes) for column, codes in self._codes.items()}

    def _take_in(self, column: int, dictionary: Dictionary, joint: Dictionary, mixed: bool) -> Dictionary:
        known = len(self._codes[column])
        fresh = dictionary.image_range(known, len(dictionary) - known)
        if len(fresh):
            common = common_images(fresh, dictionary.kept) if mixed else fresh
            distinct, places = images.sorted_distinct(common)
            codes, joint = encode(joint, distinct)
            self._codes[column] = np.concatenate([self._codes[column], codes[places]])
        self._followed[column] = dictionary
        return joint

    def _keys_of(self, codes: NDArray[np.int64]) -> Keys:
        keys = codes.copy() if self._order is None else self._order.of(codes)
        keys[0] = NULL_KEY
        return keys

    def __len__(self) -> int:
        """The next joint code to give."""
        return 1 if self._joint is None else len(self._joint)

    def of(self, column: int, codes: AnyCodes) -> Keys:
        """The joint keys."""
        return self._keys[column][codes]


KeySpace = CodeSpace | OrderSpace | JointSpace


def comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether the images of two types are 64-bit integers that compare as the values do."""
    if images.is_wide(one) or images.is_wide(other):
        return False
    if pa.types.is_decimal(one) and pa.types.is_decimal(other):
        return bool(one.scale == other.scale)
    return bool(one.equals(other))


def can_join(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether values of two types can be compared at all."""
    return bool(one.equals(other)) or (is_number(one) and is_number(other))
