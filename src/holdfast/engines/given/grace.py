"""The grace of a reference: rows without a partner that are no violations yet.

`orders.cust in customers.id within 2 batches` gives each row two more batches after the one that left it without a
partner. Until then it is **pending**; if it has none after them, it is a violation, and a new one. Every batch counts
that changes a row of any table. Rows that were there when the rule was given, and those of `check`, have no grace: no
batch brought them. A row that is updated and still has no partner goes on waiting; one that found its partner and loses
it waits again from the start.

Which rows wait follows from the order of batches, and not from the tables. So the database keeps it, and a replay takes
it from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.engines.given.keeper import Effect, Tally, alone, listed
from holdfast.engines.given.violation_changes import again, now_called
from holdfast.rules.given import Named
from holdfast.table.change import Batch

MOST_PENDING = 100_000  # rows of a rule: where more would wait, none does

Waiting = Mapping[int, int]  # rows, each with how many batches came since it has no partner


@dataclass(frozen=True)
class Grace:
    """The rows that wait, and how many the last batch gave a partner."""

    waiting: Waiting = field(default_factory=dict)
    healed: int = 0

    def after(self, named: Named[Any], effect: Effect, batch: Batch) -> tuple[Grace, Effect]:
        """What waits after a batch; and what the batch did to the violations, which leave out what waits."""
        stayed = again(effect.added, effect.resolved, named, batch)
        renamed = dict(
            zip(effect.resolved[:, 0].tolist(), now_called(effect.resolved, named, batch)[:, 0].tolist(), strict=True)
        )
        still = set(stayed[:, 0].tolist())
        waiting = {row: passed + 1 for row, passed in self.waiting.items() if row not in renamed}
        violations = []  # that were there before, under a new number
        for old, new in renamed.items():
            if new in still and old in self.waiting:
                waiting[new] = self.waiting[old] + 1
            elif new in still:
                violations.append(new)
        waiting |= dict.fromkeys(set(effect.added[:, 0].tolist()) - still, 0)
        is_over = len(waiting) > MOST_PENDING
        over = [row for row, passed in waiting.items() if is_over or passed >= named.rule.grace]
        left = {row: passed for row, passed in waiting.items() if not is_over and passed < named.rule.grace}
        gone = [row for row in renamed if row not in self.waiting]
        healed = sum(old in self.waiting and new not in still for old, new in renamed.items())
        return Grace(left, healed), listed(_pairs([*violations, *over]), _pairs(gone))

    def of(self, tally: Tally) -> Tally:
        """How a rule stands without the rows that wait."""
        figures = {**tally.figures, "pending": len(self.waiting)}
        return Tally(tally.violations - len(self.waiting), tally.facts, figures, tally.said)

    def said(self, text: str) -> str:
        """What waits, and what the last batch healed, in words; nothing where nothing does."""
        rows, healed = len(self.waiting), self.healed
        parts = [f"{healed:,} {'row has' if healed == 1 else 'rows have'} found a partner"] if healed else []
        parts += [f"{rows:,} {'row waits' if rows == 1 else 'rows wait'} for a partner"] if rows else []
        return f"{' and '.join(parts)}: {text}." if parts else ""

    # ---- in the database --------------------------------------------------------------------------------------------

    def to_json(self) -> list[list[int]]:
        """What a state stores."""
        return [[row, passed] for row, passed in sorted(self.waiting.items())]

    @staticmethod
    def from_json(stored: Sequence[Sequence[int]]) -> Grace:
        """The grace that a state stores."""
        return Grace({int(row): int(passed) for row, passed in stored})


def _pairs(rows: Sequence[int]) -> Any:
    return alone(np.array(sorted(rows), np.int64))
