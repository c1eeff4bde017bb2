"""How many pairs of rows lie in a left side, against a look at all pairs; and which rules enough pairs test."""

from __future__ import annotations

import tempfile
from itertools import permutations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
import holdfast.engines.pointwise.borders as borders
from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise import sweeps
from holdfast.engines.pointwise.boxes import EQUAL, FREE, MARKS, OPERATORS, Space
from holdfast.engines.pointwise.coverage import _are_near, coverage_of
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.engines.pointwise.strategies import PairCounts
from holdfast.engines.registry import make_engine
from holdfast.table.nulls import NullMode
from tests.engines.pointwise.test_engine import NAMES, TEXT, by_number, coverage, expected
from tests.engines.pointwise.world import ORDERED, World, batches
from tests.laws.world import Batch, Kept, null_modes, row_lists
from tests.laws.world import Row as LawRow
from tests.laws.world import World as LawWorld
from tests.laws.world import batches as law_batches
from tests.oracle import pointwise as oracle

FREE_OFTEN = [FREE] * 5
sides = st.tuples(
    *(st.sampled_from([*FREE_OFTEN, *MARKS.values()] if by_order else [FREE, EQUAL]) for by_order in ORDERED)
)


@pytest.mark.parametrize("most_cells", [1 << 24, 0])
@settings(max_examples=60)
@given(stream=batches, nulls=null_modes, boxes=st.lists(sides, min_size=1, max_size=6))
def test_pairs_are_counted(
    most_cells: int, stream: list[list[tuple[str, int, LawRow]]], nulls: NullMode, boxes: list[tuple[int, ...]]
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(sweeps, "_MOST_COUNTED", most_cells),  # else a box tree counts
        patch.object(sweeps, "_ROWS_AT_ONCE", 2),
    ):
        world = World(folder, nulls, stream[0])
        ranks = world.subject.part(RankedColumns)
        for batch in stream[1:]:
            world.follow(batch)
        found = sweeps.count_pairs(ranks, world.space, np.array(boxes, np.uint8))
    pairs = [
        [oracle.sign(a, b, by_order, nulls) for a, b, by_order in zip(t, s, ORDERED, strict=True)]
        for t, s in permutations(world.rows, 2)
    ]
    for box, count in zip(boxes, found.tolist(), strict=True):
        conjunction = [OPERATORS.get(mask, "") for mask in box]
        met = sum(all(sign in oracle.MEANS[mark] for sign, mark in zip(own, conjunction, strict=True)) for own in pairs)
        assert count == met, conjunction


@settings(max_examples=40)
@given(
    first=row_lists,
    stream=st.lists(law_batches, max_size=3),
    nulls=null_modes,
    share=st.sampled_from([1e-12, 0.05, 0.1, 0.2, 1 / 3, 0.5, 0.9, 1.0]),
)
def test_a_sample_decides_nothing(first: list[LawRow], stream: list[Batch], nulls: NullMode, share: float) -> None:
    engine = make_engine("pod", {"method": "borders", "min_coverage": share, "max_lhs": 2})
    by_order = [column != TEXT for column in range(len(NAMES))]
    world = LawWorld(nulls)
    world.change(Batch(first))
    with patch.object(borders, "_COUNTED", 5):
        kept = Kept(engine, world)
        for batch in stream:
            before = {text: by_number(rule) for text, rule in kept.result().items()}
            diff = kept.follow(world.change(batch))
            found = {by_number(rule) for rule in kept.result().values()}
            every = expected(world.rows, nulls, {}, 2)
            assert found == {rule for rule in every if coverage(world.rows, nulls, by_order, rule) >= share}
            for text, cause in diff.causes.items():
                if text in diff.lost and cause.kind == "below --min-coverage":
                    assert 0 < coverage(world.rows, nulls, by_order, before[text]) < share


# ---- a table on which a sample misleads -----------------------------------------------------------------------------


def doubled(count: int) -> pa.Table:
    """Each A and B twice, and a C that has nothing to do with them: 3,000 of 8,997,000 pairs agree on A."""
    rows, chance = np.arange(count), np.random.default_rng(7)
    return pa.table({"A": rows // 2, "B": 3 * (rows // 2), "C": chance.integers(0, 3, count)})


def test_counts_and_borders_agree() -> None:
    texts = [
        {rule.text for rule in hf.discover(doubled(3000), "pod", max_lhs=2, min_coverage=0.00034, method=method)}
        for method in ("counts", "borders")
    ]
    assert texts[0] == texts[1] == {"{A<} -> B<", "{A<=} -> B<=", "{B<} -> A<", "{B<=} -> A<="}


def test_a_rule_leaves_once_and_says_why(tmp_path: Path) -> None:
    options: dict[str, Any] = {"max_lhs": 1, "min_coverage": 0.000333, "rhs": "B", "method": "borders"}
    texts, left = [], []
    with hf.Monitor.create(tmp_path / "s", {"t": doubled(3000)}, watch=["pod"], **options) as watch:
        for n in range(5):
            outcome = watch.apply(inserts=pa.table({"A": [9000 + n], "B": [8000 - n], "C": [n % 3]}))
            texts.append("{A=} -> B=" in {rule.text for rule in watch.results()})
            lines = outcome.to_json()[1:]
            left += [(n, line["event"], line["cause"]) for line in lines if line["text"] == "{A=} -> B="]
            if left and left[-1][0] == n:
                assert "{A=} -> B=   now below --min-coverage" in repr(outcome)
        events = watch.memory().events_of("pod", "t", "{A=} -> B=")
    assert texts == [3000 / (rows * (rows - 1)) >= 0.000333 for rows in range(3001, 3006)]
    assert left == [(2, "implied", "below --min-coverage")]
    assert [(each.seq, each.event, each.by) for each in events] == [(3, "implied", "")], "it follows from no rule"


def test_what_no_sampled_pair_meets_may_be_met() -> None:
    """The chance that none of a million pairs meets what 4 of a million do is below 2 %, of what 40 do below 1e-17."""
    pairs = 1 << 20
    none, error = coverage_of(
        RuleArrays(
            np.full((1, 2), EQUAL, np.uint8), np.zeros(1, np.int64), np.ones(1, np.uint8), np.zeros(1, np.bool_)
        ),
        PairCounts(np.full((1, 2), 1, np.uint8), np.array([pairs]), pairs * pairs),
        Space((True, True)),
    )
    assert none[0] == 0
    assert error is not None
    assert 3 / pairs <= error[0] <= 5 / pairs
    assert _are_near(np.zeros(1, np.int64), pairs, 39 / pairs).all()
    assert not _are_near(np.zeros(1, np.int64), pairs, 41 / pairs).any()
    assert _are_near(np.array([1, 5]), pairs, 1 / pairs).all()
    assert not _are_near(np.array([pairs - 1, 0]), pairs, 1.0).any()
