"""The state: all columns of all tables, how often each of their codes occurs, and the clusters.

Invariant: `counts[a].of(code)` is the number of living rows of attribute a with that code, null's code left at 0; there
is a count for every code of the dictionary, also for values that came and went within one batch.
Cost: one byte a distinct value of a column where no value is frequent, two or four where some are. The values
themselves stay in the dictionaries, on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.engines.inclusion.clusters import Clusters
from holdfast.engines.inclusion.values import Compare, Texts, class_of
from holdfast.table.dictionary import NULL_CODE, Dictionary
from holdfast.table.rewrite import Kept
from holdfast.table.shard import narrowed
from holdfast.table.table import Table

if TYPE_CHECKING:
    from holdfast.engines.inclusion.model import IND
    from holdfast.engines.inclusion.nary import Candidate


@dataclass(frozen=True)
class Options:
    """What the user may ask: how values compare, what share may be missing, and how many columns a side may have."""

    compare: Compare = "typed"
    error: float = 0.0
    max_arity: int = 1


@dataclass(frozen=True)
class Attribute:
    """A column of a table, numbered across all tables."""

    number: int
    table: str
    column: int
    name: str
    kept: pa.DataType
    kind: str  # the class in which it compares


class Counts:
    """Frequencies by code, as narrow as they fit. A file's arrays are copied when first written to."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The frequencies of some codes; codes below 0, or not met yet, have none."""
        inside = (codes >= 0) & (codes < len(self.array))
        if inside.all():
            return self.array[codes].astype(np.int64)
        found = np.zeros(len(codes), np.int64)
        found[inside] = self.array[codes[inside]]
        return found

    def reach(self, size: int, wider: np.dtype[Any] | None = None) -> None:
        """Have room for `size` codes, and for counts as wide as asked."""
        kept = self.array.dtype if wider is None else np.promote_types(self.array.dtype, wider)
        if size > len(self.array) or kept != self.array.dtype:
            grown = np.zeros(size + size // 8 if size > len(self.array) else len(self.array), kept)
            grown[: len(self.array)] = self.array
            self.array = grown

    def put(self, codes: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> None:
        """Set the frequencies of some codes, out of `size` codes."""
        self.reach(size, np.min_scalar_type(int(counts.max(initial=0))))
        if len(codes):
            self.array = self.array if self.array.flags.writeable else self.array.copy()
            self.array[codes] = counts


class State:
    """What the engine keeps of all tables."""

    def __init__(
        self, tables: Mapping[str, Table], attributes: list[Attribute], counts: list[Counts], options: Options
    ) -> None:
        self.tables = dict(tables)
        self.attributes = attributes
        self.counts = counts
        self.options = options
        self.clusters = Clusters(len(attributes))
        self.candidates: dict[str, Candidate] = {}  # n-ary ones, by text
        self.found: dict[str, IND] = {}
        self._texts: dict[int, Texts] = {}

    def dictionary(self, attribute: Attribute) -> Dictionary:
        """The values of an attribute as they compare."""
        own = self.tables[attribute.table].dictionaries[attribute.column]
        if self.options.compare == "typed":
            return own
        return self._texts.setdefault(attribute.number, Texts()).of(own)

    def of_kind(self, kind: str) -> list[Attribute]:
        """The attributes of a class."""
        return [each for each in self.attributes if each.kind == kind]

    def of_table(self, table: str) -> list[Attribute]:
        """The attributes of a table."""
        return [each for each in self.attributes if each.table == table]

    def attribute(self, table: str, name: str) -> Attribute | None:
        """The attribute with a name."""
        return next((each for each in self.attributes if (each.table, each.name) == (table, name)), None)

    def rewritten(self, tables: Mapping[str, Table], kept: Mapping[str, Kept]) -> State:
        """The same on tables of which some were written anew."""
        counts = [
            Counts(narrowed(own.of(kept[a.table][a.column]).astype(np.uint64))) if a.table in kept else own
            for a, own in zip(self.attributes, self.counts, strict=True)
        ]
        ordered = {name: tables[name] for name in self.tables}
        state = State(ordered, self.attributes, counts, self.options)
        state.clusters, state.candidates, state.found = self.clusters, self.candidates, self.found
        return state

    def dump(self) -> dict[str, Any]:
        """The arrays of which `load_counts` and `Clusters.load` make the same."""
        counts = {f"count/{a.number}": narrowed(c.array) for a, c in zip(self.attributes, self.counts, strict=True)}
        return {**counts, **self.clusters.dump()}


def attributes_of(tables: Mapping[str, Table], compare: Compare) -> list[Attribute]:
    """All columns of all tables, numbered."""
    listed = [(name, c, column) for name, table in tables.items() for c, column in enumerate(table.schema.columns)]
    return [
        Attribute(number, name, c, column.name, column.type, class_of(column.type, compare))
        for number, (name, c, column) in enumerate(listed)
    ]


def steps(inserted: NDArray[Any], deleted: NDArray[Any]) -> list[tuple[Any, Any]]:
    """For each column of a changed table the codes whose frequency changes, and by how much; nulls don't count."""
    found = []
    for born, died in zip(inserted, deleted, strict=True):
        codes, places = np.unique(np.concatenate([born, died]).astype(np.int64), return_inverse=True)
        step = np.bincount(places[: len(born)], minlength=len(codes)) - np.bincount(
            places[len(born) :], minlength=len(codes)
        )
        moved = (step != 0) & (codes != NULL_CODE)
        found.append((codes[moved], step[moved]))
    return found
