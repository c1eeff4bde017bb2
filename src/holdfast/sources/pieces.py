"""Pieces: parts of files that are read independently, in threads here or in tasks elsewhere, in bounded memory.

A piece names its file and its part of it, and can be pickled. CSV is cut where records end, Parquet between row groups.
A compressed file is one piece.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from holdfast.errors import BadInput
from holdfast.sources import local
from holdfast.sources.dialect import Dialect
from holdfast.sources.file_errors import COMPRESSED, LONGEST_RECORD, readable, refuse_long_lines, too_long
from holdfast.sources.records import BOM
from holdfast.table.portions import portions

_MOST_BYTES, _LEAST_BYTES = 32 << 20, 4 << 20
_MOST_ROWS = 1 << 19
_AT_ONCE = 8 << 20


class Piece(Protocol):
    """A part of a file."""

    def read(self) -> pa.Table:
        """Its rows, in order; text may come as dictionaries."""


# ---- CSV ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CsvPiece:
    """The records of a CSV file between two positions; `end` None means the whole file, which may be compressed."""

    path: str
    dialect: Dialect
    start: int = 0
    end: int | None = None

    def data(self) -> tuple[bytes, int]:
        """The bytes of its records, and where among them the first one begins."""
        if self.end is None:
            return local.content(self.path), local.data_start(self.path, self.dialect)
        with readable(self.path, "CSV"), pa.OSFile(self.path) as file:
            file.seek(self.start)
            return file.read(self.end - self.start), min(self.start, 1)

    def read(self) -> pa.Table:
        """All columns as text, under the dialect's names."""
        if self.end is None:
            return local.read_csv(self.path, self.dialect)
        with readable(self.path, "CSV"):
            with pa.OSFile(self.path) as file:  # Arrow's threads must not touch Python objects
                file.seek(self.start)
                data = file.read_buffer(self.end - self.start)
            return local.parsed_of_file(self.path, data, self.dialect)


def split_csv(path: str, dialect: Dialect, tolerant: bool = False) -> list[CsvPiece]:
    """The pieces of a CSV file. Refuses a record that is too long and, unless tolerant, a quote that is never closed;
    all that follows such a quote is in the last piece, as it is unclear where its records end.
    """
    if path.endswith(COMPRESSED):
        refuse_long_lines(path)
        return [CsvPiece(path, dialect)]
    size = Path(path).stat().st_size
    wanted = min(_MOST_BYTES, max(_LEAST_BYTES, size // (2 * (os.cpu_count() or 1))))
    with readable(path, "CSV"):
        start = local.data_start(path, dialect)
        if start >= size:  # a header and nothing else
            return [CsvPiece(path, dialect, size, size)]
        bounds = [start, *(cut for cut in _cuts(path, dialect, start, wanted, tolerant) if cut < size), size]
    # Each begins with the line break before it, an empty line: Arrow takes U+FEFF at the start for a byte order mark.
    return [CsvPiece(path, dialect, max(0, a - 1), b) for a, b in pairwise(bounds)]


def _cuts(path: str, dialect: Dialect, start: int, wanted: int, tolerant: bool) -> list[int]:
    """Positions between records, `wanted` bytes or more apart."""
    from holdfast.kernels.records import QUOTED, find_cuts

    marks = ord(dialect.separator), ord(dialect.quote) if dialect.quote else -1
    begin = start or (len(BOM) if local.head(path, len(BOM))[0] == BOM else 0)
    state, cuts = np.array([0, begin, start, 0, begin], np.int64), np.empty(_AT_ONCE // wanted + 1, np.int64)
    found: list[int] = []
    with pa.OSFile(path) as file:
        file.seek(begin)
        while data := file.read(_AT_ONCE):
            first = file.tell() - len(data)
            count = find_cuts(np.frombuffer(data, np.uint8), first, *marks, wanted, state, cuts)
            found += cuts[:count].tolist()
        size = file.tell()
    mode, last, _, longest, where = state.tolist()
    if mode != QUOTED:
        longest, where = max((longest, where), (size - last, last))
    elif not tolerant and (complaint := local.complaint(path, dialect)):
        raise BadInput(complaint)
    if longest > LONGEST_RECORD:
        raise too_long(path, where)
    return found


# ---- Parquet --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParquetPiece:
    """Some row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]

    def read(self) -> pa.Table:
        """Their rows, with text as dictionaries, as in most files."""
        with readable(self.path, "Parquet"), open_parquet(self.path) as file:
            table, old = file.read_row_groups(self.groups, use_threads=False), _int96(file)
            self._refuse_nanoseconds(table.select([name for name in old if name in table.column_names]))
            return local.as_moments(table, old)

    def _refuse_nanoseconds(self, old: pa.Table) -> None:
        """Old timestamps (INT96) have nanoseconds, which Arrow would cut off silently."""
        import pyarrow.parquet as pq

        if not old.num_columns:
            return
        with pq.ParquetFile(self.path) as file:
            full = file.read_row_groups(self.groups, columns=old.column_names, use_threads=False)
        for name in old.column_names:
            cut, exact = (np.asarray(table[name].fill_null(0).cast(pa.int64())) for table in (old, full))
            if (cut * 1000 != exact).any():  # in years that nanoseconds don't reach, both wrap around alike
                finer = f"{self.path}: column {name!r} has nanoseconds, but times are stored to the microsecond"
                raise BadInput(f"{finer}; round the column first")


def open_parquet(path: str) -> Any:
    """A Parquet file, opened so that text comes as dictionaries, and old timestamps as microseconds."""
    import pyarrow.parquet as pq

    plain = pq.read_schema(path)
    texts = [field.name for field in plain if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    return pq.ParquetFile(path, read_dictionary=texts, coerce_int96_timestamp_unit="us")


def parquet_schema(path: str) -> pa.Schema:
    """The columns that `ParquetPiece` gives."""
    with readable(path, "Parquet"), open_parquet(path) as file:
        return local.as_moments(file.schema_arrow.empty_table(), _int96(file)).schema


def split_parquet(path: str) -> tuple[list[ParquetPiece], int]:
    """The pieces of a Parquet file, and its number of rows. Only the columns in the file; the names of its folders may
    hold more.
    """
    import pyarrow.parquet as pq

    with readable(path, "Parquet"):
        facts = pq.read_metadata(path)
    groups = ((group, facts.row_group(group).num_rows) for group in range(facts.num_row_groups))
    return [ParquetPiece(path, tuple(own)) for own in portions(groups, _MOST_ROWS)], facts.num_rows


def _int96(file: Any) -> list[str]:
    """The columns with old timestamps (INT96), which are moments in UTC though the file does not say so."""
    columns = [file.schema.column(i) for i in range(len(file.schema))]
    return [column.path for column in columns if column.physical_type == "INT96"]
