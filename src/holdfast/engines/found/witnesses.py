"""Witnesses of rules that a batch broke: for each two rows that break it, one of them new where that can be found.

One pair may break many rules, so pairs are tried on all rules that are left. First those that are at hand: what the
strategy has come across, which its class tries on all rules; then new rows with all rows, as long as these are not too
many. For what is left the pair search (`holdfast.search`) finds the first pair that breaks the rule with the largest
context: rows that agree on much break more. That pair is tried on the rest, and so on.

Cost: a look at each pair that is tried, and a search, which sorts the rows, for each that the pair search finds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY
from holdfast.engines.given.queries import queries_of
from holdfast.rules.rule import Rule
from holdfast.search.queries import PairQuery
from holdfast.search.search import PairSearch
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.nulls import Nulls
from holdfast.table.rows import Rows
from holdfast.table.table import Table

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_AT_ONCE = 1 << 13  # pairs that are compared together
_TRIED = 1 << 20  # pairs of a new row with any other that are compared at most, rather than searched for


@dataclass(frozen=True, eq=False)
class Compared:
    """Pairs of rows of a table, by id, and what their rows are to each other, `[pair, column]`."""

    pairs: Numbers
    table: Table

    @cached_property
    def equal(self) -> Mask:
        """On which columns the two rows agree."""
        one, other = self._codes
        equal: Mask = (one == other) & self._known
        return equal

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """The sign of the difference of the two rows on each column; 0 also where a null leaves it unknown."""
        keys = [self.table.order_keys(column).of for column in range(len(self.table.schema.columns))]
        one, other = (np.array([of(own) for of, own in zip(keys, side.T, strict=True)]).T for side in self._codes)
        return np.where(self._known, (one > other).astype(np.int8) - (one < other), 0).astype(np.int8)

    @cached_property
    def _codes(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        rows, back = np.unique(self.pairs, return_inverse=True)
        codes, back = self.table.codes(rows).T, back.reshape(-1, 2)
        return codes[back[:, 0]], codes[back[:, 1]]

    @cached_property
    def _known(self) -> Mask | np.bool_:
        """Where no null is that differs from everything."""
        nulls = [side == NULL_CODE for side in self._codes] if self.table.schema.nulls.are_distinct else []
        return ~np.logical_or(*nulls) if nulls else np.True_


class Broken(ABC):
    """Rules that rows broke, as their class has them, by number."""

    @property
    @abstractmethod
    def sizes(self) -> Numbers:
        """How many columns of two rows each rule compares before they may break it."""

    @abstractmethod
    def hits(self, rules: Numbers, seen: Compared) -> Numbers:
        """For each of some rules the number of a pair that breaks it, -1 where none does."""

    @abstractmethod
    def rule(self, number: int) -> Rule:
        """A rule, which says when rows break it."""


def breaking_pairs(broken: Broken, change: Change, known: Numbers) -> Numbers:
    """For each rule two row ids, NOBODY where no rows break it; `known` are those that are found already."""
    pairs = np.sort(known, axis=1)
    left = np.flatnonzero(pairs[:, 0] == NOBODY)
    if not len(left):
        return pairs
    after, born = change.after, np.asarray(change.born, np.int64)
    left = left[np.argsort(-broken.sizes[left], kind="stable")]
    for some in _at_hand(born, after):
        left = _tried(broken, left, Compared(some, after), pairs)
        if not len(left):
            return pairs
    while len(left):
        found = _first(broken.rule(int(left[0])), after, change.come)
        seen = None if found is None else Compared(np.array([found]), after)
        left = left[1:] if seen is None else _tried(broken, left, seen, pairs)
    return pairs


def _tried(broken: Broken, left: Numbers, seen: Compared, pairs: Numbers) -> Numbers:
    """Let pairs stand for those of some rules that they break; gives the others."""
    hits = broken.hits(left, seen)
    pairs[left[hits >= 0]] = seen.pairs[hits[hits >= 0]]
    return left[hits < 0]


def _at_hand(born: Numbers, table: Table) -> Iterator[Numbers]:
    """New rows with all rows, some at a time, the lower id first."""
    if not len(born):
        return
    ids = table.living_ids()
    step = max(1, _AT_ONCE // len(born))
    for begin in range(0, min(len(ids), _TRIED // len(born)), step):
        some = ids[begin : begin + step]
        made = np.stack([np.repeat(born, len(some)), np.tile(some, len(born))], axis=1)
        yield np.sort(made[made[:, 0] != made[:, 1]], axis=1)


def _first(rule: Rule, table: Table, born: Rows) -> tuple[int, int] | None:
    """Two rows that break a rule, the lower id first; one of them new if the search finds such a pair."""
    nulls = table.schema.nulls
    for query in queries_of(rule, table.schema):
        search = PairSearch(table, [query], Nulls.SQL if nulls.are_distinct else Nulls.EQUAL)
        found = (search.first(0, born) if len(born) else None) or search.first(0)
        if found is None and nulls.are_distinct:
            found = _by_null(query, table)
        if found is not None:
            return min(found), max(found)
    return None


def _by_null(query: PairQuery, table: Table) -> tuple[int, int] | None:
    """A pair that a query is about, where the two rows differ only as one has a null: it differs from everything."""
    differing = [each.mine for each in query.conditions if each.operator == "!="]
    if not differing:
        return None
    has_null = np.logical_or.reduce([table.column_codes(column) == NULL_CODE for column in differing])
    rest = PairQuery(tuple(each for each in query.conditions if each.operator != "!="), query.t_checks, query.s_checks)
    return PairSearch(table, [rest], Nulls.SQL).first(0, Rows.at(table, table.living_ids()[has_null]))
