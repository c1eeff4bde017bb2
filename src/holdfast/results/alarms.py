"""Which broken rules are an alarm, and so exit code 1 of `apply` and `watch` (`cli/exit_codes.py`).

Rules that hold by chance often break with the next rows. So a given rule is an alarm if it got worse, and a found one
only if its score was high.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from holdfast.changes.diff import Worth
from holdfast.engines.thresholds import ALARMING, BROKEN, ENOUGH
from holdfast.errors import BadInput

FailOn = Literal["given", "likely", "any", "never"] | float | str  # a number: the least score of found rules


@dataclass(frozen=True)
class Alarming:
    """Which rules are an alarm: given ones or not; found ones with at least some score and support, or all of them."""

    given: bool = True
    score: float = math.inf
    support: int = 0
    all: bool = False

    def found(self, worth: Worth | None) -> bool:
        """Whether a found rule that rows broke is an alarm; `worth` is its score, where known."""
        if self.all or worth is None:
            return self.all
        is_sure = not self.support or (worth.support >= self.support and not worth.by_chance)
        return worth.score >= self.score and is_sure

    def __str__(self) -> str:
        """The condition on found rules, in words."""
        tested = f", tested by at least {self.support:,} rows" if self.support else ""
        return f"a score of at least {self.score:g}{tested}"


_KNOWN = {
    "given": Alarming(),
    "likely": Alarming(score=ALARMING, support=ENOUGH),
    "any": Alarming(all=True),
    "never": Alarming(given=False),
}


def lasting(fail_on: FailOn) -> Alarming:
    """Which found rules that broke are watched as given ones from then on: those that are an alarm, but for the many
    that hold by chance where any is one.
    """
    condition = alarming(fail_on)
    return _KNOWN["likely"] if condition.all else condition


def alarming(fail_on: FailOn) -> Alarming:
    """The meaning of `--fail-on`."""
    if isinstance(fail_on, str) and fail_on in _KNOWN:
        return _KNOWN[fail_on]
    try:
        score = float(fail_on)
    except ValueError:
        score = math.nan
    if not BROKEN <= score <= 1.0:
        raise BadInput(
            f"--fail-on {fail_on}: give given, likely, any or never, or a score from {BROKEN} to 1; rules with a lower "
            "score look accidental"
        )
    return Alarming(score=score)


def most_bad(share: str) -> float:
    """The meaning of `--max-bad`: `5%`, or `0.05`.

    >>> most_bad("5%"), most_bad("0.05")
    (0.05, 0.05)
    """
    number, percent, rest = share.partition("%")
    try:
        most = float(number) / (100 if percent else 1)
    except ValueError:
        most = math.nan
    if rest.strip() or not 0 <= most <= 1 or (most == 1 and not percent):
        raise BadInput(f"--max-bad {share}: give a share of the rows, such as 5% or 0.05")
    return most
