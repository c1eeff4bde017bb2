"""The exit code of a command that applied a batch. `results/alarms.py` says which broken rules are an alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import ExitCode

if TYPE_CHECKING:
    from holdfast.results.outcome import Outcome


def exit_code_of(outcome: Outcome, fail_on: str, most_bad: float) -> ExitCode:
    """1 where rules that broke are an alarm, or too many rows were set aside; else 0."""
    is_alarm = outcome.alarms(fail_on) or outcome.why_bad(most_bad)
    return ExitCode.RULE_BROKE if is_alarm else ExitCode.ALL_WELL
