"""Records as their source has them, for the people who mend them.

A file is read again for them, up to the last record that is wanted. A Spark DataFrame is not read again: its records
are shown by the values that came in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.intake.paths import files_of
from holdfast.intake.source import OpenSource, ReadOptions, open_source
from holdfast.sources import local
from holdfast.sources.bad_records import index_csv, json_lines
from holdfast.sources.dialect import Dialect
from holdfast.sources.pieces import CsvPiece, split_csv
from holdfast.sources.records import BOM, line_breaks, records, unquoted
from holdfast.table import arrow


@dataclass(frozen=True)
class Original:
    """A record: its line (in a table, its row), and its fields, or its text where it doesn't split into fields."""

    line: int | None
    fields: Sequence[str | None] | None
    text: str = ""
    file: str = ""


def originals(opened: OpenSource, numbers: NDArray[np.int64]) -> Iterator[Original]:
    """The records of a source with some numbers, which are in order. The source is no Spark DataFrame."""
    own = numbers if opened.records is None else arrow.to_numpy(opened.records)[numbers]
    if opened.dialect is not None:
        yield from _of_csv(opened.files, opened.dialect, own)
    elif opened.json:
        yield from _of_json(opened.files, own)
    else:
        rows = _of_tables(opened, numbers)
        yield from (replace(row, line=record + 1) for row, record in zip(rows, own.tolist(), strict=True))


def row_places(source: str, options: ReadOptions, rows: Sequence[int]) -> dict[int, tuple[str, int]]:
    """The file and the line of rows of a source, counted from 0: of those that local CSV or JSON lines have. The files
    are read again; what can't be read, or has changed since, has no places.
    """
    try:
        if not rows or files_of(source) is None:
            return {}
        opened = open_source(source, replace(options, reader="local"), None, tolerant=True)
        if opened.dialect is None and not opened.json:
            return {}
        found = zip(rows, originals(opened, np.array(rows, np.int64)), strict=False)
        return {row: (each.file, each.line) for row, each in found if each.line is not None}
    except BadInput:
        return {}


def as_texts(table: pa.Table) -> list[list[str | None]]:
    """The rows of a table, each value as text."""
    columns = [_texts(column) for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    try:
        return list(plain.cast(pa.string()).to_pylist())
    except (pa.ArrowException, UnicodeDecodeError):  # lists and the like, and text that is not UTF-8
        is_text = pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)
        raw = plain.cast(pa.binary()).to_pylist() if is_text else plain.to_pylist()
        return [None if value is None else _text(value) for value in raw]


def _text(value: object) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


# ---- CSV ------------------------------------------------------------------------------------------------------------


def _of_csv(files: Sequence[str], dialect: Dialect, numbers: NDArray[np.int64]) -> Iterator[Original]:
    first = 0
    for file in files:
        line = 0
        for piece in split_csv(file, dialect, tolerant=True):
            if first > numbers[-1]:
                return
            data, start = piece.data()
            line = line or 1 + line_breaks(_head(piece, data, start))
            found = index_csv(data, start, dialect, line)
            for number in _within(numbers, first, len(found)):
                raw = data[found.starts[number] : found.ends[number]].rstrip(b"\r\n")
                yield replace(_split(raw, dialect), line=int(found.lines[number]), file=file)
            first, line = first + len(found), found.last_line


def _head(piece: CsvPiece, data: bytes, start: int) -> bytes:
    """The part of the file before the first record of its first piece."""
    return data[:start] if piece.end is None else local.head(piece.path, piece.start + start)[0]


def _within(numbers: NDArray[np.int64], first: int, count: int) -> list[int]:
    """Which of the `count` records from number `first` on are wanted, counted from `first`."""
    low, high = np.searchsorted(numbers, [first, first + count])
    return [int(number) for number in numbers[low:high] - first]


def _split(raw: bytes, dialect: Dialect) -> Original:
    # After a line break, as a byte order mark stands only at the beginning of a file.
    found = list(records(b"\n" + raw, dialect.separator, dialect.quote))
    if len(found) == 1 and found[0].closed and len(found[0].fields) == len(dialect.names):
        try:
            return Original(None, [unquoted(field, dialect.quote) for field in found[0].fields])
        except UnicodeDecodeError:
            pass
    return Original(None, None, _text(raw))


# ---- JSON lines and tables ------------------------------------------------------------------------------------------


def _of_json(files: Sequence[str], numbers: NDArray[np.int64]) -> Iterator[Original]:
    first = 0
    for file, lines in json_lines(files):
        if first > numbers[-1]:
            return
        for number in _within(numbers, first, len(lines)):
            line, raw = lines[number]
            yield Original(line, None, _text(raw.removeprefix(BOM).strip()), file)
        first += len(lines)


def _of_tables(opened: OpenSource, numbers: NDArray[np.int64]) -> Iterator[Original]:
    first = 0
    for table in [opened.table] if opened.table is not None else (piece.read() for piece in opened.pieces):
        if first > numbers[-1]:
            return
        wanted = _within(numbers, first, len(table))
        yield from (Original(None, row) for row in as_texts(table.take(arrow.from_numpy(np.array(wanted, np.int64)))))
        first += len(table)
