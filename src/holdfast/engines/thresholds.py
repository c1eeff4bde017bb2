"""The numbers that decide which rules are suggested, shown and alarm, and how much may break an approximate one.

What belongs to the score of one class alone, or to the speed of a search, stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from holdfast.text.quotes import quoted

FEWEST_ROWS = 2  # that make a pair

# What a rule is worth
HALF = 0.1  # this share of rows, or of pairs, that could have broken a rule makes half of its score
LONGER = 0.6  # what a rule is worth with one more column on the left, or in a key

# Which rules are suggested
LIKELY = 0.6  # rules of at least this score are shown; the others only with --all
LONG = 0.8  # as several columns hold more by chance, they must come nearer to what they can be worth
LEAST_OF_SEVERAL = 0.3  # a rule of several columns with less is not even ranked
NEARLY = 0.2  # a rule with exceptions is suggested if at most this share of rows must go
NEARLY_ORDERED = 0.05  # the same for orders
BESIDE = 0.5  # where a table has a good key, keys worth less than this share of it are left out
MAX_LHS = 3  # columns of a left side, or of a key
TESTED = 10  # where fewer rows could have broken an exact rule, breaking it is a warning
SUGGESTED = 20  # rules of a table that a new state watches where nothing else is asked for
ROW_RULES = 2  # and as many times as many about one row
ALARM_BUDGET = 0.1  # breaks by chance of all rules whose breaks are errors, in 100 usual batches
TOP = 1000  # rules of a class that are ranked unless asked otherwise

# Which values look wrong
SURE = 0.01  # a rule that at most this share of rows breaks need not be confirmed by another
UNSURE = 0.05  # one that more than this share breaks says little of any of them
ALONE = 0.1  # at most this share of the rows with the same left side may have the value

# Which broken rules are listed, and which are an alarm
BROKEN = 0.5  # scores from this on are listed
ALARMING = 0.9  # one that was found is an alarm from this score on,
ENOUGH = 1000  # and if at least this many rows tested it before: a rule that fewer tested may hold by chance
MAX_BAD = 0.01  # if more than this share of a batch is set aside, the exit code is 1

# How much is shown
SHOWN = 20  # rules of a class, unless asked otherwise
COVERED = 0.001  # the coverage below which people don't see rules, unless they ask for less
ROWS_TO_REMOVE = 10  # that a suggestion names

_DENOMINATORS = (10, 1_000, 100_000, 10_000_000)  # of shares that people mean


def tested_weight(share: float) -> float:
    """What a share of rows, or of pairs, that could have broken a rule is worth: it rises steeply at first.

    >>> tested_weight(0.0), tested_weight(1.0)
    (0.0, 1.0)
    """
    return share * (1.0 + HALF) / (share + HALF)


def least(columns: int) -> float:
    """The least score of a rule that is shown, given the number of columns on its left side or in its key.

    >>> least(1), round(least(2), 2)
    (0.6, 0.48)
    """
    return LONG * LONGER ** (columns - 1) if columns > 1 else LIKELY


def limit_of(error: float, whole: int) -> int:
    """How many of all pairs, rows or values a share is at most."""
    return int(as_meant(error) * whole)


def as_meant(share: float) -> Fraction:
    """The fraction that a float stands for: the simplest one that is this float, 0.29 the decimal and 1 / 3 a third. As
    floats, 0.29 * 100 is below 29, and 1 / 3 below a third.

    >>> as_meant(0.29), as_meant(1 / 3)
    (Fraction(29, 100), Fraction(1, 3))
    """
    simple = (Fraction(share).limit_denominator(most) for most in _DENOMINATORS)
    return next((each for each in simple if float(each) == share), Fraction(str(share)))


def untested_sentence(columns: Sequence[str], rows: int) -> str:
    """Why nothing tests a rule that needs values in some columns."""
    named = " and ".join(map(quoted, columns))
    return f"fewer than two of {rows:,} rows have values in {named}, so no two of them could break it"
