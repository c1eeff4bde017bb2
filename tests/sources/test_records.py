"""The record splitter agrees with the csv module, and knows lines."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.sources.records import encoding_complaint, line_breaks, records, unquoted

TANGLE = st.text(alphabet="ab,;\"' \n\r", max_size=40)


@settings(deadline=None, max_examples=400)
@given(TANGLE, st.sampled_from(",;"), st.sampled_from("\"'"))
@example('a,"b"x\n"c""",d', ",", '"')
@example('"a"",b\n"c"', ",", '"')
@example('x,"open\ny,z', ",", '"')
def test_splits_as_the_csv_module_does(text: str, separator: str, quote: str) -> None:
    lines = io.StringIO(text, newline="")
    expected = [row for row in csv.reader(lines, delimiter=separator, quotechar=quote) if row]
    found = records(text.encode(), separator, quote)
    assert [[unquoted(field, quote) for field in record.fields] for record in found] == expected


@settings(deadline=None)
@given(TANGLE)
def test_records_and_empty_lines_cover_the_data(text: str) -> None:
    data = text.encode()
    position = 0
    for record in records(data, ",", '"'):
        assert not data[position : record.start].strip(b"\r\n")
        assert record.line == 1 + line_breaks(data[: record.start])
        position = record.end
    assert not data[position:].strip(b"\r\n")


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_lines_are_physical_lines(eol: str) -> None:
    text = eol.join(["a,b", "", '1,"x', "", 'y"', "2,z"])
    assert [record.line for record in records(text.encode(), ",", '"')] == [1, 3, 6]


def test_an_unclosed_quote_differs_from_a_quote_inside() -> None:
    assert [r.closed for r in records(b'1,5" pipe\n2,"open\n3,x\n', ",", '"')] == [True, False]


def test_without_quotes_a_quote_is_a_letter() -> None:
    assert [r.fields for r in records(b'"a,b"\n', ",", "")] == [(b'"a', b'b"')]


def test_a_value_may_be_very_long() -> None:
    (record,) = records(b'1,"' + b'x""\n' * 1_500_000 + b'"\n', ",", '"')
    assert len(unquoted(record.fields[1], '"')) == 4_500_000


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    assert next(records(b"\xef\xbb\xbfa,b", ",", '"')).fields == (b"a", b"b")


def test_the_complaint_about_bytes_names_line_and_offset() -> None:
    complaint = encoding_complaint("a\r\nb\nMüller".encode("latin1"), "f.csv")
    assert complaint is not None
    assert complaint.startswith("f.csv, line 3: the byte 0xfc at offset 6 is not UTF-8")
    assert "iconv -f LATIN1" in complaint
    assert "iconv -f UTF-16" in str(encoding_complaint("ab".encode("utf-16"), "f.csv"))
    assert encoding_complaint("Müller".encode(), "f.csv") is None
