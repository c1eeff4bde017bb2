"""Known numbers of the field's data sets, all columns ordered, nulls equal and first."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engines.pointwise.boxes import EQUAL, LESS, MORE, Boxes, Space
from holdfast.engines.pointwise.cells import PairValues
from holdfast.engines.pointwise.minimal_rules import WantedRules, derive, vacuous
from holdfast.engines.pointwise.never_sets import never_sets
from tests.engines.pointwise.tables import ranks, values_of

TAX = ["AreaCode", "Zip", "Salary", "Rate", "SingleExemp", "MarriedExemp", "ChildExemp"]
# All minimal rules, those that are not vacuous, and never-sets: each with its mirror, and of two mirrors one.
KNOWN = [
    ("iris", None, (122, 100), (85, 76), (42, 21)),
    ("iris", list("ABCD"), (0, 0), (0, 0), (0, 0)),
    ("abalone", None, (27_687, 22_192), (16_080, 14_570), (6_133, 3_081)),
    ("bridges", list("ABCDEFGHI"), (20_361, 16_148), (10_962, 9_340), (3_075, 1_539)),
    ("tax_10k", TAX, (136, 107), (20, 20), (14, 7)),
]


def numbers(equal_left: Boxes, others: int) -> tuple[int, int]:
    """Of rules: `=` on the right has two mirrors wherever the left side has an inequality."""
    leaning = ((equal_left & LESS != 0) != (equal_left & MORE != 0)).any(axis=1)
    return len(equal_left) + others + int(leaning.sum()), len(equal_left) + others


@pytest.mark.parametrize(("name", "columns", "every", "met", "never"), KNOWN)
def test_known_numbers(
    shared_data: Path,
    name: str,
    columns: list[int | str] | None,
    every: tuple[int, int],
    met: tuple[int, int],
    never: tuple[int, int],
) -> None:
    values = values_of(ranks(shared_data / f"{name}.csv", columns))
    space = Space((True,) * values.shape[1])
    boxes = never_sets(values, space)
    wanted = WantedRules(PairValues(values, space))
    derived = derive(wanted, boxes)
    assert (len(boxes), len(derived.never)) == never
    equal = derived.rules.mark == EQUAL
    mine = numbers(derived.rules.left[equal], int((~equal).sum()))
    assert mine == met
    others = vacuous(derived, wanted)
    theirs = numbers(others.left[others.mark == EQUAL], int((others.mark != EQUAL).sum()))
    assert (mine[0] + theirs[0], mine[1] + theirs[1]) == every


def test_all_values_occur(shared_data: Path) -> None:
    """Of the first 4,000 rows of letter, and so of all, on the first 8 numeric columns: nothing is never met."""
    values = values_of(ranks(shared_data / "letter.csv", range(1, 9), 4_000))
    assert len(values) == 3**8
    assert not len(never_sets(values, Space((True,) * 8)))
