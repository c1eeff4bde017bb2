"""Values that likely rules contradict: how many rules it takes, how sure they are, and how alone a value must be."""

from __future__ import annotations

import pyarrow as pa
import pytest

from holdfast.engines.scored import Scored
from holdfast.engines.watched import WatchedTable
from holdfast.ranking.doubts import doubts
from holdfast.ranking.suggestion import Doubt, Suggestion
from holdfast.rules.dependency import FD
from holdfast.table.runner import Threads
from holdfast.table.types import Column
from tests.engines.inclusion.several import filled

GROUP = 20  # rows that share a, and so b


def table(wrong: int) -> WatchedTable:
    """Two groups of equal a, and of equal b; in the first, some rows have another c."""
    columns = tuple(Column(name, pa.int64()) for name in "abc")
    rows = [(row // GROUP, row // GROUP, 9 if row < wrong else row // GROUP) for row in range(2 * GROUP)]
    return WatchedTable(filled({"t": rows}, {"t": columns}).tables["t"])


def rule(left: str, g3: float, group: str = "") -> Suggestion:
    """A rule about c with the given g3 error."""
    scored = Scored(FD("t", (left,), "c"), "t", 0.9, 2 * GROUP, "", 1 if g3 else 0, g3)
    return Suggestion(scored, 1 if left == "a" else 2, group or left, is_likely=True)


def doubted(*rules: Suggestion, wrong: int = 1) -> tuple[Doubt, ...]:
    return doubts(rules, {"t": table(wrong)}, Threads())


@pytest.mark.parametrize(("g3", "count"), [(0.01, 1), (0.011, 0)])
def test_one_rule_is_enough_that_hardly_any_row_breaks(g3: float, count: int) -> None:
    assert len(doubted(rule("a", g3))) == count


def test_two_rules_are_enough_that_few_rows_break() -> None:
    (found,) = doubted(rule("a", 0.05), rule("b", 0.02))
    assert (found.row, found.column, found.value, found.usual) == (0, "c", 9, 0)
    assert found.rules == ("a -> c", "b -> c")
    assert not doubted(rule("a", 0.051), rule("b", 0.02)), "one that more rows break says little"
    assert not doubted(rule("a", 0.02, "a"), rule("b", 0.02, "a")), "in other words they are one"


def test_an_exact_rule_vouches_for_its_column() -> None:
    assert not doubted(rule("a", 0.01), rule("b", 0.0))


@pytest.mark.parametrize(("wrong", "count"), [(2, 2), (3, 0)])
def test_a_value_that_more_than_a_tenth_of_the_group_has_is_not_alone(wrong: int, count: int) -> None:
    assert len(doubted(rule("a", 0.01), wrong=wrong)) == count


def test_the_number_of_doubts_is_bounded() -> None:
    assert len(doubts([rule("a", 0.01)], {"t": table(2)}, Threads(), most=1)) == 1
