"""The score that a rule needs, how many rows may break it, and the order of suggestions."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from holdfast.engines.scored import Scored
from holdfast.engines.thresholds import NEARLY, least
from holdfast.ranking.order import ranked
from holdfast.ranking.suggestion import Suggestion
from holdfast.rules.dependency import FD, Key
from holdfast.table.table import Schema
from holdfast.table.types import Column

ROWS = 1000
SHAPES = {"t": (Schema("t", tuple(Column(name, pa.int64()) for name in "abcdef")), ROWS)}


def fd(left: str, right: str, score: float, g3: float = 0.0, support: int = ROWS) -> Scored:
    return Scored(FD("t", tuple(left), right), "t", score, support, "", int(g3 * ROWS), g3)


def key(columns: str, score: float) -> Scored:
    return Scored(Key("t", tuple(columns)), "t", score, ROWS, "")


def suggested(*found: Scored) -> list[Suggestion]:
    return list(ranked(found, SHAPES)[0])


def likely(*found: Scored) -> set[str]:
    return {each.text for each in suggested(*found) if each.is_likely}


@pytest.mark.parametrize(("left", "needed"), [("a", 0.6), ("ab", 0.48), ("abc", 0.288)])
def test_the_needed_score_falls_with_the_length_of_a_rule(left: str, needed: float) -> None:
    assert least(len(left)) == pytest.approx(needed)
    assert likely(fd(left, "d", least(len(left))))
    assert not likely(fd(left, "d", least(len(left)) - 1e-9))


def test_how_many_rows_may_break_a_rule() -> None:
    assert NEARLY == 0.2
    assert likely(fd("a", "b", 0.9, 0.2), fd("a", "c", 0.9, 0.201)) == {"a -> b"}


def test_other_keys_must_be_half_as_good_as_the_best() -> None:
    assert likely(key("bc", 0.49)) == {"key(b, c)"}
    assert likely(key("a", 1.0), key("bc", 0.49)) == {"key(a)"}
    assert likely(key("bc", 0.5), key("a", 1.0)) == {"key(a)", "key(b, c)"}
    assert likely(key("a", 1.0), fd("bc", "d", 0.49)) == {"key(a)", "b, c -> d"}, "keys alone are compared with it"


def test_the_best_come_first_then_short_ones_and_those_that_more_rows_tested() -> None:
    found = [fd("a", "b", 0.7, support=10), fd("cd", "b", 0.7), fd("c", "b", 0.7, support=20), fd("d", "b", 0.8)]
    ranked = suggested(*found)
    assert [each.text for each in ranked] == ["d -> b", "c -> b", "a -> b", "c, d -> b"]
    assert [each.rank for each in ranked] == [1, 2, 3, 4]


def test_an_exact_rule_is_an_error_and_others_warn() -> None:
    assert [each.severity for each in suggested(fd("a", "b", 0.9), fd("a", "c", 0.8, 0.1))] == ["error", "warn"]


@pytest.mark.parametrize(
    ("others", "severity"),
    [
        ([], "error"),
        ([fd("a", "c", 0.95, 0.004), fd("c", "b", 0.9)], "warn"),
        ([fd("a", "c", 0.95, 0.005), fd("c", "b", 0.9)], "error"),
        ([fd("a", "c", 0.95, 0.0), fd("c", "b", 0.9)], "error"),
        ([fd("a", "c", 0.95, 0.004), fd("c", "d", 0.9), fd("d", "b", 0.9)], "warn"),
        ([fd("a", "c", 0.95, 0.004), fd("c", "b", 0.9, 0.001)], "error"),
    ],
)
def test_an_exact_rule_that_hardly_a_row_tests_by_itself_warns(others: list[Scored], severity: str) -> None:
    """`a -> c -> b` holds but for a few rows: these alone test `a -> b`."""
    found = suggested(fd("a", "b", 0.99), *others)
    assert next(each.severity for each in found if each.text == "a -> b") == severity


def test_what_few_rows_tested_and_what_its_class_is_not_sure_of_warns() -> None:
    unsure = replace(fd("c", "d", 0.9), sure=False)
    found = suggested(fd("a", "b", 0.9, support=9), fd("a", "c", 0.9, support=10), unsure)
    assert {each.text: each.severity for each in found} == {"a -> b": "warn", "a -> c": "error", "c -> d": "warn"}
