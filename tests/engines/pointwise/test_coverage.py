"""Rules that a share of the pairs tests: the search that stops early against all rules, and against the definition."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.pointwise import SHORT
from holdfast.engines.pointwise import coverage as module
from holdfast.engines.pointwise.cells import PairValues, WantedCoverage
from holdfast.engines.pointwise.coverage import least_pairs
from holdfast.engines.pointwise.marginals import counts_within
from holdfast.engines.pointwise.minimal_rules import WantedRules, covered, derive
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.engines.pointwise.rules import PointwiseRules
from holdfast.engines.registry import make_engine
from holdfast.table.nulls import NullMode
from tests.engines.pointwise.tables import BIT, Small, small
from tests.engines.pointwise.test_engine import NAMES, TEXT, by_number, coverage, expected
from tests.laws.world import Batch, Kept, Row, World, batches, null_modes, row_lists
from tests.oracle import pointwise as oracle

bounds = st.one_of(st.none(), st.integers(0, 4))
shares = st.sampled_from([1e-12, 0.05, 0.1, 0.2, 1 / 3, 0.5, 0.9, 1.0])


def counted(table: Small) -> tuple[Any, Any]:
    """The values of all pairs of different rows, and how many pairs have each."""
    pairs = Counter(
        tuple(BIT[oracle.sign(a, b, o, table.nulls)] for a, b, o in zip(t, s, table.ordered, strict=True))
        for t, s in permutations(table.rows, 2)
    )
    values = np.array(list(pairs), np.uint8).reshape(-1, len(table.ordered))
    return values, np.array(list(pairs.values()), np.int64)


@settings(max_examples=80)
@given(small(most=6).filter(lambda table: len(table.rows) > 1), bounds, st.integers(1, 30), st.data())
def test_the_same_rules_as_among_all(table: Small, most: int | None, least: int, data: st.DataObject) -> None:
    columns = range(len(table.ordered))
    rhs = data.draw(st.one_of(st.none(), st.lists(st.sampled_from(columns), unique=True)))
    values, counts = counted(table)
    least = min(least, int(counts.sum()))
    found = covered(WantedRules(PairValues(values, table.space, WantedCoverage(counts, least)), most, rhs))
    every = derive(WantedRules(PairValues(values, table.space), most, rhs)).rules
    wanted = counts_within(values, counts, table.space, every.left) >= least
    assert _rows(found) == _rows(every.some(wanted))


def _rows(rules: RuleArrays) -> list[tuple[Any, ...]]:
    return sorted(zip(map(tuple, rules.left.tolist()), rules.column.tolist(), rules.mark.tolist(), strict=True))


@settings(max_examples=20)
@given(
    first=row_lists,
    batch=batches,
    nulls=null_modes,
    share=shares,
    most=st.one_of(st.none(), st.integers(0, 3)),
    rhs=st.sampled_from([None, None, "number", "text"]),
    ordered=st.sampled_from([None, "text"]),
)
def test_every_batch_by_definition(
    first: list[Row],
    batch: Batch,
    nulls: NullMode,
    share: float,
    most: int | None,
    rhs: str | None,
    ordered: str | None,
) -> None:
    """Whether the search stops early or not, rules, constraints and sentences are the same."""
    options = {"max_lhs": most, "rhs": rhs, "ordered": ordered}
    engine = make_engine("pod", {**options, "method": "counts", "min_coverage": share})
    by_order = [column != TEXT or ordered is not None for column in range(len(NAMES))]
    world = World(nulls)
    world.change(Batch(first))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "counts_pay", lambda *_: True)
        kept = Kept(engine, world)
        kept.follow(world.change(batch))
        result = engine.ranked(kept.state)
        patch.setattr(module, "counts_pay", lambda *_: False)
        every = engine.ranked(Kept(engine, world).state)
    assert {by_number(rule) for rule in result.values()} == {
        rule
        for rule in expected(world.rows, nulls, options, SHORT if most is None else most)
        if coverage(world.rows, nulls, by_order, rule) >= share
    }
    assert isinstance(result, PointwiseRules)
    assert isinstance(every, PointwiseRules)
    assert list(result) == list(every)
    assert list(result.denials()) == list(every.denials())
    shown, others = result.for_people(()), every.for_people(())
    assert (list(shown[0]), shown[1]) == (list(others[0]), others[1])


@given(st.floats(1e-12, 1.0), st.integers(1, 10**12))
def test_the_least_number_of_pairs_that_is_a_share_of_them(share: float, pairs: int) -> None:
    least = least_pairs(share, pairs)
    assert 1 <= least <= pairs
    assert least / pairs >= share
    assert least == 1 or (least - 1) / pairs < share
