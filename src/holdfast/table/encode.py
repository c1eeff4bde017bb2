"""Encoding: rows of values become rows of codes, in three steps that also run apart, in tasks, on files.

1. **stage** a chunk of rows: each column gets a dictionary of its own, found by hashing, and local codes;
2. **merge** the local dictionaries of one column into the column's dictionary: local codes map to codes;
3. **remap** the local codes of each chunk.

A source is read once, and only distinct values are sorted, parsed and looked up.
Cost: O(cells) hashing, O(d log d) for d distinct values a column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.table import arrow, images
from holdfast.table.dictionary import Dictionary, encode
from holdfast.table.images import Images
from holdfast.table.shard import AnyCodes, narrowed
from holdfast.table.types import Column

# Turns distinct texts into typed values, null where a text stands for null.
Caster = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True)
class Staged:
    """A chunk of rows with dictionaries of its own: local code i + 1 is `values[column][i]`, 0 is null."""

    codes: tuple[AnyCodes, ...]
    values: tuple[Images, ...]

    def __len__(self) -> int:
        return len(self.codes[0])


def stage(
    columns: Sequence[pa.ChunkedArray], kept: Sequence[Column], casters: Sequence[Caster | None] | None = None
) -> Staged:
    """Encode a chunk with dictionaries of its own."""
    codes, values = [], []
    for array, column, caster in zip(columns, kept, casters or [None] * len(kept), strict=True):
        local, distinct = _local_dictionary(array, column, caster)
        codes.append(local)
        values.append(column_images(distinct, column))
    return Staged(tuple(codes), tuple(values))


def _local_dictionary(array: pa.ChunkedArray, column: Column, caster: Caster | None) -> tuple[AnyCodes, pa.Array]:
    flat = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_decimal32(flat.type) or pa.types.is_decimal64(flat.type):  # Arrow hashes the longer ones only
        flat = flat.cast(pa.decimal128(flat.type.precision, flat.type.scale))
    encoded = flat if pa.types.is_dictionary(flat.type) else flat.dictionary_encode()
    refuse_bad_text(encoded.dictionary, column.name)
    if encoded is flat:
        _refuse_damaged(flat, column.name)
    places = encoded.indices
    local = arrow.to_numpy(places)
    if places.null_count:
        local = np.where(arrow.valid(places), local.astype(np.int64), -1)
    distinct = caster(encoded.dictionary) if caster else encoded.dictionary
    if distinct.null_count:  # texts that stand for null; other tools' dictionaries may hold null, too
        valid = arrow.valid(distinct)
        to = np.append(np.where(valid, np.cumsum(valid) - 1, -1), -1)  # the last place is that of -1
        local, distinct = to[local], distinct.drop_null()
    return narrowed(np.add(local, 1, dtype=np.int64).astype(np.uint32)), distinct


def refuse_bad_text(values: pa.Array, column: str) -> None:
    """Refuse text that is not UTF-8: Arrow and Spark hand it on as it is, and nobody could show or compare it."""
    t = pa.types
    if not (t.is_string(values.type) or t.is_large_string(values.type) or t.is_string_view(values.type)):
        return
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        raise BadInput(
            f"column {column!r}: the text {_first_bad(values)!r} is not UTF-8; convert it, or give the column as "
            "binary to leave it out"
        ) from None


def _refuse_damaged(values: pa.DictionaryArray, column: str) -> None:
    """Refuse a dictionary of somebody else's whose indices point beyond it."""
    try:
        values.validate(full=True)
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise BadInput(f"column {column!r}: the data is damaged ({reason}); write it again") from None


def _first_bad(values: pa.Array) -> bytes:
    for value in values.cast(pa.large_binary()):
        try:
            (value.as_py() or b"").decode()
        except UnicodeDecodeError as error:
            return error.object[max(0, error.start - 20) : error.start + 20]
    return b"?"


def column_images(values: pa.Array, column: Column) -> Images:
    """Images of non-null values of any type that widens to the column's."""
    try:
        return images.to_images(cast(values, column), column.type)
    except OverflowError as error:
        raise BadInput(
            f"column {column.name!r}: the integer {error} is reserved; declare the column as decimal or text"
        ) from None


def cast(values: pa.Array, column: Column) -> pa.Array:
    """Values in the column's kept type, without loss."""
    if values.type == column.type:
        return values
    try:
        return values.cast(column.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"column {column.name!r}: {values.type} does not fit {column.type} ({reason})") from None


def merge(
    chunks: Sequence[Images], dictionary: Dictionary, caster: Caster | None = None, name: str = ""
) -> tuple[list[NDArray[np.uint32]], Images]:
    """Merge the local dictionaries of a column: for each chunk the codes of its local codes, and the new images."""
    present = [np.ones(len(chunk), np.bool_) for chunk in chunks]
    if caster is not None:
        typed = [caster(chunk.cast(pa.string())) for chunk in chunks]
        present = [arrow.valid(values) for values in typed]
        chunks = [column_images(values.drop_null(), Column(name, dictionary.kept)) for values in typed]
    if not chunks:
        return [], images.none_of(dictionary.kept)
    distinct, places = images.sorted_distinct(images.concat(list(chunks)))
    codes, extended = encode(dictionary, distinct)
    fresh = extended.image_range(len(dictionary), len(extended) - len(dictionary))
    ends = np.cumsum([len(chunk) for chunk in chunks])
    remaps = []
    for mask, own in zip(present, np.split(codes[places], ends[:-1]), strict=True):
        remap = np.zeros(len(mask) + 1, np.uint32)
        remap[1:][mask] = own
        remaps.append(remap)
    return remaps, fresh
