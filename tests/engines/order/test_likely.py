"""Likely orders: counts of a pair of columns against the definition, which are listed, and as given rules."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.order.likely import MOST_COLUMNS, Pair, RankedRows, as_given, likely
from holdfast.engines.order.swap_counts import MeasuredOrder
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LIKELY, least
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.order import Compatible
from holdfast.table.nulls import NullMode, Nulls
from holdfast.table.runner import Threads
from holdfast.table.types import Column
from tests.engines.inclusion.several import filled
from tests.laws.world import COLUMNS, Batch, Row, World, null_modes, row_lists
from tests.oracle.order import compared, swaps
from tests.oracle.order_error import fewest_to_remove

NUMBER, TEXT, REAL, FLAG, DAY = range(5)
PAIRS = [
    Pair(a, b, descending, context)
    for a, b in ((NUMBER, REAL), (NUMBER, DAY), (REAL, DAY))
    for descending in (False, True)
    for context in (None, TEXT, FLAG)
]


def definition(rows: Sequence[Row], pair: Pair, nulls: NullMode) -> dict[str, Any]:
    """What is counted of a pair, from all pairs of rows."""
    used = [pair.a, pair.b, *([] if pair.context is None else [pair.context])]
    own = [row for row in rows if nulls == "equal" or all(row[c] is not None for c in used)]
    together = [
        (i, j)
        for i, j in itertools.combinations(range(len(own)), 2)
        if pair.context is None or compared(own[i][pair.context], own[j][pair.context], nulls) == 0
    ]

    def differ(i: int, j: int, column: int) -> bool:
        return compared(own[i][column], own[j][column], nulls) != 0

    differing = [(i, j) for i, j in together if differ(i, j, pair.a) and differ(i, j, pair.b)]
    direction = "desc" if pair.descending else "asc"
    swapped = [(i, j) for i, j in differing if swaps(own[i], own[j], pair.a, pair.b, direction, nulls)]
    groups = {i: frozenset([i, *(k for p in together if i in p for k in p)]) for i in range(len(own))}
    tested = {groups[i] for i, _ in differing}
    return {
        "rows": len(rows),
        "support": sum(map(len, tested)),
        "pairs": sum(len(group) * (len(group) - 1) // 2 for group in tested),
        "differing": len(differing),
        "swapped": len(swapped),
        "rises": sum(_climb(group, {*differing} - {*swapped}) for group in tested),
        "to_remove": fewest_to_remove(
            own,
            () if pair.context is None else (pair.context,),
            lambda one, other: swaps(one, other, pair.a, pair.b, direction, nulls),
            nulls,
        ),
        "determines": not any(differ(i, j, pair.b) and not differ(i, j, pair.a) for i, j in together),
        "determined": not any(differ(i, j, pair.a) and not differ(i, j, pair.b) for i, j in together),
    }


def _climb(group: frozenset[int], rising: set[tuple[int, int]]) -> int:
    """One less than the most rows of which every two rise together."""
    for size in range(len(group), 0, -1):
        for some in itertools.combinations(sorted(group), size):
            if all(pair in rising for pair in itertools.combinations(some, 2)):
                return size - 1
    return 0


def measured(rows: RankedRows, pair: Pair) -> MeasuredOrder:
    found = rows.candidate(pair).measured()
    assert found is not None
    return found


@settings(max_examples=30, deadline=None)
@given(first=row_lists, pair=st.sampled_from(PAIRS), nulls=null_modes)
def test_what_is_counted_is_what_the_definition_says(first: list[Row], pair: Pair, nulls: NullMode) -> None:
    world = World(nulls)
    world.change(Batch(first[:8]))
    found, expected = measured(RankedRows.of(world.table), pair), definition(first[:8], pair, nulls)
    assert {name: getattr(found, name) for name in expected} == expected
    assert 0.0 <= found.score() <= 1.0
    for most in (0.0, 0.2):
        enough = found.to_remove <= most * found.rows
        assert RankedRows.of(world.table).candidate(pair).measured(most) == (found if enough else None)


@settings(max_examples=30)
@given(first=row_lists, pair=st.sampled_from(PAIRS), nulls=null_modes)
def test_without_the_rows_that_must_go_none_swaps(first: list[Row], pair: Pair, nulls: NullMode) -> None:
    world = World(nulls)
    world.change(Batch(first))
    rows = RankedRows.of(world.table)
    out = rows.rows_out(pair)
    assert len(out) == measured(rows, pair).to_remove
    left = rows.some(np.setdiff1d(np.arange(len(first)), out))
    assert measured(left, pair).swapped == 0


@settings(max_examples=20, deadline=None)
@given(first=row_lists, pair=st.sampled_from(PAIRS), nulls=null_modes)
def test_what_violates_it_where_it_is_given_are_the_pairs_that_swap(
    first: list[Row], pair: Pair, nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    found = measured(RankedRows.of(world.table), pair)
    names = [column.name for column in COLUMNS]
    context = () if pair.context is None else (names[pair.context],)
    rule = Compatible("t", context, (names[pair.a], names[pair.b]), "desc" if pair.descending else "asc")
    table = world.table.values(world.table.living_ids())
    checked = hf.check({"t": table}, as_given(rule, found, Nulls(nulls)), nulls=nulls)
    assert checked.to_json()[0]["violations"] == found.swapped


# ---- which are likely -----------------------------------------------------------------------------------------------


def likely_in(columns: dict[str, list[Any]], progress: Progress = SILENT) -> dict[str, Scored]:
    schema = tuple(Column(name, pa.array(values).type) for name, values in columns.items())
    several = filled({"t": list(zip(*columns.values(), strict=True))}, {"t": schema})
    found = likely(WatchedTable(several.tables["t"]), Wanted(), Threads(), progress)
    return {each.text: each for each in found}


ROWS = 3000
NOISE = np.random.default_rng(1).permutation(ROWS).tolist()


def test_a_number_that_rises_with_a_date_is_likely() -> None:
    best = likely_in({"no": list(range(ROWS)), "hired": [i // 3 for i in range(ROWS)], "noise": NOISE})
    assert list(best) == ["{}: no ~ hired"]
    only = best["{}: no ~ hired"]
    assert only.score > 0.95
    assert only.as_given == "[no] orders [hired]"
    assert (only.support, only.to_remove, only.rows) == (ROWS, 0, ())
    assert only.sentence.startswith("none of 3,000 rows is out of order; 100% of the pairs of rows could have been")


def test_rows_out_of_order_are_named() -> None:
    hired = [i // 3 for i in range(ROWS)]
    hired[17], hired[2000] = 900, 1
    only = likely_in({"no": list(range(ROWS)), "hired": hired})["{}: no ~ hired"]
    assert (only.to_remove, only.g3, only.rows) == (2, 2 / ROWS, (17, 2000))
    assert only.score > 0.9


def test_downwards() -> None:
    only = likely_in({"no": list(range(ROWS)), "age": [ROWS - i for i in range(ROWS)], "noise": NOISE})
    assert list(only) == ["{}: no ~ age desc"]
    assert only["{}: no ~ age desc"].as_given == "[no] orders [age desc]"


def test_in_a_context() -> None:
    kinds = [i % 3 for i in range(ROWS)]
    found = likely_in({"kind": kinds, "a": list(range(ROWS)), "b": [i + i % 3 * ROWS for i in range(ROWS)]})
    assert found["{kind}: a ~ b"].as_given == "[kind, a] orders [kind, b]"
    assert least(2) < found["{kind}: a ~ b"].score < 0.65, "a context costs"


@pytest.mark.parametrize(
    "columns",
    [
        {"a": list(range(ROWS)), "b": NOISE},
        {"a": list(range(ROWS)), "b": [7] * ROWS},
        {"a": [str(i) for i in range(ROWS)], "b": [str(i) for i in range(ROWS)]},
        {"a": [i % 2 * NOISE[i] for i in range(ROWS)], "b": [(i + 1) % 2 * NOISE[i] for i in range(ROWS)]},
        {"a": list(range(ROWS)), "b": [i * 2 // ROWS for i in range(ROWS)]},
    ],
    ids=["by chance", "constant", "texts", "one of two is 0", "one step"],
)
def test_what_is_no_order_is_not_likely(columns: dict[str, list[Any]]) -> None:
    assert not [each for each in likely_in(columns).values() if each.score >= LIKELY]


def test_of_a_wide_table_it_is_said_how_much_was_looked_at() -> None:
    class Notes(Progress):
        def __init__(self) -> None:
            self.said: list[str] = []

        def note(self, text: str) -> None:
            self.said.append(text)

    notes = Notes()
    likely_in({f"c{i}": [i, i + 1, 0] for i in range(MOST_COLUMNS + 1)}, notes)
    assert len(notes.said) == 1
    assert "of 101 columns with an order the first 100 were looked at for orders" in notes.said[0]
