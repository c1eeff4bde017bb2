"""Which types are kept, as what, and how they are named."""

import pyarrow as pa
import pytest

from holdfast.table.types import Column, kept_type, parse_type, show_type

KEPT = [
    (pa.int8(), pa.int64()),
    (pa.uint32(), pa.int64()),
    (pa.uint64(), pa.decimal128(20, 0)),
    (pa.float16(), pa.float64()),
    (pa.float32(), pa.float64()),
    (pa.string(), pa.string()),
    (pa.large_string(), pa.string()),
    (pa.string_view(), pa.string()),
    (pa.null(), pa.string()),
    (pa.bool_(), pa.bool_()),
    (pa.date32(), pa.date32()),
    (pa.date64(), pa.date32()),
    (pa.timestamp("s"), pa.timestamp("us")),
    (pa.timestamp("ns", tz="Europe/Berlin"), pa.timestamp("us", tz="UTC")),
    (pa.time32("ms"), pa.time64("us")),
    (pa.time64("ns"), pa.time64("us")),
    (pa.duration("s"), pa.duration("us")),
    (pa.decimal32(5, 2), pa.decimal128(5, 2)),
    (pa.decimal64(10, 2), pa.decimal128(10, 2)),
    (pa.decimal128(38, 5), pa.decimal128(38, 5)),
    (pa.decimal256(30, 2), pa.decimal128(30, 2)),
    (pa.dictionary(pa.int8(), pa.large_string()), pa.string()),
]


@pytest.mark.parametrize(("given", "kept"), KEPT, ids=[str(given) for given, _ in KEPT])
def test_kept_types(given: pa.DataType, kept: pa.DataType) -> None:
    assert kept_type(given) == kept
    assert kept_type(kept) == kept
    assert parse_type(str(kept)) == kept
    assert show_type(kept)
    column = Column("a b", kept)
    assert Column.from_json(column.to_json()) == column


@pytest.mark.parametrize(
    "given",
    [
        pa.list_(pa.int8()),
        pa.struct([("a", pa.int8())]),
        pa.map_(pa.string(), pa.int8()),
        pa.binary(),
        pa.large_binary(),
        pa.decimal256(39, 0),
        pa.dictionary(pa.int8(), pa.binary()),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_left_out(given: pa.DataType) -> None:
    assert kept_type(given) is None


def test_types_as_people_call_them() -> None:
    assert show_type(pa.decimal128(10, 2)) == "decimal(10,2)"
    assert show_type(pa.timestamp("us", tz="UTC")) == "timestamp"
    assert show_type(pa.timestamp("us")) == "timestamp without time zone"
    assert show_type(pa.duration("us")) == "interval"
