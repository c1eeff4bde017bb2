"""The likely keys of a table, exact and nearly exact: the best by score, up to three columns.

Several columns are a candidate only

- with a score above that of each of their parts, and of at least `LEAST_OF_SEVERAL`: a key needs all its columns;
- where chance alone would have put more rows together than there are: of columns with many values nearly any two are
  unique together, and that shows nothing. Were the columns independent of each other, `expected` pairs of rows would
  agree on all of them; that must be many times the pairs that do.

Long texts are no names: columns of them come into question for no key.

What can't become a candidate is left out, by bounds that are certain: types, places and nulls bound the score, whatever
the rows are; so does the number of values; and rows to remove only get more with more rows, so that the first rows
rule out most sets of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import prod

import numpy as np

from holdfast.borders.partitions import ColumnPartitions, Partition, Walks
from holdfast.borders.rows import CodedColumns
from holdfast.engines.chance import of_dependency
from holdfast.engines.functional.group_counts import Lhs, parts_of
from holdfast.engines.functional.key_score import key_score
from holdfast.engines.functional.texts import are_names, is_long_text
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LEAST_OF_SEVERAL, ROWS_TO_REMOVE, least
from holdfast.engines.watched import WatchedTable
from holdfast.kernels.partitions import pairs_within
from holdfast.progress import Progress, search_progress
from holdfast.rules.dependency import Key
from holdfast.rules.error_measures import g1, g3, pairs_of
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.runner import Runner
from holdfast.table.threads import SoFar, each
from holdfast.table.types import show_type
from holdfast.text.quotes import quoted
from holdfast.visible import counted

WIDEST = {2: 250, 3: 60}  # tables of more columns get no keys of this many
SHOWN = 5.0  # on the columns of a key, chance alone would make this many times as many pairs agree (+ 1)
_FIRST = 0.05  # this share of the rows is looked at first


def likely(subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> list[Scored]:  # noqa: ARG001
    """The keys with the highest scores, the best first."""
    search = _KeySearch(subject, progress)
    for columns in range(1, wanted.max_lhs + 1):
        search.look_at(columns)
    return search.scored(wanted.top)


@dataclass(frozen=True)
class _LikelyKey:
    """Columns with a score that is enough, and whether more than chance makes them a key."""

    columns: Lhs
    score: float
    shown: bool


class _KeySearch:
    """The keys that were found up to some columns."""

    def __init__(self, subject: WatchedTable, progress: Progress) -> None:
        self._table = table = subject.table
        self._progress, self._codes = progress, subject.part(CodedColumns)
        self._cells = self._codes.cells
        self._all = Walks(ColumnPartitions(self._codes))
        first = int(_FIRST * table.rows)
        self._some = Walks(ColumnPartitions(self._codes, upto=first)) if first else self._all
        null = [own == NULL_CODE for own in self._cells]
        self._null = {c: own for c, own in enumerate(null) if own.any()}
        self._named = [c for c in range(len(self._cells)) if not is_long_text(table, c)]
        self._scores: dict[Lhs, float] = {}  # what may be above that of longer ones
        self._found: list[Lhs] = []
        self._agreeing = cache(self._share_agreeing)

    # ---- finding ----------------------------------------------------------------------------------------------------

    def look_at(self, columns: int) -> None:
        """Look at all keys of `columns` columns."""
        widest = WIDEST.get(columns, len(self._cells))
        if len(self._named) > widest:
            self._progress.note(
                f"Keys of {columns} columns are not looked for, as the table has more than {widest} columns. To have "
                "them looked for, name fewer columns."
            )
            return
        pieces = [some for some in combinations(self._named, columns) if self._may_be(some)]
        said = search_progress(self._progress, f"likely keys of {columns}", "sets of columns", len(pieces), None)
        found = [one for one in each(pieces, self._looked_at, progress=said) if one is not None]
        self._scores.update({one.columns: one.score for one in found})
        self._found += [one.columns for one in found if one.shown]

    def _may_be(self, columns: Lhs) -> bool:
        """Whether columns may be a candidate, as far as shown without a look at their groups."""
        schema, rows = self._table.schema, self._table.rows
        if not self._is_enough(columns, key_score(schema, columns, rows, 0, 0)) or not self._shown(columns, 0):
            return False
        different = prod(int(self._codes.value_counts[c]) for c in columns)
        unnamed = self._nulls(columns) if self._codes.distinct else 0
        return self._is_enough(columns, self._score(columns, max(0, rows - different - unnamed)))

    def _shown(self, columns: Lhs, broken: int) -> bool:
        """Whether more than chance keeps the pairs that agree so few. One column is by itself."""
        return len(columns) == 1 or self._expected(columns) >= SHOWN * (1 + broken)

    def _expected(self, columns: Lhs) -> float:
        """How many pairs of rows would agree on columns that are independent of each other."""
        return pairs_of(self._table.rows) * prod(self._agreeing(c) for c in columns)

    def _share_agreeing(self, column: int) -> float:
        """The share of pairs of rows that agree on a column."""
        return _pairs(self._partition((column,), self._all)) / pairs_of(self._table.rows)

    def _is_enough(self, columns: Lhs, score: float) -> bool:
        """Whether a score, or a bound of it, is enough for a candidate."""
        best_part = max((self._scores.get(part, 0.0) for part in parts_of(columns)), default=0.0)
        return score > best_part and (len(columns) == 1 or score >= LEAST_OF_SEVERAL)

    def _nulls(self, columns: Lhs) -> int:
        """How many rows have a null in some columns."""
        nulls = [self._null[c] for c in columns if c in self._null]
        return int(np.count_nonzero(np.logical_or.reduce(nulls))) if nulls else 0

    def _score(self, columns: Lhs, to_remove: int) -> float:
        return key_score(self._table.schema, columns, self._table.rows, self._nulls(columns), to_remove)

    def _looked_at(self, columns: Lhs, so_far: SoFar) -> _LikelyKey | None:
        """What is found of columns, first in some of the rows, and if these leave it open in all."""
        for walks in (self._some, self._all):
            so_far(0)
            partition = self._partition(columns, walks)
            score = self._score(columns, _to_remove(partition))
            if not self._is_enough(columns, score):
                return None
        return _LikelyKey(columns, score, self._shown(columns, _pairs(partition)))

    def _partition(self, columns: Lhs, walks: Walks) -> Partition:
        return walks.to(tuple(c for c in walks.columns.order if c in columns))

    # ---- results ----------------------------------------------------------------------------------------------------

    def scored(self, top: int) -> list[Scored]:
        """The `top` best keys, with the rows to remove."""
        best = sorted(self._found, key=lambda columns: (-self._scores[columns], len(columns), columns))
        return each(best[:top], self._one_scored)

    def _one_scored(self, columns: Lhs, so_far: SoFar) -> Scored:
        so_far(0)
        table, partition, score = self._table, self._partition(columns, self._all), self._scores[columns]
        names, nulls = tuple(table.schema.names[c] for c in columns), self._nulls(columns)
        broken, gone = _pairs(partition), _to_remove(partition)
        rows: tuple[int, ...] = ()
        if gone and score >= least(len(columns)):
            later = np.delete(partition.rows, partition.starts[:-1])  # all but the oldest of each group
            rows = tuple(self._codes.ids(np.sort(later)[:ROWS_TO_REMOVE].astype(np.int64)).tolist())
        return Scored(
            Key(table.schema.name, names, error=g1(broken, table.rows)),
            table.schema.name, score, table.rows - (nulls if self._codes.distinct else 0),
            self._sentence(columns, nulls, gone), gone, g3(gone, table.rows), rows,
            sure=all(are_names(table, c) for c in columns),
            chance=of_dependency(table.rows, gone, table.rows, len(columns)),
        )  # fmt: skip

    def _sentence(self, columns: Lhs, nulls: int, gone: int) -> str:
        """What a score is made of, in words."""
        about, rows = [self._table.schema.columns[c] for c in columns], self._table.rows
        names, types = " and ".join(quoted(c.name) for c in about), " and ".join(show_type(c.type) for c in about)
        shared = f"no two of {rows:,} rows share {names}"
        if gone:
            shared = f"{gone:,} of {rows:,} rows share {names} with an earlier one"
        chance = f"; by chance {round(self._expected(columns)):,} pairs would" if len(columns) > 1 else ""
        with_nulls = f"{counted(nulls, 'row')} with nulls"
        return f"{shared}{chance}; {types}, {with_nulls if nulls else 'no nulls'}"


def _pairs(partition: Partition) -> int:
    """How many pairs of rows are in the same group."""
    return int(pairs_within(partition.starts)) // 2


def _to_remove(partition: Partition) -> int:
    return len(partition.rows) - partition.groups
