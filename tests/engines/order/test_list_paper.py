"""The examples 1 to 5 of papers/fastod.txt on its Table 1."""

from __future__ import annotations

from itertools import permutations, product

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.engines.given.listing import PairListing
from holdfast.engines.given.queries import queries_of
from holdfast.rules.lists import ListOD
from holdfast.search.queries import PairQuery
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.oracle import list_order as oracle

TABLE_1 = pa.table(
    {
        "ID": [10, 11, 12, 10, 11, 12],
        "yr": [16, 16, 16, 15, 15, 15],
        "posit": ["secr", "mngr", "direct"] * 2,
        "bin": [1, 2, 3, 1, 2, 3],
        "sal": [5000, 8000, 10000, 4500, 6000, 8000],
        "perc": [20, 25, 30, 20, 25, 25],
        "tax": [1000, 2000, 3000, 900, 1500, 2000],
        "grp": ["A", "C", "D", "A", "C", "C"],
        "subg": ["III", "II", "I", "III", "I", "II"],
    }
)


@pytest.mark.parametrize(
    ("by", "then"),
    [("sal", "tax"), ("sal", "perc"), ("sal", "grp, subg"), ("yr, sal", "yr, bin"), ("sal", "tax, perc")],
)
def test_example_1(by: str, then: str) -> None:
    checked = hf.orders(TABLE_1, by, then)
    assert checked
    assert str(checked) == f"[{by}] orders [{then}]\nIt holds: no rows violate it."


def test_salary_does_not_order_subgroup_and_group() -> None:
    assert not hf.orders(TABLE_1, "sal", "subg, grp")


def test_example_2() -> None:
    """Weeks and months are compatible, and yet a month does not order its weeks."""
    days = pa.table({"month": [1, 1, 2, 2], "week": [4, 5, 5, 6]})
    assert hf.orders(days, "month, week", "week, month")
    assert hf.orders(days, "week, month", "month, week")
    assert hf.orders(days, "month", "week").kind == "split"


def test_example_3() -> None:
    checked = hf.check(TABLE_1, ["[posit] orders [posit, sal]", "[sal] orders [subg]"])
    splits, swaps = checked.listings
    assert isinstance(splits, PairListing)
    assert isinstance(swaps, PairListing)
    assert sorted(map(sorted, splits.listed.tolist())) == [[0, 3], [1, 4], [2, 5]]
    assert [0, 1] in swaps.listed.tolist()
    assert "a split: both have posit 'secr'; sal 5000 of row 0 is above sal 4500 of row 3" in splits.explain(0, 3)
    assert swaps.explain(1, 0) == (
        "row 0 and row 1 violate lod2: a swap: sal 5000 of row 0 is below sal 8000 of row 1; "
        "subg 'III' of row 0 is above subg 'II' of row 1"
    )


def test_example_4() -> None:
    """`{posit}: [] -> bin` and `{yr}: bin ~ sal` as lists; `{yr}: bin ~ subg` and `{posit}: [] -> sal` don't hold."""
    assert hf.orders(TABLE_1, "posit", "posit, bin")
    assert hf.orders(TABLE_1, "yr, bin, sal", "yr, sal, bin")
    assert not hf.orders(TABLE_1, "yr, bin, subg", "yr, subg, bin")
    assert not hf.orders(TABLE_1, "posit", "posit, sal")


def test_example_5() -> None:
    """`[A, B] orders [C, D]` is two constants and four pairs that don't swap: splits are found with swaps of B."""
    schema = Schema("r", tuple(Column(name, pa.int64()) for name in "ABCD"))
    queries = queries_of(ListOD.parse("[A, B] orders [C, D]"), schema)
    assert [_text(query) for query in queries] == [
        "A < and C >",
        "A < and C = and D >",
        "A = and B <= and C >",
        "A = and B <= and C = and D >",
    ]


def _text(query: PairQuery) -> str:
    return " and ".join(f"{'ABCD'[condition.mine]} {condition.operator}" for condition in query.conditions)


def test_theorem_5_on_table_1() -> None:
    """A list orders another iff its columns determine those, and no column of one swaps with one of the other in the
    context of those before both.
    """
    names = ["yr", "bin", "sal", "grp"]
    rows = list(zip(*(TABLE_1.column(name).to_pylist() for name in names), strict=True))

    def holds(by: list[int], then: list[int]) -> bool:
        return oracle.holds(rows, [(column, False) for column in by], [(column, False) for column in then])

    for (a, b), (c, d) in product(permutations(range(4), 2), repeat=2):
        determined = all(holds([a, b], [a, b, each]) for each in (c, d))
        contexts: list[tuple[list[int], int, int]] = [([], a, c), ([a], b, c), ([c], a, d), ([a, c], b, d)]
        compatible = all(holds([*before, one, other], [*before, other, one]) for before, one, other in contexts)
        checked = hf.orders(TABLE_1, [names[a], names[b]], [names[c], names[d]])
        assert bool(checked) == (determined and compatible)
