"""Which column types can be compared, and the one form in which each is kept.

Every integer becomes int64, every float float64, every text a string, timestamps count microseconds. Arrays,
maps, structs and binary cannot be compared and are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

NUMBER = "number"  # the family of all numbers


@dataclass(frozen=True)
class Column:
    """A column that is watched: its name as the source gives it, and its type in kept form."""

    name: str
    type: pa.DataType

    def to_json(self) -> dict[str, str]:
        """Plain values that `from_json` reads back."""
        return {"name": self.name, "type": str(self.type)}

    @staticmethod
    def from_json(value: dict[str, str]) -> Column:
        """The column that `to_json` described."""
        return Column(value["name"], parse_type(value["type"]))


def kept_type(given: pa.DataType) -> pa.DataType | None:
    """The type in which values of a given Arrow type are kept, or None where they can't be compared."""
    t = pa.types
    if t.is_dictionary(given):
        return kept_type(given.value_type)
    if t.is_uint64(given):
        return pa.decimal128(20, 0)
    if t.is_integer(given):
        return pa.int64()
    if t.is_floating(given):
        return pa.float64()
    if t.is_decimal(given):
        return pa.decimal128(given.precision, given.scale) if given.precision <= 38 else None
    if t.is_string(given) or t.is_large_string(given) or t.is_string_view(given) or t.is_null(given):
        return pa.string()
    if t.is_timestamp(given):
        return pa.timestamp("us", tz="UTC" if given.tz else None)
    if t.is_time(given):
        return pa.time64("us")
    if t.is_duration(given):
        return pa.duration("us")
    return {pa.bool_(): pa.bool_(), pa.date32(): pa.date32(), pa.date64(): pa.date32()}.get(given)


def widens(old: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of one type may be values of the other, if all of them fit."""
    t = pa.types
    if t.is_integer(old) or t.is_decimal(old):
        return bool(t.is_decimal(wanted) or (t.is_integer(old) and t.is_floating(wanted)))
    return bool(t.is_date(old) and t.is_timestamp(wanted))


# The kept types but for decimals, as people call them.
_CALLED = {
    pa.int64(): "integer",
    pa.float64(): "float",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp without time zone",
    pa.timestamp("us", tz="UTC"): "timestamp",
    pa.time64("us"): "time",
    pa.duration("us"): "interval",
}


def family(kept: pa.DataType) -> str:
    """What a type compares with: numbers of all kinds with each other, other types with themselves."""
    t = pa.types
    return NUMBER if t.is_integer(kept) or t.is_floating(kept) or t.is_decimal(kept) else str(kept)


def parse_type(text: str) -> pa.DataType:
    """The kept type that `str` printed."""
    if decimal := re.fullmatch(r"decimal128\((\d+), (-?\d+)\)", text):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return {str(kept): kept for kept in _CALLED}[text]


def show_type(kept: pa.DataType) -> str:
    """A type as people call it."""
    if pa.types.is_decimal(kept):
        return f"decimal({kept.precision},{kept.scale})"
    return _CALLED[kept]


def is_measured(kept: pa.DataType) -> bool:
    """Whether values of a type are measures or amounts rather than names: two things may well have the same."""
    return bool(pa.types.is_floating(kept) or (pa.types.is_decimal(kept) and kept.scale > 0))
