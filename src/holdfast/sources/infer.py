"""The types of text columns, as a reduction: `traits` of some values, `merge` of two traits, `decide` at the end.

Traits are two small sets, the kinds of values seen and the null markers seen, and merging is union: associative,
commutative, idempotent, so values may come in any order, in any parts, and more than once.

A marker such as NA is a null only if the file shows it: it must stand in a column whose other values are all of one
type other than text. Then it is a null in the whole file. NaN is never guessed to be a null: beside numbers it is a
number.

Cost: a handful of RE2 passes over the distinct values; no Python per value.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import BadInput
from holdfast.sources.grammar import (
    INTEGERS,
    NO_KIND,
    NUMBERS,
    OPENING,
    PATTERNS,
    Kind,
    at_most,
    pattern,
    real,
)

MARKERS = ("NULL", "null", "\\N", "NA", "N/A", "?", "None")


@dataclass(frozen=True)
class Traits:
    """What the values of a column look like: kinds of the values that are no marker, and the markers among them."""

    kinds: Kind = NO_KIND
    markers: frozenset[str] = frozenset()


class BadValue(ValueError):
    """The text at `index` is no value of the type asked for."""

    def __init__(self, index: int, value: str) -> None:
        super().__init__(index, value)
        self.index = index
        self.value = value


def traits(values: pa.Array, nulls: tuple[str, ...] | None = None) -> Traits:
    """The traits of text values, best given distinct. `nulls` are the user's own markers, where there are any."""
    candidates = pa.array(list({"", *MARKERS, *(nulls or ())}), values.type)
    marked = pc.is_in(values, value_set=candidates)
    markers = frozenset(pc.unique(values.filter(marked)).to_pylist())
    return Traits(_kinds(values.filter(pc.invert(marked)).drop_null()), markers)


def merge(a: Traits, b: Traits) -> Traits:
    """The traits of both sets of values together."""
    return Traits(a.kinds | b.kinds, a.markers | b.markers)


def decide(columns: Sequence[Traits], nulls: tuple[str, ...] | None) -> tuple[list[pa.DataType], tuple[str, ...]]:
    """The types of a file's columns, and the texts that are nulls in it.

    Where `nulls` is given, `traits` must have been given the same.
    """
    if nulls is None:
        proven = [c.markers for c in columns if not pa.types.is_string(_type_of(c.kinds))]
        nulls = ("", *(marker for marker in MARKERS if any(marker in seen for seen in proven)))
    return [_type_of(_kinds_beside(column, nulls)) for column in columns], nulls


def _kinds_beside(column: Traits, nulls: tuple[str, ...]) -> Kind:
    """The kinds of a column's values, once `nulls` are nulls and every other marker is a value."""
    values = column.markers.difference(nulls)
    return column.kinds | _kinds(pa.array(sorted(values), pa.string()))


def _kinds(values: pa.Array) -> Kind:
    """The kinds among the values, each found by one pass over those that had no earlier kind."""
    seen = NO_KIND
    rest = values.filter(_opens(values))
    if len(rest) < len(values):
        seen |= Kind.TEXT
    for kind in PATTERNS:
        if not len(rest):
            break
        fits = _finite(rest) if kind is Kind.REAL else _matches(rest, PATTERNS[kind])
        remaining = rest.filter(pc.invert(fits))
        if len(remaining) < len(rest):
            seen |= kind
        rest = remaining
    return seen | Kind.TEXT if len(rest) else seen


def _type_of(kinds: Kind) -> pa.DataType:
    """The narrowest type that holds values of all these kinds; string for none."""

    def only(allowed: Kind) -> bool:
        return kinds != NO_KIND and kinds in allowed

    if only(Kind.BOOL):
        return pa.bool_()
    if only(Kind.INT):
        return pa.int64()
    if only(INTEGERS):
        return pa.decimal128(38, 0)
    if only(NUMBERS | Kind.WORD) and kinds & NUMBERS:
        return pa.float64()
    if only(Kind.DATE):
        return pa.date32()
    if only(Kind.DATE | Kind.STAMP):
        return pa.timestamp("us")
    if only(Kind.ZONED):
        return pa.timestamp("us", tz="UTC")
    return pa.string()


def cast_text(values: pa.Array, target: pa.DataType, nulls: tuple[str, ...]) -> pa.Array:
    """Text as values of the target type, with the grammar of inference; the texts in `nulls` become null.

    Raises BadValue for the first text that is no value of the type.
    """
    missing = pc.is_in(values, value_set=pa.array(nulls, values.type))
    text = pc.if_else(missing, pa.scalar(None, values.type), values)
    if _is_text(target):
        return text.cast(target)
    _refuse(pc.invert(_matches(text, _accepted(target))), values)
    if pa.types.is_floating(target):
        numbers = text.cast(target)
        # Arrow reads 1e999 as infinity without a word; only the word for infinity may give it.
        _refuse(pc.and_(pc.is_inf(numbers), pc.invert(_matches(text, PATTERNS[Kind.WORD]))), values)
        return numbers
    return _convert(text, target)


def _accepted(target: pa.DataType) -> str:
    """The pattern of the texts that are values of the type."""
    if pa.types.is_boolean(target):
        return PATTERNS[Kind.BOOL]
    if pa.types.is_integer(target):
        return _integer_pattern(target)
    if pa.types.is_floating(target) and target.bit_width >= 32:
        return pattern(NUMBERS | Kind.WORD)
    if pa.types.is_decimal(target) and 0 <= target.scale <= target.precision:
        return _decimal_pattern(target)
    if pa.types.is_date(target):
        return PATTERNS[Kind.DATE]
    if pa.types.is_timestamp(target):
        return pattern(Kind.ZONED) if target.tz else pattern(Kind.DATE | Kind.STAMP)
    raise BadInput(f"text can't be read as {target}; declare the column as text")


def _integer_pattern(target: pa.DataType) -> str:
    if pa.types.is_unsigned_integer(target):
        return f"\\+?{at_most(2**target.bit_width - 1)}"
    limit = 2 ** (target.bit_width - 1) - 1
    if target == pa.int64():
        return PATTERNS[Kind.INT]
    return f"(?:\\+?{at_most(limit)}|-{at_most(limit + 1)})"


def _decimal_pattern(target: pa.DataType) -> str:
    """Digits before and behind the point as the type has room for: past 38 Arrow wraps around without a word."""
    room = target.precision - target.scale
    whole = f"(?:0|[1-9][0-9]{{0,{room - 1}}})" if room else "0"
    if not target.scale:
        return f"[+-]?{whole}"
    return f"[+-]?(?:{whole}|{real(whole, f'(?:[0-9]{{1,{target.scale}}}0*)')})"


def _convert(text: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast texts that fit the type's pattern."""
    if pa.types.is_integer(target):
        return pc.utf8_ltrim(text, characters="+").cast(target)
    if pa.types.is_decimal(target):
        return _without_spare_zeros(text, target.scale).cast(target)
    if pa.types.is_timestamp(target):
        stamps = text.cast(pa.timestamp("us", tz="UTC" if target.tz else None))
        return _checked(stamps, text, lambda some: some.cast(target))
    if pa.types.is_date(target):
        return text.cast(pa.date32()).cast(target)
    return text.cast(target)


def _without_spare_zeros(text: pa.Array, scale: int) -> pa.Array:
    """Fractions cut to `scale` digits; the pattern promised that only zeros follow."""
    return pc.replace_substring_regex(text, f"(\\.[0-9]{{{scale}}})0+$", "\\1") if scale else text


def _checked(values: pa.Array, text: pa.Array, cast: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """`cast(values)`, or BadValue for the first value that it refuses, found by halving."""
    try:
        return cast(values)
    except pa.ArrowInvalid:
        good, bad = 0, len(values)  # the first `good` values pass, the first `bad` don't
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                cast(values.slice(0, middle))
                good = middle
            except pa.ArrowInvalid:
                bad = middle
        raise BadValue(good, text[good].as_py()) from None


def _refuse(offending: pa.Array, values: pa.Array) -> None:
    """Raise BadValue for the first value that is marked; null marks nothing."""
    index = pc.index(offending, True).as_py()
    if index >= 0:
        raise BadValue(index, values[index].as_py())


def _is_text(target: pa.DataType) -> bool:
    return target in (pa.string(), pa.large_string())


def _matches(values: pa.Array, whole: str) -> pa.Array:
    return pc.match_substring_regex(values, f"^(?:{whole})$")


def _opens(values: pa.Array) -> pa.Array:
    return pc.match_substring_regex(values, f"^{OPENING}")


def _finite(values: pa.Array) -> pa.Array:
    """Which texts are numbers with a point or an exponent that float64 can hold."""
    shaped = _matches(values, PATTERNS[Kind.REAL])
    numbers = pc.if_else(shaped, values, pa.scalar(None, values.type)).cast(pa.float64())
    return pc.fill_null(pc.is_finite(numbers), False)
