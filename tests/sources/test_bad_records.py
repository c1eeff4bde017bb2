"""Files of which some records are no rows: the others are read as if these had been removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.sources import pieces
from holdfast.sources.bad_records import index_csv, json_lines, sift_csv, sift_json, sift_piece
from holdfast.sources.dialect import Dialect
from holdfast.sources.inference import BadNumber, BadValue, bad_values, cast_text
from holdfast.sources.pieces import split_csv
from holdfast.sources.records import Record, records, unquoted

DIALECT = Dialect(",", '"', True, ("a", "b"))
texts = st.text('xy,,""\n\r', max_size=20).map(str.encode)
with_bad_bytes = st.lists(st.sampled_from([b"x", b",", b'"', b"\n", b"\r\n", b"\xff", b"\xc3\xa4", b"\xc3"])).map(
    b"".join
)


def by_hand(data: bytes) -> tuple[list[Record], list[int]]:
    """The records one after the other, by patterns; where a quote stays open, reading goes on with the next line."""
    found = list(records(data, ",", '"'))
    if not found or found[-1].closed:
        return found, []
    last = found[-1]
    opened = last.start + sum(len(field) + 1 for field in last.fields[:-1])
    breaks = [at + 1 for at in range(opened, len(data)) if data[at] in b"\r\n"]
    end = breaks[0] if breaks else len(data)
    cut = Record(last.line, last.start, end, last.fields, False, False)
    rest, _ = by_hand(data[end:])
    moved = [Record(0, r.start + end, r.end + end, r.fields, r.closed, r.clean) for r in rest]
    return [*found[:-1], cut, *moved], [len(found) - 1]


@settings(max_examples=300)
@given(data=texts)
@example(data=b'a,"b\r\nc,d\r\n"e\r\n')
@example(data=b'x,y\n"a\nb",c,"open\nx,y')
def test_records_are_those_that_patterns_find(data: bytes) -> None:
    found, (expected, unclosed) = index_csv(data, 0, DIALECT), by_hand(data)
    assert found.starts.tolist() == [record.start for record in expected]
    widths = [-1 if place in unclosed else len(record.fields) for place, record in enumerate(expected)]
    assert found.fields.tolist() == widths
    lines = [1 + data[:start].count(b"\n") + data[:start].count(b"\r") for start in found.starts.tolist()]
    both = [data[:start].count(b"\r\n") for start in found.starts.tolist()]
    assert found.lines.tolist() == [line - crlf for line, crlf in zip(lines, both, strict=True)]


@settings(max_examples=300)
@given(data=with_bad_bytes)
def test_rows_are_the_records_that_are_rows(data: bytes) -> None:
    sifted, (expected, unclosed) = sift_csv(data, 0, DIALECT), by_hand(data)
    rows, bad = [], []
    for place, record in enumerate(expected):
        try:
            data[record.start : record.end].decode()
            right = place not in unclosed and len(record.fields) == 2
        except UnicodeDecodeError:
            right = False
        if right:
            rows.append([unquoted(field, '"') for field in record.fields])
        else:
            bad.append(place)
    assert [list(row.values()) for row in sifted.table.to_pylist()] == rows
    assert sifted.records == len(expected)
    assert sifted.bad.records.tolist() == bad
    assert len(sifted.bad.reasons) == len(bad)


def test_what_is_said() -> None:
    data = b'\xef\xbb\xbfx,y\nx\nx,y,z\n\xe4,y\nx,"y\nx,y\n'
    sifted = sift_csv(data, 0, DIALECT)
    assert sifted.table.to_pylist() == [{"a": "x", "b": "y"}] * 2
    assert dict(zip(sifted.bad.records.tolist(), sifted.bad.reasons, strict=True)) == {
        1: "1 field where 2 are expected",
        2: "3 fields where 2 are expected",
        3: "the byte 0xe4 is not UTF-8",
        4: "a quote is opened and never closed",
    }


def test_pieces_together_are_the_file(tmp_path: Path) -> None:
    lines = ["a,b", *(f'{i},"t\r\n{i}"' if i % 7 else f"{i}" for i in range(500)), '1,"open', "2,x"]
    path = tmp_path / "many.csv"
    path.write_bytes("\r\n".join(lines).encode() + b"\r\n")
    whole = [sift_piece(piece) for piece in split_csv(str(path), DIALECT, tolerant=True)]
    least, pieces._LEAST_BYTES = pieces._LEAST_BYTES, 256
    most, pieces._MOST_BYTES = pieces._MOST_BYTES, 256
    try:
        parts = [sift_piece(piece) for piece in split_csv(str(path), DIALECT, tolerant=True)]
    finally:
        pieces._LEAST_BYTES, pieces._MOST_BYTES = least, most
    assert len(whole) == 1
    assert len(parts) > 5
    assert [row for part in parts for row in part.table.to_pylist()] == whole[0].table.to_pylist()
    first = np.cumsum([0, *(part.records for part in parts)])
    bad = [n for start, part in zip(first, parts, strict=False) for n in (start + part.bad.records).tolist()]
    assert bad == whole[0].bad.records.tolist() == [*range(0, 500, 7), 500]
    assert [reason for part in parts for reason in part.bad.reasons] == whole[0].bad.reasons


def test_json_lines(tmp_path: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    first.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\n[1]\r\n{"a": "\xff"}\n{"a": 1, "a": 2}')
    second.write_bytes(b'{"b": "x"}\n{}\nnull\n')
    sifted = sift_json([str(first), str(second)])
    assert sifted.table.to_pylist() == [{"a": "n1", "b": None}, {"a": None, "b": "sx"}, {"a": None, "b": None}]
    assert sifted.records == 7
    assert dict(zip(sifted.bad.records.tolist(), sifted.bad.reasons, strict=True)) == {
        1: "not a JSON object",
        2: "the byte 0xff is not UTF-8",
        3: "the key 'a' comes twice",
        6: "not a JSON object",
    }
    numbers = [
        (Path(path).name, [number for number, _ in lines]) for path, lines in json_lines([str(first), str(second)])
    ]
    assert [each for each in numbers if each[1]] == [("1.jsonl", [1, 3, 4]), ("1.jsonl", [5]), ("2.jsonl", [1, 2, 3])]


@given(
    values=st.lists(
        st.sampled_from(["", "1", "1.5", "x", "1e999", "0.1234", "99999999999999999999", "NA", "2024-01-01"])
    ),
    target=st.sampled_from([pa.int64(), pa.float64(), pa.decimal128(5, 2), pa.date32(), pa.string(), pa.bool_()]),
)
def test_bad_values_are_those_that_are_refused(values: list[str], target: pa.DataType) -> None:
    found = list(bad_values(pa.array(values, pa.string()), target, ("", "NA")))
    expected = []
    for index, value in enumerate(values):
        try:
            cast_text(pa.array([value]), target, ("", "NA"))
        except BadValue as bad:
            expected.append((index, value, isinstance(bad, BadNumber)))
    assert [(bad.index, bad.value, isinstance(bad, BadNumber)) for bad in found] == expected
