"""Feeds of several tables: a column of each row names the table that it is for.

Each table gets its own rows, in their order, with its own types: text is cast when it is known whose it is. Columns of
other tables are overlooked; one that no table knows is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.changes.operations import FEED_COLUMNS, OPERATION_COLUMNS
from holdfast.errors import BadInput
from holdfast.intake.bad_rows import sifted_whole
from holdfast.intake.memory import lasting
from holdfast.intake.quarantine import Quarantine
from holdfast.intake.source import NOTED, Reading, ReadOptions, open_source
from holdfast.intake.staged_rows import whole_table, without_dictionaries
from holdfast.intake.tables import Sources
from holdfast.sources import jsonlines
from holdfast.sources.bad_records import NOTHING, Rejected
from holdfast.table import arrow
from holdfast.table.table import Schema

Known = Mapping[str, tuple[Schema, Sequence[str]]]  # of each table its columns, and the names of those left out


@dataclass(frozen=True)
class FeedOptions:
    """The column that names the table of each row, that which tells its operation, if it was named, and how to read."""

    column: str
    operation: str | None = None
    reading: ReadOptions = field(default_factory=ReadOptions)


def split_feed(
    sources: Sources, known: Known, options: FeedOptions, spark: Any, quarantine: Quarantine | None = None
) -> dict[str, Sources]:
    """What each table gets of sources whose rows name their table in a column. Records that are rows of no table go to
    the quarantine, or else are refused.
    """
    found: dict[str, dict[str, Reading]] = {}
    for part in (each.name for each in fields(sources)):
        if (source := getattr(sources, part)) is not None:
            split = _split(part, source, known, options, spark, quarantine)
            for place, (table, own) in enumerate(split.items()):
                found.setdefault(table, {})[part] = replace(own, said=()) if place else own  # it is said once
    return {name: Sources(**own) for name, own in found.items()}


def _split(
    part: str, source: Any, known: Known, options: FeedOptions, spark: Any, quarantine: Quarantine | None
) -> dict[str, Reading]:
    raw, source = replace(options.reading, raw=True), source if quarantine is None else lasting(source)
    reading = None
    try:
        reading = open_source(source, raw, spark)
        split = Feed(reading, known, options.column, options.operation).by_table()
    except BadInput:
        if quarantine is None or (reading is not None and reading.frame is not None and not reading.json):
            raise
        reading = open_source(source, raw, spark, tolerant=True)
        if reading.frame is not None:
            raise
        split, rejected = Feed(reading, known, options.column, options.operation).sifted()
    else:
        rejected = NOTHING
    if quarantine is not None:
        quarantine.put_records(part, reading, rejected)
    return split


@dataclass(frozen=True)
class Feed:
    """A source that is open, the tables that its rows may be for, and the columns that name the table and perhaps the
    operation.
    """

    reading: Reading
    known: Known
    column: str
    operation: str | None

    def by_table(self) -> dict[str, Reading]:
        """The rows of each table that has some; where there are no rows at all, each table with none."""
        found: dict[str, Reading] = {}
        if self.reading.columns:  # else it is an empty file
            self._refuse_columns()
            found = self._with_spark() if self.reading.session is not None else self._here()
        return self._in_order(found)

    def _in_order(self, found: Mapping[str, Reading]) -> dict[str, Reading]:
        if not found:
            return dict.fromkeys(self.known, Reading(self.reading.name, (), pa.table({})))
        return {name: found[name] for name in self.known if name in found}

    @property
    def _place(self) -> int:
        return [name for name, _ in self.reading.columns].index(self.column)

    def _refuse_columns(self) -> None:
        names = [name for name, _ in self.reading.columns]
        if self.column not in names:
            raise BadInput(
                f"{self.reading.name}: no column {self.column!r} names the table of a row; its columns are "
                + ", ".join(map(repr, names))
            )
        told = {self.column, self.operation, *OPERATION_COLUMNS, *FEED_COLUMNS, *NOTED}
        all_known = told.union(*(self._names_of(table) for table in self.known))
        if unknown := [name for name in names if name not in all_known]:
            raise BadInput(
                f"{self.reading.name}: no table here has a column {unknown[0]!r}; the tables are "
                f"{', '.join(self.known)}"
            )

    def _names_of(self, table: str) -> set[str]:
        schema, left_out = self.known[table]
        return {*schema.names, *left_out}

    def _own(self, name: str, **rows: Any) -> Reading:
        """Some rows, for a table: what other tables call theirs is overlooked."""
        others = {self.column}.union(*(self._names_of(table) for table in self.known))
        return replace(self.reading, **rows, overlooked=frozenset(others - self._names_of(name) - {self.operation}))

    def sifted(self) -> tuple[dict[str, Reading], Rejected]:
        """The same of a source with bad records: these are left out, and so are rows for tables that are not here."""
        whole = sifted_whole(self.reading)
        if not self.reading.columns:
            return self._in_order({}), whole.bad
        self._refuse_columns()
        table = without_dictionaries(whole.table)
        codes, names = self._tables_of(table)
        rows = {name: np.flatnonzero(codes == code) for code, name in enumerate(names) if name in self.known}
        found = {name: self._rows(name, table, own, whole.bad.record_of(own)) for name, own in rows.items()}
        lost = np.delete(np.arange(len(table)), np.concatenate([np.empty(0, np.int64), *rows.values()]))
        reasons = [self._wrong_table(None if code < 0 else names[code]) for code in codes[lost].tolist()]
        return self._in_order(found), whole.bad.and_rows(lost, reasons)

    def _rows(self, name: str, table: pa.Table, own: NDArray[np.int64], records: NDArray[np.int64]) -> Reading:
        """Some rows that are here, and which records of the source they are, for a table."""
        plain = self._unmarked(table.take(own), name)
        return self._own(name, table=plain, pieces=(), spark=None, sifted=None, records=arrow.from_numpy(records))

    def _tables_of(self, table: pa.Table) -> tuple[NDArray[np.int64], list[str]]:
        """The table that each row names, as a number (-1: none), and their names."""
        texts = table.column(self._place)
        texts = jsonlines.unmarked(texts) if self.reading.marked else texts.cast(pa.string())
        encoded = texts.combine_chunks().dictionary_encode()
        return encoded.indices.fill_null(-1).to_numpy().astype(np.int64), encoded.dictionary.to_pylist()

    def _here(self) -> dict[str, Reading]:
        """Rows that are in memory, or in pieces of files that are read here."""
        table = whole_table(self.reading)
        codes, names = self._tables_of(table)
        firsts: dict[str | None, int] = {name: int(np.argmax(codes == code)) for code, name in enumerate(names)}
        if -1 in codes:
            firsts[None] = int(np.argmax(codes == -1))
        for name in sorted(firsts, key=lambda name: firsts[name]):
            self._refuse_table(name, f"row {firsts[name] + 1}")
        rows = [np.flatnonzero(codes == code) for code in range(len(names))]
        return {name: self._rows(name, table, own, own) for name, own in zip(names, rows, strict=True)}

    def _unmarked(self, table: pa.Table, name: str) -> pa.Table:
        """The rows of a table; what tells operations and their order is not marked as values of JSON are."""
        if not self.reading.marked:
            return table
        plain = {self.operation, *OPERATION_COLUMNS, *FEED_COLUMNS} - self._names_of(name)
        return jsonlines.unmarked_at(table, [i for i, column in enumerate(table.column_names) if column in plain])

    def _with_spark(self) -> dict[str, Reading]:
        from holdfast.spark.frames import clear_sentence, names_in, rows_of

        reading = self.reading
        frame = reading.as_frame()
        with clear_sentence(reading.name, secrets=reading.secrets):
            names = names_in(frame, self._place, reading.marked)
        for name in names:
            self._refuse_table(name, "a row")
        return {
            name: self._own(name, frame=rows_of(frame, self._place, name, reading.marked), pieces=(), spark=None)
            for name in names
        }

    def _refuse_table(self, name: str | None, row: str) -> None:
        if name not in self.known:
            wrong = self._wrong_table(name)
            raise BadInput(f"{self.reading.name}: {row} {wrong}; the tables are {', '.join(self.known)}")

    def _wrong_table(self, name: str | None) -> str:
        return f"is for the table {name!r}, which is not watched here" if name else "names no table"
