"""Pairs of rows in boxes: a first one of each, or how many there are, by a sweep over the rows.

A mark is taken apart into comparisons of ranks: `!=` is `<` or `>`, and an unknown comparison is a null on one side or
on the other. So a box is a few **plain** ones: equalities and inequalities of ranks, and for each of the two rows which
columns are null and which are not. A left side is one plain box. Each is answered by one sweep over the rows that are
equal to others where it asks for that (see `kernels.dominance` and `kernels.count_dominated`), or, where too many of
its columns have too many values, by a search in a box tree.

Cost: a pass over these rows for each inequality, to sort them, and the sweep, some 0.1 µs a row to count pairs;
a box tree takes some µs a row. Boxes that ask for the same columns to be equal share the groups of rows that are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.partitions import ColumnPartitions, Partition, Walks, sorted_by
from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MIRRORED, MORE, OTHER, Boxes, Mask, Space
from holdfast.kernels import dominance
from holdfast.kernels.boxprobe import EQ, LE, LT, OTHERS, BoxQueries
from holdfast.kernels.count_dominated import count_below
from holdfast.kernels.dominance import ABOVE, BELOW, FRESH, SweptRows
from holdfast.search.boxtree import BoxTree, full_blocks
from holdfast.table.threads import OnProgress, SoFar, each

RowPairs = NDArray[np.int64]  # [pair, 2]: places, t first
Counts = NDArray[np.int64]
Rows = NDArray[np.int32]

_MOST_CELLS, _MOST_COUNTED = 1 << 21, 1 << 24  # of a tree of a sweep; where pairs are counted
_IN_TREE, _COUNTED = 3, 3  # columns at most in a tree of a sweep; with inequalities, where pairs are counted
_BLOCKS_AT_ONCE = 64  # of rows that ask a box tree, between two looks at the clock
_ROWS_AT_ONCE = 1 << 16  # for which pairs are counted, between two looks at the clock
_A_PIECE = 16  # plain boxes that a thread looks for with the same groups
_WORTH_THREADS = 1 << 16  # looks at rows
_ANY, _NULL, _KNOWN = 0, 1, 2  # what a row's value in a column may be
_RANKS = LESS | EQUAL | MORE


def first_pairs(
    rows: RankedColumns, space: Space, boxes: Boxes, fresh: int = 0, progress: OnProgress | None = None
) -> RowPairs:
    """For each box a pair of living rows, given by place, that lies in it; -1 where there is none.

    Of each pair one row at least is at the place `fresh` or behind it. Marks may be any set of values.
    """
    look, wanted = _Look(rows, fresh), [(n, plain) for n, box in enumerate(boxes) for plain in _plain(box, space)]
    of, found = np.array([n for n, _ in wanted], np.int64), np.full((len(wanted), 2), -1, np.int64)
    firsts = np.searchsorted(of, np.arange(len(boxes) + 1))

    def work(piece: _Piece, so_far: SoFar) -> None:
        equal, numbers = piece
        groups = look.groups(equal)
        for done, number in enumerate(numbers):
            so_far(done)
            if (found[firsts[of[number]] : number, 0] < 0).all():
                found[number] = look.first(wanted[number][1], groups, so_far) or (-1, -1)

    workers = 0 if len(boxes) * rows.count < _WORTH_THREADS else None
    each(_pieces([plain for _, plain in wanted]), work, workers, progress)
    pairs = np.full((len(boxes), 2), -1, np.int64)
    met = np.flatnonzero(found[:, 0] >= 0)[::-1]
    pairs[of[met]] = found[met]  # of each box the first that was found, which is written last
    return pairs


def count_pairs(rows: RankedColumns, space: Space, boxes: Boxes, progress: OnProgress | None = None) -> Counts:
    """How many ordered pairs of different living rows lie in each box. Boxes are left sides."""
    look = _Look(rows, 0)

    def work(box: NDArray[np.uint8], so_far: SoFar) -> int:
        (plain,) = _plain(box, space)
        return look.count(plain, look.groups(plain.equal), so_far)

    workers = 0 if len(boxes) * rows.count < _WORTH_THREADS else None
    return np.array(each(list(boxes), work, workers, progress), np.int64)


# ---- plain boxes ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plain:
    """A box of marks that compare ranks, FREE elsewhere; and what t's and s's nulls must be."""

    marks: tuple[int, ...]
    below: tuple[int, ...]  # of t, by column: _ANY, _NULL, _KNOWN
    above: tuple[int, ...]  # of s

    @property
    def mirrored(self) -> _Plain:
        return _Plain(tuple(int(MIRRORED[mark]) for mark in self.marks), self.above, self.below)

    @property
    def equal(self) -> tuple[int, ...]:
        """The columns that are to be equal."""
        return tuple(c for c, mark in enumerate(self.marks) if mark == EQUAL)

    @property
    def unequal(self) -> list[int]:
        """The columns with other marks."""
        return [c for c, mark in enumerate(self.marks) if mark not in (EQUAL, FREE)]

    def is_falling(self, column: int) -> bool:
        """Whether t is to have the higher rank in a column."""
        return bool(self.marks[column] & MORE)

    def is_strict(self, column: int) -> bool:
        """Whether a column's ranks are to differ."""
        return not self.marks[column] & EQUAL


def _plain(box: NDArray[np.uint8], space: Space) -> Iterator[_Plain]:
    """The plain boxes that a box is made of. Of two that mirror each other one is enough: a pair in the one, turned
    round, is in the other.
    """
    done = set()
    for parts in product(*(_parts(int(mask), space, c) for c, mask in enumerate(box))):
        marks, below, above = zip(*parts, strict=True) if parts else ((), (), ())
        plain = _Plain(marks, below, above)
        if plain.mirrored not in done:
            done.add(plain)
            yield plain


def _parts(mask: int, space: Space, column: int) -> list[tuple[int, int, int]]:
    """The comparisons of ranks that a mark is made of, each with what it asks of t's and of s's nulls."""
    every = space.values(column)
    mask &= every
    if mask == every:
        return [(FREE, _ANY, _ANY)]
    nulls = _KNOWN if space.unknown else _ANY
    if not space.ordered[column]:
        if mask != OTHER:
            return [(EQUAL, nulls, nulls)] if mask else []
        both_null = [(FREE, _NULL, _NULL)] if space.unknown else []
        return [(LESS, _ANY, _ANY), (MORE, _ANY, _ANY), *both_null]
    ranks = mask & _RANKS
    marks = [LESS, MORE] if ranks == LESS | MORE else [FREE] if ranks == _RANKS else [ranks] if ranks else []
    unknown = [(FREE, _NULL, _ANY), (FREE, _ANY, _NULL)] if mask & OTHER else []
    return [(mark, nulls, nulls) for mark in marks] + unknown


_Piece = tuple[tuple[int, ...], list[int]]  # plain boxes, by number, that ask for the same columns to be equal


def _pieces(every: Sequence[_Plain]) -> list[_Piece]:
    """All plain boxes. Those that take long first, so that threads end together."""
    by_equal: dict[tuple[int, ...], list[int]] = {}
    for number, plain in enumerate(every):
        by_equal.setdefault(plain.equal, []).append(number)
    alone: list[_Piece] = [((), [own]) for own in by_equal.pop((), [])]
    cut = [(equal, own[i : i + _A_PIECE]) for equal, own in by_equal.items() for i in range(0, len(own), _A_PIECE)]
    return alone + sorted(cut, key=lambda piece: (len(piece[0]), -len(piece[1])))


# ---- one look at the rows -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows in groups, by place, and the number of each row's group, from 1 on."""

    partition: Partition
    numbers: NDArray[np.uint32]


class _Look:
    """The rows that are looked at, and how groups of equal ones are found.

    Which pair is found depends on the rows alone, and not on values that were in the table before: so columns are
    distinguished by the values of living rows.
    """

    def __init__(self, rows: RankedColumns, fresh: int) -> None:
        self._cells, self._values = rows.cells, rows.value_counts
        self._alive, self._fresh = rows.alive, fresh
        self._present = cache(partial(_present, rows))
        self._walks = Walks(ColumnPartitions(rows, fresh))

    def _many_first(self, columns: Iterable[int]) -> list[int]:
        """Columns by how many values they have."""
        return sorted(columns, key=lambda c: (-int(np.count_nonzero(self._present(c))), c))

    def groups(self, equal: tuple[int, ...]) -> _Groups:
        """The rows that are equal on some columns, without those that are equal to no other one."""
        found = self._walks.to(tuple(self._many_first(equal)))
        numbers = np.zeros(len(self._alive), np.uint32)
        numbers[found.rows] = np.repeat(np.arange(1, found.groups + 1, dtype=np.uint32), np.diff(found.starts))
        return _Groups(found, numbers)

    def first(self, plain: _Plain, groups: _Groups, so_far: SoFar) -> tuple[int, int] | None:
        """A pair of rows in a plain box, if there is one, given the rows that are equal where it asks for that."""
        columns = self._columns_by_use(plain)
        rows, roles = self._candidates(plain, groups)
        if len(rows) < 2:
            return None
        needs_all = not columns or not plain.is_strict(columns[0]) or not self._fits(columns)  # to put rows in order
        rows = self._in_order(plain, rows, columns if needs_all else columns[:1], groups)
        lying = self._lying(plain, columns, rows, groups.numbers[rows], roles[rows])
        found = lying.by_sweep(self._sizes(columns)) if self._fits(columns) else lying.by_tree(so_far)
        return None if found is None else (int(rows[found[0]]), int(rows[found[1]]))

    def count(self, plain: _Plain, groups: _Groups, so_far: SoFar) -> int:
        """How many ordered pairs of rows lie in a plain box that asks the same of the nulls of both."""
        if not plain.unequal:
            sizes = np.diff(groups.partition.starts).astype(np.int64)
            return int((sizes * (sizes - 1)).sum())
        columns = self._many_first(plain.unequal)
        rows, roles = self._candidates(plain, groups)
        rows = self._in_order(plain, rows, columns[:1], groups)
        lying = self._lying(plain, columns, rows, groups.numbers[rows], roles[rows])
        sizes = np.array([len(self._present(column)) for column in columns], np.int64)
        fits = len(columns) <= _COUNTED and sizes[1:].prod(dtype=np.float64) <= _MOST_COUNTED
        found = lying.count_by_sweep(sizes, so_far) if fits else lying.count_by_tree(so_far)
        return found if lying.strict.any() else found - len(rows)  # each row was found below itself

    def _columns_by_use(self, plain: _Plain) -> list[int]:
        """The columns with inequalities: that of the order, that whose least value the tree holds, those of the tree.

        The first two may have many values. If one of them is strict, it should give the order.
        """
        columns = self._many_first(plain.unequal)
        return sorted(columns[:2], key=plain.is_strict, reverse=True) + columns[2:]

    # ---- who may be t, and who may be s -----------------------------------------------------------------------------

    def _candidates(self, plain: _Plain, groups: _Groups) -> tuple[Rows, NDArray[np.uint8]]:
        """Of rows in groups those that may be t or s, those that may only be t first and those that may only be s last;
        and what each row of the table may be.
        """
        rows, roles = groups.partition.rows, np.full(len(self._alive), BELOW | ABOVE, np.uint8)
        roles[self._fresh :] |= FRESH
        for role, nulls in ((BELOW, plain.below), (ABOVE, plain.above)):
            if any(nulls):
                roles[rows[~self._with_nulls(rows, nulls)]] -= np.uint8(role)
        if self._fresh:
            falling, strict = (
                np.array([ask(c) for c in plain.unequal], np.bool_) for ask in (plain.is_falling, plain.is_strict)
            )
            marks = np.array(plain.unequal, np.int64), falling, strict
            dominance.beside_new(rows, groups.partition.starts, self._fresh, self._cells, *marks, roles)
        own = roles[rows] & (BELOW | ABOVE)
        if (own == BELOW | ABOVE).all():
            return rows, roles
        return np.concatenate([rows[own == BELOW], rows[own == BELOW | ABOVE], rows[own == ABOVE]]), roles

    def _with_nulls(self, rows: Rows, nulls: tuple[int, ...]) -> Mask:
        """Which of some rows have nulls where they should, and none where they should not."""
        passing = np.ones(len(rows), np.bool_)
        for column, what in enumerate(nulls):
            if what != _ANY:
                passing &= (self._cells[column][rows] == 0) == (what == _NULL)
        return passing

    # ---- the order of the sweep -------------------------------------------------------------------------------------

    def _in_order(self, plain: _Plain, rows: Rows, columns: list[int], groups: _Groups) -> Rows:
        """Rows by their groups, and then by some columns."""
        for column in reversed(columns):
            rows = sorted_by(rows, self._cells[column], int(self._values[column]), plain.is_falling(column))
        count = groups.partition.groups
        return rows if count == 1 else sorted_by(rows, groups.numbers, count + 1)

    def _fits(self, columns: list[int]) -> bool:
        """Whether a tree of the columns behind the first two is small enough."""
        return len(columns) <= 2 + _IN_TREE and float(np.prod(self._sizes(columns), dtype=np.float64)) <= _MOST_CELLS

    def _sizes(self, columns: list[int]) -> NDArray[np.int64]:
        """How many values the columns behind the first two have."""
        return np.array([np.count_nonzero(self._present(c)) for c in columns[2:]], np.int64)

    def _lying(
        self, plain: _Plain, columns: list[int], rows: Rows, groups: NDArray[np.uint32], roles: NDArray[np.uint8]
    ) -> _Lying:
        """Rows in their order, with what they must fulfil; at least two columns."""
        ranks, strict = np.zeros((max(2, len(columns)), len(rows)), np.int32), np.zeros(max(2, len(columns)), np.bool_)
        for place, column in enumerate(columns):
            ranks[place] = self._turned(column, rows, plain.is_falling(column), dense=place >= 2)
            strict[place] = plain.is_strict(column)
        return _Lying(groups, roles, ranks, strict)

    def _turned(self, column: int, rows: Rows, falling: bool, dense: bool) -> NDArray[np.int32]:
        """The ranks of rows in a column, from the highest down if falling; among living rows, if dense."""
        ranks: NDArray[np.int32] = self._cells[column].take(rows).astype(np.int32)
        present = self._present(column)
        top = len(present) - 1
        if dense and not present.all():
            among = np.cumsum(present, dtype=np.int32) - 1
            ranks, top = among.take(ranks), int(among[-1])
        if falling:
            np.subtract(top, ranks, out=ranks)
        return ranks


def _present(rows: RankedColumns, column: int) -> Mask:
    """Which ranks of a column living rows have."""
    present, cells = np.zeros(int(rows.value_counts[column]), np.bool_), rows.cells[column, : rows.count]
    present[cells if rows.alive.all() else cells[rows.alive]] = True
    return present


@dataclass(frozen=True, eq=False)
class _Lying:
    """Rows in an order, of which two are searched: one that lies below another one of its group."""

    groups: NDArray[np.uint32]
    roles: NDArray[np.uint8]
    ranks: NDArray[np.int32]  # [column, row], turned
    strict: NDArray[np.bool_]  # [column]

    def by_sweep(self, sizes: NDArray[np.int64]) -> tuple[int, int] | None:
        """By a sweep, with a tree of the columns behind the first two, given how many values these have."""
        inner, all_sizes = np.zeros((_IN_TREE, len(self.groups)), np.int32), np.ones(_IN_TREE, np.int64)
        inner[: len(sizes)], all_sizes[: len(sizes)] = self.ranks[2:], sizes
        strict = np.zeros(2 + _IN_TREE, np.bool_)
        strict[0], strict[1 : 1 + len(sizes)], strict[-1] = self.strict[0], self.strict[2:], self.strict[1]
        trees = np.zeros((1 if (self.roles & FRESH).all() else 2, int(all_sizes.prod())), np.int64)
        swept = SweptRows(self.groups, self.roles, self.ranks[0], inner, self.ranks[1], strict, all_sizes)
        above = int(dominance.sweep(swept, trees))
        return None if above < 0 else (self._below(above), above)

    def _below(self, above: int) -> int:
        """A row that lies below another one, and is there."""
        upto = slice(int(np.searchsorted(self.groups, self.groups[above])), above)
        chosen = (self.roles[upto] & BELOW).astype(np.bool_)
        if not self.roles[above] & FRESH:
            chosen &= (self.roles[upto] & FRESH).astype(np.bool_)
        for ranks, strict in zip(self.ranks, self.strict, strict=True):
            chosen &= ranks[upto] < ranks[above] + (not strict)
        return upto.start + int(np.argmax(chosen))

    def by_tree(self, so_far: SoFar) -> tuple[int, int] | None:
        """By a search in a box tree, for which rows are in the lexicographic order of all columns."""
        below, above, fresh = (self.roles & bit != 0 for bit in (BELOW, ABOVE, FRESH))
        found = self._by_tree(below, above & fresh, so_far)
        if found is not None or fresh.all():
            return found
        return self._by_tree(below & fresh, above & ~fresh, so_far)

    def _by_tree(self, below: Mask, above: Mask, so_far: SoFar) -> tuple[int, int] | None:
        """Among some rows that may lie below some others."""
        some, others = np.flatnonzero(below), np.flatnonzero(above)
        tree, question = BoxTree(self._values.take(some, axis=1), some), self._question(others)
        blocks = full_blocks(len(others))
        for begin in range(0, len(blocks) - 1, _BLOCKS_AT_ONCE):
            so_far(0)
            found = tree.first(question, blocks[begin : begin + _BLOCKS_AT_ONCE + 1])
            if found is not None:
                return found[1], int(others[found[0]])
        return None

    @cached_property
    def _values(self) -> NDArray[np.int64]:
        return np.concatenate([self.groups[None].astype(np.int64), self.ranks.astype(np.int64)])

    def _question(self, rows: NDArray[np.int64]) -> BoxQueries:
        """Which rows lie below each of some rows."""
        operators = np.array([EQ, *(LT if strict else LE for strict in self.strict)], np.int64)
        return BoxQueries(np.arange(len(operators)), operators, self._values.take(rows, axis=1), rows, OTHERS, 0, 0)

    # ---- how many ---------------------------------------------------------------------------------------------------

    def count_by_sweep(self, values: Counts, so_far: SoFar) -> int:
        """How many pairs of a group lie below each other, given how many values the columns have."""
        filled, strict = np.zeros((_COUNTED, len(self.groups)), np.int32), np.zeros(_COUNTED, np.bool_)
        filled[: len(self.ranks)], strict[: len(self.ranks)] = self.ranks, self.strict
        sizes = np.ones(_COUNTED - 1, np.int64)
        sizes[: len(values) - 1] = values[1:]
        tree, done, row = np.zeros(int(sizes.prod()), np.int32), np.zeros(2, np.int64), 0
        while row < len(self.groups):
            so_far(0)
            row = count_below(self.groups, filled, strict, sizes, tree, row, _ROWS_AT_ONCE, done)
        return int(done[0])

    def count_by_tree(self, so_far: SoFar) -> int:
        """The same, by asking a box tree."""
        rows, found = np.arange(len(self.groups)), 0
        tree = BoxTree(self._values, rows)
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            so_far(0)
            found += int(tree.count(self._question(rows[begin : begin + _ROWS_AT_ONCE])).sum())
        return found
