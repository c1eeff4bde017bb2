"""What the texts of a column are, by some of its rows: names of things, phrases, or long texts."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.table.table import Table
from holdfast.table.types import is_measured

WORDS, LETTERS = 5.0, 100.0  # texts of this many words, or letters, on average are no names
PHRASES = 0.5  # where this share of texts has a second word, they say what a thing is, and another one may be the same
_SAMPLE = 1000  # rows whose texts are read


def is_long_text(table: Table, column: int) -> bool:
    """Whether the values of a column are texts of many words, or of many letters, by some of its rows."""
    values = _some_texts(table, column)
    if not len(values):
        return False
    return bool(_words(values) >= WORDS or pc.mean(pc.utf8_length(values)).as_py() >= LETTERS)


def are_names(table: Table, column: int) -> bool:
    """Whether values were given to name rows: two things may well have the same measure, or the same words."""
    values = _some_texts(table, column)
    return not is_measured(table.schema.columns[column].type) and (not len(values) or _words(values) < 1.0 + PHRASES)


def _some_texts(table: Table, column: int) -> pa.Array:
    """The values of some rows in a column of texts; none in another column."""
    if not pa.types.is_string(table.schema.columns[column].type):
        return pa.nulls(0)
    codes = table.column_codes(column)
    return table.dictionaries[column].values(codes[:: max(1, len(codes) // _SAMPLE)]).drop_null()


def _words(values: pa.Array) -> float:
    """How many words texts have on average."""
    return float(1.0 + pc.mean(pc.count_substring(values, " ")).as_py())
