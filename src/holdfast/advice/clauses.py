"""The clauses of a query that `advise` reads.

    ORDER BY Year, Salary DESC NULLS LAST     GROUP BY Year, "First Name"     DISTINCT Zip, City

Words may be in any case; names are written as in rules. Nulls can be placed as in SQL, but only where Holdfast has
them: first upwards, last downwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.rules.lists import SortColumn, SortList, SortReader, sort_text
from holdfast.rules.reader import refuse_unknown

Kind = Literal["ORDER BY", "GROUP BY", "DISTINCT"]


@dataclass(frozen=True)
class Clause:
    """A clause: an order by columns, or groups of rows that are equal on them."""

    kind: Kind
    columns: SortList

    def __str__(self) -> str:
        return f"{self.kind} {sort_text(self.columns)}"

    @property
    def is_order(self) -> bool:
        """Whether the order of the columns matters."""
        return self.kind == "ORDER BY"


def read_clause(text: str, names: Sequence[str]) -> Clause:
    """The clause of a text about a table with some columns."""
    reader = SortReader(text, "write ORDER BY A, B DESC, or GROUP BY A, B, or DISTINCT A, B")
    kind = _kind(reader)
    return Clause(kind, _columns(reader, lambda: _column(reader, kind), names))


def read_order(text: str, names: Sequence[str]) -> SortList:
    """An existing order, such as that of an index: `Year, Salary desc`."""
    reader = SortReader(text, "write the columns of the order, such as Year, Salary desc")
    return _columns(reader, reader.column, names)


def _columns(reader: SortReader, column: Callable[[], SortColumn], names: Sequence[str]) -> SortList:
    """The columns up to the end."""
    columns = tuple(reader.several(column, ","))
    reader.end()
    refuse_unknown(reader.text, [each.name for each in columns], names)
    return columns


def _kind(reader: SortReader) -> Kind:
    word = reader.takes("order", "group", "distinct")
    if not word:
        raise reader.expected("ORDER BY, GROUP BY or DISTINCT")
    if word == "distinct":
        return "DISTINCT"
    reader.expect("by")
    return "ORDER BY" if word == "order" else "GROUP BY"


def _column(reader: SortReader, kind: Kind) -> SortColumn:
    """A column; only ORDER BY says how it is sorted."""
    start = reader.at
    column = reader.column()
    if kind == "ORDER BY":
        _refuse_other_nulls(reader, column)
    elif reader.at > start + 1:
        reader.at, reader.last = start + 1, reader.tokens[start].text
        raise reader.expected("a comma or the end")
    return column


def _refuse_other_nulls(reader: SortReader, column: SortColumn) -> None:
    if not reader.takes("nulls"):
        return
    where = reader.takes("first", "last")
    if not where:
        raise reader.expected("FIRST or LAST")
    if where != ("last" if column.descending else "first"):
        here = "last downwards" if column.descending else "first upwards"
        raise reader.wrong(f"in Holdfast nulls come {here}; rules say nothing about another order of nulls")
