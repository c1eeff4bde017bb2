"""Witnesses: the values that break an inclusion dependency, how many rows carry them, and some of these rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from holdfast.changes.diff import Witness
from holdfast.engines.inclusion import derive
from holdfast.engines.inclusion.clusters import members
from holdfast.engines.inclusion.state import Attribute, INDState, side_of
from holdfast.engines.inclusion.translate import Codes, translate
from holdfast.errors import BadInput
from holdfast.rules.inclusion import IND, Side
from holdfast.table import images
from holdfast.table.plain import plain_values
from holdfast.table.row_names import keys_of, some_values
from holdfast.table.table import Table

SHOWN = 3
_CODES_AT_ONCE = 1 << 14
Touched = Mapping[int, Codes]  # of each column that a batch changed, by its number, the codes


@dataclass(frozen=True)
class Orphans(Witness):
    """Rows of the dependent side whose value the referenced side lacks: some of them, and how many there are in all.

    `missing` lists some missing values, each with the number of rows that carry it.
    """

    missing: tuple[tuple[Any, int], ...] = ()
    missing_values: int = 0
    missing_rows: int = 0

    @staticmethod
    def of(table: Table, names: Sequence[str], ids: Codes, missing: Iterable[tuple[Any, int]], of: IND) -> Orphans:
        """Some rows, what they have in some columns, and some missing values; `of` knows how many there are."""
        shown = tuple(some_values(table, ids, names)), keys_of(table, ids)
        return Orphans(tuple(ids.tolist()), *shown, tuple(missing), of.missing_values, of.missing_rows)

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON."""
        return {
            **super().to_json(),
            "missing": [{"value": value, "rows": rows} for value, rows in self.missing],
            "missing_values": self.missing_values,
            "missing_rows": self.missing_rows,
        }


def bound(state: INDState, ind: IND) -> tuple[Attribute, Attribute]:
    """The two attributes of a unary dependency."""
    return compared(state, ind)[0]


def compared(state: INDState, ind: IND) -> tuple[tuple[Attribute, Attribute], ...]:
    """The attributes of both sides, pair by pair."""
    return tuple(zip(attributes(state, ind.dependent), attributes(state, ind.referenced), strict=True))


def attributes(state: INDState, side: Side) -> list[Attribute]:
    """The attributes that a side names."""
    if side.table not in state.tables:
        raise BadInput(f"there is no table {side.table!r}; choose from: {', '.join(state.tables)}")
    for name in side.columns:
        if (side.table, name) not in state.by_name:
            names = ", ".join(state.tables[side.table].schema.names)
            raise BadInput(f"table {side.table} has no column {name!r}; its columns are {names}")
    return [state.by_name[side.table, name] for name in side.columns]


def orphans(state: INDState, a: Attribute, b: Attribute, touched: Touched | None = None) -> Orphans:
    """The values of column a that column b lacks. Those among the touched codes of a batch are looked at first."""
    codes = _missing_codes(state, a, b, touched or {})
    counts = state.counts(a).of(codes)
    table = state.tables[a.table]
    shown = plain_values(table.dictionaries[a.column].values(codes))
    ids = _rows_with(table, a.column, codes)
    missing = zip(shown, counts.tolist(), strict=True)
    return Orphans.of(table, [a.name], ids, missing, derive.between(state, a.number, b.number))


def _missing_codes(state: INDState, a: Attribute, b: Attribute, touched: Touched) -> Codes:
    """Up to three codes of living values of column a that are not in column b; of those touched the least values."""
    wanted = int(min(SHOWN, derive.missing(state.clusters.values)[a.number, b.number]))
    found = np.empty(0, np.int64)
    for codes in _likely_codes(state, a, b, touched):
        if len(found) >= wanted:
            break
        living = np.setdiff1d(codes[state.counts(a).of(codes) > 0], found)
        there = state.counts(b).of(translate(state, a, b, living)) > 0
        found = np.concatenate([found, _by_value(state, a, living[~there])[: wanted - len(found)]])
    return found


def _by_value(state: INDState, a: Attribute, codes: Codes) -> Codes:
    """Codes in the order of their values, which does not show in what order they came."""
    held = state.tables[a.table].dictionaries[a.column].images(codes)
    ranked = np.empty_like(codes)
    ranked[images.sorted_distinct(held)[1]] = codes
    return ranked


def _likely_codes(state: INDState, a: Attribute, b: Attribute, touched: Touched) -> Iterator[Codes]:
    if a.number in touched:
        yield touched[a.number]
    if b.number in touched:
        codes = translate(state, b, a, touched[b.number])
        yield codes[codes >= 0]
    for start in range(1, len(state.counts(a).array), _CODES_AT_ONCE):
        yield np.arange(start, min(start + _CODES_AT_ONCE, len(state.counts(a).array)))


def _rows_with(table: Table, column: int, codes: Codes) -> Codes:
    """Three living rows that carry one of some codes: the newest of each code, then the second newest, and so on."""
    found: dict[int, list[int]] = {int(code): [] for code in codes}
    for shard, alive in reversed(list(table.living())):
        for code, rows in found.items():
            if len(rows) < SHOWN:
                places = np.flatnonzero(shard.columns[column] == code)
                places = places if alive is None else places[alive[places]]
                rows += shard.ids_of(places[::-1][: SHOWN - len(rows)]).tolist()
    turns = [row for turn in zip_longest(*found.values()) for row in turn if row is not None]
    return np.array(turns[:SHOWN], np.int64)


def clusters_without(state: INDState, a: int, b: int) -> list[tuple[tuple[str, ...], int]]:
    """The clusters that contain column a and lack column b, with their value counts, the largest first."""
    broken = [(mask, n) for mask, n in state.clusters.counts.items() if mask >> a & 1 and not mask >> b & 1]
    broken.sort(key=lambda each: (-each[1], each[0]))
    return [(tuple(str(side_of(state.attributes[i])) for i in members(mask)), n) for mask, n in broken]
