"""Operations: the words that change feeds use for insert, delete, update and upsert."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import BadInput

INSERT, DELETE, UPDATE = 1, -1, 2
UPSERT = 3  # an update of the row with its key, or an insert where there is none
WORDS = {
    "insert": INSERT,
    "delete": DELETE,
    "update": UPDATE,
    "upsert": UPSERT,
    # Debezium
    "c": INSERT,
    "r": INSERT,
    "d": DELETE,
    "u": UPDATE,
    # Delta: an update as two rows, the old and the new
    "update_preimage": DELETE,
    "update_postimage": INSERT,
}
NAMES = {INSERT: "insert", DELETE: "delete", UPDATE: "update", UPSERT: "upsert"}
OPERATION_COLUMNS = ("op", "__op", "_op", "operation", "_change_type", "change_type")
# Delta's feed is unordered and has the order in a column of its own.
VERSION_COLUMN = "_commit_version"
FEED_COLUMNS = (VERSION_COLUMN, "_commit_timestamp")


def parse_operations(words: pa.ChunkedArray) -> NDArray[np.int8]:
    """The operation of each row from its word, in any case."""
    encoded = words.combine_chunks().dictionary_encode()
    try:
        spelled = encoded.dictionary.to_pylist()
    except UnicodeDecodeError:
        raise BadInput("an operation is not UTF-8; write insert, delete or update in every row") from None
    if encoded.null_count or None in spelled:
        raise BadInput("a row has no operation; write insert, delete or update in every row")
    words_met = [str(word).strip().lower() for word in spelled]
    if unknown := [word for word, plain in zip(spelled, words_met, strict=True) if plain not in WORDS]:
        raise BadInput(f"unknown operation {unknown[0]!r}; use insert, delete, update, upsert (or c, d, u)")
    return np.asarray(np.array([WORDS[plain] for plain in words_met], np.int8)[encoded.indices.to_numpy()])
