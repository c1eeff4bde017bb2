"""Which method finds rules, and the sentence that says why."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.borders.borders import Borders
from holdfast.borders.rows import CodedColumns
from holdfast.borders.strategy_choice import Budget, StrategyChoice, choose, strategy_in_words
from holdfast.borders.targets import Targets
from holdfast.engines.functional import engine as functional
from holdfast.errors import BadInput
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.table import Schema, Table
from holdfast.table.types import Column

BUDGET = Budget(pairs=1_000, wide=50, wide_pairs=1_000_000)


@pytest.mark.parametrize(
    ("rows", "columns", "method", "why"),
    [
        (0, 5, "counts", "few"),
        (45, 5, "counts", "990 pairs of rows are few"),
        (46, 5, "borders", "46 rows make 1,035 pairs, too many"),
        (1_000, 50, "counts", "50 columns are many"),
        (10_000, 50, "borders", "too many"),
    ],
)
def test_the_method_follows_from_rows_and_columns(rows: int, columns: int, method: str, why: str) -> None:
    choice = choose("auto", rows, columns, BUDGET)
    assert choice.name == method
    assert why in choice.why
    assert why in strategy_in_words(choice.name, choice.why)


def test_the_method_can_be_given() -> None:
    assert choose("borders", 3, 3, BUDGET).name == "borders"
    assert choose("counts", 10**6, 3, BUDGET).name == "counts"
    with pytest.raises(BadInput, match="no method 'both'; choose from: auto, counts, borders"):
        hf.discover(pa.table({"a": [1]}), "fd", method="both")


def test_a_share_of_pairs_is_counted() -> None:
    with pytest.raises(BadInput, match="found by counting pairs, or groups of rows"):
        hf.discover(pa.table({"a": [1, 2]}), "fd", method="borders", error=0.1)


def test_approximate_rules_of_tall_tables_are_found_by_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": [1, 2, 2], "b": [1, 1, 2]})
    counted = hf.discover(table, "fd,ucc", error=0.4)
    monkeypatch.setattr(functional, "APPROXIMATE", BUDGET)
    monkeypatch.setattr(functional, "choose", lambda *_: StrategyChoice("borders", "as 3 rows are many"))
    grouped = hf.discover(table, "fd,ucc", error=0.4)
    assert grouped.to_json() == counted.to_json()
    assert strategy_in_words("groups", "as asked") == "by counting groups of rows that agree, as asked"


def test_a_long_count_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functional, "APPROXIMATE", Budget(0, 0, 0))
    said: list[str] = []

    class Said(Progress):
        def note(self, text: str) -> None:
            said.append(text)

    found = hf.discover(pa.table({"a": [1, 2, 2], "b": [1, 1, 2]}), "fd", error=0.4, method="counts", progress=Said())
    assert found.findings
    assert any("all 3 pairs of rows are counted: about 0 minutes" in text for text in said)


def test_columns_that_no_bitset_spans_are_refused() -> None:
    schema = Schema("wide", tuple(Column(f"c{number}", pa.int64()) for number in range(513)))
    rows = CodedColumns(Table.empty(schema))
    with pytest.raises(BadInput, match="up to 512 columns, not 513; choose some with --columns"):
        Borders.of(rows, Targets(513))


def test_a_table_without_rows_has_empty_contexts_alone() -> None:
    table = Table.empty(Schema("none", tuple(Column(name, pa.int64()) for name in "ab")))
    borders = Borders.of(CodedColumns(table), Targets(2))
    assert all(not own.sets.any() and len(own) == 1 for own in borders.covers.values())
    assert not len(borders.follow(Change(table, table, range(0), np.empty(0, np.int64))))
