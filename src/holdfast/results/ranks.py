"""The one order of rules that broke, in the terminal and on pages: what matters most comes first."""

from __future__ import annotations

from typing import Any

_SEVERITIES = {"error": 0, "warn": 1}
_FOUND = 2  # a found rule has no severity; one that raised an alarm is given


def broken_rank(severity: str | None, is_open: bool, score: float, last: int) -> tuple[Any, ...]:
    """Where a rule stands among those that broke: by severity, open before mended, by the score that it had when it
    broke, and those that broke last first.

    >>> broken_rank("error", True, 0.6, 17) < broken_rank("error", False, 0.99, 18) < broken_rank("warn", True, 1.0, 3)
    True
    """
    return _SEVERITIES.get(severity or "", _FOUND), not is_open, -score, -last
