"""What a diff says of an answer: exact numbers, and few rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from holdfast.changes.diff import ViolationChange
from holdfast.engines.given.engine import diff_of
from holdfast.engines.given.keeper import Tally, listed
from holdfast.engines.given.status import Status
from holdfast.engines.given.violation_changes import MOST, changes_of
from holdfast.rules.given import Named
from holdfast.rules.registry import parse
from holdfast.table.change import Batch


def test_a_diff_counts_all_violations_and_holds_the_first() -> None:
    keeper: Any = SimpleNamespace(rules=[Named(parse("not(t.a = s.a and t.b < s.b)"))], counts_restated=False)
    pairs = np.arange(10 * MOST).reshape(-1, 2)
    (change,) = changes_of(keeper, [listed(pairs, pairs[:3])], Batch([])).values()
    assert (change.new, change.gone, change.example) == (5 * MOST, 3, (0, 1))
    assert change.added.tolist() == pairs[:MOST].tolist()
    assert change.added.base is None, "the other pairs are let go"
    assert change.resolved.tolist() == pairs[:3].tolist()


@pytest.mark.parametrize("restated", [0, 1])
def test_other_violations_are_a_change_also_where_they_are_as_many(restated: int) -> None:
    came, went = np.array([[5, -1]]), np.array([[1, -1]])
    status = Status(Named(parse("t.a > 1")), Tally(1))
    moved = {status.text: ViolationChange(1 - restated, 1 - restated, came, went, restated)}
    diff = diff_of([status], [status], moved)
    assert (diff.changed, diff.violations) == ({} if restated else {status.text: (status, status)}, moved)
    assert diff.patch({status.text: status}) == {status.text: status}
