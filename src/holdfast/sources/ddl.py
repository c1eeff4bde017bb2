"""Plain schemas in Spark's DDL, `id INT, zip STRING`, understood without Spark; Spark parses all others."""

from __future__ import annotations

import re
from itertools import pairwise

import pyarrow as pa

from holdfast.errors import BadInput, suggest
from holdfast.table.types import kept_type
from holdfast.text.quotes import unquoted

_COLUMN = re.compile(
    r"\s*(?P<name>`(?:[^`]|``)+`|[A-Za-z_][A-Za-z0-9_]*)\s*(?::|\s)\s*(?P<type>[A-Za-z_]+)"
    r"(?:\s*\(\s*(?P<first>\d+)\s*(?:,\s*(?P<second>\d+)\s*)?\))?(?:\s+NOT\s+NULL)?\s*(?:,|\Z)",
    re.IGNORECASE,
)
TYPES = {
    **dict.fromkeys(("tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long"), pa.int64()),
    **dict.fromkeys(("float", "real", "double"), pa.float64()),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    **dict.fromkeys(("timestamp", "timestamp_ltz"), pa.timestamp("us", tz="UTC")),
    "timestamp_ntz": pa.timestamp("us"),
}
_OF_SPARK = (
    *("binary", "void", "interval", "variant", "time", "geometry", "geography", "array", "map", "struct", "character"),
)
_WORDS = (*TYPES, "decimal", "dec", "numeric", "char", "varchar", *_OF_SPARK)
_GOES_ON = r"[(<]|(?:NOT|NULL|COMMENT|COLLATE|YEAR|MONTH|DAY|HOUR|MINUTE|SECOND|WITH|WITHOUT)\b"
_BEGIN = re.compile(
    rf"\s*(?:`(?:[^`]|``)+`|[^\s:,`<>()]+)(?::|\s)\s*:?\s*(?P<type>[A-Za-z_]\w*)\s*(?:\Z|{_GOES_ON})", re.IGNORECASE
)
_BETWEEN = re.compile(
    r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?P<open>[<(])|(?P<close>[>)])|(?P<comma>,)"
)


def refuse_wrong_ddl(ddl: str) -> None:
    """Refuse a DDL string that is surely wrong, without starting Spark, which takes seconds."""
    for column in _pieces(ddl):
        plain = _COLUMN.fullmatch(column)
        found = plain or _BEGIN.match(column)
        if found is None:
            raise BadInput(
                f"--schema {ddl!r}: {column.strip()!r} is no column; give each a name and a type: id INT, zip STRING"
            )
        word = found["type"].lower()
        if word not in _WORDS or (plain and word not in _OF_SPARK and _type(plain) is None):
            raise BadInput(
                f"--schema {ddl!r}: there is no type {column.split(maxsplit=1)[-1]!r}; {suggest(word, _WORDS)}"
            )


def _pieces(ddl: str) -> list[str]:
    """The parts between the commas that are outside of brackets."""
    cuts, depth = [-1], 0
    for found in _BETWEEN.finditer(ddl):
        depth += (found["open"] is not None) - (found["close"] is not None)
        if found["comma"] and not depth:
            cuts.append(found.start())
    if depth:
        raise BadInput(f"--schema {ddl!r}: a bracket is open; close it")
    return [ddl[start + 1 : end] for start, end in pairwise([*cuts, len(ddl)])]


def parse_plain_ddl(ddl: str) -> list[tuple[str, pa.DataType]] | None:
    """The columns that a DDL string declares, or None where Spark has to parse it."""
    columns: list[tuple[str, pa.DataType]] = []
    position = 0
    while position < len(ddl):
        match = _COLUMN.match(ddl, position)
        declared = _type(match) if match else None
        if match is None or declared is None:
            return None
        columns.append((unquoted(match["name"]), declared))
        position = match.end()
    return None if not columns or ddl.rstrip().endswith(",") else columns


def type_named(kind: str | pa.DataType) -> pa.DataType:
    """The type of a name such as `integer`, `decimal(10,2)` or `text`."""
    if not isinstance(kind, str):
        comparable = kept_type(kind) if isinstance(kind, pa.DataType) else None
        if comparable is None:
            raise BadInput(f"values of type {kind} can't be compared; choose another")
        return comparable
    parsed = parse_plain_ddl(f"c {'string' if kind.strip().lower() == 'text' else kind}")
    if parsed is None or len(parsed) != 1:
        raise BadInput(
            f"there is no type {kind!r}; choose from: integer, float, decimal(10,2), text, boolean, date, timestamp"
        )
    return parsed[0][1]


def _type(match: re.Match[str]) -> pa.DataType | None:
    word, first, second = match["type"].lower(), match["first"], match["second"]
    if word in ("decimal", "dec", "numeric"):
        precision, scale = int(first or 10), int(second or 0)
        return pa.decimal128(precision, scale) if 0 < precision <= 38 and scale <= precision else None
    if word in ("char", "varchar"):
        return pa.string() if first and not second else None
    return None if first else TYPES.get(word)
