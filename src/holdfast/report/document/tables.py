"""The tables of a document, the profiles of their columns, and their foreign keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.engines.watched import WatchedTable
from holdfast.report import diagram
from holdfast.report.diagram import Edge
from holdfast.report.document.batches import rows_after
from holdfast.report.document.content import Content
from holdfast.report.document.context import Context, Json
from holdfast.report.pictures import bars, histogram, line
from holdfast.rules.inclusion import IND
from holdfast.rules.registry import parse
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Frequencies
from holdfast.table.plain import plain_values
from holdfast.table.row_names import key_names
from holdfast.table.types import show_type
from holdfast.text.quotes import quoted
from holdfast.visible import counted, visible

_FREQUENT, _BINS = 8, 30
_AT_ONCE = 100_000  # values that are read together


def tables_of(of: Context) -> list[Json]:
    """One object a table."""
    over_time = _rows_over_time(of.content)
    return [
        {
            "name": visible(name),
            "rows": each.table.rows,
            "key": key_names(each.table.schema),
            "left_out": list(map(visible, of.content.left_out.get(name, ()))),
            "columns": [of.columns.places[name, column] for column in each.table.schema.names],
            "rows_line": line(over_time[name], f"rows of {name}", last=of.content.last),
        }
        for name, each in of.content.watched.items()
    ]


def columns_of(of: Context) -> list[Json]:
    """One object a column, in the order of their numbers."""
    return [
        {"table": place, **column_of(of, name, column)}
        for place, (name, schema) in enumerate(of.schemas.items())
        for column in range(len(schema.columns))
    ]


def column_of(of: Context, table: str, place: int) -> Json:
    """A column of a table."""
    watched, shown = of.content.watched[table], of.shown.of_table(table)
    about, facts = watched.table.schema.columns[place], column_summary(watched, place)
    name = about.name
    show = partial(shown.cell, name)
    frequent = [(show(value), count) for value, count in facts.frequent]
    others = facts.rows - facts.nulls - sum(count for _, count in frequent)
    nulls = of.content.nulls_over_time.get((table, name), ())
    label = f"values of {table}.{name}"
    if facts.bins and not shown.hides(name):
        drawn = histogram(facts.bins, show(facts.least), show(facts.greatest), facts.nulls, label)
    else:
        drawn = bars(frequent, others, facts.nulls, label)
    as_written = quoted(name)
    return {
        "type": show_type(about.type),
        "name": visible(name),
        **({"quoted": visible(as_written)} if as_written != name else {}),
        "rows": facts.rows,
        "nulls": facts.nulls,
        "distinct": facts.distinct,
        "min": show(facts.least) if facts.distinct else "",
        "max": show(facts.greatest) if facts.distinct else "",
        "frequent": frequent,
        "same": [visible(each) for each in _same(of, table, name)],
        "distribution": drawn,
        "nulls_line": line(nulls, f"nulls of {table}.{name}", last=of.content.last),
    }


def _same(of: Context, table: str, name: str) -> list[str]:
    """The other columns that determine a column, and are determined by it."""
    groups = [each.columns for each in of.content.same if each.table == table and name in each.columns]
    return [each for names in groups for each in names if each != name]


# ---- references -----------------------------------------------------------------------------------------------------


def references_of(of: Context) -> list[Json]:
    """One object a foreign key."""
    objects = []
    for key, rule in of.content.references.items():
        edge = edge_of(rule)
        from_, to = _named(edge.table, edge.columns), _named(edge.referenced, edge.referenced_columns)
        but = f", except for {counted(edge.orphans, 'row')}" if edge.orphans else ""
        place = of.place(key)
        objects.append(
            {
                **({} if place is None else {"rule": place}),
                "text": visible(of.text(key[0], rule["text"])),
                "from": visible(from_),
                "to": visible(to),
                "coverage": edge.coverage,
                "orphans": edge.orphans,
                "sentence": visible(f"Every {from_} is a {to}{but}."),
            }
        )
    return objects


def picture_of(of: Context) -> str:
    """The tables, drawn with their foreign keys."""
    edges = [edge_of(rule) for rule in of.content.references.values()]
    used: dict[str, dict[str, None]] = {name: dict.fromkeys(key_names(s)) for name, s in of.schemas.items()}
    for edge in edges:
        used[edge.table] |= dict.fromkeys(edge.columns)
        used[edge.referenced] |= dict.fromkeys(edge.referenced_columns)
    drawn = [(name, list(columns)) for name, columns in used.items()]
    return diagram.tables(drawn, edges, "tables and foreign keys") if edges else ""


def edge_of(rule: Mapping[str, Any]) -> Edge:
    """A foreign key, given or found."""
    ind = parse(rule["text"])
    assert isinstance(ind, IND)
    own, other = ind.sides
    missing = rule.get("missing_rows", rule.get("violations", 0))
    coverage = rule.get("row_coverage", 1.0 - rule.get("g3", 0.0))
    return Edge(own.table, own.columns, other.table, other.columns, coverage, missing)


def _named(table: str, columns: Sequence[str]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}({', '.join(columns)})"


def _rows_over_time(content: Content) -> dict[str, list[tuple[int, float | None]]]:
    """The rows of each table at the start, and after each of its batches."""
    points: dict[str, list[tuple[int, float | None]]] = {name: [] for name in content.watched}
    for batch, after in zip(content.batches, rows_after(content), strict=True):
        for part in batch.by_table:
            if part.table in after and not batch.is_change:
                own, rows = points[part.table], after[part.table]
                if not own:
                    own.append((0, rows + part.deleted - part.inserted))
                own.append((batch.number, rows))
    return points


# ---- what a column looks like ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnSummary:
    """The facts of a column, and how its values spread: in bins if they are numbers or times."""

    rows: int
    nulls: int
    distinct: int
    least: Any
    greatest: Any
    frequent: Sequence[tuple[Any, int]]
    bins: Sequence[int] = ()


def column_summary(watched: WatchedTable, column: int) -> ColumnSummary:
    """The summary of a column."""
    table, counts = watched.table, watched.part(Frequencies).columns[column].array
    codes = 1 + np.flatnonzero(counts[1:])  # null has code 0
    nulls = int(counts[NULL_CODE]) if len(counts) else 0
    if not len(codes):
        return ColumnSummary(table.rows, nulls, 0, None, None, ())
    often, dictionary = counts[codes], table.dictionaries[column]
    first = _most_frequent(often)
    frequent = list(zip(plain_values(dictionary.values(codes[first])), often[first].tolist(), strict=True))
    ends, numbers = [], []
    for start in range(0, len(codes), _AT_ONCE):
        values = dictionary.values(codes[start : start + _AT_ONCE])
        ends += pc.min_max(values).values()
        numbers.append(_numbers(values))
    last = pc.min_max(pa.array(ends, dictionary.kept))
    least, greatest = plain_values(pa.array(last.values(), dictionary.kept))
    bins = _binned(numbers, often) if len(codes) > 2 * _FREQUENT else []
    return ColumnSummary(table.rows, nulls, len(codes), least, greatest, frequent, bins)


def _most_frequent(often: NDArray[Any]) -> NDArray[np.int64]:
    """The places of the greatest counts, the greatest first, of equals the first."""
    most = min(_FREQUENT, len(often))
    least = np.partition(often, -most)[-most]
    places = np.concatenate([np.flatnonzero(often > least), np.flatnonzero(often == least)[:most]])
    return places[np.lexsort((places, -often[places].astype(np.int64)))][:most]


def _binned(pieces: Sequence[NDArray[np.float64] | None], often: NDArray[Any]) -> list[int]:
    """How many rows have values in each of some ranges of equal width; empty if the values have no ranges."""
    known = [piece for piece in pieces if piece is not None]
    finite = [np.isfinite(piece) for piece in known]
    numbers = [piece[fine] for piece, fine in zip(known, finite, strict=True) if fine.any()]
    if not numbers:
        return []
    ends = float(min(each.min() for each in numbers)), float(max(each.max() for each in numbers))
    found = np.zeros(_BINS)
    for number, (piece, fine) in enumerate(zip(known, finite, strict=True)):
        own = often[number * _AT_ONCE :][: len(piece)][fine].astype(np.float64)
        found += np.histogram(piece[fine], _BINS, ends, weights=own)[0]
    return [int(each) for each in found]


def _numbers(values: pa.Array) -> NDArray[np.float64] | None:
    kind = values.type
    if pa.types.is_temporal(kind):
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        return np.asarray(values.cast(width).cast(pa.float64()))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(values.cast(pa.float64(), safe=False))
    return None
