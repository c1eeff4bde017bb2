"""The clauses of a query that advice can be asked on.

    ORDER BY Year, Salary DESC NULLS LAST     GROUP BY Year, "First Name"     DISTINCT Zip, City

Words may be in any case, names stand as in rules. Nulls are told as SQL does, and only as they are here: first upwards,
last downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.engines.order.list_model import SortColumn, SortList, sort_text
from holdfast.engines.order.list_parse import SortReader, refuse_unknown
from holdfast.errors import BadInput

Kind = Literal["ORDER BY", "GROUP BY", "DISTINCT"]
_HINT = "write ORDER BY A, B DESC, or GROUP BY A, B, or DISTINCT A, B"


@dataclass(frozen=True)
class Clause:
    """What a query asks for: an order by columns, or groups of equal ones."""

    kind: Kind
    columns: SortList

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`ORDER BY Year, Salary desc`."""
        return f"{self.kind} {sort_text(self.columns)}"

    @property
    def is_order(self) -> bool:
        """Whether the order of the columns matters."""
        return self.kind == "ORDER BY"


def read_clause(text: str, names: Sequence[str]) -> Clause:
    """The clause that a text says, about a table with some columns."""
    reader = SortReader(text, _HINT)
    kind = _kind(reader)
    columns = [_column(reader, kind)]
    while reader.peek() == ("mark", ","):
        reader.expect(",")
        columns.append(_column(reader, kind))
    reader.expect("")
    refuse_unknown(text, columns, names)
    return Clause(kind, tuple(columns))


def read_order(text: str, names: Sequence[str]) -> SortList:
    """An order that there is, such as that of an index: `Year, Salary desc`."""
    reader = SortReader(text, "write the columns of the order, such as Year, Salary desc")
    columns = reader.columns()
    reader.expect("")
    refuse_unknown(text, columns, names)
    return columns


def _kind(reader: SortReader) -> Kind:
    word = reader.word_of(("order", "group", "distinct"))
    if word is None:
        raise reader.wrong("ORDER BY, GROUP BY or DISTINCT")
    if word == "distinct":
        return "DISTINCT"
    reader.expect_word("by")
    return "ORDER BY" if word == "order" else "GROUP BY"


def _column(reader: SortReader, kind: Kind) -> SortColumn:
    """A column; what says how it is sorted stands in ORDER BY alone."""
    start = reader.at
    column = reader.column()
    if kind == "ORDER BY":
        _refuse_other_nulls(reader, column)
    elif reader.at > start + 1:
        reader.at = start + 1
        raise reader.wrong("a comma or the end")
    return column


def _refuse_other_nulls(reader: SortReader, column: SortColumn) -> None:
    if reader.word_of(("nulls",)) is None:
        return
    where = reader.word_of(("first", "last"))
    if where is None:
        raise reader.wrong("FIRST or LAST")
    if where != ("last" if column.descending else "first"):
        here = "last downwards" if column.descending else "first upwards"
        raise BadInput(f"{reader.text!r}: nulls come {here} here, and rules tell nothing of another order of them")
