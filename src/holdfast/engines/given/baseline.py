"""The violations of a rule that are accepted, and those that came since, which are open.

Accepted are the violations that were there when the user accepted them, and have been there ever since. So only what
came since is kept, which is little:

- A violation is its rows. It stays the same one where a row of it is updated, which the declared key shows, and breaks
  the rule as before. Once it is gone and comes back, it is a new one.
- Of a key or an FD a violation is a row to remove, and which of the rows with the same left side that is may change. So
  each left side has a number of accepted rows: the least that were to remove since.
- A rule about a table has the quantity of then: as long as it is no worse, the violation is accepted. Once the rule
  holds, the next violation is a new one.
- Where only the number of violations is known, or too many came to keep them apart (`MOST_OPEN`), the least number
  since is accepted.

Law (tests/laws/test_accepted.py): the number of open violations is what follows from these sentences by a look at all
rows after each batch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from holdfast.engines.given.keeper import Effect, Pairs, Tally
from holdfast.engines.given.violation_changes import MOST, again, now_called
from holdfast.rules.given import Named
from holdfast.rules.measure import TableRule
from holdfast.table.change import Batch
from holdfast.table.plain import Plain, plain_values
from holdfast.table.table import Table

MOST_OPEN = MOST  # violations, or left sides, that are kept apart

Violation = tuple[int, int] | str  # its rows, or a left side


@dataclass(frozen=True)
class Baseline:
    """What came since the violations of a rule were accepted: how many are `open`, and which these are (None: only
    their number is known). Equal where as many are open.
    """

    open: int = 0
    since: Mapping[Violation, int] | None = field(default_factory=dict, compare=False)
    value: Plain = field(default=None, compare=False)  # of a rule about a table; None: it held since

    @staticmethod
    def of(tally: Tally) -> Baseline:
        """All that there is now is accepted."""
        return Baseline(value=tally.figures.get("value") if tally.violations else None)

    def after(self, named: Named[Any], before: Tally, tally: Tally, effect: Effect, batch: Batch) -> Baseline:
        """What is open after a batch; this baseline where nothing moved."""
        if isinstance(named.rule, TableRule):
            return self._measured(named.rule, tally)
        if not (effect.count_added or effect.count_resolved):
            return self
        since = self.since
        if since is not None and effect.listed:
            change = batch.of(named.table)
            if effect.clusters is not None:
                since = _by_left_side(since, effect, change.after) if change else since
            elif effect.is_grouped:
                since = None
            else:
                since = _by_rows(since, effect, named, batch)
        else:
            since = None
        if since is None or len(since) > MOST_OPEN:
            least = min(before.violations - self.open, tally.violations)
            return Baseline(tally.violations - least, None)
        return Baseline(sum(since.values()), since) if since != self.since else self

    def _measured(self, rule: TableRule, tally: Tally) -> Baseline:
        if not tally.violations:
            return Baseline() if self != Baseline() or self.value is not None else self
        now = tally.figures["value"]
        is_open = self.value is None or is_worse(rule, now, self.value)
        return replace(self, open=int(is_open)) if is_open != bool(self.open) else self

    def by_number(self) -> Baseline:
        """The same where rows or values may have other names from now on."""
        return replace(self, since=None) if self.since else self

    # ---- in the database --------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """What a state stores."""
        since = None if self.since is None else [[_listed(each), count] for each, count in self.since.items()]
        return {"open": self.open, "since": since, "value": self.value}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> Baseline:
        """The baseline that a state stores."""
        since = stored["since"]
        known = None if since is None else {_violation(each): count for each, count in since}
        return Baseline(stored["open"], known, stored["value"])


def _listed(violation: Violation) -> Any:
    return violation if isinstance(violation, str) else list(violation)


def _violation(stored: Any) -> Violation:
    return stored if isinstance(stored, str) else (stored[0], stored[1])


# ---- by rows ---------------------------------------------------------------------------------------------------------


def _by_rows(
    since: Mapping[Violation, int], effect: Effect, named: Named[Any], batch: Batch
) -> Mapping[Violation, int] | None:
    """The open violations after a batch; None where too many came."""
    stayed = again(effect.added, effect.resolved, named, batch)
    if len(effect.added) - len(stayed) > MOST_OPEN:
        return None
    known = _pairs_of(since)
    gone = _among(known, effect.resolved)
    successors = now_called(known[gone], named, batch)
    moved = successors[_among(successors, stayed)]
    left = np.concatenate([known[~gone], moved, _others(effect.added, stayed)])
    return dict.fromkeys(((t, s) for t, s in left.tolist()), 1)


def _pairs_of(violations: Mapping[Violation, int]) -> Pairs:
    return np.array([each for each in violations if not isinstance(each, str)], np.int64).reshape(-1, 2)


def _among(few: Pairs, many: Pairs) -> Any:
    """Which of a few pairs are among many."""
    near = many[np.isin(many[:, 0], few[:, 0])] if len(few) else many[:0]
    known = set(map(tuple, near.tolist()))
    return np.array([tuple(pair) in known for pair in few.tolist()], np.bool_)


def _others(pairs: Pairs, some: Pairs) -> Pairs:
    """The pairs that are not among some of them."""
    if not len(some):
        return pairs
    each, times = np.unique(np.concatenate([pairs, some]), axis=0, return_counts=True)
    return np.asarray(each[times == 1])


# ---- by left sides ---------------------------------------------------------------------------------------------------


def _by_left_side(since: Mapping[Violation, int], effect: Effect, table: Table) -> Mapping[Violation, int]:
    """The open violations after a batch, left side by left side."""
    clusters = effect.clusters
    assert clusters is not None
    left = dict(since)
    values = [table.dictionaries[c].values(codes) for c, codes in zip(clusters.columns, clusters.codes, strict=True)]
    rows = zip(*map(plain_values, values), strict=True) if values else [()] * len(clusters.before)
    for row, before, after in zip(rows, clusters.before.tolist(), clusters.after.tolist(), strict=True):
        key = hash_of(row)
        is_open = after - min(before - left.pop(key, 0), after)
        if is_open:
            left[key] = is_open
    return left


def hash_of(values: Sequence[Plain]) -> str:
    """A short name of some values, from which nobody can read them."""
    return hashlib.blake2b(json.dumps(list(values)).encode(), digest_size=12).hexdigest()


# ---- by what is measured ---------------------------------------------------------------------------------------------


def is_worse(rule: TableRule, now: Plain, then: Plain) -> bool:
    """Whether a quantity that breaks a rule is farther from what the rule allows than another."""
    numbers = _numbers(now, then, *(each.value for each in rule.ends))
    if rule.operator in ("<", "<="):
        return numbers[0] > numbers[1] if numbers else str(now) > str(then)
    if rule.operator in (">", ">="):
        return numbers[0] < numbers[1] if numbers else str(now) < str(then)
    if numbers and rule.operator in ("=", "between"):
        ends = numbers[2], numbers[-1]
        return _outside(numbers[0], *ends) > _outside(numbers[1], *ends)
    return now != then


def _outside(number: Decimal, low: Decimal, high: Decimal) -> Decimal:
    """How far a number lies outside of two others."""
    return max(low - number, number - high)


def _numbers(*values: Any) -> list[Decimal] | None:
    """Values as numbers; None where one is none. Dates and times compare as their texts do."""
    try:
        return [Decimal(str(value)) for value in values]
    except InvalidOperation:
        return None
