"""Where records of CSV bytes begin and end, against a pattern for fields."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels import records
from holdfast.kernels.records import QUOTED

COMMA, QUOTE = ord(","), ord('"')
# Either without quotes, or a quoted part and what follows it; then what ends the field. No match: a quote stays open.
QUOTED_FIELD = re.compile(rb'(?:"(?:[^"]|"")*+"[^,\r\n]*|(?!")[^,\r\n]*)(,|\r|\n|\Z)')
PLAIN_FIELD = re.compile(rb"[^,\r\n]*(,|\r|\n|\Z)")
texts = st.text('xy,,""\n\r', max_size=25).map(str.encode)


def by_definition(data: bytes, quoted: bool) -> tuple[list[tuple[int, int, int]], int]:
    """The begin, the end and the number of fields of each record, empty ones too; where the one left open begins."""
    found, start, at, fields = [], 0, 0, 0
    while start < len(data) and (match := (QUOTED_FIELD if quoted else PLAIN_FIELD).match(data, at)):
        at, fields = match.end(), fields + 1
        if match[1] != b",":
            found.append((start, at, fields))
            start, fields = at, 0
    return found, start


def line_of(data: bytes, at: int) -> int:
    """The number of the line that a place is on; a record that begins between CR and LF is on the next one."""
    return 1 + len(re.findall(rb"\r\n?|\n", data[:at]))


def as_array(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data or b"x", np.uint8)[: len(data)]


@settings(max_examples=150)
@given(texts, st.booleans())
@example(b'a,"b\r\nc,d\r\n"e\r\n', True)
def test_all_records_but_empty_lines_are_found(data: bytes, quoted: bool) -> None:
    (starts, ends, lines, fields), state = np.empty((4, len(data) + 1), np.int64), np.empty(5, np.int64)
    count = records.index_records(
        as_array(data), 0, 1, COMMA, QUOTE if quoted else -1, starts, ends, lines, fields, state
    )
    every, left = by_definition(data, quoted)
    expected = [
        (begin, end, line_of(data, begin), size)
        for begin, end, size in every
        if data[begin:end] not in (b"\r", b"\n", b"")
    ]
    found = zip(*(each[:count].tolist() for each in (starts, ends, lines, fields)), strict=True)
    assert list(found) == expected
    assert (state[0] == QUOTED) == (left < len(data))
    if state[0] == QUOTED:
        assert state[2:4].tolist() == [left, line_of(data, left)]
        assert data[state[4]] == QUOTE


@settings(max_examples=150)
@given(texts, st.booleans(), st.integers(1, 9), st.lists(st.integers(0, 25), max_size=3))
def test_cuts_lie_between_records_however_the_bytes_come(data: bytes, quoted: bool, size: int, at: list[int]) -> None:
    state, cuts, found = np.zeros(5, np.int64), np.empty(len(data) + 1, np.int64), list[int]()
    places = sorted({0, len(data), *(place for place in at if place < len(data))})
    for begin, end in pairwise(places):
        part = as_array(data[begin:end])
        count = records.find_cuts(part, begin, COMMA, QUOTE if quoted else -1, size, state, cuts)
        found += cuts[:count].tolist()
    every = [each for each in by_definition(data, quoted)[0] if data[each[1] - 1] in b"\r\n"]
    expected = [0]
    for _, end, _ in every:
        if end - expected[-1] >= size:
            expected.append(end)
    assert found == expected[1:]
    longest, where = max(((end - begin, -begin) for begin, end, _ in every), default=(0, 0))
    assert state[1:].tolist() == [every[-1][1] if every else 0, expected[-1], longest, -where]
