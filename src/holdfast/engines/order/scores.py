"""Interestingness of rules (papers: fastod, section 4.7): how many ordered pairs of rows their context puts together.

The score of a context is the sum of the squared sizes of its groups, those of one row included. It falls as a context
grows. Where nulls are distinct, a row with a null in the context is a group of its own.

Groups are refined column by column, and contexts that start with the same columns share that work. Columns of many
values come first: a row that is alone stays so, and is looked at no more.
Cost: for each context a look-up for each row that is not alone yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.keys import KeyTable
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

Numbers = NDArray[np.int64]
Groups = tuple[Numbers, NDArray[np.uint64]]  # the places of rows that are not alone, and the group of each


class Scores:
    """The scores of a table's contexts, each reckoned once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[bytes, int] = {}

    def of(self, contexts: Words) -> Numbers:
        """The scores of some contexts."""
        keys = [context.tobytes() for context in contexts]
        lacking = [place for place, key in enumerate(keys) if key not in self._known]
        if lacking:
            fresh = dict(zip((keys[p] for p in lacking), bitsets.elements_of_each(contexts[lacking]), strict=True))
            self._known |= _scores(self._table, fresh)
        return np.fromiter((self._known[key] for key in keys), np.int64, len(keys))


def _scores(table: Table, contexts: Mapping[bytes, Sequence[int]]) -> dict[bytes, int]:
    """The score of each context, given as column numbers."""
    many = sorted(range(len(table.schema.columns)), key=lambda c: (-len(table.dictionaries[c]), c))
    rank = {column: place for place, column in enumerate(many)}
    codes: dict[int, Numbers] = {}
    rows = np.arange(table.rows)
    path: list[int] = []
    refined: list[Groups] = [(rows, np.zeros(len(rows), np.uint64))]
    found = {}
    for places, key in sorted((sorted(rank[c] for c in columns), key) for key, columns in contexts.items()):
        shared = _common(path, places)
        del path[shared:], refined[shared + 1 :]
        for place in places[shared:]:
            column = many[place]
            if column not in codes:
                codes[column] = table.column_codes(column)
            refined.append(_refined(refined[-1], codes[column], table.schema.nulls == "distinct"))
            path.append(place)
        found[key] = _score(refined[-1], table.rows)
    return found


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many numbers two lists start with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _refined(groups: Groups, codes: Numbers, distinct: bool) -> Groups:
    """Groups of rows that also agree on one more column."""
    rows, numbers = groups
    own = codes[rows]
    if distinct:
        known = own != NULL_CODE
        rows, numbers, own = rows[known], numbers[known], own[known]
    table = KeyTable(2, len(rows))
    finer = table.entries_of_lanes(np.stack([numbers, own.astype(np.uint64)]))
    together = np.bincount(finer, minlength=1)[finer] > 1
    return rows[together], finer[together].astype(np.uint64)


def _score(groups: Groups, rows: int) -> int:
    """The sum of squares, rows that are alone included."""
    sizes = np.bincount(groups[1].astype(np.int64))
    return int((sizes * sizes).sum()) + rows - len(groups[0])
