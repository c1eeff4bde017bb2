"""What a diff says of an answer: exact numbers, and few rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from holdfast.engines.given.changed import MOST, changes_of
from holdfast.engines.given.keeper import Answer
from holdfast.rules.given import Named
from holdfast.rules.registry import parse
from holdfast.table.change import Batch


def test_a_diff_counts_all_violations_and_holds_the_first() -> None:
    keeper: Any = SimpleNamespace(rules=[Named(parse("not(t.a = s.a and t.b < s.b)"))], counts_retold=False)
    pairs = np.arange(10 * MOST).reshape(-1, 2)
    answer = Answer.of([pairs], [pairs[:3]])
    (change,) = changes_of(keeper, answer, Batch([])).values()
    assert (change.new, change.gone, change.example) == (5 * MOST, 3, (0, 1))
    assert change.added.tolist() == pairs[:MOST].tolist()
    assert change.added.base is None, "the other pairs are let go"
    assert change.resolved.tolist() == pairs[:3].tolist()
