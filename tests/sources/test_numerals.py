"""Numerals against Python's exact numbers: which of them a float stands for, and that no two numbers become one."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.sources.inference import cast_text, decide, merge, traits
from holdfast.sources.numerals import digits, extent, stood_for

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
DIGITS = st.text("0123456789", max_size=20)


@st.composite
def numerals(draw: st.DrawFn) -> str:
    """A number as people write it: short or long, with or without a point, an exponent, a sign, spare zeros."""
    whole = draw(DIGITS).lstrip("0") or draw(st.sampled_from(["0", ""]))
    fraction = draw(DIGITS) + draw(st.sampled_from(["", "", "0", "0000000000000000000000"]))
    point = "." + fraction if fraction or not whole else draw(st.sampled_from(["", "."]))
    exponent = draw(st.just("") | st.integers(-340, 340).map(lambda n: f"e{n}") | st.just("E+007"))
    if not whole and not fraction:
        whole = "0"
    return draw(st.sampled_from(["", "", "-", "+"])) + whole + point + exponent


def around(value: float) -> st.SearchStrategy[str]:
    """Numerals of a float and its neighbours, as several tools print them."""
    near = [value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]
    finite = [x for x in near if math.isfinite(x)]
    printed = [f"{x:{shape}}" for x in finite for shape in ("", ".14e", ".15e", ".16e", ".17e", ".25e", ".20f")]
    return st.sampled_from([*printed, *(str(int(x) + n) for x in finite for n in (0, 1) if abs(x) < 1e30)])


NUMERALS = numerals() | FLOATS.flatmap(around)
COLUMNS = st.lists(NUMERALS, min_size=1, max_size=6) | FLOATS.flatmap(
    lambda value: st.lists(around(value), min_size=2, max_size=6)
)


def texts(values: list[str]) -> pa.Array:
    return pa.array(values, pa.string())


@settings(max_examples=150)
@given(COLUMNS)
@example(["12345678901234567890.12", "12345678901234567890.13"])
@example(["1.5", "9007199254740993", "9007199254740992"])
@example(["0.1", "0.10000000000000001"])
@example(["0", "-0.0", "1e-400", "0e400"])
@example(["1e23", "9.999999999999999e22", "99999999999999991611392"])
def test_numbers_are_one_value_if_and_only_if_they_are_equal(column: list[str]) -> None:
    (found,), nulls = decide([traits(texts(column))], None)
    values = cast_text(texts(column), found, nulls).to_pylist()
    for a, of_a in zip(column, values, strict=True):
        for b, of_b in zip(column, values, strict=True):
            same = Fraction(a) == Fraction(b)
            assert same or of_a != of_b, (found, a, b)
            assert not same or of_a == of_b or found == pa.string(), (found, a, b)


@settings(max_examples=150)
@given(COLUMNS)
def test_which_numbers_floats_stand_for(column: list[str]) -> None:
    def is_printed(text: str) -> bool:
        nearest = float(text)
        return math.isfinite(nearest) and Fraction(text) == Fraction(repr(nearest))

    assert stood_for(texts(column), pa.float64()).tolist() == [is_printed(text) for text in column]


def test_exponents_beyond_all_bounds() -> None:
    column = texts(["0e99999999999", "-0.0e-99999999999", "1e99999999999", "-1e-99999999999", "1e0000000000000000001"])
    assert stood_for(column, pa.float64()).tolist() == [True, True, False, False, True]


@settings(max_examples=120)
@given(st.lists(NUMERALS, min_size=1, max_size=4))
def test_which_numbers_short_floats_stand_for(column: list[str]) -> None:
    def is_printed(text: str) -> bool:
        nearest = np.float32(texts([text]).cast(pa.float32())[0].as_py())
        return bool(np.isfinite(nearest)) and Fraction(text) == Fraction(str(nearest))

    assert stood_for(texts(column), pa.float32()).tolist() == [is_printed(text) for text in column]


@settings(max_examples=150)
@given(st.lists(NUMERALS, min_size=1, max_size=6))
def test_digits_are_counted_with_exponents_expanded(column: list[str]) -> None:
    wanted = []
    for number in (abs(Fraction(text)) for text in column):
        behind = next(n for n in range(2000) if (number * 10**n).denominator == 1)
        wanted.append((len(str(int(number))) if number >= 1 else 0, behind))
    assert list(zip(*(counted.tolist() for counted in digits(texts(column))), strict=True)) == wanted


@given(COLUMNS, COLUMNS)
def test_extents_join(a: list[str], b: list[str]) -> None:
    assert extent(texts(a)).join(extent(texts(b))) == extent(texts(a + b))
    assert merge(traits(texts(a)), traits(texts(b))) == traits(texts(a + b))


def test_one_long_numeral_among_many() -> None:
    """Beyond the first ones that are looked at, too."""
    floats = [repr(float(x)) for x in np.random.default_rng(1).random(5000)]
    assert extent(texts(floats)).doubles
    assert not extent(texts([*floats, "0.10000000000000001"])).doubles


@pytest.mark.parametrize("bits", ["0000000000000001", "000fffffffffffff", "0010000000000000", "7fefffffffffffff"])
def test_the_ends_of_the_range(bits: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert stood_for(texts([repr(value), f"-{value!r}", f"{value:.20e}"]), pa.float64()).tolist() == [True, True, False]
