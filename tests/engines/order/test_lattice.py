"""The paper's lattice against the definitions, by pairs of rows; and both strategies of the engine against it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.table.nulls import NullMode
from tests.oracle.lattice import Columns, Ranks, Rule, discover

tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[st.integers(0, 3)] * columns), min_size=1, max_size=7)
)


def by_definition(ranks: Ranks, nulls: str) -> set[Rule]:
    """Every context tried, the smaller ones first."""
    columns, rows = ranks.shape
    pairs = list(combinations(range(rows), 2))

    def agree(c: int, s: int, t: int) -> bool:
        return bool(ranks[c, s] == ranks[c, t] and (ranks[c, s] > 0 or nulls == "equal"))

    def compared(c: int, s: int, t: int) -> int:
        unknown = nulls == "distinct" and min(ranks[c, s], ranks[c, t]) == 0
        return 0 if unknown else int(np.sign(ranks[c, t] - ranks[c, s]))

    def within(context: Columns) -> list[tuple[int, int]]:
        return [pair for pair in pairs if all(agree(c, *pair) for c in context)]

    found: set[Rule] = set()
    contexts = [frozenset(some) for size in range(columns + 1) for some in combinations(range(columns), size)]
    constant = {(x, a) for x in contexts for a in range(columns) if all(agree(a, *pair) for pair in within(x))}
    found |= {(x, a) for x, a in constant if a not in x and not any((y, a) in constant for y in contexts if y < x)}
    for a, b in combinations(range(columns), 2):
        for direction, sign in (("asc", -1), ("desc", 1)):
            valid = [
                x for x in contexts if not any(compared(a, *pair) * compared(b, *pair) == sign for pair in within(x))
            ]
            found |= {
                (x, (a, b, direction))
                for x in valid
                if not {a, b} & x and not {(x, a), (x, b)} & constant and not any(y < x for y in valid)
            }
    return found


@settings(max_examples=80)
@given(tables, st.sampled_from(["equal", "distinct"]))
def test_lattice_by_definition(rows: list[tuple[int, ...]], nulls: str) -> None:
    ranks = np.array(rows, np.int64).T
    expected = by_definition(ranks, nulls)
    assert discover(ranks, nulls=nulls) == expected
    ascending = {rule for rule in expected if isinstance(rule[1], int) or rule[1][2] == "asc"}
    assert discover(ranks, nulls=nulls, directions=["asc"]) == ascending


wider = st.integers(5, 7).flatmap(
    lambda columns: st.lists(st.tuples(*[st.integers(0, 4)] * columns), min_size=2, max_size=30)
)


@settings(max_examples=30)
@given(wider, st.sampled_from(["equal", "distinct"]), st.sampled_from(["counts", "borders"]))
def test_the_engine_like_the_lattice(rows: list[tuple[int, ...]], nulls: NullMode, method: str) -> None:
    values = [[cell or None for cell in column] for column in zip(*rows, strict=True)]
    table = pa.table({f"c{i}": pa.array(column, pa.int64()) for i, column in enumerate(values)})
    found = {_by_number(rule) for rule in hf.discover(table, "od", nulls=nulls, method=method).to_json()}
    assert found == discover(np.array(rows, np.int64).T, nulls=nulls)


def _by_number(rule: dict[str, Any]) -> Rule:
    context = frozenset(int(name[1:]) for name in rule["context"])
    if "constant" in rule:
        return context, int(rule["constant"][1:])
    a, b = (int(name[1:]) for name in rule["pair"])
    return context, (a, b, rule["direction"])


def test_the_papers_first_table() -> None:
    columns: list[list[Any]] = [
        [10, 11, 12, 10, 11, 12],
        [16, 16, 16, 15, 15, 15],
        ["secr", "mngr", "direct", "secr", "mngr", "direct"],
        [1, 2, 3, 1, 2, 3],
        [5.0, 8.0, 10.0, 4.5, 6.0, 8.0],
        [20, 25, 30, 20, 25, 25],
        [1.0, 2.0, 3.0, 0.9, 1.5, 2.0],
        ["A", "C", "D", "A", "C", "C"],
        ["III", "II", "I", "III", "I", "II"],
    ]
    found = discover(np.array([[1 + sorted(set(column)).index(value) for value in column] for column in columns]))
    kinds = [rule[1][2] if isinstance(rule[1], tuple) else "constant" for rule in found]
    assert [kinds.count(kind) for kind in ("constant", "asc", "desc")] == [56, 53, 26]
    yr, bin_, sal = 1, 3, 4
    assert (frozenset(), (bin_, sal, "asc")) in found
    assert (frozenset([yr]), (bin_, sal, "asc")) not in found, "valid, as Example 4 has it, and not minimal"
