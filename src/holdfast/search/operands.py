"""Operands: what rows bring to comparisons, worked out once for all queries (papers: weever, section 5.1).

`Spaces` decides how the values of each column become 64-bit keys (see `holdfast.search.keys`) and keeps them current
with the table. `Operands` gives, for some rows, the keys of a column, which pass some checks, and whole matrices of
keys sorted as an index wants them. Each is computed when first needed, for all queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.search.constants import COMPARE, CodeMask
from holdfast.search.keys import CodeSpace, JointSpace, KeySpace, OrderSpace, can_join, comparable
from holdfast.search.queries import Check, Checks, PairQuery
from holdfast.search.sorting import sorted_order
from holdfast.table.images import NULL_KEY
from holdfast.table.nulls import Nulls
from holdfast.table.rows import Rows
from holdfast.table.shard import AnyCodes, Shard
from holdfast.table.table import Schema, Table

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Matrix = NDArray[np.int64]  # [key, row]
_FEW = 8  # rows that aren't worth sorting


class Spaces:
    """The key space of every column that some queries compare, and the mask of every check with a constant."""

    def __init__(self, schema: Schema, queries: Sequence[PairQuery], nulls: Nulls = Nulls.SQL) -> None:
        self.nulls = nulls
        self._schema = schema
        self._masks: dict[Check, CodeMask] = {}
        compared = [pair for query in queries for pair in query.compared()]
        self.of_column: dict[int, KeySpace] = {}
        self.spaces: list[KeySpace] = []
        for columns in _classes(compared):
            inside = [(a, op, b) for a, op, b in compared if a in columns]
            space = self._space(sorted(columns), inside)
            self.spaces.append(space)
            self.of_column |= dict.fromkeys(columns, space)
        for check in {check for query in queries for check in (*query.t_checks, *query.s_checks)}:
            if not isinstance(check.other, int):
                self._masks[check] = CodeMask(
                    schema.columns[check.column].type, check.operator, check.other.value, nulls
                )

    def _space(self, columns: list[int], compared: Sequence[tuple[int, str, int]]) -> KeySpace:
        types = [self._schema.columns[c].type for c in columns]
        for c, kept in zip(columns, types, strict=True):
            if not can_join(types[0], kept):
                one, other = self._schema.names[columns[0]], self._schema.names[c]
                raise BadInput(f"columns {one!r} and {other!r} can't be compared: {types[0]} and {kept}")
        ordered = any(op not in ("=", "!=") for _, op, _ in compared)
        if len(columns) == 1:
            return OrderSpace(columns) if ordered else CodeSpace()
        if ordered and all(comparable(types[0], kept) for kept in types):
            return OrderSpace(columns)
        return JointSpace(columns, ordered)

    def follow(self, table: Table) -> None:
        """Be current with a version of the table."""
        for space in self.spaces:
            space.follow(table)

    def codes(self, column: int, table: Table) -> int | None:
        """How many codes there are, where the keys of a column are codes, small and dense; else None."""
        space = self.of_column[column]
        if isinstance(space, JointSpace):
            return None if space.ordered else len(space)
        return len(table.dictionaries[column]) if isinstance(space, CodeSpace) else None

    def all_keys(self, column: int, table: Table) -> NDArray[np.int64]:
        """The key of every code of a column."""
        return self.of_column[column].of(column, np.arange(len(table.dictionaries[column]), dtype=np.uint32))

    def shared(self, column: int, other: int, table: Table) -> Mask:
        """For every code of a column, whether another column it is compared with has had the same value."""
        keys, others = self.all_keys(column, table), self.all_keys(other, table)
        size = self.codes(column, table)
        if size is None:
            shared: Mask = np.isin(keys, others)
        else:  # keys are small and dense, and null is below 0: its place is the last one
            mask = np.zeros(size + 1, np.bool_)
            mask[np.maximum(others, -1)] = True
            shared = mask[np.maximum(keys, -1)]
        shared[keys == NULL_KEY] &= self.nulls.are_equal
        return shared

    def generation(self, columns: Iterable[int]) -> tuple[int, ...]:
        """Changes when columns get new keys."""
        return tuple(self.of_column[column].generation for column in columns)

    def is_lasting(self, columns: Iterable[int]) -> bool:
        """Whether another process gives the values of some columns the same keys."""
        return all(self.of_column[column].is_lasting for column in columns)

    def mask(self, check: Check) -> CodeMask:
        """The mask of a check with a constant."""
        return self._masks[check]


def _classes(compared: Sequence[tuple[int, str, int]]) -> list[set[int]]:
    """Columns that are compared with each other, directly or through others."""
    classes: list[set[int]] = []
    for a, _, b in compared:
        touching = [each for each in classes if a in each or b in each]
        classes = [each for each in classes if each not in touching]
        classes.append({a, b}.union(*touching))
    return classes


class Packing:
    """Several equality columns as one key.

    Codes lie side by side in 63 bits while they fit, with what is left over as room to grow; wider keys are hashed
    (`exact` is false), and then the columns themselves must be compared too.
    """

    def __init__(
        self, spaces: Spaces, columns: tuple[int, ...], table: Table, bits: Sequence[int] | None = None
    ) -> None:
        """`bits`: how many each code takes, where that was decided before."""
        self.columns = columns
        if bits is not None:
            self.exact, self.bits = len(columns) <= 1 or bool(bits), list(bits)
            return
        codes = [spaces.codes(column, table) for column in columns]
        need = [64 if count is None else count.bit_length() for count in codes]
        spare = (63 - sum(need)) // max(len(columns), 1)
        self.exact = len(columns) == 1 or spare >= 0
        self.bits = [bits + spare for bits in need] if self.exact and len(columns) > 1 else []

    def fits(self, spaces: Spaces, table: Table) -> bool:
        """Whether all codes still fit side by side."""
        counts = [spaces.codes(column, table) for column in self.columns] if self.bits else []
        return all(count is not None and count <= 1 << b for count, b in zip(counts, self.bits, strict=True))

    def pack(self, keys: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The one key of rows with some keys. Codes that lie side by side begin with 1, so null takes 0."""
        if len(keys) == 1:
            return keys[0]
        if not self.bits:
            return hashed(keys)
        packed = np.maximum(keys[0], 0)
        for bits, key in zip(self.bits[1:], keys[1:], strict=True):
            packed = (packed << np.int64(bits)) | np.maximum(key, 0)
        return packed


def hashed(keys: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """A hash of the keys of each row."""
    state = _mixed(keys[0])
    for key in keys[1:]:
        state = _mixed(state ^ key)
    return state


def _mixed(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Integers, well mixed (splitmix64)."""
    x = keys.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).view(np.int64)


# One line of a matrix: a column, or the columns that make up a packed key.
Line: TypeAlias = int | tuple[Packing, tuple[int, ...]]


class Operands:
    """What some rows bring to comparisons."""

    def __init__(self, spaces: Spaces, rows: Rows) -> None:
        """The spaces are current with the table of the rows."""
        self.table, self.spaces, self._rows = rows.encoding, spaces, rows
        self._keys: dict[int, NDArray[np.int64]] = {}
        self._present: dict[int, Mask | None] = {}
        self._masks: dict[tuple[Checks, tuple[int, ...]], Mask | None] = {}
        self._matrices: dict[tuple[Checks, tuple[int, ...], tuple[Line, ...]], tuple[Matrix, Ids]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def ids(self) -> Ids:
        """The ids of the rows."""
        return self._rows.ids

    def codes(self, column: int) -> AnyCodes:
        """The codes of a column."""
        return self._rows.codes(column)

    @cached_property
    def distinct(self) -> list[int]:
        """How many values each column has had so far: what predicates are ordered by."""
        return [len(dictionary) for dictionary in self.table.dictionaries]

    def keys(self, column: int) -> NDArray[np.int64]:
        """The keys of a column."""
        if column not in self._keys:
            self._keys[column] = self.spaces.of_column[column].of(column, self.codes(column))
        return self._keys[column]

    def present(self, column: int) -> Mask | None:
        """Which rows have a value in a column that comparisons can be true of; None: all."""
        if column not in self._present:
            there = None if self.spaces.nulls.are_equal else self.keys(column) != NULL_KEY
            self._present[column] = None if there is None or there.all() else there
        return self._present[column]

    def passing(self, checks: Checks, needed: Iterable[int] = ()) -> Mask | None:
        """Which rows pass some checks and are not null in the columns needed; None: all."""
        lacking = tuple(column for column in needed if self.present(column) is not None)
        if (checks, lacking) not in self._masks:
            masks = [self._check(check) for check in checks]
            masks += [there for c in lacking if (there := self.present(c)) is not None]
            self._masks[checks, lacking] = np.logical_and.reduce(masks) if masks else None
        return self._masks[checks, lacking]

    def _check(self, check: Check) -> Mask:
        if not isinstance(check.other, int):
            dictionary = self.table.dictionaries[check.column]
            return self.spaces.mask(check).of(dictionary, self.codes(check.column))
        holds: Mask = COMPARE[check.operator](self.keys(check.column), self.keys(check.other))
        for column in (check.column, check.other):
            there = self.present(column)
            holds = holds if there is None else holds & there
        return holds

    def matrix(self, checks: Checks, needed: Iterable[int], lines: tuple[Line, ...]) -> tuple[Matrix, Ids]:
        """The keys of the rows that pass, a line each, sorted by the first two lines; and the rows' ids."""
        lacking = tuple(column for column in needed if self.present(column) is not None)
        if (checks, lacking, lines) not in self._matrices:
            self._matrices[checks, lacking, lines] = self._make(self.passing(checks, lacking), lines)
        return self._matrices[checks, lacking, lines]

    def _make(self, mask: Mask | None, lines: tuple[Line, ...]) -> tuple[Matrix, Ids]:
        ids = self.ids if mask is None else self.ids[mask]
        rows = np.empty((max(1, len(lines)), len(ids)), np.int64)
        rows[len(lines) :] = 0
        sort_by: list[NDArray[np.int64]] = []
        for number, line in enumerate(lines):
            columns = (line,) if isinstance(line, int) else line[1]
            keys = [self.keys(c) if mask is None else self.keys(c)[mask] for c in columns]
            rows[number] = keys[0] if isinstance(line, int) else line[0].pack(keys)
            if number < 2:  # codes that are packed side by side sort like their pack, and are narrower
                sort_by += keys if isinstance(line, int) or line[0].exact else [rows[number]]
        if len(ids) <= _FEW:
            return rows, ids
        order = sorted_order(sort_by, len(ids))
        return np.take(rows, order, axis=1), ids[order]

    def at(self, places: NDArray[np.int64]) -> Operands:
        """The operands of the rows at some places."""
        return Operands(self.spaces, self._rows.some(places))


def living(spaces: Spaces, table: Table) -> Operands:
    """The operands of all living rows of a table."""
    return Operands(spaces, Rows.all_of(table))


def living_since(table: Table, first: int) -> Iterator[tuple[Shard, NDArray[np.int64]]]:
    """The places of the living rows with ids from `first` on, shard by shard, where there are some."""
    for shard, mask in table.living():
        if shard.last_id >= first:
            start = max(0, int(shard.places_of(np.array([first]))[0]))
            places = np.arange(start, len(shard))
            yield shard, places if mask is None else places[mask[start:]]


def born_since(spaces: Spaces, table: Table, first: int) -> Operands:
    """The operands of the living rows with ids from `first` on, at the cost of these alone."""
    ids = (shard.ids_of(places) for shard, places in living_since(table, first))
    return Operands(spaces, Rows.at(table, np.concatenate([np.empty(0, np.int64), *ids])))


def chosen(spaces: Spaces, table: Table, choose: Callable[[Operands], Mask | None]) -> Operands:
    """The operands of the living rows that a function chooses, shard by shard, so that only they need memory."""
    ids, places = [np.empty(0, np.int64)], []
    for shard, mask in table.living():
        alive = np.arange(len(shard)) if mask is None else np.flatnonzero(mask)
        codes_at = partial(shard.codes_at, places=alive)
        mask = choose(Operands(spaces, Rows.of(table.encoding, shard.ids_of(alive), codes_at)))
        places.append(alive if mask is None else alive[mask])
        ids.append(shard.ids_of(places[-1]))

    def codes_of(column: int) -> AnyCodes:
        parts = [shard.codes_at(column, at) for shard, at in zip(table.shards, places, strict=True)]
        return np.concatenate([np.empty(0, np.uint8), *parts])

    return Operands(spaces, Rows.of(table.encoding, np.concatenate(ids), codes_of))
