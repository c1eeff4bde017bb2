"""A row on a page, next to others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.engines.contract import Json
from holdfast.results.redaction import ShownValues
from holdfast.rules.rule import Rule
from holdfast.text.row_names import Values


@dataclass(frozen=True)
class ShownRow:
    """A row next to others: its number, its key and values as far as they are known, and whether it is alive."""

    row: int
    key: Values
    values: Values
    alive: bool = True

    def to_json(self, shown: ShownValues, columns: Sequence[str], rule: Rule) -> Json:
        """Its name, and what it has in some columns."""
        name = shown.name(self.row, self.key, self.values, rule.columns)
        texts = [shown.cell(column, self.values[column]) if column in self.values else "–" for column in columns]
        return {"row": self.row, "name": name, "alive": self.alive, "values": texts}
