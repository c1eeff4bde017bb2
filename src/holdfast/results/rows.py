"""A row, living or deleted: its values, and the batches that inserted and deleted it.

A deleted row stays in the files of its table until these are merged. After that, only events have values of it, if it
broke a rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast.text.row_names import Values, by_key, by_number


@dataclass(frozen=True)
class Row:
    """A row: the number of the batch that inserted it (0: it was there from the start), and that of the batch that
    deleted it, if known. Its values are None if they are no longer stored.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> row = watch.rows(where={"city": "Brelin"})[0]
    >>> print(row)
    row 2 of towns (id 3): inserted by batch 1
    >>> row.values
    {'id': 3, 'zip': '10115', 'city': 'Brelin'}
    """

    table: str
    number: int
    alive: bool
    inserted_by: int
    deleted_by: int | None
    values: Values | None = None  # by column
    key: Values = field(default_factory=dict)
    broke: tuple[int, str] | None = None  # the batch and the rule of the event that has the values; None: files do

    @property
    def name(self) -> str:
        """Its key, or its number."""
        return by_key(self.key) if self.key else by_number(self.number)

    def __str__(self) -> str:
        came = f"inserted by batch {self.inserted_by}" if self.inserted_by else "there from the start"
        if self.alive:
            return f"{self._called()}: {came}"
        gone = f"deleted by batch {self.deleted_by}" if self.deleted_by else "deleted"
        return f"{self._called()}: {came}, {gone}; {self._where()}"

    def _called(self) -> str:
        number = by_number(self.number)
        return f"{number} of {self.table}" if self.name == number else f"{number} of {self.table} ({self.name})"

    def _where(self) -> str:
        if self.values is None:
            return "its values are no longer stored"
        if self.broke is None:
            return "its values are still in the files"
        batch, rule = self.broke
        return f"its values are from batch {batch}, when it broke {rule}"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        event = {"event": dict(zip(("batch", "rule"), self.broke, strict=True))} if self.broke else {}
        place = "event" if self.broke else "files"
        return {
            "kind": "row",
            "table": self.table,
            "row": self.number,
            **({"key": dict(self.key)} if self.key else {}),
            "alive": self.alive,
            "inserted_by": self.inserted_by,
            "deleted_by": self.deleted_by,
            "kept_in": None if self.values is None else place,
            **event,
            "values": None if self.values is None else dict(self.values),
        }
