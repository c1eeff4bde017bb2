"""Proofs in threads of this process, or elsewhere: there, tasks open the table by path, read the columns that their
boxes are about, and give pairs of row ids back.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.marks import FREE, Boxes, Space
from holdfast.engines.pointwise.proving import RowPairs, first_pairs
from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.table import TableFiles
from holdfast.table.threads import OnProgress

_TASKS = 32  # at most, a round


def pairs_by(
    runner: Runner, rows: RankedColumns, space: Space, boxes: Boxes, fresh: int, progress: OnProgress | None = None
) -> RowPairs:
    """What `first_pairs` gives."""
    if runner.is_local or rows.where is None or not len(boxes):
        return first_pairs(rows, space, boxes, fresh, progress)
    parts = np.array_split(boxes, min(_TASKS, len(boxes)))
    found = np.concatenate(runner.map(partial(_run, rows.where, space, rows.id_at(fresh)), parts))
    there = found[:, 0] >= 0
    found[there] = rows.places(found[there])
    return found


def _run(where: TableFiles, space: Space, fresh: int, boxes: Boxes) -> RowPairs:
    """One task: boxes to look for in a table in files. One row of each pair has the id `fresh` or a higher one; pairs
    are row ids.
    """
    needed = np.flatnonzero((boxes != FREE).any(axis=0)).tolist()
    rows = RankedColumns(open_table(where), needed)
    found = first_pairs(rows, space, boxes, int(rows.places(np.array(fresh))))
    there = found[:, 0] >= 0
    found[there] = rows.ids(found[there])
    return found
