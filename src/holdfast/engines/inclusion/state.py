"""The state: all columns of all tables, how often each of their codes occurs, and the clusters.

Frequencies are kept with each table, for all engines; the values themselves stay in the dictionaries, on disk.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from holdfast.engines.inclusion import InclusionSettings
from holdfast.engines.inclusion.clusters import AttributeClusters
from holdfast.engines.inclusion.values import Compare, Texts, class_of
from holdfast.engines.thresholds import limit_of
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
class Candidate(ABC):
    """A candidate of several columns: their pairs."""

    pairs: Pairs

    @property
    @abstractmethod
    def holds(self) -> bool:
        """Whether it holds, as far as it must."""

    @abstractmethod
    def ind(self, state: INDState) -> IND:
        """As a dependency."""

    def sides(self, state: INDState) -> tuple[list[Attribute], list[Attribute]]:
        """The dependent and the referenced attributes."""
        return [state.attributes[a] for a, _ in self.pairs], [state.attributes[b] for _, b in self.pairs]


@dataclass(frozen=True)
class Nary(Candidate):
    """One that must hold exactly: a row that breaks it, or none where it holds; and where it holds, a complete row, or
    none where it is empty.
    """

    witness: int | None = None
    complete: int | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing breaks it."""
        return self.witness is None

    def ind(self, state: INDState) -> IND:
        """As a dependency."""
        dependent, referenced = self.sides(state)
        return IND(side_of(*dependent), side_of(*referenced), empty=self.holds and self.complete is None)


@dataclass(frozen=True)
class PartialNary(Candidate):
    """One that may hold but for a share of its tuples: how many distinct tuples without a null the dependent side has,
    in how many rows, and how many of both are missing on the other side.
    """

    error: float = 0.0
    values: int = 0
    rows: int = 0
    missing_values: int = 0
    missing_rows: int = 0

    @property
    def holds(self) -> bool:
        """Whether at most the allowed share of its tuples is missing."""
        return self.missing_values <= limit_of(self.error, self.values)

    def ind(self, state: INDState) -> IND:
        """As a dependency."""
        dependent, referenced = self.sides(state)
        missing = self.missing_values, self.missing_rows
        covered = share_of(self.values - missing[0], self.values), share_of(self.rows - missing[1], self.rows)
        return IND(side_of(*dependent), side_of(*referenced), *missing, *covered, not self.values)


def share_of(part: int, whole: int) -> float:
    """What share of a whole some part is; all of it, where there is nothing."""
    return part / whole if whole else 1.0


def pairs_of(compared: Iterable[tuple[Attribute, Attribute]]) -> Pairs:
    """The attributes of both sides, by their numbers, in the order of the dependent ones."""
    return tuple(sorted((a.number, b.number) for a, b in compared))


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
        self.candidates: dict[str, Nary] = {}  # of several columns, by text
        self.partial: dict[str, PartialNary] = {}  # the same, where an error is allowed
        self.only_exact = False  # whether those of several columns must hold exactly, although an error is allowed
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

    @property
    def allows_partial(self) -> bool:
        """Whether dependencies of several columns may hold but for some tuples."""
        return self.settings.error > 0 and not self.only_exact

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
