"""Rows and batches in pieces, for the laws of keepers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes
from holdfast.engines.given.keeper import Answer, merged
from holdfast.table.change import Change
from holdfast.table.rows import Rows
from holdfast.table.table import Table

Mask = NDArray[np.bool_]


def some_of(rows: Rows, mask: Mask) -> Rows:
    """Those of some rows that a mask marks."""
    return Rows(rows.encoding, lambda: rows.ids[mask], int(mask.sum()), lambda column: rows.codes(column)[mask])


def only(table: Table, ids: NDArray[np.int64]) -> Table:
    """A table as if none of its other rows had lived."""
    return table.changed([], np.setdiff1d(table.living_ids(), ids))


@dataclass(frozen=True)
class PartOfChange:
    """What a batch did to some rows of a table."""

    table: str
    after: Table
    inserted: Codes
    deleted: Codes
    come: Rows
    gone: Rows

    @staticmethod
    def of(change: Change, living: NDArray[np.int64], born: Mask, dead: Mask) -> PartOfChange:
        """With the rows that live after it, and masks of those that it brought and took."""
        codes = change.inserted[:, born], change.deleted[:, dead]
        rows = some_of(change.come, born), some_of(change.gone, dead)
        return PartOfChange(change.table, only(change.after, living), *codes, *rows)


def same_in_any_order(answers: Sequence[Answer], whole: Answer) -> None:
    """Answers of pieces add up to that of the whole, from the first to the last and the other way round."""
    for order in (answers, answers[::-1]):
        assert told(reduce(merged, order, Answer.nothing(len(whole.added)))) == told(whole)


def told(answer: Answer) -> list[Any]:
    """All that an answer says, its violations in no order."""
    pairs = [sorted(map(tuple, each.tolist())) for each in (*answer.added, *answer.resolved)]
    return [pairs, answer.counts.tolist(), answer.listed.tolist(), answer.example.tolist()]
