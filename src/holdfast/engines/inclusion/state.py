"""The state: all columns of all tables, how often each of their codes occurs, and the clusters.

Frequencies are kept with each table, for all engines; the values themselves stay in the dictionaries, on disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from holdfast.engines.inclusion import InclusionSettings
from holdfast.engines.inclusion.clusters import AttributeClusters
from holdfast.engines.inclusion.values import Compare, Texts, class_of
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.table.dictionary import Dictionary
from holdfast.table.frequencies import Frequencies, ValueCounts
from holdfast.table.runner import Runner
from holdfast.table.table import Table

if TYPE_CHECKING:
    from holdfast.engines.inclusion.nary import Nary, Pairs
    from holdfast.rules.inclusion import IND


@dataclass(frozen=True)
class Attribute:
    """A column of a table, numbered across all tables."""

    number: int
    table: str
    column: int
    name: str
    kept: pa.DataType
    kind: str  # the class in which it compares


class INDState:
    """What the engine keeps of all tables."""

    def __init__(
        self,
        tables: Mapping[str, Table],
        attributes: Sequence[Attribute],
        frequencies: Mapping[str, Frequencies],
        settings: InclusionSettings,
    ) -> None:
        self.tables, self.attributes = dict(tables), list(attributes)
        self.by_name = {(each.table, each.name): each for each in self.attributes}
        self.frequencies, self.settings = dict(frequencies), settings
        self.clusters = AttributeClusters(len(self.attributes))
        self.candidates: dict[str, Nary] = {}  # n-ary ones, by text
        self.broken: dict[Pairs, int] = {}  # n-ary ones that the last batch broke, each with a row that breaks it
        self.found: dict[str, IND] = {}
        self._texts: dict[int, Texts] = {}

    @staticmethod
    def of(
        watched: Mapping[str, WatchedTable],
        settings: InclusionSettings,
        runner: Runner | None = None,
        progress: Progress = SILENT,
    ) -> INDState:
        """Of some tables, without clusters yet."""
        tables = {name: each.table for name, each in watched.items()}
        parts = {name: each.part(Frequencies, runner, progress) for name, each in watched.items()}
        return INDState(tables, attributes_of(tables, settings.compare), parts, settings)

    def counts(self, attribute: Attribute) -> ValueCounts:
        """How often each code of an attribute occurs."""
        return self.frequencies[attribute.table].columns[attribute.column]

    def dictionary(self, attribute: Attribute) -> Dictionary:
        """The values of an attribute as they compare."""
        own = self.tables[attribute.table].dictionaries[attribute.column]
        if self.settings.compare == "typed":
            return own
        return self._texts.setdefault(attribute.number, Texts()).of(own)

    def of_kind(self, kind: str) -> list[Attribute]:
        """The attributes of a class."""
        return [each for each in self.attributes if each.kind == kind]

    def of_table(self, table: str) -> list[Attribute]:
        """The attributes of a table."""
        return [each for each in self.attributes if each.table == table]

    def place(self, attributes: Sequence[Attribute]) -> tuple[Table, list[int]]:
        """The table of some attributes, and their columns there."""
        return self.tables[attributes[0].table], [each.column for each in attributes]

    def moved(self, watched: Mapping[str, WatchedTable]) -> INDState:
        """The same on tables of which some were rewritten."""
        state = INDState.of({name: watched[name] for name in self.tables}, self.settings)
        state.clusters, state.candidates, state.found = self.clusters, self.candidates, self.found
        return state


def attributes_of(tables: Mapping[str, Table], compare: Compare) -> list[Attribute]:
    """All columns of all tables, numbered."""
    listed = [(name, c, column) for name, table in tables.items() for c, column in enumerate(table.schema.columns)]
    return [
        Attribute(number, name, c, column.name, column.type, class_of(column.type, compare))
        for number, (name, c, column) in enumerate(listed)
    ]
