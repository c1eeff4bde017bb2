"""List order dependencies as frozen values, each with one text form that parses back (papers: fastod, section 2.1).

    [Year, Salary desc] orders [Year, Bin]     rows sorted by the first list are sorted by the second
    [] orders [Country]                        rows in any order are sorted by Country: all have the same

Rows are compared as ORDER BY does: by the first column of a list on which they differ, and downwards where it is
`desc`. Values compare as everywhere (text by code point); null equals null and comes before every value, so it comes
last where a column is `desc`. Names that aren't plain words stand in double quotes, doubled within.

Two rows t and s violate `X orders Y` iff t comes before s by X, or is equal to it, and yet comes after s by Y
(definition 2). Where they are equal by X it is a split, else a swap (definitions 4 and 5). No pair of rows does so both
ways round, so each violating pair is there once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.changes.names import quoted
from holdfast.engines.declared import Severity


@dataclass(frozen=True)
class SortColumn:
    """A column of an ORDER BY, upwards or downwards."""

    name: str
    descending: bool = False

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`Salary`, or `Salary desc`."""
        return quoted(self.name) + (" desc" if self.descending else "")

    def to_json(self) -> list[str]:
        """`["Salary", "desc"]`."""
        return [self.name, "desc" if self.descending else "asc"]


SortList = tuple[SortColumn, ...]


def sort_text(columns: Iterable[SortColumn]) -> str:
    """`Year, Salary desc`."""
    return ", ".join(column.text for column in columns)


@dataclass(frozen=True)
class ListOD:
    """Rows sorted by `by` are sorted by `then`."""

    by: SortList
    then: SortList
    name: str = ""
    table: str = ""
    severity: Severity = "error"
    note: str = ""

    # A pair (t, s) violates it in one order of t and s only.
    is_symmetric = False

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`[Year, Salary desc] orders [Year, Bin]`."""
        return f"[{sort_text(self.by)}] orders [{sort_text(self.then)}]"

    @property
    def columns(self) -> list[str]:
        """The columns of both lists, each once."""
        return list(dict.fromkeys(column.name for column in (*self.by, *self.then)))

    def sides_json(self) -> dict[str, Any]:
        """Both lists as plain objects."""
        return {"by": [each.to_json() for each in self.by], "then": [each.to_json() for each in self.then]}
