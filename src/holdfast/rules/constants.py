"""Constants of rules: numbers, texts, booleans, dates and times, as rules write and read them."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from holdfast.text.quotes import in_quotes

Value = int | float | str | bool | dt.date | dt.datetime | dt.time | dt.timedelta | Decimal


class Unfit(ValueError):
    """A condition does not fit its columns. The text follows that of the condition: `t.A < 1 is never true`."""


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant of a rule. Constants are equal iff their texts are: the float 1.5 equals the decimal 1.5 (the column
    decides the type), NaN equals NaN, and true differs from 1.
    """

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def text(self) -> str:
        """As rules write it: `5`, `'paid'`, `true`, `DATE '2020-01-31'`."""
        value = self.value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return in_quotes(value, "'")
        if isinstance(value, int | float | Decimal):
            return _number_text(value)
        if isinstance(value, dt.datetime):
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        if isinstance(value, dt.timedelta):
            return _while_text(value)
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


# ---- whiles ---------------------------------------------------------------------------------------------------------

UNITS = {
    f"{name}{plural}": size
    for name, size in (
        ("day", dt.timedelta(days=1)),
        ("hour", dt.timedelta(hours=1)),
        ("minute", dt.timedelta(minutes=1)),
        ("second", dt.timedelta(seconds=1)),
        ("week", dt.timedelta(weeks=1)),
    )
    for plural in ("", "s")
}


def _while_text(value: dt.timedelta) -> str:
    """`30 days`, in the largest unit that divides it, weeks aside."""
    unit = next((name for name in ("day", "hour", "minute", "second") if not value % UNITS[name]), "")
    if not unit:  # no rule names a part of a second; sentences may
        return f"{value / UNITS['second']:f} seconds"
    count = value // UNITS[unit]
    return f"{count} {unit}{'s' * (abs(count) != 1)}"


# ---- dates and times ------------------------------------------------------------------------------------------------

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_STAMP = f"{_DATE}([ T]{_CLOCK}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?"


class TimeType(NamedTuple):
    """A type of dates or times, and how its values are written."""

    kind: type[dt.date | dt.time]
    pattern: str
    form: str

    def read(self, text: str) -> Any:
        """The date or time of a text; None: it is none."""
        try:
            return self.kind.fromisoformat(text) if re.fullmatch(self.pattern, text) else None
        except ValueError:  # a month 13, a 30th of February
            return None


TIME_TYPES = {
    "date": TimeType(dt.date, _DATE, "DATE 'YYYY-MM-DD'"),
    "timestamp": TimeType(dt.datetime, _STAMP, "TIMESTAMP 'YYYY-MM-DD HH:MM:SS'"),  # the clock may be missing
    "time": TimeType(dt.time, _CLOCK, "TIME 'HH:MM:SS'"),
}
