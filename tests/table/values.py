"""Every kept type with values that provoke: what the tests of the encoded table draw from."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st


@dataclass(frozen=True)
class Kind:
    """A kept type, the values that Hypothesis may draw, and a few that every test sees."""

    type: pa.DataType
    drawn: st.SearchStrategy[Any]
    always: tuple[Any, ...]


def _decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**digits - 1
    return st.integers(-most, most).map(lambda unscaled: decimal_of(unscaled, scale))


def decimal_of(unscaled: int, scale: int) -> Decimal:
    """Exactly, whatever the precision of the context."""
    return Decimal((int(unscaled < 0), tuple(int(digit) for digit in str(abs(unscaled))), -scale))


_FIRST, _LAST = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
_TEXT = ("", "\x00", "a", "a\x00", "a\x00b", "\uffff", "\U00010000", "\U0010ffff", "é", "z" * 10_000)

KINDS = {
    "integer": Kind(pa.int64(), st.integers(-(2**63) + 1, 2**63 - 1), (-(2**63) + 1, -1, 0, 1, 2**63 - 1)),
    "float": Kind(
        pa.float64(),
        st.floats(),
        (math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.7e308, -1.7e308, 1.0),
    ),
    "boolean": Kind(pa.bool_(), st.booleans(), (False, True)),
    "date": Kind(pa.date32(), st.dates(), (dt.date.min, dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date.max)),
    "timestamp": Kind(pa.timestamp("us"), st.datetimes(), (_FIRST, dt.datetime(1970, 1, 1), _LAST)),
    "timestamp with zone": Kind(
        pa.timestamp("us", tz="UTC"),
        st.datetimes(timezones=st.just(dt.UTC)),
        tuple(moment.replace(tzinfo=dt.UTC) for moment in (_FIRST, dt.datetime(1969, 12, 31), _LAST)),
    ),
    "time": Kind(pa.time64("us"), st.times(), (dt.time.min, dt.time(12), dt.time.max)),
    "interval": Kind(
        pa.duration("us"),
        st.timedeltas(dt.timedelta(-(10**8)), dt.timedelta(10**8)),
        (dt.timedelta(-(10**8)), dt.timedelta(0), dt.timedelta(microseconds=1)),
    ),
    "short decimal": Kind(
        pa.decimal128(10, 2), _decimals(10, 2), tuple(decimal_of(n, 2) for n in (-(10**10) + 1, -1, 0, 10**10 - 1))
    ),
    "eighteen digits": Kind(
        pa.decimal128(18, 0), _decimals(18, 0), tuple(decimal_of(n, 0) for n in (-(10**18) + 1, -1, 0, 10**18 - 1))
    ),
    "long decimal": Kind(
        pa.decimal128(38, 5),
        _decimals(38, 5),
        # 2**64 and its neighbours: where the lower word turns over.
        tuple(decimal_of(n, 5) for n in (-(10**38) + 1, -(2**64), -1, 0, 2**63, 2**64 - 1, 2**64, 10**38 - 1)),
    ),
    "text": Kind(pa.string(), st.text(max_size=8), _TEXT),
}


def rank(value: Any) -> tuple[bool, bool, Any]:
    """Sorts values as they order: null first, NaN last."""
    if value is None:
        return (False, False, 0)
    if isinstance(value, float) and math.isnan(value):
        return (True, True, 0)
    return (True, False, value)
