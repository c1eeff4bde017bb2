"""Feeds of several tables: a column names the table of each row.

Each table gets its own rows, in their order, with its own types: text is cast once its table is known. Columns of other
tables are ignored; a column that no table has is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.changes.operations import FEED_COLUMNS, OPERATION_COLUMNS
from holdfast.errors import BadInput
from holdfast.intake.bad_rows import sifted_whole, without_bad_rows
from holdfast.intake.opened import NOTED, OpenSource, ReadOptions
from holdfast.intake.quarantine import Quarantine
from holdfast.intake.source import open_source
from holdfast.intake.staged_rows import whole_table, without_dictionaries
from holdfast.intake.tables import Sources
from holdfast.sources import jsonlines
from holdfast.sources.bad_records import NOTHING, Rejected
from holdfast.table import arrow
from holdfast.table.table import Schema

Known = Mapping[str, tuple[Schema, Sequence[str]]]  # of each table its columns, and the names of those left out
Rows = NDArray[np.int64]  # their numbers


@dataclass(frozen=True)
class FeedOptions:
    """The column that names the table of each row, the column with its operation, if given, and how to read."""

    column: str
    operation: str | None = None
    read: ReadOptions = field(default_factory=ReadOptions)


def split_feed(
    sources: Sources, known: Known, options: FeedOptions, spark: Any, quarantine: Quarantine | None = None
) -> dict[str, Sources]:
    """The sources of each table, where a column names the table of each row. Records that belong to no table go to the
    quarantine, or are refused.
    """
    found: dict[str, dict[str, OpenSource]] = {}
    for part, source in sources.given().items():
        split = _split(part, source, known, options, spark, quarantine)
        for place, (table, own) in enumerate(split.items()):
            found.setdefault(table, {})[part] = replace(own, notes=()) if place else own  # notes appear once
    return {name: Sources(**own) for name, own in found.items()}


def _split(
    part: str, source: Any, known: Known, options: FeedOptions, spark: Any, quarantine: Quarantine | None
) -> dict[str, OpenSource]:
    def opened(source: Any, tolerant: bool) -> OpenSource:
        return open_source(source, replace(options.read, raw=True), spark, tolerant=tolerant)

    def feed(own: OpenSource) -> Feed:
        return Feed(own, known, options.column, options.operation)

    if quarantine is None:
        return feed(opened(source, False)).by_table()
    whole, split, rejected = without_bad_rows(
        source, opened, lambda own: (own, feed(own).by_table(), NOTHING), lambda own: (own, *feed(own).sifted())
    )
    quarantine.put_records(part, whole, rejected)
    return split


@dataclass(frozen=True)
class Feed:
    """An open source, the tables that its rows may belong to, and the columns with the table and perhaps the
    operation.
    """

    opened: OpenSource
    known: Known
    column: str
    operation: str | None

    def by_table(self) -> dict[str, OpenSource]:
        """The rows of each table that has some; an empty feed has no rows for every table."""
        found: dict[str, OpenSource] = {}
        if self.opened.columns:  # else it is an empty file
            self._refuse_columns()
            found = self._with_spark() if self.opened.session is not None else self._here()
        return self._in_order(found)

    def _in_order(self, found: Mapping[str, OpenSource]) -> dict[str, OpenSource]:
        if not found:
            return dict.fromkeys(self.known, OpenSource(self.opened.name, (), pa.table({})))
        return {name: found[name] for name in self.known if name in found}

    @property
    def _place(self) -> int:
        return self.opened.names.index(self.column)

    def _refuse_columns(self) -> None:
        names = self.opened.names
        if self.column not in names:
            raise BadInput(
                f"{self.opened.name}: no column {self.column!r} names the table of a row; its columns are "
                + ", ".join(map(repr, names))
            )
        own = {self.column, self.operation, *OPERATION_COLUMNS, *FEED_COLUMNS, *NOTED}
        all_known = own.union(*(self._names_of(table) for table in self.known))
        if unknown := [name for name in names if name not in all_known]:
            raise BadInput(
                f"{self.opened.name}: no table here has a column {unknown[0]!r}; the tables are {', '.join(self.known)}"
            )

    def _names_of(self, table: str) -> set[str]:
        schema, left_out = self.known[table]
        return {*schema.names, *left_out}

    def _own(self, name: str, **rows: Any) -> OpenSource:
        """Rows for a table; columns of other tables are ignored."""
        others = {self.column}.union(*(self._names_of(table) for table in self.known))
        return replace(self.opened, **rows, overlooked=frozenset(others - self._names_of(name) - {self.operation}))

    def sifted(self) -> tuple[dict[str, OpenSource], Rejected]:
        """The same for a source with bad records: they are left out, and so are rows for unknown tables."""
        whole = sifted_whole(self.opened)
        if not self.opened.columns:
            return self._in_order({}), whole.bad
        self._refuse_columns()
        found, lost, reasons = self._shared_out(without_dictionaries(whole.table), whole.bad.record_of)
        return self._in_order(found), whole.bad.and_rows(lost, reasons)

    def _here(self) -> dict[str, OpenSource]:
        """Rows that are in memory, or in pieces of files that are read here."""
        found, lost, reasons = self._shared_out(whole_table(self.opened), lambda rows: rows)
        if len(lost):
            raise self._refusal(f"row {lost[0] + 1} {reasons[0]}")
        return found

    def _shared_out(
        self, table: pa.Table, record_of: Callable[[Rows], Rows]
    ) -> tuple[dict[str, OpenSource], Rows, list[str]]:
        """The rows of each table, and those of no table with what is wrong with each."""
        codes, names = self._tables_of(table)
        rows = {name: np.flatnonzero(codes == code) for code, name in enumerate(names) if name in self.known}
        found = {name: self._rows(name, table, own, record_of(own)) for name, own in rows.items()}
        lost = np.delete(np.arange(len(table)), np.concatenate([np.empty(0, np.int64), *rows.values()]))
        return found, lost, [self._wrong_table(None if code < 0 else names[code]) for code in codes[lost].tolist()]

    def _rows(self, name: str, table: pa.Table, own: Rows, records: Rows) -> OpenSource:
        """Rows for a table that are in memory, with their record numbers in the source."""
        plain = self._unmarked(table.take(own), name)
        return self._own(name, table=plain, pieces=(), spark=None, sifted=None, records=arrow.from_numpy(records))

    def _tables_of(self, table: pa.Table) -> tuple[Rows, list[str]]:
        """The table that each row names, as a number (-1: none), and their names."""
        texts = table.column(self._place)
        texts = jsonlines.unmarked(texts) if self.opened.marked else texts.cast(pa.string())
        encoded = texts.combine_chunks().dictionary_encode()
        return encoded.indices.fill_null(-1).to_numpy().astype(np.int64), encoded.dictionary.to_pylist()

    def _unmarked(self, table: pa.Table, name: str) -> pa.Table:
        """The rows of a table; operations and their versions lose the marks that JSON values have."""
        if not self.opened.marked:
            return table
        plain = {self.operation, *OPERATION_COLUMNS, *FEED_COLUMNS} - self._names_of(name)
        return jsonlines.unmarked_at(table, [i for i, column in enumerate(table.column_names) if column in plain])

    def _with_spark(self) -> dict[str, OpenSource]:
        from holdfast.spark.frames import clear_sentence, names_in, rows_of

        opened = self.opened
        frame = opened.as_frame()
        with clear_sentence(opened.name, secrets=opened.secrets):
            names = names_in(frame, self._place, opened.marked)
        if unknown := [name for name in names if name not in self.known]:
            raise self._refusal(f"a row {self._wrong_table(unknown[0])}")
        return {
            name: self._own(name, frame=rows_of(frame, self._place, name, opened.marked), pieces=(), spark=None)
            for name in names
        }

    def _refusal(self, wrong: str) -> BadInput:
        return BadInput(f"{self.opened.name}: {wrong}; the tables are {', '.join(self.known)}")

    def _wrong_table(self, name: str | None) -> str:
        return f"is for the table {name!r}, which is not watched here" if name else "names no table"
