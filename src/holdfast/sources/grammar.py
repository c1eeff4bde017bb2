"""Which texts are numbers, dates and times: one pattern for each kind of value.

The patterns use only what RE2 (Arrow) and Python's `re` both understand and must match the whole text. Inference,
casting and the guess whether a file has a header all read the same patterns, so what one accepts the others accept.
"""

import enum
from collections.abc import Mapping


class TextKind(enum.Flag):
    """What a text value looks like. Every value has exactly one kind: the first in this order that it fits."""

    BOOL = enum.auto()
    INT = enum.auto()
    BIG = enum.auto()
    REAL = enum.auto()
    WORD = enum.auto()
    DATE = enum.auto()
    STAMP = enum.auto()
    ZONED = enum.auto()
    TEXT = enum.auto()


NO_KIND = TextKind(0)
INTEGERS = TextKind.INT | TextKind.BIG
NUMBERS = INTEGERS | TextKind.REAL


def at_most(limit: int) -> str:
    """The pattern of the integers 0 to `limit` (at least two digits), without sign or leading zeros."""
    digits = str(limit)
    length = len(digits)
    parts = ["0", f"[1-9][0-9]{{0,{length - 2}}}"]
    for place, digit in enumerate(digits):
        lowest = 1 if place == 0 else 0
        if int(digit) > lowest:
            tail = f"[0-9]{{{length - place - 1}}}"
            parts.append(f"{digits[:place]}[{lowest}-{int(digit) - 1}]{tail}")
    return f"(?:{'|'.join([*parts, digits])})"


INTEGER = "(?:0|[1-9][0-9]*)"
_EXPONENT = "(?:[eE][+-]?[0-9]+)"
_POINTED = f"(?:{INTEGER}\\.[0-9]*|\\.[0-9]+)"  # one side of the point may lack digits
_REAL = f"[+-]?(?:{_POINTED}{_EXPONENT}?|{INTEGER}{_EXPONENT})"

# Years 0001 to 9999, months of 31 and 30 days, February, and the 29th of February in leap years only.
_YEAR = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_DAY = (
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_FOURTHS = "(?:0[48]|[2468][048]|[13579][26])"
_LEAP_YEAR = f"(?:[0-9]{{2}}{_FOURTHS}|{_FOURTHS}00)"
_DATE = f"(?:{_YEAR}-{_DAY}|{_LEAP_YEAR}-02-29)"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,6})?)?"
_STAMP = f"{_DATE}[ T]{_CLOCK}"
_OFFSET = "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"

# The smallest int64 is left out on purpose: its negation overflows, and order keys reserve it.
PATTERNS: Mapping[TextKind, str] = {
    TextKind.BOOL: "(?i:true|false)",
    TextKind.INT: f"[+-]?{at_most(2**63 - 1)}",
    TextKind.BIG: "[+-]?[1-9][0-9]{18,}",
    TextKind.REAL: _REAL,
    TextKind.WORD: "(?i:nan|[+-]?inf(?:inity)?)",
    TextKind.DATE: _DATE,
    TextKind.STAMP: _STAMP,
    TextKind.ZONED: _STAMP + _OFFSET,
}

# The opening of every text that is not plain TEXT: one cheap pass sets most text aside.
OPENING = "(?:[0-9+.-]|(?i:true|false|nan|inf))"

# For the first record of a file: "007" is no value of a number column, but no column's name either.
CELL_OF_DATA = f"[+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+){_EXPONENT}?|{_DATE}|{_STAMP}{_OFFSET}?"


def pattern(kinds: TextKind) -> str:
    """The pattern of all values of these kinds."""
    return "|".join(f"(?:{PATTERNS[kind]})" for kind in kinds)
