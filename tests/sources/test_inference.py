"""Types and nulls from text: the grammar against Python's parsers, the reduction's laws, and round trips."""

import datetime as dt
import pickle
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.sources.grammar import PATTERNS, TextKind, at_most
from holdfast.sources.inference import (
    MARKERS,
    BadNumber,
    BadValue,
    Traits,
    cast_text,
    decide,
    kept_as_text,
    merge,
    traits,
)

INT, BIG, FLOAT, TEXT = pa.int64(), pa.decimal128(38, 0), pa.float64(), pa.string()
DATE, STAMP, ZONED = pa.date32(), pa.timestamp("us"), pa.timestamp("us", tz="UTC")
NEW_YEAR = dt.datetime(2020, 1, 1)


def texts(values: list[str]) -> pa.Array:
    return pa.array(values, pa.string())


def type_of(*values: str) -> pa.DataType:
    return decide([traits(texts(list(values)))], None)[0][0]


def cast(values: list[str], target: pa.DataType, nulls: tuple[str, ...] = ("",)) -> list[Any]:
    result = cast_text(texts(values), target, nulls)
    assert result.type == target
    values_back: list[Any] = result.to_pylist()
    return values_back


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["true", "FALSE", "tRue"], pa.bool_()),
        (["0", "1"], INT),
        (["+5", "-0", "-12"], INT),
        (["9223372036854775807", "-9223372036854775807"], INT),
        (["9223372036854775808"], BIG),
        (["-9223372036854775808"], BIG),
        (["1", "9" * 38, "-" + "9" * 38], BIG),
        (["9" * 39], TEXT),
        (["1.5", "-2.", ".5", "1e5", "-1E-5", "+0.5"], FLOAT),
        (["0", "0.5", "-0.5"], FLOAT),
        (["1", "9" * 38, "0.5"], TEXT),
        (["1", "9" * 37, "0.5"], pa.decimal128(38, 1)),
        (["12345678901234567890.12", "12345678901234567890.13"], pa.decimal128(38, 2)),
        (["1.5", "9007199254740993", "9007199254740992"], pa.decimal128(38, 1)),
        (["1.5", "9007199254740992"], FLOAT),
        (["0.30000000000000004", "0.1", "1e-05"], FLOAT),
        (["0.10000000000000001"], pa.decimal128(38, 17)),
        (["1.50000000000000000000", "0.0"], FLOAT),
        (["5e-324", "1.7976931348623157e308", "0e999999999999"], FLOAT),
        (["4e-324"], TEXT),
        (["1.0", "12345678901234567890"], BIG),
        (["1.5e-3", "12345678901234567890"], pa.decimal128(38, 4)),
        (["12345678901234567890.12", "nan"], TEXT),
        (["9223372036854775809", "nan"], TEXT),
        (["9223372036854775809", "1.5"], pa.decimal128(38, 1)),
        (["1", "9" * 39, "0.5"], TEXT),
        (["1", "NaN"], FLOAT),
        (["1.5", "nan", "-inf", "Infinity", "+INF"], FLOAT),
        (["NaN", "inf"], TEXT),
        (["-nan", "1"], TEXT),
        (["1e999"], TEXT),
        (["1.5", "1e999"], TEXT),
        (["1e-999"], TEXT),
        (["1.5", "1e99999999999999999999"], TEXT),
        (["00501", "12345"], TEXT),
        (["007.5"], TEXT),
        (["-012"], TEXT),
        (["00"], TEXT),
        ([".", "1"], TEXT),
        (["-", "1"], TEXT),
        (["e5", "1"], TEXT),
        ([" 1"], TEXT),
        (["1 "], TEXT),
        (["1\n"], TEXT),
        (["1_000"], TEXT),
        (["0x10"], TEXT),
        (["\u0661"], TEXT),
        (["2020-02-29", "1900-02-28", "0001-01-01", "9999-12-31"], DATE),
        (["2021-02-29"], TEXT),
        (["1900-02-29"], TEXT),
        (["2000-02-29"], DATE),
        (["0000-01-01"], TEXT),
        (["2020-04-31"], TEXT),
        (["2020-1-1"], TEXT),
        (["2020-01-01 10:00", "2020-01-01T23:59:59", "2020-01-01 00:00:00.123456"], STAMP),
        (["2020-01-01", "2020-01-01 10:00"], STAMP),
        (["2020-01-01 24:00"], TEXT),
        (["2020-01-01 10:00:60"], TEXT),
        (["2020-01-01 10:00:00.1234567"], TEXT),
        (["2020-01-01 10:00Z", "2020-01-01T10:00:00.5+05:30"], ZONED),
        (["2020-01-01 10:00Z", "2020-01-01 10:00"], TEXT),
        (["2020-01-01 10:00Z", "2020-01-01"], TEXT),
        (["2020-01-01 10:00+0530"], TEXT),
        (["true", "1"], TEXT),
        (["2020-01-01", "1"], TEXT),
        (["", "x"], TEXT),
        (["", "7"], INT),
        ([""], TEXT),
        ([], TEXT),
    ],
)
def test_types(values: list[str], expected: pa.DataType) -> None:
    assert type_of(*values) == expected


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_is_null_in_the_whole_file_once_a_typed_column_has_it(marker: str) -> None:
    typed, text, plain = traits(texts(["1", marker])), traits(texts(["x", marker])), traits(texts(["2"]))
    assert decide([typed, text, plain], None) == ([INT, TEXT, INT], ("", marker))
    assert decide([text, plain], None) == ([TEXT, INT], ("",))


def test_a_marker_alone_or_with_empty_text_is_a_value() -> None:
    assert decide([traits(texts(["NA", ""])), traits(texts(["?"]))], None) == ([TEXT, TEXT], ("",))


def test_a_column_of_markers_that_another_column_proves_is_all_null() -> None:
    columns = [traits(texts(["NA", "?"])), traits(texts(["true", "?", "NA"]))]
    assert decide(columns, None) == ([TEXT, pa.bool_()], ("", "NA", "?"))


def test_nan_is_no_null() -> None:
    assert decide([traits(texts(["2020-01-01", "nan"])), traits(texts(["1", "nan"]))], None) == (
        [TEXT, FLOAT],
        ("",),
    )


def test_given_nulls_replace_the_guess() -> None:
    def given_nulls(values: list[str], nulls: tuple[str, ...]) -> pa.DataType:
        types, decided = decide([traits(texts(values), nulls)], nulls)
        assert decided == nulls
        return types[0]

    assert given_nulls(["1", "missing"], ("missing",)) == INT
    assert given_nulls(["1", ""], ("missing",)) == TEXT
    assert given_nulls(["1", "NA"], ()) == TEXT
    assert given_nulls(["2020-01-01", "0"], ("0", "")) == DATE
    assert given_nulls(["2020-01-01", "nan"], ("nan",)) == DATE


def test_nulls_in_the_array_are_no_values() -> None:
    assert traits(pa.array([None, "1"], pa.string())) == traits(texts(["1"]))


ODD = st.sampled_from(
    ["", "NA", "?", "None", "\\N", "true", "1", "-9223372036854775808", "1.5", "1e999", "nan", "007", "x", "é"]
)
ODD |= st.sampled_from(["9007199254740993", "12345678901234567890.125", "0.10000000000000001", "1e-400", "-5e-324"])
ODD |= st.sampled_from(["2020-02-29", "2021-02-29", "2020-01-01 10:00", "2020-01-01 10:00Z", "9" * 38, "9" * 39])
COLUMN = st.lists(ODD | st.text(max_size=3), max_size=6)


@settings(deadline=None)
@given(COLUMN, COLUMN, COLUMN)
def test_traits_are_a_reduction(a: list[str], b: list[str], c: list[str]) -> None:
    ta, tb, tc = traits(texts(a)), traits(texts(b)), traits(texts(c))
    assert merge(ta, tb) == traits(texts(a + b))
    assert merge(ta, tb) == merge(tb, ta)
    assert merge(merge(ta, tb), tc) == merge(ta, merge(tb, tc))
    assert merge(ta, ta) == merge(ta, Traits()) == ta
    assert pickle.loads(pickle.dumps(ta)) == ta
    assert traits(pa.array(a, pa.large_string())) == ta


@settings(deadline=None)
@given(st.lists(COLUMN, max_size=3))
def test_what_is_decided_can_be_cast(columns: list[list[str]]) -> None:
    types, nulls = decide([traits(texts(column)) for column in columns], None)
    for column, target in zip(columns, types, strict=True):
        result = cast(column, target, nulls)
        assert [value is None for value in result] == [text in nulls for text in column]


def spelled(values: st.SearchStrategy[Any], *spellings: Any) -> st.SearchStrategy[list[tuple[Any, str]]]:
    """Lists of values, each with a text that means it."""
    pair = st.builds(lambda value, spell: (value, spell(value)), values, st.sampled_from(spellings))
    return st.lists(pair, min_size=1, max_size=8)


def signed(value: Any) -> str:
    return f"{value:+}"


def expanded(value: float) -> str:
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else f"{text}.0"


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
ZONED_TIMES = st.datetimes(dt.datetime(2, 1, 1), dt.datetime(9998, 12, 31), timezones=ZONES)
MANTISSAS = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, max_examples=120)
@given(
    st.one_of(
        st.tuples(st.just(pa.bool_()), spelled(st.booleans(), str, lambda b: str(b).upper())),
        st.tuples(st.just(INT), spelled(st.integers(-(2**63) + 1, 2**63 - 1), str, signed)),
        st.tuples(st.just(FLOAT), spelled(MANTISSAS, repr, lambda x: repr(x).upper(), expanded)),
        st.tuples(st.just(DATE), spelled(st.dates(), str)),
        st.tuples(st.just(STAMP), spelled(st.datetimes(), str, dt.datetime.isoformat)),
        st.tuples(st.just(ZONED), spelled(ZONED_TIMES, str, dt.datetime.isoformat)),
        st.tuples(st.just(BIG), spelled(st.integers(2**63, 10**38 - 1).map(Decimal), str, signed)),
    ),
    st.sampled_from(["", *MARKERS]),
)
def test_typed_values_come_back_from_their_text(column: tuple[pa.DataType, list[tuple[Any, str]]], marker: str) -> None:
    expected, pairs = column
    written = [text for _, text in pairs] + [marker]
    (found,), nulls = decide([traits(texts(written))], None)
    assert found == expected
    assert cast(written, found, nulls) == [value for value, _ in pairs] + [None]


@settings(deadline=None, max_examples=120)
@given(st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9]", fullmatch=True))
@example("2000-02-29")
@example("2100-02-29")
@example("0004-02-29")
def test_dates_are_those_that_python_knows(text: str) -> None:
    try:
        dt.date.fromisoformat(text)
        real = True
    except ValueError:
        real = False
    assert (re.fullmatch(PATTERNS[TextKind.DATE], text) is not None) == real
    assert (type_of(text) == DATE) == real


@settings(deadline=None, max_examples=120)
@given(st.integers(10, 10**20), st.integers(-3, 3), st.integers(0, 10**20))
def test_at_most_is_a_comparison(limit: int, near: int, anywhere: int) -> None:
    for number in (limit + near, anywhere):
        assert (re.fullmatch(at_most(limit), str(number)) is not None) == (number <= limit)
    assert not re.fullmatch(at_most(limit), "01")


@settings(deadline=None)
@given(st.text(alphabet="+-0123456789.eEinfa", max_size=7))
def test_numbers_are_those_of_python_without_leading_zeros(text: str) -> None:
    try:
        float(text)
        number = True
    except ValueError:
        number = False
    leading_zero = re.match(r"[+-]?0[0-9]", text) is not None
    word = text.lstrip("+-").isalpha()
    exact = number and not word and abs(float(text)) < float("inf") and Decimal(text) == Decimal(repr(float(text)))
    is_number = type_of(text) in (INT, BIG, FLOAT)
    assert is_number == (exact and not leading_zero)
    if is_number:
        assert cast([text], FLOAT) == [float(text)]


@pytest.mark.parametrize(
    ("target", "good", "values"),
    [
        (INT, ["9223372036854775807", "-128", "+7"], [2**63 - 1, -128, 7]),
        (FLOAT, ["1.5", "2", "-inf"], [1.5, 2.0, float("-inf")]),
        (pa.decimal128(5, 2), ["1.200", ".5", "-12", "999.99", "2."], ["1.20", "0.50", "-12.00", "999.99", "2.00"]),
        (pa.decimal128(5, 2), ["1e2", "-12E-1", ".0", "0e-99999999999", "0.0000"], ["100.00", "-1.20", *["0.00"] * 3]),
        (pa.decimal128(2, 2), ["0.25", "-.5", "5e-1"], ["0.25", "-0.50", "0.50"]),
        (BIG, ["1.0", "1e5", "9" * 38 + ".000", "1e37"], ["1", "100000", "9" * 38, "1" + "0" * 37]),
        (pa.bool_(), ["TRUE", "false"], [True, False]),
        (STAMP, ["2020-01-01", "2020-01-01T10:00:00.0"], [NEW_YEAR, NEW_YEAR.replace(hour=10)]),
        (DATE, ["2020-01-01"], [NEW_YEAR.date()]),
        (TEXT, ["x", "NA", "007"], ["x", "NA", "007"]),
    ],
)
def test_casts_to_given_types(target: pa.DataType, good: list[str], values: list[Any]) -> None:
    result = cast(["", *good], target)
    assert result[0] is None
    shown = [str(v) if isinstance(v, Decimal) else v for v in result[1:]]
    assert shown == values


def fits(text: str, target: pa.DataType) -> bool:
    try:
        cast([text], target)
    except BadValue:
        return False
    return True


@pytest.mark.parametrize(
    ("target", "bad"),
    [
        *((INT, bad) for bad in ["-9223372036854775808", "9223372036854775808", "01", "1e5", " 1", "1.0", "x"]),
        *((FLOAT, bad) for bad in ["1e999", "-1e999", "1,5", "007.5", "0x1p3", "infinit"]),
        *((FLOAT, bad) for bad in ["9007199254740993", "0.10000000000000001", "1e-400", "4e-324"]),
        *((pa.decimal128(5, 2), bad) for bad in ["1.234", "1000", "1e3", "1e-3", "nan", "."]),
        *((BIG, bad) for bad in ["9" * 39, "0.1", "1e38", "1e-5"]),
        *((pa.bool_(), bad) for bad in ["1", "yes", "t"]),
        *((DATE, bad) for bad in ["2021-02-29", "2020-01-01 00:00", "1"]),
        *((STAMP, bad) for bad in ["2020-01-01 10:00Z", "10:00"]),
        *((ZONED, bad) for bad in ["2020-01-01 10:00", "2020-01-01"]),
    ],
)
def test_the_first_bad_value_is_named(target: pa.DataType, bad: str) -> None:
    fine = next(t for t in ("1", "true", "2020-01-01", "2020-01-01 10:00Z") if fits(t, target))
    for leading in range(4):
        with pytest.raises(BadValue) as caught:
            cast([fine] * leading + [bad, fine, bad], target)
        assert (caught.value.index, caught.value.value) == (leading, bad)


@pytest.mark.parametrize(
    ("target", "bad", "is_number"),
    [
        (FLOAT, "9007199254740993", True),
        (FLOAT, "1e999", True),
        (FLOAT, "x", False),
        (INT, "9223372036854775808", True),
        (INT, "1.5", False),
        (BIG, "0.5", True),
        (BIG, "nan", False),
        (DATE, "1", False),
    ],
)
def test_a_number_out_of_range_and_text_have_different_errors(target: pa.DataType, bad: str, is_number: bool) -> None:
    with pytest.raises(BadValue) as caught:
        cast([bad], target)
    assert isinstance(caught.value, BadNumber) == is_number


def test_numbers_that_stay_text_are_reported() -> None:
    columns = {
        "a": ["1e400", "1.5"],
        "b": ["9" * 39, ""],
        "c": ["12345678901234567890.12", "NaN"],
        "d": ["1e400", "x"],
        "e": ["1.5"],
        "f": ["12345678901234567890.12"],
    }
    seen = [traits(texts(column)) for column in columns.values()]
    assert kept_as_text(list(columns), seen, ("",)) == [
        "column 'a' is read as text: its numbers need 402 digits to be held exactly, and a decimal has 38",
        "column 'b' is read as text: its numbers need 39 digits to be held exactly, and a decimal has 38",
        "column 'c' is read as text: it has NaN or infinity, which no decimal holds, and numbers that no float holds "
        "exactly",
    ]


def test_markers_are_null_in_text_too() -> None:
    assert cast(["x", "NA", "", "?"], TEXT, ("NA", "")) == ["x", None, None, "?"]
    assert cast(["x", ""], TEXT, ()) == ["x", ""]


def test_types_that_text_cannot_be_are_refused() -> None:
    with pytest.raises(BadInput, match="text can't be read as list"):
        cast(["1"], pa.list_(INT))
