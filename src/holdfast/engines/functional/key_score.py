"""How much a set of columns looks as if it were meant as a key: from its types, its places, and what was counted.

- **few columns.** Each further one costs `LONGER`, as with dependencies: with enough columns everything is unique.
- **simple types.** People number things, or give them short names. A measured value is often unique, and never a key.
- **no nulls.** A row without a name can't be found. A single null costs two fifths, and 2 % of rows with one the rest.
- **nearly unique.** From 2 % of rows to remove on nothing is left: such columns group rows, and don't name them.
- **first places.** Keys mostly come first; the last place costs a tenth.

It is a function of numbers that are kept under batches and of the schema, so what is kept equals what a fresh run
finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from holdfast.engines.thresholds import LONGER
from holdfast.table.table import Schema

TOLERATED = 0.02  # this share of rows to remove, or of rows with nulls, makes the score 0
NULLS = 0.6  # what a key is worth if it has any nulls
LAST = 0.1  # what the last place costs


def key_score(schema: Schema, columns: Sequence[int], rows: int, nulls: int, to_remove: int) -> float:
    """From 0, nothing speaks for the key, to 1; given how many rows have a null in it, and how many are to remove."""
    if not columns or rows < 2:
        return 0.0
    simple = sum(_simplicity(schema.columns[c].type) for c in columns) / len(columns)
    place = sum(columns) / len(columns) / max(len(schema.columns) - 1, 1)
    unique = max(0.0, 1.0 - to_remove / rows / TOLERATED)
    named = NULLS * max(0.0, 1.0 - nulls / rows / TOLERATED) if nulls else 1.0
    return LONGER ** (len(columns) - 1) * simple * (1.0 - LAST * place) * unique * named


def _simplicity(kept: pa.DataType) -> float:
    """How readily people name things by values of a type."""
    t = pa.types
    if t.is_integer(kept) or (t.is_decimal(kept) and kept.scale <= 0):
        return 1.0
    if t.is_string(kept):
        return 0.95
    if t.is_date(kept):
        return 0.9
    if t.is_boolean(kept):
        return 0.8
    return 0.45 if t.is_decimal(kept) or t.is_timestamp(kept) else 0.3
