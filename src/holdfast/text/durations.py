"""Durations as people write them: `30d`, `12h`, `90s`, `500ms`."""

from __future__ import annotations

import re
from datetime import timedelta

from holdfast.errors import BadInput

_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(rf"(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)})")


def duration(text: str) -> timedelta:
    """The duration that a text means; more than none.

    >>> duration("30d"), duration("1.5h")
    (datetime.timedelta(days=30), datetime.timedelta(seconds=5400))
    """
    if found := _DURATION.fullmatch(text.strip().lower()):
        try:
            meant = timedelta(**{_UNITS[found[2]]: float(found[1])})
        except OverflowError:
            raise BadInput(f"{text!r} is too long; give less, such as 30d") from None
        if meant:
            return meant
        raise BadInput(f"{text!r} is no time at all; give more than that, such as 500ms")
    raise BadInput(f"{text!r} is no duration: give a number and ms, s, m, h, d or w, such as 30d or 12h")
