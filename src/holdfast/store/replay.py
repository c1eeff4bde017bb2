"""Replaying the batches that came after a checkpoint: as few changes as say the same.

Nobody asks what each of these batches did, only what there is after all of them. So the batches of one table are taken
together, whatever came to others between them, unless one takes away a row that another of them brought: of such a row
neither the table before nor the table after knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from holdfast.store.records import AppliedBatch
from holdfast.table.change import Change
from holdfast.table.load import LoadedSegment, open_segment, with_segments
from holdfast.table.table import Table


def replayed(tables: Mapping[str, Table], steps: Iterable[AppliedBatch]) -> Iterator[tuple[str, Change]]:
    """What changed since the tables were as they are: table by table, those of one in the order of the steps. Each
    change is of the table as it is in `tables` when it is asked for: whoever asks puts the table after it there.
    """
    by_table: dict[str, list[AppliedBatch]] = {}
    for step in steps:
        by_table.setdefault(step.table, []).append(step)
    for name, own in by_table.items():
        together: list[LoadedSegment] = []
        next_id = tables[name].next_id
        for step in own:
            opened = [open_segment(segment) for segment in step.segments]
            if any((each.dead >= tables[name].next_id).any() for each in opened):
                yield name, _change(tables[name], together, next_id)
                together = []
            together += opened
            next_id = step.next_id
        yield name, _change(tables[name], together, next_id)


def _change(before: Table, segments: list[LoadedSegment], next_id: int) -> Change:
    dead = np.sort(np.concatenate([np.empty(0, np.int64), *(each.dead for each in segments)]))
    after = with_segments(before, segments, next_id)
    return Change(before, after, range(before.next_id, next_id), dead)
