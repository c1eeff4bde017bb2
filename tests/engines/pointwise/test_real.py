"""Pointwise order dependencies of real data: compared with what other engines find there, and under batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pytest

import holdfast as hf
from holdfast.rules.order import Compatible, ConstantOD
from holdfast.rules.pointwise import Pointwise

TAX = ["AreaCode", "Zip", "Salary", "Rate", "SingleExemp", "MarriedExemp", "ChildExemp"]
Columns = tuple[str, ...]


def read(data: Path, name: str, columns: list[str] | None, rows: int) -> pa.Table:
    table = pc.read_csv(data / f"{name}.csv")
    return (table.select(columns) if columns else table).slice(0, rows)


def rules(table: pa.Table, **options: Any) -> list[Pointwise]:
    return [rule for rule in hf.discover(table, "pod", **options) if isinstance(rule, Pointwise)]


SETS = [("iris", None), ("abalone", None), ("bridges", list("ABCDEFGHI")), ("tax_10k", TAX)]


@pytest.mark.parametrize(("name", "columns"), SETS)
def test_the_fds_among_the_rules_are_the_minimal_fds(shared_data: Path, name: str, columns: list[str] | None) -> None:
    """A rule with `=` alone is a minimal FD. Its left side may be a key: then the rule is vacuous."""
    table = read(shared_data, name, columns, 2000)
    found = {
        (tuple(name for name, _ in rule.left), rule.right[0])
        for rule in rules(table, vacuous=True, max_lhs=table.num_columns)
        if {operator for _, operator in (*rule.left, rule.right)} == {"="}
    }
    fds: Any = hf.discover(table, "fd")
    assert found == {(rule.lhs, rule.rhs) for rule in fds}


@pytest.mark.parametrize(("name", "columns"), [("iris", list("ABCD")), ("tax_10k", TAX)])
def test_orders_among_the_rules_hold(shared_data: Path, name: str, columns: list[str]) -> None:
    """`{X=, A<} -> B<=` says that A and B never swap within the groups of X, and a rule that says more implies it."""
    table = read(shared_data, name, columns, 2000)
    orders = list(hf.discover(table, "od"))
    swapless = set()
    for rule in rules(table):
        equal = {name for name, operator in rule.left if operator == "="}
        others = [(name, operator) for name, operator in rule.left if operator != "="]
        if len(others) == 1 and rule.right[1] in ("<", "<="):
            swapless.add((frozenset(equal), *others[0], rule.right[0]))
    assert name == "iris" or swapless
    for context, one, operator, other in swapless:
        direction = "asc" if operator in ("<", "<=") else "desc"
        assert any(_implies(order, context, {one, other}, direction) for order in orders), (context, one, other)


def _implies(order: Any, context: frozenset[str], pair: set[str], direction: str) -> bool:
    if not context.issuperset(order.context):
        return False
    if isinstance(order, ConstantOD):
        return order.column in pair
    return isinstance(order, Compatible) and set(order.pair) == pair and order.direction == direction


@pytest.mark.parametrize("method", ["counts", "borders"])
@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [("iris", None, 150), ("abalone", None, 600), ("bridges", list("ABCDEFGH"), 108), ("tax_10k", TAX, 1500)],
)
def test_kept_equals_rediscovered(
    tmp_path: Path, shared_data: Path, name: str, columns: list[str] | None, rows: int, method: Any
) -> None:
    table, options = read(shared_data, name, columns, rows), {"method": method, "max_lhs": 3}
    first, second = table.slice(0, rows * 3 // 4), table.slice(rows * 3 // 4)
    with hf.Monitor.create(tmp_path / "s", {"t": first}, watch=["pod"], **options) as watch:
        watch.apply(inserts=second)
        assert _texts(watch) == {rule.text for rule in rules(table, **options)}
        watch.apply(deletes=table.slice(rows // 5, rows // 10), inserts=table.slice(0, 3))
        left = pa.concat_tables([table.slice(0, rows // 5), table.slice(rows // 5 + rows // 10), table.slice(0, 3)])
        assert _texts(watch) == {rule.text for rule in rules(left, **options)}


def _texts(watch: hf.Monitor) -> set[str]:
    return {finding.text for finding in watch.results("pod")}


def test_both_ways_agree_on_many_columns(shared_data: Path) -> None:
    table = read(shared_data, "letter", None, 60)
    table = table.select(table.column_names[1:13])
    counts, borders = (hf.discover(table, "pod", method=method, max_lhs=3) for method in ("counts", "borders"))
    assert [rule.text for rule in counts] == [rule.text for rule in borders]
    assert len(counts) > 0
