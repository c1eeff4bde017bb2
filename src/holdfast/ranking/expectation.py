"""Breaks to expect by chance in the next 100 usual batches, and how many of them an alarm may have: the alarm budget.

A usual batch of a table has the median number of new rows of the batches that its state has had. Where there are too
few, it is assumed to have a thirtieth of the table's rows.

All rules together whose breaks are errors may be expected to break `budget` times, and each at most a hundredth of
that. The others warn. Of too many, those that chance breaks least stay errors.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.engines.chance import ASSUMED, BATCHES, expected_breaks
from holdfast.engines.scored import Scored
from holdfast.engines.thresholds import ALARM_BUDGET
from holdfast.errors import BadInput

FEWEST = 8  # batches: the size of fewer is not usual yet
EACH = 0.01  # the share of the budget that one rule may have
_NOISE = 1e-9  # of sums in floating point


@dataclass(frozen=True)
class Usual:
    """How many rows a usual batch has, and of how many batches that is known; 0: it is assumed."""

    rows: float
    batches: int = 0

    @staticmethod
    def of(sizes: Sequence[int], rows: int) -> Usual:
        """Of a table with some rows, given how many rows its batches brought."""
        if len(sizes) >= FEWEST:
            return Usual(float(statistics.median(sizes)), len(sizes))
        return Usual(rows / ASSUMED)

    def __str__(self) -> str:
        size = f"{self.rows:,.0f}" if self.rows >= 10 else f"{self.rows:,.2g}"
        return f"{BATCHES} batches of {size} rows"

    @property
    def why(self) -> str:
        """Where the number comes from."""
        return f"the median of {self.batches:,} batches" if self.batches else f"1/{ASSUMED} of the table, assumed"


@dataclass(frozen=True)
class Expectation:
    """How large usual batches are, by table, and the alarm budget."""

    usual: Mapping[str, Usual] = field(default_factory=dict)
    budget: float = ALARM_BUDGET

    def of_table(self, table: str, rows: int) -> Usual:
        """The usual batch of a table with some rows."""
        return self.usual.get(table) or Usual.of((), rows)

    def breaks(self, scored: Scored, usual: Usual) -> float | None:
        """The breaks to expect of a rule; None: nobody can say."""
        return None if scored.chance is None else expected_breaks(scored.chance, usual.rows)

    def allows(self, breaks: float | None) -> bool:
        """Whether a rule may be an error. One without an estimate is judged otherwise."""
        return breaks is None or breaks <= EACH * self.budget

    def errors(self, breaks: Sequence[float | None]) -> list[bool]:
        """Which of some rules may be errors together: those that chance breaks least, within the budget."""
        allowed, total = [self.allows(each) for each in breaks], 0.0
        for place in sorted(range(len(breaks)), key=lambda place: breaks[place] or 0.0):
            if allowed[place]:
                total += breaks[place] or 0.0
                allowed[place] = total <= self.budget * (1 + _NOISE)
        return allowed


def refuse_bad_budget(budget: float) -> None:
    """Say so where a budget can't be one."""
    if not 0 <= budget < float("inf"):
        raise BadInput(f"the alarm budget is {budget:g}; give a number from 0 on, such as {ALARM_BUDGET:g}")


def said(breaks: float | None) -> str:
    """A number of breaks in a table.

    >>> said(None), said(0.0), said(0.00042), said(0.05), said(3.33), said(2500.0)
    ('', '<0.001', '<0.001', '0.05', '3.3', '2,500')
    """
    if breaks is None:
        return ""
    if breaks < 0.001:
        return "<0.001"
    return f"{breaks:,.0f}" if breaks >= 10 else f"{breaks:.2g}"
