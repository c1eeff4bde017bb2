"""Count the codes of every shard, and add up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.column.state import ColumnState, State
from holdfast.table.probe import run_probe
from holdfast.table.runner import Runner
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table

_COUNTS_AT_ONCE = 4_000_000
Counts = list[tuple[NDArray[np.int64], NDArray[np.int64]]]


def count_codes(shard: Shard, alive: Alive, columns: list[int]) -> Counts:
    """The probe: for each column the codes that occur among the living rows of a shard, and how often."""
    counts = []
    for column in columns:
        codes = shard.columns[column]
        dense = np.bincount(codes if alive is None else codes[alive])
        occurring = np.flatnonzero(dense)
        counts.append((occurring, dense[occurring]))
    return counts


def discover(table: Table, runner: Runner) -> State:
    """The state of a table from scratch."""
    states = []
    for columns in _groups([len(dictionary) for dictionary in table.dictionaries]):
        totals = [np.zeros(len(table.dictionaries[c]), np.int64) for c in columns]
        for answer in run_probe(runner, count_codes, table, columns):
            for total, (codes, counts) in zip(totals, answer, strict=True):
                total[codes] += counts
        states += [ColumnState(table, c, total) for c, total in zip(columns, totals, strict=True)]
    return State(states)


def _groups(sizes: list[int]) -> Iterator[list[int]]:
    """Columns to count together, so that the answers of all shards stay small."""
    group: list[int] = []
    for column, size in enumerate(sizes):
        if group and sum(sizes[c] for c in group) + size > _COUNTS_AT_ONCE:
            yield group
            group = []
        group.append(column)
    if group:
        yield group
