"""The paper's Table 1 and its examples (papers: fastod)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.rules.order import Canonical, Compatible, ConstantOD
from tests.oracle import order as oracle

NAMES = ("ID", "yr", "posit", "bin", "sal", "perc", "tax", "grp", "subg")
ROWS: list[tuple[Any, ...]] = [
    (10, 16, "secr", 1, 5000, 20, 1000, "A", "III"),
    (11, 16, "mngr", 2, 8000, 25, 2000, "C", "II"),
    (12, 16, "direct", 3, 10000, 30, 3000, "D", "I"),
    (10, 15, "secr", 1, 4500, 20, 900, "A", "III"),
    (11, 15, "mngr", 2, 6000, 25, 1500, "C", "I"),
    (12, 15, "direct", 3, 8000, 25, 2000, "C", "II"),
]
ID, YR, POSIT, BIN, SAL, PERC, TAX, GRP, SUBG = range(len(NAMES))


def table() -> pa.Table:
    return pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)})


def by_number(rule: Canonical) -> Any:
    context = tuple(map(NAMES.index, rule.context))
    if isinstance(rule, ConstantOD):
        return context, NAMES.index(rule.column)
    return context, *map(NAMES.index, rule.pair), rule.direction


def kinds(rules: Any) -> Counter[str]:
    return Counter("constant" if isinstance(rule, ConstantOD) else rule.direction for rule in rules)


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_table_1(nulls: Any) -> None:
    found: Any = hf.discover(table(), "od", nulls=nulls, ordered="*")
    assert kinds(found) == {"constant": 56, "asc": 53, "desc": 26}
    expected: set[Any] = oracle.constants(ROWS, len(NAMES), nulls)
    assert {by_number(rule) for rule in found} == expected | oracle.pairs(ROWS, len(NAMES), nulls)
    assert kinds(found)["constant"] == len(hf.discover(table(), "fd", nulls=nulls)), "constants are minimal FDs"


def test_the_paper_s_own_set_has_no_descending_pairs() -> None:
    every = {rule.text for rule in hf.discover(table(), "od", ordered="*") if not rule.text.endswith(" desc")}
    assert {rule.text for rule in hf.discover(table(), "od", directions="asc", ordered="*")} == every


def test_examples_3_and_4() -> None:
    """Bin is constant in the context of the position, and salary is not. Bin and salary don't swap within a year; but
    they don't within the whole table either, so that this is no minimal rule: the paper tells it all the same.
    """
    found = {rule.text for rule in hf.discover(table(), "od")}
    assert "{posit}: [] -> bin" in found
    assert not oracle.constant_holds(ROWS, (POSIT,), SAL, "equal")
    assert oracle.pair_holds(ROWS, (YR,), BIN, SAL, "asc", "equal")
    assert "{}: bin ~ sal" in found
    assert "{yr}: bin ~ sal" not in found
    assert oracle.swaps(ROWS[0], ROWS[1], SAL, SUBG, "asc", "equal"), "t1 and t2"
    assert "{}: sal ~ subg" not in found


@pytest.mark.parametrize(("context", "score"), [("yr", 18), ("yr, grp", 8)])
def test_example_12(tmp_path: Path, context: str, score: int) -> None:
    """The interestingness of two rules that hold, though they are not minimal."""
    with hf.Monitor.create(tmp_path / "state", {"tax": table()}, watch=[]) as monitor:
        line = monitor.explanation(f"{{{context}}}: sal ~ bin").to_json()
    assert (line["holds"], line["tested_pairs"], line["text"]) == (
        True,
        score,
        f"{{{context}}}: bin ~ sal",
    )


def test_a_context_without_which_two_columns_swap_stays() -> None:
    rows = [(1, 1, 1), (1, 2, 2), (2, 1, 4), (2, 2, 3)]
    made = pa.table({name: [row[i] for row in rows] for i, name in enumerate("xab")})
    found = {rule.text for rule in hf.discover(made, "od")}
    pairs: set[Any] = oracle.pairs(rows, 3, "equal")
    assert ((), 0, 2, "asc") in pairs
    assert "{}: x ~ b" in found
    assert Compatible("table", (), ("a", "b")).text not in found
