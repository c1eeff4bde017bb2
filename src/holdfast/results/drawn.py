"""How results show themselves: as lines in a terminal, and as HTML in a notebook.

A result makes its own lines. `report/notebook.py` makes its HTML: it lies above, knows all classes of results and is
slow to load. So it is imported, by way of the package's exports, when a notebook shows the first result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from holdfast.table.table import Schema

Shapes = Mapping[str, tuple[Schema, int]]  # the columns and the number of rows of each table

_MOST = 10  # lines below a heading


class Drawn:
    """A result that notebooks show as HTML."""

    def _repr_html_(self) -> str:
        import holdfast  # which imports its exports on demand

        return holdfast.html_of(self)


def section(heading: str, count: int, lines: Iterable[str]) -> list[str]:
    """A heading, and the first of `count` lines below it."""
    more = [f"  … and {count - _MOST:,} more"] if count > _MOST else []
    return [heading, *(f"  {line}" for line in islice(lines, _MOST)), *more]


def shape_lines(shapes: Shapes) -> list[str]:
    """The tables."""
    return [f"{name}: {rows:,} rows, {len(schema.columns):,} columns" for name, (schema, rows) in shapes.items()]
