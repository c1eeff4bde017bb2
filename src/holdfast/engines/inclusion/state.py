"""The state: all columns of all tables, how often each of their codes occurs, and the clusters.

Frequencies are kept with each table, for all engines; the values themselves stay in the dictionaries, on disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from holdfast.engines.inclusion import InclusionSettings
from holdfast.engines.inclusion.clusters import AttributeClusters
from holdfast.engines.inclusion.values import Compare, Texts, class_of
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.inclusion import IND, Side
from holdfast.table.dictionary import Dictionary
from holdfast.table.frequencies import Frequencies, ValueCounts
from holdfast.table.runner import Runner
from holdfast.table.table import Table


@dataclass(frozen=True)
class Attribute:
    """A column of a table, numbered across all tables."""

    number: int
    table: str
    column: int
    name: str
    kept: pa.DataType
    kind: str  # the class in which it compares


def side_of(*attributes: Attribute) -> Side:
    """Some attributes of one table as a side."""
    return Side(attributes[0].table, tuple(attribute.name for attribute in attributes))


Pairs = tuple[tuple[int, int], ...]  # of attribute numbers, in the order of the dependent ones


@dataclass(frozen=True)
class Nary:
    """A candidate of several columns: their pairs; a row that breaks it, or none where it holds; and where it holds, a
    complete row, or none where it is empty.
    """

    pairs: tuple[tuple[int, int], ...]
    witness: int | None = None
    complete: int | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing breaks it."""
        return self.witness is None

    def sides(self, state: INDState) -> tuple[list[Attribute], list[Attribute]]:
        """The dependent and the referenced attributes."""
        return [state.attributes[a] for a, _ in self.pairs], [state.attributes[b] for _, b in self.pairs]

    def ind(self, state: INDState) -> IND:
        """As a dependency."""
        dependent, referenced = self.sides(state)
        return IND(side_of(*dependent), side_of(*referenced), empty=self.holds and self.complete is None)


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


def attributes_of(tables: Mapping[str, Table], compare: Compare) -> list[Attribute]:
    """All columns of all tables, numbered."""
    listed = [(name, c, column) for name, table in tables.items() for c, column in enumerate(table.schema.columns)]
    return [
        Attribute(number, name, c, column.name, column.type, class_of(column.type, compare))
        for number, (name, c, column) in enumerate(listed)
    ]
