"""The error that a source has other columns than its table."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import BadInput, nearest_names
from holdfast.text.quotes import command


class OtherColumns(BadInput):
    """A source lacks columns of a table, or has others in addition, or both: then one may be renamed."""

    def __init__(self, sentence: str, table: str, lacking: Sequence[str], added: Sequence[str]) -> None:
        super().__init__(sentence)
        self.table, self.lacking, self.added = table, tuple(lacking), tuple(added)

    def advice(self, state: object, several: bool) -> str:
        """What to do about it, as commands for a state, which name the table if there are several."""
        if not self.lacking or not self.added:
            return "give the table's columns, in any order, or let the table change with --evolve"
        table = ("--table", self.table) if several else ()
        old = self.lacking[0]
        new = next((each for each in self.added if repr(each) in nearest_names(old, self.added)), self.added[0])
        return (
            f"if {old!r} is now called {new!r}, rename it first, with: "
            f"{command('columns', state, 'rename', old, new, *table)}; if these are two columns, drop the old one "
            f"first, with: {command('columns', state, 'drop', old, *table)}; then apply with --evolve"
        )
