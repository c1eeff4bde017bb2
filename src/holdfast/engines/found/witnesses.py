"""Witnesses of rules that a batch broke: for each two rows that break it, one of them new where that can be found.

One pair may break many rules, so pairs are tried on all rules that are left. First those that are at hand: what the
strategy has come across, which its class tries on all rules; then new rows with all rows, where that takes less time
than a search for each rule. For what is left a search finds a pair that breaks the rule with the largest context: rows
that agree on much break more. That pair is tried on the rest, and so on. The search is the pair search
(`holdfast.search`), or that by which a class proves its rules.

All classes of rules share the comparisons of new rows.
Cost: a look at each pair that is tried, and a search, which sorts the rows, for each that is searched for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.cover import Mask, Numbers
from holdfast.changes.diff import NOBODY, Witness
from holdfast.engines.given.queries import queries_of
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.keys import KeyTable
from holdfast.rules.rule import Rule
from holdfast.search.queries import PairQuery
from holdfast.search.search import PairSearch
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.nulls import Nulls
from holdfast.table.row_names import witnesses_of
from holdfast.table.rows import Rows
from holdfast.table.table import Table

Pairs = NDArray[np.int64]  # [rule, 2]

_MANY = 1 << 10  # pairs of rows from which on equal ones are looked at once
_AT_ONCE = 1 << 13  # pairs that are compared together
_SEARCH = 1 << 12, 0.25  # pairs that are compared while a search for one rule starts, and then for each row
_TRIED = 1 << 20  # pairs of a new row with any other that are compared at most


class Signatures(NamedTuple):
    """What pairs of rows are to each other, a row of words each: the columns on which the two agree, and those on which
    the first row is less, and more, than the second. Of pairs that are alike only the first may be there: `places` says
    which ones are.
    """

    places: Numbers
    agree: Words
    less: Words
    more: Words


@dataclass(frozen=True, eq=False)
class Compared:
    """Pairs of rows of a table, by id, and what their rows are to each other, `[pair, column]`. Only signatures stay in
    memory: those by equality, where no column is less or more, and those by order.
    """

    pairs: Numbers
    table: Table

    @cached_property
    def by_equality(self) -> Signatures:
        """For rules that need no order."""
        equal = self.equal
        return self._signatures(equal, equal & False, equal & False)

    @cached_property
    def by_order(self) -> Signatures:
        """For rules about pairs of columns."""
        signs = self.signs
        return self._signatures(self.equal, signs < 0, signs > 0)

    def _signatures(self, *marks: Mask) -> Signatures:
        words, places = bitsets.words_for(len(self.table.schema.columns) + 1), np.arange(len(self.pairs))
        sets = [bitsets.packed(each, words) for each in marks]
        if len(places) > _MANY:  # most pairs look like others
            table = KeyTable(2 * words, len(places))
            places = np.unique(table.entries(np.concatenate(sets[:2], axis=1)), return_index=True)[1]
            sets = [each[places] for each in sets]
        return Signatures(places, *sets)

    @property
    def equal(self) -> Mask:
        """On which columns the two rows agree."""
        one, other, known = self._codes()
        return np.asarray((one == other) & known)

    @property
    def signs(self) -> NDArray[np.int8]:
        """The sign of the difference of the two rows on each column; 0 also where a null leaves it unknown."""
        keys = [self.table.order_keys(column).of for column in range(len(self.table.schema.columns))]
        *codes, known = self._codes()
        one, other = (np.array([of(own) for of, own in zip(keys, side.T, strict=True)]).T for side in codes)
        return np.where(known, (one > other).astype(np.int8) - (one < other), 0).astype(np.int8)

    def _codes(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Mask | np.bool_]:
        """The codes of both rows, and where no null is that differs from everything."""
        rows, back = np.unique(self.pairs, return_inverse=True)
        codes, back = self.table.codes(rows).T, back.reshape(-1, 2)
        sides = codes[back[:, 0]], codes[back[:, 1]]
        nulls = [side == NULL_CODE for side in sides] if self.table.schema.nulls.are_distinct else []
        return *sides, ~np.logical_or(*nulls) if nulls else np.True_


class NewPairs:
    """The pairs of new rows with all rows, some at a time. All classes of rules share what was compared."""

    def __init__(self, change: Change) -> None:
        self._compared: list[Compared] = []
        self._left = _at_hand(np.asarray(change.born, np.int64), change.after)

    def __iter__(self) -> Iterator[Compared]:
        yield from self._compared
        for pairs in self._left:
            self._compared.append(pairs)
            yield pairs


class Broken(ABC):
    """Rules that rows broke, as their class has them, by number. Pairs of rows are given by id, NOBODY twice where no
    rows break a rule; their order may mean something to a class.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @property
    @abstractmethod
    def sizes(self) -> Numbers:
        """How many columns of two rows each rule compares before they may break it."""

    @abstractmethod
    def known(self, born: range) -> Pairs:
        """For each rule a pair that the strategy came across; one row at least is new."""

    @abstractmethod
    def hits(self, rules: Numbers, seen: Compared) -> Pairs:
        """For each of some rules one of the compared pairs."""

    @abstractmethod
    def first(self, number: int, change: Change) -> Pairs | None:
        """A pair that breaks a rule, which is searched for."""

    def witnesses(self, change: Change) -> dict[str, Witness]:
        """Two rows for each rule that rows break, by its text."""
        pairs = breaking_pairs(self, change).tolist() if self.texts else []
        found = {text: (one, other) for text, (one, other) in zip(self.texts, pairs, strict=True) if one >= 0}
        return witnesses_of(change.after, found) if found else {}


def pairs_at(pairs: Pairs, places: Numbers) -> Pairs:
    """Those of some pairs that stand at some places, NOBODY twice for the place -1."""
    return np.asarray(np.append(pairs, [[NOBODY, NOBODY]], axis=0)[places])


def breaking_pairs(broken: Broken, change: Change) -> Pairs:
    """For each rule a pair that breaks it."""
    pairs = broken.known(change.born)
    left = np.flatnonzero(pairs[:, 0] == NOBODY)
    if not len(left):
        return pairs
    after = change.after
    left = left[np.argsort(-broken.sizes[left], kind="stable")]
    for new in change.made_once(NewPairs) if _worth_comparing(len(left), change) else ():
        left = _tried(broken, left, new, pairs)
        if not len(left):
            return pairs
    while len(left):
        found = broken.first(int(left[0]), change)
        seen = None if found is None else Compared(np.sort(found)[None], after)
        left = left[1:] if seen is None else _tried(broken, left, seen, pairs)
    return pairs


def _worth_comparing(rules: int, change: Change) -> bool:
    """Whether it takes less time to compare new rows with all rows than to search for each rule."""
    rows, (start, by_row) = change.after.rows, _SEARCH
    return min(rows * len(change.born), _TRIED) <= rules * (start + by_row * rows)


def _tried(broken: Broken, left: Numbers, seen: Compared, pairs: Pairs) -> Numbers:
    """Let pairs stand for those of some rules that they break; gives the others."""
    pairs[left] = broken.hits(left, seen)
    return np.asarray(left[pairs[left, 0] == NOBODY])


def _at_hand(born: Numbers, table: Table) -> Iterator[Compared]:
    """New rows with all rows, some at a time, the lower id first."""
    if not len(born):
        return
    ids = table.living_ids()
    step = max(1, _AT_ONCE // len(born))
    for begin in range(0, min(len(ids), _TRIED // len(born)), step):
        some = ids[begin : begin + step]
        made = np.stack([np.repeat(born, len(some)), np.tile(some, len(born))], axis=1)
        yield Compared(np.sort(made[made[:, 0] != made[:, 1]], axis=1), table)


def first_pair(rule: Rule, table: Table, born: Rows) -> tuple[int, int] | None:
    """Two rows that break a rule, by the pair search; one of them new if it finds such a pair."""
    nulls = table.schema.nulls
    for query in queries_of(rule, table.schema):
        search = PairSearch(table, [query], Nulls.SQL if nulls.are_distinct else Nulls.EQUAL)
        found = (search.first(0, born) if len(born) else None) or search.first(0)
        if found is None and nulls.are_distinct:
            found = _by_null(query, table)
        if found is not None:
            return found
    return None


def _by_null(query: PairQuery, table: Table) -> tuple[int, int] | None:
    """A pair that a query is about, where the two rows differ only as one has a null: it differs from everything."""
    differing = [each.mine for each in query.conditions if each.operator == "!="]
    if not differing:
        return None
    has_null = np.logical_or.reduce([table.column_codes(column) == NULL_CODE for column in differing])
    rest = PairQuery(tuple(each for each in query.conditions if each.operator != "!="), query.t_checks, query.s_checks)
    return PairSearch(table, [rest], Nulls.SQL).first(0, Rows.at(table, table.living_ids()[has_null]))
