"""Which of the rules that a batch broke are an alarm: the exit code of `apply` and `watch`.

Rules that hold by chance break by nature: many are gone with the next rows. So a rule that was given is an alarm where
it got worse, and one that was found where much spoke for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.changes.diff import Finding, Worth
from holdfast.engines.declared import is_given
from holdfast.engines.scored import ALARMING, ENOUGH, LIKELY
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
        return self.all or (worth is not None and worth.score >= self.score and worth.support >= self.support)

    def __str__(self) -> str:
        """What is asked of a found rule."""
        tested = f" that {self.support:,} rows tested" if self.support else ""
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
    if not LIKELY <= score <= 1.0:
        raise BadInput(
            f"--fail-on {fail_on}: say given, likely, any or never, or a score from {LIKELY} to 1; rules with less "
            "look accidental, and are not told apart"
        )
    return Alarming(score=score)


def why(alarms: Sequence[Finding], lost: int, fail_on: FailOn = "likely") -> str:
    """Why a command ends with 1, given the alarms; or why it doesn't, though rows broke so many rules that were found;
    nothing where no rule broke.
    """
    asked = alarming(fail_on)
    given = sum(is_given(rule.to_json()) for rule in alarms)
    found = len(alarms) - given
    parts = [f"{_rules(given)} of your own got worse"] if given else []
    parts += [f"{_rules(found)} broke" + ("" if asked.all else f" with {asked}")] if found else []
    if parts:
        return f"exit code 1: {' and '.join(parts)}"
    if not lost:
        return ""
    if asked.score > 1:
        return f"no alarm: {_rules(lost)} broke, which --fail-on {fail_on} leaves out"
    return f"no alarm: {_rules(lost)} broke, and none of them had {asked}"


def _rules(count: int) -> str:
    return f"{count:,} rule{'s' * (count != 1)}"
