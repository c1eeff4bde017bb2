"""Values that rules name: numbers, texts, truth values, dates and times, as rules write them and read them back."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from holdfast.changes.names import in_quotes

Value = int | float | str | bool | dt.date | dt.datetime | dt.time | Decimal


class Unfit(ValueError):
    """A constant that can't be compared with a column; its text goes on where the comparison was named."""


@dataclass(frozen=True, eq=False)
class Constant:
    """A value written in a rule. Constants are equal iff their texts are: 1.5 the float is 1.5 the decimal (which of
    them it is, the column tells), NaN is NaN, and true is not 1.
    """

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def text(self) -> str:
        """As a rule writes it: `5`, `'paid'`, `true`, `DATE '2020-01-31'`."""
        value = self.value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return in_quotes(value, "'")
        if isinstance(value, int | float | Decimal):
            return _number_text(value)
        if isinstance(value, dt.datetime):
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        return f"{'DATE' if isinstance(value, dt.date) else 'TIME'} '{value.isoformat()}'"


def _number_text(value: int | float | Decimal) -> str:
    """Digits that read back as an equal constant; zero has no sign."""
    if isinstance(value, int):
        return str(value)
    if value != value:
        return "NaN"
    if value in (math.inf, -math.inf):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, float):
        return repr(value + 0.0)
    return format(value.copy_abs() if value.is_zero() else value, "f")


# ---- dates and times ------------------------------------------------------------------------------------------------

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_STAMP = f"{_DATE}([ T]{_CLOCK}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?"
_Moment = TypeVar("_Moment")


def read_date(text: str) -> dt.date | None:
    """The date that `YYYY-MM-DD` names, or None."""
    return _made(dt.date.fromisoformat, text) if re.fullmatch(_DATE, text) else None


def read_timestamp(text: str) -> dt.datetime | None:
    """The moment that `YYYY-MM-DD HH:MM:SS` names, or None; seconds, zone, and the clock as a whole may be missing."""
    return _made(dt.datetime.fromisoformat, text) if re.fullmatch(_STAMP, text) else None


def read_time(text: str) -> dt.time | None:
    """The time of day that `HH:MM:SS` names, or None."""
    return _made(dt.time.fromisoformat, text) if re.fullmatch(_CLOCK, text) else None


def _made(make: Callable[[str], _Moment], text: str) -> _Moment | None:
    try:
        return make(text)
    except ValueError:  # a month 13, a 30th of February
        return None
