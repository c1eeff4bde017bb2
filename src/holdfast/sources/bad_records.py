"""Files with bad records, which are no rows: what is wrong with each, and the rows of the others.

Records of a source are counted from 0 in the order of its files: in CSV all but empty lines, in JSON all lines that are
not blank, bad ones included. Where a quote is never closed, the bad record ends with the line in which the quote opens,
and reading goes on after that line. (This can't happen twice in a file.)

Cost: about two nanoseconds a byte of CSV, and some microseconds a bad record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.sources import jsonlines, local
from holdfast.sources.dialect import Dialect
from holdfast.sources.pieces import CsvPiece, Piece
from holdfast.sources.records import BOM, UNCLOSED, line_breaks, wrong_width

_BLANK = b" \t\r\n"
_UNCLOSED = -1  # instead of the number of fields


@dataclass(frozen=True)
class Rejected:
    """Bad records of a source, by their numbers in order, and what is wrong with them."""

    records: NDArray[np.int64]
    reasons: Sequence[str]

    @staticmethod
    def of(reasons: Mapping[int, str]) -> Rejected:
        """Bad records, from what is wrong with each."""
        numbers = sorted(reasons)
        return Rejected(np.array(numbers, np.int64), [reasons[number] for number in numbers])

    @staticmethod
    def end_to_end(parts: Iterable[tuple[int, Rejected]]) -> Rejected:
        """The bad records of a whole source, from its parts and the number of records of each."""
        records, reasons, first = [NOTHING.records], list[str](), 0
        for count, own in parts:
            records.append(first + own.records)
            reasons += own.reasons
            first += count
        return Rejected(np.concatenate(records), reasons)

    def record_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The record numbers of rows; rows are the records that are not bad, counted from 0."""
        return rows + np.searchsorted(self.records - np.arange(len(self.records)), rows, side="right")

    def and_rows(self, rows: NDArray[np.int64], reasons: Sequence[str]) -> Rejected:
        """The same with some rows added, which are bad as well."""
        records = np.concatenate([self.records, self.record_of(rows)])
        every, order = [*self.reasons, *reasons], np.argsort(records)
        return Rejected(records[order], [every[place] for place in order.tolist()])


NOTHING = Rejected(np.empty(0, np.int64), ())


@dataclass(frozen=True)
class GoodAndBad:
    """The rows of a part of a source, its number of records, and the bad ones."""

    table: pa.Table
    records: int
    bad: Rejected = NOTHING


def sift_piece(piece: Piece) -> GoodAndBad:
    """The rows of a piece of a file; CSV columns are text."""
    if isinstance(piece, CsvPiece):
        data, first = piece.data()
        return sift_csv(data, first, piece.dialect)
    table = piece.read()
    return GoodAndBad(table, len(table))


# ---- CSV ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Records:
    """Where the records of some bytes begin and end, on which lines, and how many fields they have; and the line on
    which the bytes end.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]
    fields: NDArray[np.int64]
    last_line: int

    def __len__(self) -> int:
        return len(self.starts)


def index_csv(data: bytes, first: int, dialect: Dialect, line: int = 1) -> Records:
    """The records of CSV from byte `first` on, which is on line `line`."""
    if first == 0 and data.startswith(BOM):
        first = len(BOM)
    found, state = _indexed(data, first, line, dialect)
    if state is None:
        return found
    start, begun, opened = state
    end = _line_end(data, opened)
    rest, _ = _indexed(data, end, begun + line_breaks(data[start:end]), dialect)
    return Records(
        np.r_[found.starts, start, rest.starts],
        np.r_[found.ends, end, rest.ends],
        np.r_[found.lines, begun, rest.lines],
        np.r_[found.fields, _UNCLOSED, rest.fields],
        rest.last_line,
    )


def _indexed(data: bytes, first: int, line: int, dialect: Dialect) -> tuple[Records, tuple[int, int, int] | None]:
    """The records, and where a quote stays open, the start and the line of the record and the place of the quote."""
    from holdfast.kernels.records import QUOTED, index_records

    whole = np.frombuffer(data, np.uint8)
    most = 1 + data.count(b"\n", first) + data.count(b"\r", first)
    starts, ends, lines, fields = np.empty((4, most), np.int64)
    state = np.empty(5, np.int64)
    marks = ord(dialect.separator), ord(dialect.quote) if dialect.quote else -1
    count = index_records(whole, first, line, *marks, starts, ends, lines, fields, state)
    mode, last_line, start, begun, opened = state.tolist()
    records = Records(starts[:count], ends[:count], lines[:count], fields[:count], last_line)
    return records, (start, begun, opened) if mode == QUOTED else None


def _line_end(data: bytes, place: int) -> int:
    """The place after the next line break, or the end."""
    ends = [at for at in (data.find(b"\n", place), data.find(b"\r", place)) if at >= 0]
    end = 1 + min(ends) if ends else len(data)
    return end + 1 if data[end - 1 : end + 1] == b"\r\n" else end


def sift_csv(data: bytes, first: int, dialect: Dialect) -> GoodAndBad:
    """The rows of CSV from byte `first` on."""
    records = index_csv(data, first, dialect)
    reasons = {**_wrong_widths(records, len(dialect.names)), **_wrong_bytes(data, records)}
    bad = Rejected.of(reasons)
    table = local.parsed(pa.py_buffer(b"\n" + _without(data, records, bad.records)), dialect)
    if len(table) != len(records) - len(reasons):  # an error of ours
        raise BadInput("not readable as CSV: it is unclear where its records end; mend its quotes")
    return GoodAndBad(table, len(records), bad)


def _wrong_widths(records: Records, expected: int) -> dict[int, str]:
    wrong = np.flatnonzero(records.fields != expected)
    return {
        number: UNCLOSED if fields == _UNCLOSED else wrong_width(fields, expected)
        for number, fields in zip(wrong.tolist(), records.fields[wrong].tolist(), strict=True)
    }


def _wrong_bytes(data: bytes, records: Records) -> dict[int, str]:
    """The records that are not UTF-8. Good bytes are not read twice."""
    found: dict[int, str] = {}
    position = int(records.starts[0]) if len(records) else len(data)
    while position < len(data):
        try:
            str(memoryview(data)[position:], "utf-8")
            break
        except UnicodeDecodeError as error:
            place = position + error.start
        number = int(np.searchsorted(records.starts, place, side="right")) - 1
        found[number] = f"the byte 0x{data[place]:02x} is not UTF-8"
        position = int(records.ends[number])
    return found


def _without(data: bytes, records: Records, bad: NDArray[np.int64]) -> bytes:
    """The bytes without the bad records."""
    if not len(records):
        return b""
    starts = [int(records.starts[0]), *records.ends[bad].tolist()]
    ends = [*records.starts[bad].tolist(), len(data)]
    return b"".join(data[start:end] for start, end in zip(starts, ends, strict=True))


# ---- JSON lines -----------------------------------------------------------------------------------------------------


def sift_json(paths: Sequence[str]) -> GoodAndBad:
    """The rows of files of JSON lines, as columns of marked text."""
    tables, reasons, count = [], {}, 0
    for _, lines in json_lines(paths):
        rows = []
        for number, (_, line) in enumerate(lines, count):
            try:
                rows.append(jsonlines.row_of(line.decode()) or {})
            except UnicodeDecodeError as error:
                reasons[number] = f"the byte 0x{line[error.start]:02x} is not UTF-8"
            except jsonlines.BadLine as error:
                reasons[number] = str(error)
        count += len(lines)
        tables.append((len(rows), jsonlines.columns_of(rows)))
    return GoodAndBad(jsonlines.end_to_end(tables), count, Rejected.of(reasons))


def json_lines(paths: Sequence[str]) -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    """The lines that are not blank, with their numbers, block by block; each block with its file."""
    for path in paths:
        last = 0
        for block in local.blocks(path):
            lines = block.splitlines()
            numbered = enumerate(lines, last + 1)
            yield path, [(n, line) for n, line in numbered if line.removeprefix(BOM).strip(_BLANK)]
            last += len(lines)
