"""A table as a plain list of rows, and what a list of operations does to it, by definition and by brute force."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Row = tuple[object, ...]
Operation = tuple[str, Row]  # "insert", "delete", "update" or "upsert", and the row


@dataclass
class Outcome:
    """The rows afterwards; the places in the list of operations that met no row, and of inserts that met one."""

    rows: list[Row]
    missing: list[int] = field(default_factory=list)
    duplicate: list[int] = field(default_factory=list)


def plain(value: object) -> object:
    """A value in a form that Python compares as we do: NaN equals NaN, and -0.0 is 0.0."""
    if isinstance(value, float):
        return "not a number" if math.isnan(value) else value + 0.0
    return value


def plain_row(row: Sequence[object]) -> Row:
    """The same for each value of a row."""
    return tuple(plain(value) for value in row)


def apply(rows: Sequence[Row], operations: Sequence[Operation], key: Sequence[int] = ()) -> Outcome:
    """What a list of operations does. Wrong operations do nothing, and are returned."""
    before = [plain_row(row) for row in rows]
    listed = [(kind, plain_row(row)) for kind, row in operations]
    return _by_key(before, listed, key) if key else _by_content(before, listed)


def _by_key(rows: list[Row], operations: list[Operation], key: Sequence[int]) -> Outcome:
    """In order, one by one: each operation speaks of the row that has its key at that moment."""
    outcome = Outcome([])
    living = {tuple(row[c] for c in key): row for row in rows}
    for place, (kind, row) in enumerate(operations):
        name = tuple(row[c] for c in key)
        if kind == "insert" and name in living:
            outcome.duplicate.append(place)
        elif kind in ("delete", "update") and name not in living:
            outcome.missing.append(place)
        elif kind == "delete":
            del living[name]
        else:
            living[name] = row
    outcome.rows = list(living.values())
    return outcome


def _by_content(rows: list[Row], operations: list[Operation]) -> Outcome:
    """In order, one by one: a delete takes a row away that is equal and there at that moment."""
    outcome = Outcome(list(rows))
    for place, (kind, row) in enumerate(operations):
        if kind == "insert":
            outcome.rows.append(row)
        elif row in outcome.rows:
            outcome.rows.remove(row)
        else:
            outcome.missing.append(place)
    return outcome


def snapshot(given: Sequence[Row], key: Sequence[int] = ()) -> Outcome:
    """The table is what is given; with a key, a row whose key came before is a duplicate."""
    rows = [plain_row(row) for row in given]
    names = [tuple(row[c] for c in key) for row in rows]
    return Outcome(rows, duplicate=[place for place, name in enumerate(names) if key and name in names[:place]])
