"""Which of the rules that a batch broke are an alarm: the exit code of `apply` and `watch`.

Rules that hold by chance break by nature: many are gone with the next rows. So a rule that was given is an alarm where
it got worse, and one that was found where much spoke for it.
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
    """Which rules are an alarm: given ones or not, and found ones from a score and a number of rows on, or all."""

    given: bool = True
    score: float = math.inf
    support: int = 0
    all: bool = False

    def found(self, worth: Worth | None) -> bool:
        """Whether a found rule is an alarm that rows broke, given what it was worth, if anybody knows."""
        if self.all or worth is None:
            return self.all
        is_sure = not self.support or (worth.support >= self.support and not worth.by_chance)
        return worth.score >= self.score and is_sure

    def __str__(self) -> str:
        """What is asked of a found rule."""
        tested = f" and {self.support:,} rows that tested it" if self.support else ""
        return f"a score of {self.score:g}{tested}"


_KNOWN = {
    "given": Alarming(),
    "likely": Alarming(score=ALARMING, support=ENOUGH),
    "any": Alarming(all=True),
    "never": Alarming(given=False),
}


def alarming(fail_on: FailOn) -> Alarming:
    """What someone means by `--fail-on`."""
    if isinstance(fail_on, str) and fail_on in _KNOWN:
        return _KNOWN[fail_on]
    try:
        score = float(fail_on)
    except ValueError:
        score = math.nan
    if not BROKEN <= score <= 1.0:
        raise BadInput(
            f"--fail-on {fail_on}: say given, likely, any or never, or a score from {BROKEN} to 1; rules with less "
            "look accidental, and are not told apart"
        )
    return Alarming(score=score)
