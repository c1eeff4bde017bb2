"""Which of the rules that a batch broke are an alarm: the exit code of `apply` and `watch`.

Rules that were found by chance break by nature: half of them are gone with the next rows. So a rule that was given is
an alarm where it got worse, and one that was found where much spoke for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from holdfast.changes.diff import Finding
from holdfast.engines.declared import is_given
from holdfast.engines.scored import ALARMING, LIKELY
from holdfast.errors import BadInput

Named = Literal["given", "likely", "any", "never"]
FailOn = Named | float  # or the least score of found rules that are an alarm
_LEAST: dict[str, float] = {"given": 2.0, "likely": ALARMING, "any": -1.0}


def least_score(fail_on: FailOn | str) -> float | None:
    """The least score of found rules that are an alarm: above 1 where none is, below 0 where one without a score is,
    too; None where nothing is an alarm. A score may be given as text.
    """
    if fail_on == "never":
        return None
    if isinstance(fail_on, str) and fail_on in _LEAST:
        return _LEAST[fail_on]
    try:
        score = float(fail_on)
    except ValueError:
        score = -1.0
    if not LIKELY <= score <= 1.0:
        raise BadInput(
            f"--fail-on {fail_on}: say given, likely, any or never, or a score from {LIKELY} to 1; rules with less "
            "look accidental, and are not told apart"
        )
    return score


def why(alarms: Sequence[Finding], lost: int, fail_on: FailOn | str = "likely") -> str:
    """Why a command ends with 1, given the alarms; or why it doesn't, though so many found rules broke."""
    given = sum(is_given(rule.to_json()) for rule in alarms)
    found = len(alarms) - given
    least = least_score(fail_on)
    scored = f" with a score of {least:g} or more" if least is not None and least >= 0 else ""
    parts = [f"{_rules(given)} of your own got worse"] if given else []
    parts += [f"{_rules(found)}{scored} broke"] if found else []
    if parts:
        return f"exit code 1: {' and '.join(parts)}"
    if not lost:
        return ""
    if least is None or least > 1:
        return f"no alarm: {_rules(lost)} broke, and --fail-on {fail_on} leaves them out"
    return f"no alarm: {_rules(lost)} broke, and none has a score of {least:g}"


def _rules(count: int) -> str:
    return f"{count:,} rule{'s' * (count != 1)}"
