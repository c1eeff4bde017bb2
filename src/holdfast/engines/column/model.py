"""The facts of one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.table.plain import Plain


@dataclass(frozen=True)
class ColumnFacts:
    """Exact facts of one column. Nulls are counted apart: they are neither distinct, nor least, nor frequent."""

    table: str
    column: str
    type: str
    rows: int
    nulls: int
    distinct: int
    minimum: Plain
    maximum: Plain
    frequent: tuple[tuple[Plain, int], ...]

    kind = "column"

    def __str__(self) -> str:
        spread = f", from {self.minimum!r} to {self.maximum!r}" if self.minimum is not None else ""
        return f"{self.column}: {self.type}, {self.distinct:,} distinct, {self.nulls:,} nulls{spread}"

    @property
    def text(self) -> str:
        """What names these facts within a table."""
        return f"column({self.column})"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {
            "kind": self.kind,
            "table": self.table,
            "column": self.column,
            "type": self.type,
            "rows": self.rows,
            "nulls": self.nulls,
            "distinct": self.distinct,
            "min": self.minimum,
            "max": self.maximum,
            "frequent": [list(pair) for pair in self.frequent],
            "text": self.text,
        }
