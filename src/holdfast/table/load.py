"""A table from its segment files, as a commit names them or as a task on another machine is told.

A segment may hold a shard (`code/…`, `hash`, `place`, perhaps `id`), new values of columns (`value/c`, perhaps
`order/c`, with their first codes among the facts), and the ids of rows that died (`dead`). Segments come in the order
in which they were committed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from holdfast.table import files, shard
from holdfast.table.dictionary import Dictionary, Run
from holdfast.table.table import Schema, Table


@dataclass(frozen=True)
class Segment:
    """A segment file and the id of its first row."""

    path: str
    first_id: int = 0


@dataclass(frozen=True)
class TableFiles:
    """All that a task needs to open a table."""

    schema: Schema
    segments: tuple[Segment, ...]
    next_id: int


def load_table(where: TableFiles) -> Table:
    """The table that some segments make up."""
    width = len(where.schema.columns)
    table = Table.empty(where.schema)
    dictionaries = list(table.dictionaries)
    shards, dead = [], [np.empty(0, np.int64)]
    for segment in where.segments:
        arrays, facts = files.read(segment.path)
        for c, run in runs_of(arrays, facts).items():
            dictionaries[c] = dictionaries[c].appended(run)
        if len(arrays.get("place", ())):
            shards.append(shard.from_arrays(arrays, segment.first_id, width, segment.path))
        if "dead" in arrays:
            dead.append(arrays["dead"])
    table = table.grown(tuple(dictionaries)).changed(shards, np.empty(0, np.int64))
    return replace(table.changed([], np.concatenate(dead)), next_id=where.next_id)


@lru_cache(maxsize=2)
def open_table(where: TableFiles) -> Table:
    """The same, kept open for the next task in this process."""
    return load_table(where)


def runs_of(arrays: dict[str, Any], facts: dict[str, Any]) -> dict[int, Run]:
    """The dictionary runs in a segment, by column."""
    return {
        int(c): Run.of(first, arrays[f"value/{c}"], arrays.get(f"order/{c}", np.empty(0, np.int64)))
        for c, first in facts.get("first", {}).items()
    }


def fresh_values(
    before: tuple[Dictionary, ...], after: tuple[Dictionary, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and facts that tell a segment what values were added between two versions of dictionaries."""
    arrays: dict[str, Any] = {}
    first: dict[str, int] = {}
    for c, (old, new) in enumerate(zip(before, after, strict=True)):
        if len(new) > len(old):
            arrays[f"value/{c}"] = new.image_range(len(old), len(new) - len(old))
            first[str(c)] = len(old)
    return arrays, {"first": first}
