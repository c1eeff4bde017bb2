"""What columns were called when a row was kept, and what they are called now.

Values of rows that broke rules are kept as they were then, while rules follow their columns to other names. Read back,
the values stand under the names of now.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

Values = dict[str, Any]


class ColumnNames:
    """The changes of the columns of a state's tables."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._changes: dict[str, list[tuple[int, dict[str, str | None]]]] = defaultdict(list)
        query = "SELECT seq, table_name, json FROM reshaped JOIN batches USING (seq) ORDER BY seq"
        for seq, table, about in database.execute(query):
            if names := _names(json.loads(about)):
                self._changes[table].append((seq, names))

    def now(self, table: str, seq: int, values: Values) -> Values:
        """The values of a row that was kept with a batch, under the names of now. Those of a column that left stay,
        unless another one has its name since.
        """
        for later, names in self._changes.get(table, ()):
            if later > seq:
                moved = {new: values[old] for old, new in names.items() if new is not None and old in values}
                taken = {*names, *filter(None, names.values())}
                values = {name: value for name, value in values.items() if name not in taken} | moved
        return values


def _names(about: Mapping[str, Any]) -> dict[str, str | None]:
    """New names by old ones; None for names that were given to new columns."""
    columns = about.get("columns", ())
    given: dict[str, str | None] = {each["column"]: None for each in columns if each["done"] == "added"}
    return given | {each["column"]: each["name"] for each in columns if each["done"] == "renamed"}
