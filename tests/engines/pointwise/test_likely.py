"""Likely pointwise rules: listed ones hold and have the right counts; and which are listed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.pointwise import likely as module
from holdfast.engines.pointwise.likely import MOST_COLUMNS, likely
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import least
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.pointwise import Pointwise
from holdfast.table.nulls import NullMode
from holdfast.table.runner import Threads
from holdfast.table.types import Column
from tests.engines.inclusion.several import filled
from tests.laws.world import COLUMNS, Batch, Row, World, null_modes
from tests.oracle.order import compared
from tests.oracle.pointwise import MEANS

NAMES = [column.name for column in COLUMNS]
ORDERED = ("number", "real", "day")
row = st.tuples(
    st.none() | st.integers(0, 4), st.just("x"), st.none() | st.sampled_from([-1.5, 0.0, 1.5]), st.just(True),
    st.none() | st.integers(-1, 3),
)  # fmt: skip


def sign(one: Row, other: Row, name: str) -> str:
    return {-1: "<", 0: "=", 1: ">"}[compared(one[NAMES.index(name)], other[NAMES.index(name)], "equal") or 0]


def share_meeting(rows: list[Row], conjunction: Mapping[str, str]) -> float:
    pairs = list(permutations(rows, 2))
    met = [all(sign(t, s, name) in MEANS[mark] for name, mark in conjunction.items()) for t, s in pairs]
    return sum(met) / len(pairs)


@settings(max_examples=80)
@given(rows=st.lists(row, min_size=2, max_size=8), nulls=null_modes)
def test_likely_rules_hold_and_are_counted_as_the_definition_says(rows: list[Row], nulls: NullMode) -> None:
    world = World(nulls)
    world.change(Batch(rows))
    with patch.object(module, "LEAST_OF_SEVERAL", 0.0), patch.object(module, "_PROVED", 100):
        found = likely(WatchedTable(world.table), Wanted(), Threads(), SILENT)
    if nulls == "distinct" and any(each[NAMES.index(name)] is None for each in rows for name in ORDERED):
        assert not found
    for each in found:
        rule = each.rule
        assert isinstance(rule, Pointwise)
        left, (column, operator) = dict(rule.left), rule.right
        broken = "".join(set("<=>") - set(MEANS[operator]))
        assert rule.coverage == share_meeting(rows, left)
        assert all(sign(t, s, column) in MEANS[operator] for t, s in permutations(rows, 2) if _meets(t, s, left))
        chance = sum(sign(t, s, column) in broken for t, s in permutations(rows, 2)) / (len(rows) * (len(rows) - 1))
        assert f"by chance {chance:.0%} of these would" in each.sentence
        values = world.table.values(world.table.living_ids())
        assert hf.check({"t": values}, each.as_given, nulls=nulls).to_json()[0]["violations"] == 0
        assert 0 <= each.score <= 1


def _meets(one: Row, other: Row, conjunction: Mapping[str, str]) -> bool:
    return all(sign(one, other, name) in MEANS[mark] for name, mark in conjunction.items())


# ---- which are likely -----------------------------------------------------------------------------------------------


def likely_in(columns: dict[str, list[Any]], progress: Progress = SILENT) -> dict[str, Scored]:
    schema = tuple(Column(name, pa.array(values).type) for name, values in columns.items())
    several = filled({"t": list(zip(*columns.values(), strict=True))}, {"t": schema})
    found = likely(WatchedTable(several.tables["t"]), Wanted(), Threads(), progress)
    return {each.text: each for each in found}


ROWS = 2000
CHANCE = np.random.default_rng(3)
SALARY, EXEMPT, NOISE = (CHANCE.integers(0, 1000, ROWS).tolist() for _ in range(3))
RATE = [(salary - exempt) // 10 for salary, exempt in zip(SALARY, EXEMPT, strict=True)]


def test_two_columns_that_order_a_third_together() -> None:
    found = likely_in({"salary": SALARY, "exempt": EXEMPT, "rate": RATE, "noise": NOISE})
    (only,) = found.values()
    assert only.as_given == "not(t.salary <= s.salary and t.exempt >= s.exempt and t.rate > s.rate)"
    assert only.score > least(2)
    assert only.to_remove == 0
    assert only.sentence.startswith("no two of 2,000 rows break it; ")


def test_one_pair_of_rows_breaks_it() -> None:
    salary, exempt, rate = [*SALARY, 0, 1], [*EXEMPT, 1000, 999], [*RATE, 5, 4]
    assert not likely_in({"salary": salary, "exempt": exempt, "rate": rate})


def test_what_an_order_says_is_left_out() -> None:
    bins = [salary // 50 for salary in SALARY]
    assert not likely_in({"salary": SALARY, "bin": bins, "noise": NOISE, "kind": [n % 2 for n in NOISE]})


def test_of_a_wide_table_it_is_said_how_much_was_looked_at() -> None:
    class Notes(Progress):
        def __init__(self) -> None:
            self.said: list[str] = []

        def note(self, text: str) -> None:
            self.said.append(text)

    notes = Notes()
    likely_in({f"c{i}": [i, i + 1, 0] for i in range(MOST_COLUMNS + 1)}, notes)
    assert len(notes.said) == 1
    assert "of 21 columns with an order the first 20 were looked at" in notes.said[0]
