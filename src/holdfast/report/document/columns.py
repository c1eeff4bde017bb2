"""Columns in the texts of rules: one character each, so that a million rules are small and quick to search.

In a coded text a character of Unicode's private area stands for a column; in rules across tables, for the table and the
column. The renderer puts the names back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from holdfast.text.quotes import NAME, quoted
from holdfast.visible import visible

FIRST = 0xE000  # the character of the first column: the start of the private area,
_MOST = 6400  # and the size of this area
_NAME = re.compile(NAME)
_ACROSS = re.compile(rf"{NAME}\.{NAME}")
_PRIVATE = re.compile("[\ue000-\uf8ff]")


class ColumnIndex:
    """The columns of all tables, numbered."""

    def __init__(self, tables: Mapping[str, Sequence[str]]) -> None:
        columns = [(table, name) for table, names in tables.items() for name in names]
        self.places = {column: place for place, column in enumerate(columns)}
        self._within: dict[str, dict[str, str]] = {table: {} for table in tables}
        self._across: dict[str, str] = {}
        for (table, name), place in list(self.places.items())[:_MOST]:
            self._within[table][quoted(name)] = chr(FIRST + place)
            self._across[f"{quoted(table)}.{quoted(name)}"] = chr(FIRST + place)

    def coded(self, table: str, text: str) -> str:
        """The coded text of a rule of a table ("": of several)."""
        names, chars = (_NAME, self._within[table]) if table in self._within else (_ACROSS, self._across)
        return names.sub(lambda found: chars.get(found[0], found[0]), _one_line(text))

    def written(self, table: str) -> dict[str, str]:
        """How coded texts write each column of a table, by its name."""
        chars = self._within.get(table, {})
        return {name: chars.get(quoted(name)) or _one_line(quoted(name)) for own, name in self.places if own == table}


def _one_line(text: str) -> str:
    """A text without line breaks and without characters of the private area."""
    return _PRIVATE.sub("\ufffd", visible(text))
