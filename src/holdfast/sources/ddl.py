"""Plain schemas in Spark's DDL, `id INT, zip STRING`, understood without Spark; whatever is not plain is Spark's."""

from __future__ import annotations

import re

import pyarrow as pa

_COLUMN = re.compile(
    r"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<name>\w+))\s*(?::|\s)\s*(?P<type>[A-Za-z_]+)"
    r"(?:\s*\(\s*(?P<first>\d+)\s*(?:,\s*(?P<second>\d+)\s*)?\))?(?:\s+NOT\s+NULL)?\s*(?:,|\Z)",
    re.IGNORECASE,
)
_TYPES = {
    **dict.fromkeys(("tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long"), pa.int64()),
    **dict.fromkeys(("float", "real", "double"), pa.float64()),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    **dict.fromkeys(("timestamp", "timestamp_ltz"), pa.timestamp("us", tz="UTC")),
    "timestamp_ntz": pa.timestamp("us"),
}


def parse_plain_ddl(ddl: str) -> list[tuple[str, pa.DataType]] | None:
    """The columns that a DDL string declares, or None where it is for Spark to say."""
    columns: list[tuple[str, pa.DataType]] = []
    position = 0
    while position < len(ddl):
        match = _COLUMN.match(ddl, position)
        kept = _type(match) if match else None
        if match is None or kept is None:
            return None
        columns.append((match["name"] or match["quoted"].replace("``", "`"), kept))
        position = match.end()
    return None if not columns or ddl.rstrip().endswith(",") else columns


def _type(match: re.Match[str]) -> pa.DataType | None:
    word, first, second = match["type"].lower(), match["first"], match["second"]
    if word in ("decimal", "dec", "numeric"):
        precision, scale = int(first or 10), int(second or 0)
        return pa.decimal128(precision, scale) if 0 < precision <= 38 and scale <= precision else None
    if word in ("char", "varchar"):
        return pa.string() if first and not second else None
    return None if first else _TYPES.get(word)
