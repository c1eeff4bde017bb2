"""A row, living or deleted: its values, and the batches that inserted and deleted it.

A deleted row stays in the files of its table until these are merged. After that, only events have values of it, if it
broke a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from holdfast.text.row_names import Values, by_key, by_number


@dataclass(frozen=True)
class StoredRow:
    """The stored values of a row, and where they are: in the files of the table, or in the event of a rule it broke."""

    values: Values
    key: Values
    place: Literal["files", "event"] = "files"
    batch: int | None = None  # of the event
    rule: str | None = None


@dataclass(frozen=True)
class Row:
    """A row: the batch that inserted it (0: it was there from the start), and the one that deleted it, if known. Its
    values are None if they are no longer stored.

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
    stored: StoredRow | None

    @property
    def name(self) -> str:
        """Its key, or its number."""
        return by_key(self.stored.key) if self.stored and self.stored.key else by_number(self.number)

    @property
    def values(self) -> Values | None:
        """Its values by column, as far as they are stored."""
        return self.stored.values if self.stored else None

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
        if self.stored is None:
            return "its values are no longer stored"
        if self.stored.place == "files":
            return "its values are still in the files"
        return f"values from the event when {self.stored.rule} broke with batch {self.stored.batch}"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        stored = self.stored
        event = {"event": {"batch": stored.batch, "rule": stored.rule}} if stored and stored.place == "event" else {}
        return {
            "kind": "row",
            "table": self.table,
            "row": self.number,
            **({"key": dict(stored.key)} if stored and stored.key else {}),
            "alive": self.alive,
            "inserted_by": self.inserted_by,
            "deleted_by": self.deleted_by,
            "kept_in": stored.place if stored else None,
            **event,
            "values": dict(stored.values) if stored else None,
        }
