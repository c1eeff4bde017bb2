"""Errors in the Tax table: in the given number, of four kinds, each of which breaks its rule."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.tax_errors import dirty_tax
from holdfast.demo.tax import make_tax
from tests.demo.test_tax import ROWS, broken_groups, repeated_keys, unfair_steps


def changed_cells(clean: pa.Table, dirty: pa.Table) -> dict[str, Any]:
    """For each column that differs, which rows do."""
    differs = {name: pc.not_equal(clean[name], dirty[name]).to_numpy() for name in clean.column_names}
    return {name: rows for name, rows in differs.items() if rows.any()}


@pytest.fixture(scope="module")
def tax() -> pa.Table:
    return make_tax(ROWS)


def test_errors_are_the_same_each_time_and_others_elsewhere() -> None:
    assert dirty_tax(ROWS, 0.1).equals(dirty_tax(ROWS, 0.1))
    assert not dirty_tax(ROWS, 0.1, offset=ROWS).equals(dirty_tax(2 * ROWS, 0.1).slice(ROWS))


@pytest.mark.parametrize("share", [0.0002, 0.02, 0.5, 1.0])
def test_errors_spoil_one_cell_in_the_given_share_of_rows(tax: pa.Table, share: float) -> None:
    changed = changed_cells(tax, dirty_tax(ROWS, share))
    assert set(changed) <= {"City", "Rate", "ChildExemp", "Phone"}
    cells_per_row = np.sum(list(changed.values()), axis=0)
    assert int(cells_per_row.sum()) == round(ROWS * share)
    assert cells_per_row.max() == 1


def test_the_kinds_of_errors_are_equally_likely_and_break_their_rules(tax: pa.Table) -> None:
    dirty = dirty_tax(ROWS, 0.02)
    counts = {name: int(rows.sum()) for name, rows in changed_cells(tax, dirty).items()}
    assert counts == {"City": 25, "Rate": 25, "ChildExemp": 25, "Phone": 25}
    assert repeated_keys(dirty, ["AreaCode", "Phone"]) == 25
    assert broken_groups(dirty, ["Zip"], "City") > 0
    assert broken_groups(dirty, ["State", "HasChild"], "ChildExemp") > 0
    assert unfair_steps(dirty) > 0
    assert broken_groups(dirty, ["AreaCode"], "State") == 0


def test_a_row_alone_in_its_area_gets_a_wrong_city_instead() -> None:
    tiny = 4
    changed = changed_cells(make_tax(tiny), dirty_tax(tiny, 1.0))
    assert {name: int(rows.sum()) for name, rows in changed.items()} == {"City": 2, "Rate": 1, "ChildExemp": 1}
