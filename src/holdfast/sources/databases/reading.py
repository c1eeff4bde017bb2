"""The rows of a database's address as an Arrow table: in memory, or many of them in a file that is mapped."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
from pyarrow import ipc

from holdfast.errors import clear_sentences
from holdfast.sources.databases import adbc, duck, postgres, sqlite
from holdfast.sources.databases.address import Address, address_of

_IN_MEMORY = 256 << 20  # bytes

_ANSWERS: dict[str, Callable[[Address], AbstractContextManager[pa.RecordBatchReader]]] = {
    "adbc": adbc.answer,
    "duckdb": duck.answer,
    "postgres": postgres.answer,
    "sqlite": sqlite.answer,
}


@dataclass(frozen=True)
class Answered:
    """What an address gave: its rows, notes, and what they are called."""

    table: pa.Table
    name: str
    notes: tuple[str, ...]


def read(text: str, query: str | None, expected: pa.Schema | None = None) -> Answered:
    """The rows of the table in an address, or of a query; `expected` has the types of known columns."""
    address = address_of(text, query)
    with _ANSWERS[address.kind](address) as reader:
        table = kept(reader)
    table, notes = sqlite.as_declared(table, expected)
    return Answered(table, address.name, tuple(notes))


def kept(reader: pa.RecordBatchReader) -> pa.Table:
    """All rows. Past a size they go to a temporary file, so that they may be more than fits in memory."""
    batches: list[pa.RecordBatch] = []
    size = 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size > _IN_MEMORY:
            return _on_disk(reader.schema, chain(batches, reader))
    return pa.Table.from_batches(batches, reader.schema)


def _on_disk(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """The rows in a file that goes with the table: it has no name any more."""
    with (
        clear_sentences(tempfile.gettempdir()),
        tempfile.NamedTemporaryFile(prefix="holdfast-", suffix=".arrows") as file,
    ):
        with ipc.new_stream(file.name, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return ipc.open_stream(pa.memory_map(file.name)).read_all()
