"""Column facts against their definition, along random streams."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.registry import make_engine, rule_class
from holdfast.table.leaders import Leaders
from tests.laws.world import COLUMNS, Batch, Kept, Row, World, batches, row_lists
from tests.oracle import column as oracle


def _comparable(value: Any, place: int) -> Any:
    """A value of the plain rows as JSON writes it."""
    if COLUMNS[place].name == "day" and value is not None:
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=value)).isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _expected(rows: list[Row], place: int) -> tuple[Any, ...]:
    count, nulls, distinct, low, high, frequent = oracle.facts([row[place] for row in rows])
    return (
        count, nulls, distinct, _comparable(low, place), _comparable(high, place),
        tuple((_comparable(value, place), times) for value, times in frequent),
    )  # fmt: skip


@settings(max_examples=80)
@given(first=row_lists, stream=st.lists(batches, max_size=5))
def test_facts_are_those_of_the_definition(first: list[Row], stream: list[Batch]) -> None:
    world = World()
    world.change(Batch(first))
    kept = Kept(make_engine("column"), world)
    for batch in [Batch(), *stream]:
        kept.follow(world.change(batch))
        for place, facts in enumerate(kept.result().values()):
            line = facts.to_json()
            got = (line["rows"], line["nulls"], line["distinct"], line["min"], line["max"])
            assert (*got, tuple(map(tuple, line["frequent"]))) == _expected(world.rows, place)


@given(st.lists(st.lists(st.tuples(st.integers(0, 40), st.integers(-2, 2)), max_size=20), max_size=12))
def test_leaders_are_the_best_whatever_changes(changes: list[list[tuple[int, int]]]) -> None:
    counts = np.zeros(41, np.int64)
    leaders = Leaders(lambda c: (-counts[c], c), lambda: np.flatnonzero(counts), show=3, keep=4)
    for change in changes:
        codes = np.array(sorted({code for code, _ in change}), np.int64)
        for code, step in change:
            counts[code] = max(0, counts[code] + step)
        leaders.update(codes, counts[codes] > 0, int(np.count_nonzero(counts)))
        living = np.flatnonzero(counts)
        assert leaders.best().tolist() == sorted(living.tolist(), key=lambda c: (-counts[c], c))[:3]


def test_text_order_survives_new_labels() -> None:
    """Each batch puts a text into the same gap until its labels are used up."""
    world = World()
    world.change(Batch([(None, "a", None, None, None), (None, "b", None, None, None)]))
    kept = Kept(make_engine("column"), world)
    for length in range(1, 120):
        kept.follow(world.change(Batch([(None, "a" * length + "b", None, None, None)])))
        assert kept.result() == kept.rediscovered()
    assert world.table.order_keys(1).generation > 0, "the labels were spread"


def test_one_row_is_one() -> None:
    """In headings."""
    assert [rule_class("column").heading({"rows": rows}) for rows in (0, 1, 1000)] == ["0 rows", "1 row", "1,000 rows"]
