"""What found keys and FDs are worth: their scores, for as many short ones as can be scored in good time.

A rule with more columns on the left is worth less (see `fd_score`), so long ones need no look: with three columns none
can be likely. Accidents are mostly long, and a thousand of them cost nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby, islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.changes.diff import Worth
from holdfast.engines.functional.fd_score import most
from holdfast.engines.functional.group_counts import CodedRows
from holdfast.engines.functional.groups import Groups
from holdfast.engines.functional.key_score import key_score
from holdfast.engines.functional.wording import DependencyRules
from holdfast.engines.thresholds import BROKEN, LONGER
from holdfast.lazy_rules import LazyRules
from holdfast.pairs import bitsets
from holdfast.rules.dependency import Dependency, Key
from holdfast.rules.error_measures import pairs_of
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

MOST_RULES = 500  # when all rules are listed, this many of the shortest have scores
_ROWS = 20_000_000  # rows to look at in all: left sides times rows
_LEAST_SIDES = 20  # left sides to score in any case
_EQUAL = 10  # where chance would have made this many pairs of rows equal, a key is not due to chance
_LENGTH = next(n for n in range(1, 9) if LONGER**n < BROKEN)  # longer left sides can't reach it


class Ranked(LazyRules[Dependency]):
    """Rules as people want to read them: those with scores first, the best in front, then the others by length, and
    empty ones last.
    """

    def __init__(self, rules: DependencyRules, table: Table) -> None:
        listed = rules.listed.shortest_first()
        empty = rules.filled.empty(rules.wording.needed(listed))
        self._rules = rules.in_order(listed.some(np.argsort(empty, kind="stable")))
        self._tested, self._table = int(np.count_nonzero(~empty)), table

    def __len__(self) -> int:
        return len(self._rules)

    def __iter__(self) -> Iterator[str]:
        return (rule.text for rule in self.rules())

    def __getitem__(self, text: str) -> Dependency:
        return self._scored.get(text) or self._rules[text]

    def rules(self) -> Iterator[Dependency]:
        """The rules in their order."""
        yield from self._scored.values()
        yield from islice(self._rules.rules(), len(self._scored), None)

    def untested(self) -> DependencyRules:
        """Those that are empty."""
        return self._rules.untested()

    def written(self, names: Mapping[str, str]) -> Iterator[tuple[str, float | None]]:
        """Texts with other names in place of the columns', and scores."""
        for rule in self._scored.values():
            yield rule.written(names), rule.worth.score if rule.worth else None
        wording = self._rules.wording
        written = [names[name] for name in wording.names]
        texts = wording.texts(self._rules.listed, written)
        yield from ((text, None) for text in islice(texts, len(self._scored), None))

    @cached_property
    def _scored(self) -> dict[str, Dependency]:
        """The shortest rules with their scores, the best first; of equals the shortest."""
        first = list(islice(self._rules.rules(), min(MOST_RULES, self._tested)))
        known = sorted(scored(self._table, first), key=lambda rule: -(rule.worth.score if rule.worth else 0.0))
        return {rule.text: rule for rule in known}


def worth_of(table: Table, rules: DependencyRules, among: Container[str] | None = None) -> dict[str, Worth]:
    """What those of some rules, all or those among some, are worth in a table that may have a score of `BROKEN` or
    more.
    """
    some = rules.some(bitsets.sizes(rules.joined.contexts) <= _LENGTH).tested()
    shortest_first = some.in_order(some.listed.shortest_first())
    short = [rule for rule in shortest_first.rules() if among is None or rule.text in among]
    return {rule.text: rule.worth for rule in scored(table, short, BROKEN) if rule.worth is not None}


def scored(table: Table, rules: Sequence[Dependency], least: float = 0.0) -> Iterator[Dependency]:
    """Rules with their scores, in their order, in which those with equal left sides follow one another; not all of
    them where there are too many rows to look at. Those that can't reach the least score that matters may be left out.
    """
    sides = [(list(own[0].lhs), own) for _, each in groupby(rules, lambda rule: rule.lhs) if (own := list(each))]
    sides = sides[: max(_LEAST_SIDES, _ROWS // max(table.rows, 1))]
    if not sides:
        return
    names = table.schema.names
    is_key = isinstance(rules[0], Key)
    coded = None if is_key else CodedRows(table, {names.index(c) for _, own in sides for r in own for c in r.columns})
    for lhs, own in sides:
        columns = [names.index(name) for name in lhs]
        if coded is None:
            yield from (replace(rule, worth=_key_worth(table, columns, rule)) for rule in own)
            continue
        side = coded.side(coded.in_order(columns))
        if most(side.tested, table.rows, len(columns)) < least:
            continue
        found = coded.results(side, [names.index(rule.columns[-1]) for rule in own])
        for rule, each in zip(own, found, strict=True):
            assert each is not None  # no limit was set
            yield replace(rule, worth=Worth(each.evidence.score(len(columns)), side.tested))


def _key_worth(table: Table, columns: Sequence[int], rule: Dependency) -> Worth:
    nulls = np.zeros(table.rows, np.bool_)
    for column in columns:
        nulls |= table.column_codes(column) == NULL_CODE
    to_remove = Groups(table, columns, None).to_remove if rule.error else 0
    unnamed = int(np.count_nonzero(nulls))
    score = key_score(table.schema, columns, table.rows, unnamed, to_remove)
    return Worth(score, table.rows - unnamed, by_chance=not _is_dense(table, columns))


def _is_dense(table: Table, columns: Sequence[int]) -> bool:
    """Whether a column holds whole numbers from a range in which chance would have made some rows equal. Of other
    values nobody knows what they were drawn from: phone numbers are unique until the first two rows share one.
    """
    if len(columns) != 1 or not pa.types.is_integer(table.schema.columns[columns[0]].type):
        return False
    values = table.dictionaries[columns[0]].values(table.column_codes(columns[0]))
    least, greatest = (each.as_py() for each in pc.min_max(values).values())
    return least is not None and pairs_of(table.rows) >= _EQUAL * (greatest - least + 1)
