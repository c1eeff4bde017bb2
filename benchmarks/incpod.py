"""The rival of our probes: the indexes of the paper (incpod, sections IV and V) in flat arrays, compiled.

An index for two marked columns is a set of **chains**: rows that, one behind the other, satisfy both marks. For a new
row the rows that satisfy two marks with it are a piece of each chain, between places that binary searches find (Fetch).
What else a rule says is checked on these **candidates**, one by one. A rule is given as a box: the marks of its left
side with the negation of its right side, so that a pair of rows that lies in the box breaks the rule.

Where the paper is mended:
- OptIndex breaks ties of a strict first mark in the order of the second. Two rows that tie would then follow each other
  in a chain, which the index's own definition forbids. Here they are broken in the opposite order.
- Fetch takes all rows before p and q for those that the new row satisfies both marks with. That is wrong where values
  tie with the new row's: too many for strict marks, too few for others. Here each side has places of its own.
- With places of its own for each mark and side, any chain sorted by two columns serves all marks of these: so both
  kinds of alternative indexes are the same search, and only which chains are few depends on the marks.
A chain is an array with room to grow, in place of a skip list, and beside each row are its ranks in the columns that
are to be checked: so candidates are read in order. Equal rows lie beside each other in place of a map of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.incpod_kernels import (
    EQUAL,
    FREE,
    LESS,
    MORE,
    Boxes,
    Chains,
    Found,
    Groups,
    Ints,
    Ranks,
    Rest,
    cover,
    fetch,
    probe_chains,
    probe_groups,
)

_INEQUALITIES = (LESS, LESS | EQUAL, MORE, MORE | EQUAL)
_SELECTIVE = 0.6  # the paper's threshold for the score of an index by equality
_CORRELATED = 0.2  # the paper's alpha


@dataclass(frozen=True, eq=False)
class PairIndex:
    """Index(A op, B op), for some rules. Use `opt_index`."""

    columns: tuple[int, int]
    signs: tuple[int, int]  # -1 where a column descends
    chains: Chains
    boxes: Boxes

    @property
    def rank(self) -> int:
        """How many chains there are."""
        return int(self.chains.used[0])

    def sorted_rows(self) -> list[list[int]]:
        """The chains, each as its rows."""
        spans = zip(self.chains.start[: self.rank], self.chains.size[: self.rank], strict=True)
        return [self.chains.rows[start : start + size].tolist() for start, size in spans]

    def probe(self, ranks: Ranks, rows: Ints, patient: bool = True) -> Found:
        """Take in rows that are new, one after the other, and tell which of the rules they break."""
        own, found = ranks[:, rows], _nothing(len(self.boxes))
        if not probe_chains(self.chains, rows, self.keys(own), self.checked(own), self._rest(), patient, found):
            raise MemoryError("the pool of chains is full")
        return found

    def candidates(self, ranks: Ranks, row: int) -> tuple[set[int], set[int]]:
        """Fetch alone, for the first rule: the rows that a row has two marks with, and those that have them with it."""
        own, found = ranks[:, [row]], _nothing(len(self.boxes), 2 * ranks.shape[1])
        keys = self.keys(own)
        fetch(self.chains, row, (keys[0, 0], keys[1, 0]), self.checked(own)[:, 0].copy(), self._rest(), True, found)
        listed = found.candidates[: found.tally[0]]
        return set(listed[listed[:, 1] == 1, 0].tolist()), set(listed[listed[:, 1] == 0, 0].tolist())

    def keys(self, ranks: Ranks) -> Ranks:
        """The two keys of some rows, which ascend where the index does."""
        return np.stack([sign * ranks[c] for c, sign in zip(self.columns, self.signs, strict=True)]).astype(np.int32)

    def checked(self, ranks: Ranks) -> Ranks:
        """What is to be checked of some rows."""
        return np.ascontiguousarray(ranks[_checked(self.boxes, self.columns)])

    def _rest(self) -> Rest:
        own = np.empty((len(self.boxes), 2, 2), np.int64)
        for k, (column, sign) in enumerate(zip(self.columns, self.signs, strict=True)):
            marks = self.boxes[:, column] if sign > 0 else mirrored(self.boxes[:, column])
            own[:, 0, k], own[:, 1, k] = marks, mirrored(marks)
        return _rest_of(self.boxes, self.columns, own)


def opt_index(ranks: Ranks, count: int, columns: tuple[int, int], marks: tuple[int, int], boxes: Boxes) -> PairIndex:
    """OptIndex on the first rows: as few chains as possible in which each row has the marks with those before it, equal
    ones aside.
    """
    signs, strict = (1 if marks[0] & MORE else -1, 1 if marks[1] & MORE else -1), [not mark & EQUAL for mark in marks]
    index = PairIndex(columns, signs, _pool(ranks.shape[1], count, len(_checked(boxes, columns)), strict), boxes)
    keys, chains = index.keys(ranks[:, :count]), index.chains
    order = np.lexsort((-keys[1] if strict[0] else keys[1], keys[0]))
    fresh = np.ones(count, np.bool_)
    fresh[1:] = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    chain_of = np.empty(int(fresh.sum()), np.int64)
    rank = cover(keys[1, order[fresh]], strict[1], chain_of)
    chain_of = chain_of[np.cumsum(fresh) - 1]
    size = np.bincount(chain_of, minlength=rank)
    room = size + size // 8 + 4
    start = np.cumsum(room) - room
    order = order[np.argsort(chain_of, kind="stable")]
    places = np.arange(count) + np.repeat(start - (np.cumsum(size) - size), size)
    chains.rows[places], chains.keys[:, places] = order, keys[:, order]
    chains.cells[:, places] = index.checked(ranks[:, :count])[:, order]
    chains.start[:rank], chains.size[:rank], chains.room[:rank] = start, size, room
    chains.used[:] = rank, room.sum()
    return index


@dataclass(frozen=True, eq=False)
class GroupIndex:
    """Index(A =), for some rules."""

    column: int
    groups: Groups
    boxes: Boxes

    @staticmethod
    def of(ranks: Ranks, count: int, column: int, boxes: Boxes) -> GroupIndex:
        """The index of the first rows."""
        own = ranks[column, :count]
        order = np.argsort(own, kind="stable")
        values = int(ranks[column].max()) + 1
        start = np.searchsorted(own[order], np.arange(values + 1))
        cells = np.ascontiguousarray(ranks[_checked(boxes, (column,))][:, order])
        none = np.full(values, -1), np.full(ranks.shape[1], -1)
        return GroupIndex(column, Groups(start, order.astype(np.int32), cells, *none), boxes)

    def probe(self, ranks: Ranks, rows: Ints, patient: bool = True) -> Found:
        """Take in all rows that are new, one after the other, and tell which of the rules they break."""
        rest = _rest_of(self.boxes, (self.column,), np.zeros((len(self.boxes), 2, 2), np.int64))
        cells, found = (
            np.ascontiguousarray(ranks[_checked(self.boxes, (self.column,))][:, rows]),
            _nothing(len(self.boxes)),
        )
        probe_groups(self.groups, rows.astype(np.int32), ranks[self.column, rows], cells, rest, patient, found)
        return found


def _nothing(rules: int, room: int = 0) -> Found:
    return Found(np.zeros(2, np.int64), np.full((rules, 2), -1, np.int64), np.empty((room, 2), np.int64))


def _pool(rows: int, count: int, checked: int, strict: list[bool]) -> Chains:
    room = 2 * rows + 4 * (rows - count) + 64  # the first rows take a little more than a place each, others up to six
    start, size, most = np.zeros((3, rows + 1), np.int64)
    return Chains(
        np.empty((2, room), np.int32), np.array(strict), np.empty(room, np.int32), np.empty((checked, room), np.int32),
        start, size, most, np.zeros(2, np.int64),
    )  # fmt: skip


def _checked(boxes: Boxes, known: Sequence[int]) -> list[int]:
    """The columns that rules have marks on, but for some."""
    return [c for c in np.flatnonzero((boxes != FREE).any(axis=0)).tolist() if c not in known]


def _rest_of(boxes: Boxes, known: Sequence[int], own: Ints) -> Rest:
    """What is left to check of each rule where the marks on some columns are known to hold."""
    left = boxes[:, _checked(boxes, known)]
    rules, columns = np.nonzero(left != FREE)
    start = np.searchsorted(rules, np.arange(len(boxes) + 1))
    return Rest(start, columns, left[rules, columns].astype(np.int64), own)


def mirrored(marks: NDArray[Any]) -> NDArray[Any]:
    """Marks seen from the other row."""
    return marks & (FREE - LESS - MORE) | (marks & LESS) << 2 | (marks & MORE) >> 2


# ---- choosing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """An index to make, by equality where it has one column, and the rules that it is to serve."""

    columns: tuple[int, ...]
    marks: tuple[int, ...]
    rules: tuple[int, ...]

    def made(self, ranks: Ranks, count: int, boxes: Boxes) -> PairIndex | GroupIndex:
        """The index of the first rows, for those of the rules that it is to serve."""
        own = boxes[list(self.rules)]
        if len(self.columns) == 1:
            return GroupIndex.of(ranks, count, self.columns[0], own)
        a, b = self.columns
        return opt_index(ranks, count, (a, b), (self.marks[0], self.marks[1]), own)


def choose_indexes(ranks: Ranks, boxes: Boxes) -> list[Choice]:
    """ChooseIndex: indexes that serve all rules. Scores are those of all rows, where the paper takes a sample."""
    left = dict(enumerate(boxes.tolist()))
    chosen = []

    def serve(columns: tuple[int, ...], marks: tuple[int, ...], rules: list[int]) -> None:
        chosen.append(Choice(columns, marks, tuple(rules)))
        for rule in rules:
            del left[rule]

    unequal = [1 - len(np.unique(column)) / len(column) for column in ranks]
    for column in np.argsort(unequal).tolist():
        served = [rule for rule, box in left.items() if box[column] == EQUAL]
        if unequal[column] < _SELECTIVE and served:
            serve((column,), (EQUAL,), served)
    with np.errstate(invalid="ignore", divide="ignore"):  # a column of one value correlates with none
        alike: NDArray[np.float64] = np.nan_to_num(np.atleast_2d(np.corrcoef(ranks)))
    for a, b in _pairs_by_score(list(left.values()), alike):
        served = [rule for rule, box in left.items() if box[a] in _INEQUALITIES and box[b] in _INEQUALITIES]
        if served:
            serve((a, b), _turned(left[served[0]][a], left[served[0]][b], alike[a, b]), served)
    while left:
        box = next(iter(left.values()))
        column = min((c for c, mark in enumerate(box) if mark == EQUAL), key=lambda c: unequal[c])
        serve((column,), (EQUAL,), [rule for rule, other in left.items() if other[column] == EQUAL])
    return chosen


def _pairs_by_score(boxes: list[list[int]], alike: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pairs of columns that rules have inequalities on: those first that correlate, and that many rules have."""
    coverage: dict[tuple[int, int], int] = {}
    for box in boxes:
        columns = [c for c, mark in enumerate(box) if mark in _INEQUALITIES]
        for at, a in enumerate(columns):
            for b in columns[at + 1 :]:
                coverage[a, b] = coverage.get((a, b), 0) + 1
    return sorted(coverage, key=lambda pair: ((1 - abs(alike[pair])) / coverage[pair], pair))


def _turned(first: int, second: int, alike: float) -> tuple[int, int]:
    """Two marks to index for, which serve those given: not strict, so that ties need no chains of their own, and the
    second turned round where columns that rise together would then need fewer chains.
    """
    together = bool(first & LESS) == bool(second & LESS)
    wrong = (alike > _CORRELATED and not together) or (alike < -_CORRELATED and together)
    return first | EQUAL, (int(mirrored(np.array(second))) if wrong else second) | EQUAL
