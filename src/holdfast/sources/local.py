"""Local files as Arrow tables: CSV, ORC and Arrow IPC, and text tables as typed ones.

CSV is first read as text, whole and exact: no value is null, cut or trimmed. Types follow from all values. For a file
that can't be read, one sentence names the line where the trouble starts; finding that line takes a second, slow pass,
which only broken files need.

A CSV file may be compressed; its name says how (.gz, .bz2, .zst).
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import BadInput
from holdfast.sources.caster import refusal
from holdfast.sources.dialect import CsvOptions, Dialect, HeadTooShort, as_before, sniff
from holdfast.sources.file_errors import LONGEST_RECORD, too_long
from holdfast.sources.file_errors import readable as _reading
from holdfast.sources.inference import MARKERS, BadValue, cast_text, decide, traits, type_notes
from holdfast.sources.records import BOM, UNCLOSED, encoding_complaint, records, wrong_width

_BLOCK = 1 << 22
_TEXTS = pa.dictionary(pa.int32(), pa.string())
_PIECE = 1 << 24
_LARGEST_BLOCK = (1 << 31) - 1


def head(path: str | Path, size: int = 65536) -> tuple[bytes, bool]:
    """The first `size` bytes of a file, decompressed, and whether that is all of it."""
    with _reading(path, "a text file"), _opened(path) as stream:
        data = _fill(stream, size + 1)
    return data[:size], len(data) <= size


def sniff_file(
    path: str | Path,
    options: CsvOptions,
    before: CsvOptions | None = None,
    names: Collection[str] = (),
    tolerant: bool = False,
) -> tuple[Dialect, list[str]]:
    """The dialect of a CSV file, from as much of its head as the first record needs. `before` says how earlier files of
    a table with columns `names` were written. If tolerant, lines after the first one that are not UTF-8 are skipped.
    """
    size = 65536
    while True:
        data, complete = head(path, size)
        data = _decodable(data) if tolerant else data
        try:
            known = as_before(data, options, before, names)
            dialect, notes = sniff(data, known, complete=complete, name=str(path))
            return dialect, [note for note in notes if known is options or note != str(dialect)]
        except HeadTooShort:
            if size >= LONGEST_RECORD:
                raise too_long(path, 0) from None
            size = min(size * 8, LONGEST_RECORD)


def _decodable(data: bytes) -> bytes:
    first, *lines = data.splitlines(keepends=True) or [b""]
    return b"".join([first, *(line for line in lines if encoding_complaint(line, "") is None)])


def read_csv(path: str | Path, dialect: Dialect) -> pa.Table:
    """All columns of a CSV file, as `parsed` gives them."""
    with _reading(path, "CSV"):
        with _opened(path) as stream:
            data = stream.read_buffer()
        start = data_start(path, dialect)
        table = parsed_of_file(path, data.slice(start - 1 if 0 < start < data.size else start), dialect)
        suspect = not len(table) or _may_end_within_quotes(data, dialect, table)
        if suspect and (sentence := complaint(path, dialect)):
            raise BadInput(sentence)
    return table


def parsed(data: pa.Buffer, dialect: Dialect) -> pa.Table:
    """The records of some bytes, as texts in dictionaries, under the dialect's names.

    Data should begin with a line break, as an empty line: otherwise Arrow takes a first value that begins with U+FEFF
    for a byte order mark. Without a header a file begins at its very start, and such a mark is skipped. Arrow's threads
    may still free buffers when the process ends, and must not touch Python objects then: so it reads in this thread.
    """
    from pyarrow import csv

    names = [str(i) for i in range(len(dialect.names))]  # the real ones may hold anything
    if not data.to_pybytes().strip(b"\r\n" + BOM):
        return pa.table({name: pa.nulls(0, _TEXTS) for name in dialect.names})
    table = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=names, block_size=min(data.size, _LARGEST_BLOCK), use_threads=False),
        parse_options=csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char=dialect.quote or False,
            newlines_in_values=bool(dialect.quote),
        ),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, _TEXTS), null_values=[], strings_can_be_null=False
        ),
    )
    return table.rename_columns(dialect.names)


def parsed_of_file(path: str | Path, data: pa.Buffer, dialect: Dialect) -> pa.Table:
    """The same of some bytes of a file; where they are wrong, the sentence names the line."""
    try:
        return parsed(data, dialect)
    except pa.ArrowInvalid as error:
        raise BadInput(complaint(path, dialect) or f"{path}: not readable as CSV: {error}") from None


def complaint(path: str | Path, dialect: Dialect) -> str | None:
    """One sentence about the first error in a CSV file, or None. Slow; reads the whole file."""
    data = content(path)
    if sentence := encoding_complaint(data, str(path)):
        return sentence
    expected = len(dialect.names)
    for record in records(data, dialect.separator, dialect.quote):
        if not record.closed:
            return f"{path}, line {record.line}: {UNCLOSED}; close or remove it"
        if (got := len(record.fields)) != expected:
            return f"{path}, line {record.line}: {wrong_width(got, expected)}; mend or remove the line"
    return None


def read_arrow(path: str | Path) -> pa.Table:
    """An Arrow IPC file or stream (.arrow, .feather, .ipc, .arrows) as a table."""
    import pyarrow.ipc as ipc

    with _reading(path, "Arrow IPC"), pa.OSFile(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        reader = ipc.open_file(file) if is_file else ipc.open_stream(file)
        table = reader.read_all()
        table.validate()
        return table


def read_orc(path: str | Path) -> pa.Table | None:
    """An ORC file as a table, its times as moments in UTC, as Spark reads them; None where Arrow, which reads
    nanoseconds, can't hold its times.
    """
    import pyarrow.orc as orc

    with _reading(path, "ORC"):
        try:
            table = orc.ORCFile(str(path)).read()
        except pa.ArrowInvalid as error:
            if "out of range for nanosecond" not in str(error):
                raise
            return None
    return as_moments(table, [field.name for field in table.schema if pa.types.is_timestamp(field.type)])


def as_moments(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The same table with some timestamps as moments in UTC."""
    fields = [
        field.with_type(pa.timestamp(field.type.unit, tz="UTC")) if field.name in columns else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields)) if columns else table


def infer_schema(text: pa.Table, options: CsvOptions) -> tuple[pa.Schema, tuple[str, ...], list[str]]:
    """The types of an encoded text table's columns, its null markers, and notes."""
    names = text.column_names
    if options.types == "text":
        nulls = ("",) if options.nulls is None else options.nulls
        return pa.schema([(name, pa.string()) for name in names]), nulls, []
    seen = [traits(_distinct(column), options.nulls) for column in text.columns]
    types, nulls = decide(seen, options.nulls)
    return pa.schema(list(zip(names, types, strict=True))), nulls, type_notes(names, seen, options.nulls, nulls)


def typed_dictionaries(text: pa.Table, nulls: tuple[str, ...], schema: pa.Schema, name: str) -> pa.Table:
    """An encoded text table with the types of a schema: its distinct texts are cast, the indices stay. So equal values
    may occur twice in the dictionary, and null may be in it.
    """
    columns = []
    for column, field in zip(text.columns, schema, strict=True):
        values = _cast_distinct(column, field, nulls, name)
        chunks = [pa.DictionaryArray.from_arrays(chunk.indices, values) for chunk in column.chunks]
        columns.append(pa.chunked_array(chunks, pa.dictionary(pa.int32(), field.type)))
    return pa.Table.from_arrays(columns, names=schema.names)


def _may_end_within_quotes(data: pa.Buffer, dialect: Dialect, table: pa.Table) -> bool:
    """Whether a quote seems never to be closed: then Arrow takes the rest of the file for its last value.

    Such a file ends with the opening quote of a field and that value with its quotes doubled. Other files hardly end
    like that; one with a single column may, if its last value is only line breaks.
    """
    if not dialect.quote:
        return False
    value = table.column(table.num_columns - 1)[-1].as_py()
    written = (dialect.quote + value.replace(dialect.quote, dialect.quote * 2)).encode()
    end = bytes(memoryview(data)[-len(written) - 1 :])
    return end.endswith(written) and end[: -len(written)] != dialect.quote.encode()


def data_start(path: str | Path, dialect: Dialect) -> int:
    """Where the first record of data begins: after the header, or at 0, as Arrow skips a byte order mark."""
    size = 65536
    while dialect.header:
        data, complete = head(path, size)
        first = next(records(data, dialect.separator, dialect.quote), None)
        if first is not None and (complete or (first.closed and first.end < len(data))):
            return first.end
        if complete:
            return len(data)
        size *= 8
    return 0


def content(path: str | Path) -> bytes:
    """All bytes of a text file, decompressed."""
    with _reading(path, "a text file"), _opened(path) as stream:
        return bytes(stream.read())


def blocks(path: str | Path) -> Iterator[bytes]:
    """The bytes of a text file, decompressed, in pieces that end where lines end."""
    with _reading(path, "a text file"), _opened(path) as stream:
        waiting: list[bytes] = []
        while part := stream.read(_BLOCK):
            end = part.rfind(b"\n") + 1
            if end:
                yield b"".join([*waiting, part[:end]])
                waiting = []
            waiting.append(part[end:])
        yield b"".join(waiting)


def _opened(path: str | Path) -> Any:
    return pa.input_stream(str(path), compression="detect")


def _fill(stream: Any, size: int) -> bytes:
    """`size` bytes, or all that are left; a compressed stream may give fewer at a time."""
    parts: list[bytes] = []
    # In pieces: Arrow allocates the wanted size, not the size that is there.
    while size > 0 and (part := stream.read(min(size, _PIECE))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _distinct(encoded: pa.ChunkedArray) -> pa.Array:
    if encoded.num_chunks:
        return encoded.chunk(0).dictionary
    return pa.nulls(0, encoded.type.value_type)


def typed_column(text: pa.ChunkedArray, field: pa.Field, name: str) -> pa.ChunkedArray:
    """Texts as values of a type, without null markers: each distinct text is cast once."""
    column = text.dictionary_encode().unify_dictionaries()
    values = _cast_distinct(column, field, (), name)
    return pa.chunked_array([values.take(chunk) for chunk in _indices(column).chunks], field.type)


def _cast_distinct(encoded: pa.ChunkedArray, field: pa.Field, nulls: tuple[str, ...], name: str) -> pa.Array:
    try:
        return cast_text(_distinct(encoded), field.type, nulls)
    except BadValue as bad:
        record = 1 + pc.index(_indices(encoded), bad.index).as_py()
        marker = "name it as a null marker, " if bad.value in ("", *MARKERS) else ""
        where = f"{name}, record {record}, column {field.name!r}"
        raise BadInput(f"{where}: {refusal(bad, field.type, marker)}") from None


def _indices(encoded: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([chunk.indices for chunk in encoded.chunks], pa.int32())
