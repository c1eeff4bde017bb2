"""The types of text columns, as a reduction: `traits` of some values, `merge` of two traits, `decide` at the end.

Traits are two small sets, the kinds of values seen and the null markers seen, and the most digits of the numbers seen;
merging is union and maximum: associative, commutative, idempotent, so values may come in any order, in any parts, and
more than once.

Different numbers stay different. Numbers with a point are floats if floats can distinguish them all (see `numerals`),
else decimals if 38 digits hold them all, else text, and `kept_as_text` reports that.

A marker such as NA is a null only if the file shows it: it must be in a column whose other values are all of one type
other than text. Then it is a null in the whole file. NaN is never guessed to be a null: among numbers it is a number.

Cost: a handful of RE2 passes over the distinct values; no Python per value.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.sources.grammar import INTEGERS, NO_KIND, NUMBERS, OPENING, PATTERNS, TextKind, pattern
from holdfast.sources.numerals import NO_NUMBERS, Extent, digits, extent, stood_for
from holdfast.table import arrow

MOST_DIGITS = 38
# The types that texts are read as, besides decimals: the kinds of texts that are their values, and these in words.
_READ_AS = {
    pa.bool_(): (TextKind.BOOL, "true or false"),
    pa.int64(): (TextKind.INT, "a whole number (int64)"),
    pa.float64(): (NUMBERS | TextKind.WORD, "a number (double)"),
    pa.date32(): (TextKind.DATE, "a date (YYYY-MM-DD)"),
    pa.timestamp("us"): (TextKind.DATE | TextKind.STAMP, "a time (YYYY-MM-DD HH:MM:SS)"),
    pa.timestamp("us", tz="UTC"): (TextKind.ZONED, "a time (YYYY-MM-DD HH:MM:SS, with Z or +HH:MM)"),
}
MARKERS = ("NULL", "null", "\\N", "NA", "N/A", "?", "None")


@dataclass(frozen=True)
class Traits:
    """What the values of a column look like: kinds of the values that are no marker, the markers among them, and the
    extent of the numbers among them.
    """

    kinds: TextKind = NO_KIND
    markers: frozenset[str] = frozenset()
    numbers: Extent = NO_NUMBERS


class BadValue(ValueError):
    """The text at `index` is no value of the wanted type."""

    def __init__(self, index: int, value: str) -> None:
        super().__init__(index, value)
        self.index = index
        self.value = value


class BadNumber(BadValue):
    """The text at `index` is a number that the wanted type can't hold exactly."""


def traits(values: pa.Array, nulls: tuple[str, ...] | None = None) -> Traits:
    """The traits of text values, best given distinct. `nulls` are the user's own markers, where there are any."""
    candidates = arrow.texts(list({"", *MARKERS, *(nulls or ())}), values.type)
    marked = pc.is_in(values, value_set=candidates)
    markers = frozenset(pc.unique(values.filter(marked)).to_pylist())
    return merge(_values_traits(values.filter(pc.invert(marked)).drop_null()), Traits(markers=markers))


def merge(a: Traits, b: Traits) -> Traits:
    """The traits of both sets of values together."""
    return Traits(a.kinds | b.kinds, a.markers | b.markers, a.numbers.join(b.numbers))


def decide(columns: Sequence[Traits], nulls: tuple[str, ...] | None) -> tuple[list[pa.DataType], tuple[str, ...]]:
    """The types of a file's columns, and its null markers.

    Where `nulls` is given, `traits` must have got the same.
    """
    if nulls is None:
        proven = [c.markers for c in columns if not pa.types.is_string(_type_of(c))]
        nulls = ("", *(marker for marker in MARKERS if any(marker in seen for seen in proven)))
    return [_type_of(_with_nulls(column, nulls)) for column in columns], nulls


def type_notes(
    names: Sequence[str], columns: Sequence[Traits], given: tuple[str, ...] | None, nulls: tuple[str, ...]
) -> list[str]:
    """Notes on inferred types: which null markers were found, unless they were given, and columns kept as text."""
    found = given is None and len(nulls) > 1
    markers = ["null markers: " + ", ".join(repr(marker) for marker in nulls)] if found else []
    return [*markers, *kept_as_text(names, columns, nulls)]


def kept_as_text(names: Sequence[str], columns: Sequence[Traits], nulls: tuple[str, ...]) -> list[str]:
    """One sentence for each column of numbers that is read as text because no type holds all of them exactly."""
    found = [(name, _with_nulls(column, nulls)) for name, column in zip(names, columns, strict=True)]
    numbers = [(name, column) for name, column in found if _is_numbers(column.kinds)]
    odd = [(name, column) for name, column in numbers if pa.types.is_string(_type_of(column))]
    return [f"column {name!r} is read as text: {_reason(column)}" for name, column in odd]


def _is_numbers(kinds: TextKind) -> bool:
    return bool(kinds & NUMBERS) and kinds in NUMBERS | TextKind.WORD


def _reason(column: Traits) -> str:
    if column.kinds & TextKind.WORD:
        return "it has NaN or infinity, which no decimal holds, and numbers that no float holds exactly"
    length = column.numbers.whole + column.numbers.fraction
    return f"its numbers need {length} digits to be held exactly, and a decimal has {MOST_DIGITS}"


def _with_nulls(column: Traits, nulls: tuple[str, ...]) -> Traits:
    """The traits of a column's values, where `nulls` are nulls and every other marker is a value."""
    values = column.markers.difference(nulls)
    return merge(column, _values_traits(arrow.texts(sorted(values))))


def _values_traits(values: pa.Array) -> Traits:
    """The kinds among the values, each found by one pass over those that had no earlier kind."""
    seen, numbers = NO_KIND, NO_NUMBERS
    rest = values.filter(pc.match_substring_regex(values, f"^{OPENING}"))
    if len(rest) < len(values):
        seen |= TextKind.TEXT
    for kind in PATTERNS:
        if not len(rest):
            break
        fits = _matches(rest, PATTERNS[kind])
        remaining = rest.filter(pc.invert(fits))
        if len(remaining) < len(rest):
            seen |= kind
            if kind in NUMBERS:
                numbers = numbers.join(extent(rest.filter(fits)))
        rest = remaining
    return Traits(seen | TextKind.TEXT if len(rest) else seen, frozenset(), numbers)


def _type_of(column: Traits) -> pa.DataType:
    """The narrowest type that holds all values exactly; string where there are none."""
    kinds, numbers = column.kinds, column.numbers

    def only(allowed: TextKind) -> bool:
        return kinds != NO_KIND and kinds in allowed

    if only(TextKind.BOOL):
        return pa.bool_()
    if only(TextKind.INT):
        return pa.int64()
    if _is_numbers(kinds) and numbers.doubles and not only(INTEGERS):
        return pa.float64()
    if only(NUMBERS) and numbers.whole + numbers.fraction <= MOST_DIGITS:
        return pa.decimal128(MOST_DIGITS, numbers.fraction)
    if only(TextKind.DATE):
        return pa.date32()
    if only(TextKind.DATE | TextKind.STAMP):
        return pa.timestamp("us")
    if only(TextKind.ZONED):
        return pa.timestamp("us", tz="UTC")
    return pa.string()


def cast_text(values: pa.Array, target: pa.DataType, nulls: tuple[str, ...]) -> pa.Array:
    """Text as values of the target type (see `table.types`), with the grammar of inference; the texts in `nulls` become
    null.

    Raises BadValue for the first text that is no value of the type, and BadNumber where it is a number and the type
    can't hold it exactly.
    """
    text = _without(nulls, values)
    if target == pa.string():
        return text.cast(target)
    wrong = _misfits(text, target)
    if wrong.any():
        raise _bad(int(wrong.argmax()), values, target)
    return _convert(text, target)


def bad_values(values: pa.Array, target: pa.DataType, nulls: tuple[str, ...]) -> Iterator[BadValue]:
    """What is wrong with each text that `cast_text` refuses."""
    if target != pa.string():
        for index in np.flatnonzero(_misfits(_without(nulls, values), target)).tolist():
            yield _bad(index, values, target)


def _without(nulls: tuple[str, ...], values: pa.Array) -> pa.Array:
    """The texts, with nulls for those that stand for null."""
    missing = pc.is_in(values, value_set=arrow.texts(nulls, values.type))
    return pc.if_else(missing, arrow.null_of(values.type), values)


def _misfits(text: pa.Array, target: pa.DataType) -> NDArray[np.bool_]:
    """Which texts are no values of a type, or numbers that it can't hold exactly."""
    matched = _matches(text, _accepted(target))
    fits = arrow.to_numpy(matched) & arrow.valid(matched)
    wrong = ~fits & arrow.valid(matched)
    if pa.types.is_floating(target) or pa.types.is_decimal(target):
        wrong[fits] = ~_held(text.filter(arrow.from_numpy(fits)), target)
    return np.asarray(wrong)


def _held(texts: pa.Array, target: pa.DataType) -> NDArray[np.bool_]:
    """Which numbers the type holds exactly; a float holds the one that it stands for."""
    if pa.types.is_decimal(target):
        whole, fraction = digits(texts)
        return np.asarray((whole <= target.precision - target.scale) & (fraction <= target.scale))
    finite = arrow.to_numpy(pc.is_finite(texts.cast(target)))
    held = finite.copy()
    held[finite] = stood_for(texts.filter(arrow.from_numpy(finite)), target)
    # Arrow reads 1e999 as infinity without a word; only the word for infinity may give it.
    held[~finite] = arrow.to_numpy(_matches(texts.filter(arrow.from_numpy(~finite)), PATTERNS[TextKind.WORD]))
    return held


def _accepted(target: pa.DataType) -> str:
    """The pattern of the texts that are values of the type."""
    if pa.types.is_decimal(target) and 0 <= target.scale <= target.precision:
        return pattern(NUMBERS)
    if target not in _READ_AS:
        raise BadInput(f"text can't be read as {target}; declare the column as text")
    return pattern(_READ_AS[target][0])


def described(target: pa.DataType) -> str:
    """What values of a type look like as texts, in words."""
    return _READ_AS[target][1] if target in _READ_AS else f"a number ({target})"


def _convert(text: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast texts that fit the type's pattern."""
    if pa.types.is_integer(target):
        return pc.utf8_ltrim(text, characters="+").cast(target)
    if pa.types.is_decimal(target):
        return _decimals(text, target)
    return text.cast(target)


def _decimals(text: pa.Array, target: pa.DataType) -> pa.Array:
    """Numbers that the type holds. Python reads them where Arrow refuses one: with more digits than a decimal has, as
    some are zeros, or zero with a large exponent.
    """
    try:
        return text.cast(target)
    except pa.ArrowInvalid:
        exact, place = Context(prec=target.precision), Decimal(1).scaleb(-target.scale)
        numbers = (None if each is None else Decimal(each) or Decimal(0) for each in text.to_pylist())
        return pa.array([None if each is None else each.quantize(place, context=exact) for each in numbers], target)


def _bad(index: int, values: pa.Array, target: pa.DataType) -> BadValue:
    """BadValue or BadNumber for a value that does not fit."""
    value = values[index].as_py()
    whole, any_number = pa.types.is_integer(target), pa.types.is_floating(target) or pa.types.is_decimal(target)
    numbers = pattern(INTEGERS if whole else NUMBERS)
    is_number = (whole or any_number) and re.fullmatch(numbers, value)
    return (BadNumber if is_number else BadValue)(index, value)


def _matches(values: pa.Array, whole: str) -> pa.Array:
    return pc.match_substring_regex(values, f"^(?:{whole})$")
