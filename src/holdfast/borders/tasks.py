"""Proofs elsewhere: one job a round, whose tasks open the table by path, read the columns that their contexts need, and
give pairs of rows back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from holdfast.borders.partitions import Columns
from holdfast.borders.proving import Proofs, Questions, proved
from holdfast.borders.rows import CodedColumns, RankedColumns
from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.table import TableFiles
from holdfast.table.threads import OnProgress

_TASKS = 32  # at most, a round


def proved_by(
    runner: Runner, columns: Columns, asked: Sequence[Questions], progress: OnProgress | None = None
) -> Proofs:
    """The proofs of all that is asked, in threads of this process or in tasks elsewhere."""
    rows = columns.rows
    if runner.is_local or rows.where is None:
        return proved(columns, asked, progress)
    fresh, upto = (None if place is None else rows.id_at(place) for place in (columns.fresh or None, columns.upto))
    step = -(-len(asked) // _TASKS)
    parts = [asked[begin : begin + step] for begin in range(0, len(asked), step)]
    found = Proofs.joined(runner.map(partial(_run, rows.where, rows.ordered, fresh, upto), parts))
    return replace(found, pairs=rows.places(found.pairs))


def _run(
    where: TableFiles, ordered: bool, fresh: int | None, upto: int | None, questions: Sequence[Questions]
) -> Proofs:
    """One task: questions about a table in files. Only pairs with a row from the id `fresh` on matter, and rows from
    the id `upto` on are not looked at, where these are given. The pairs that it gives are row ids.
    """
    needed = {c for part in questions for c in _columns_in(part)}
    rows = (RankedColumns if ordered else CodedColumns)(open_table(where), sorted(needed))
    first, end = (None if row is None else int(rows.places(np.array(row))) for row in (fresh, upto))
    found = proved(Columns(rows, first or 0, end), questions)
    return replace(found, pairs=rows.ids(found.pairs))


def _columns_in(part: Questions) -> set[int]:
    asked = part.asked
    return {*part.prefix, *(int(c) for own in (asked.added, asked.constants, asked.one, asked.other) for c in own)}
