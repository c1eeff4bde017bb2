"""The tables of a document, their columns, and how they refer to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.changes.names import quoted
from holdfast.report.document.batches import rows_after
from holdfast.report.document.context import Context, Json
from holdfast.report.document.portraits import portrait
from holdfast.report.document.seen import Seen
from holdfast.report.pictures import Edge, bars, histogram, line, tables
from holdfast.rules.inclusion import IND
from holdfast.table.naming import key_names
from holdfast.table.types import show_type
from holdfast.visible import visible


class Tables:
    """Writes them."""

    def __init__(self, of: Context) -> None:
        self._of = of

    def tables(self) -> list[Json]:
        """One object a table."""
        over_time = _rows_over_time(self._of.seen)
        return [
            {
                "name": visible(name),
                "rows": each.table.rows,
                "key": key_names(each.table.schema),
                "left_out": list(map(visible, self._of.seen.left_out.get(name, ()))),
                "columns": [self._of.columns.places[name, column] for column in each.table.schema.names],
                "rows_line": line(over_time[name], f"rows of {name}", last=self._of.seen.last)
                if len(over_time[name]) > 1
                else "",
            }
            for name, each in self._of.seen.watched.items()
        ]

    def columns(self) -> list[Json]:
        """One object a column, in the order of their numbers."""
        return [
            {"table": place, **self.column(name, column)}
            for place, (name, schema) in enumerate(self._of.schemas.items())
            for column in range(len(schema.columns))
        ]

    def column(self, table: str, place: int) -> Json:
        """A column of a table."""
        watched, show = self._of.seen.watched[table], self._of.shown.value
        about, seen = watched.table.schema.columns[place], portrait(watched, place)
        name = about.name
        frequent = [(show(value), count) for value, count in seen.frequent]
        others = seen.rows - seen.nulls - sum(count for _, count in frequent)
        nulls = self._of.seen.nulls_over_time.get((table, name), ())
        label = f"values of {table}.{name}"
        if seen.bins and not self._of.shown.redacted:
            drawn = histogram(seen.bins, show(seen.least), show(seen.greatest), seen.nulls, label)
        else:
            drawn = bars(frequent, others, seen.nulls, label)
        as_written = quoted(name)
        return {
            "type": show_type(about.type),
            "name": visible(name),
            **({"quoted": visible(as_written)} if as_written != name else {}),
            "rows": seen.rows,
            "nulls": seen.nulls,
            "distinct": seen.distinct,
            "min": show(seen.least) if seen.distinct else "",
            "max": show(seen.greatest) if seen.distinct else "",
            "frequent": frequent,
            "same": [visible(each) for each in self._same(table, name)],
            "distribution": drawn,
            "nulls_line": line(nulls, f"nulls of {table}.{name}", last=self._of.seen.last) if len(nulls) > 1 else "",
        }

    def _same(self, table: str, name: str) -> list[str]:
        """The other columns that determine a column, and are determined by it."""
        groups = [names for own, names in self._of.seen.same if own == table and name in names]
        return [each for names in groups for each in names if each != name]

    # ---- references -------------------------------------------------------------------------------------------------

    def references(self) -> list[Json]:
        """One object a foreign key."""
        told = []
        for key, rule in self._of.seen.references.items():
            edge = _edge(rule)
            from_, to = _named(edge.table, edge.columns), _named(edge.referenced, edge.referenced_columns)
            but = f", but for {edge.orphans:,} {'rows' if edge.orphans > 1 else 'row'}" if edge.orphans else ""
            place = self._of.place(key)
            told.append(
                {
                    **({} if place is None else {"rule": place}),
                    "text": visible(rule["text"]),
                    "from": visible(from_),
                    "to": visible(to),
                    "coverage": edge.coverage,
                    "orphans": edge.orphans,
                    "sentence": visible(f"Every {from_} is a {to}{but}."),
                }
            )
        return told

    def picture(self) -> str:
        """The tables, drawn with their foreign keys."""
        edges = [_edge(rule) for rule in self._of.seen.references.values()]
        used: dict[str, dict[str, None]] = {name: dict.fromkeys(key_names(s)) for name, s in self._of.schemas.items()}
        for edge in edges:
            used[edge.table] |= dict.fromkeys(edge.columns)
            used[edge.referenced] |= dict.fromkeys(edge.referenced_columns)
        drawn = [(name, list(columns)) for name, columns in used.items()]
        return tables(drawn, edges, "tables and foreign keys") if edges else ""


def _edge(rule: Mapping[str, Any]) -> Edge:
    """A foreign key, given or found."""
    own, other = IND.parse(rule["text"]).sides
    missing = rule.get("missing_rows", rule.get("violations", 0))
    coverage = rule.get("row_coverage", 1.0 - rule.get("g3", 0.0))
    return Edge(own.table, own.columns, other.table, other.columns, coverage, missing)


def _named(table: str, columns: Sequence[str]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}({', '.join(columns)})"


def _rows_over_time(seen: Seen) -> dict[str, list[tuple[int, float | None]]]:
    """The rows of each table at the start, and after each of its batches."""
    points: dict[str, list[tuple[int, float | None]]] = {name: [] for name in seen.watched}
    for batch, after in zip(seen.batches, rows_after(seen), strict=True):
        for part in batch.by_table:
            if part.table in after:
                own, rows = points[part.table], after[part.table]
                if not own:
                    own.append((0, rows + part.deleted - part.inserted))
                own.append((batch.seq, rows))
    return points
