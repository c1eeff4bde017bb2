"""Dependencies of several columns that hold but for some tuples: what the error is, what is reported, and states."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.api.verification import verify
from holdfast.engines.inclusion import InclusionSettings
from holdfast.engines.inclusion.engine import InclusionEngine
from holdfast.engines.inclusion.state import INDState
from holdfast.table.types import Column
from tests.engines.inclusion.several import Watched, filled

COLUMNS = (Column("x", pa.int64()), Column("y", pa.int64()))
SCHEMAS: dict[str, tuple[Column, ...]] = {"r": COLUMNS, "s": COLUMNS}
STOCK = [(part, place) for part in range(5) for place in range(2)]
WHOLE = "r(x, y) in s(x, y)"


def rows(pairs: list[tuple[int | None, int | None]]) -> pa.Table:
    return pa.table(
        {name: pa.array(values, pa.int64()) for name, values in zip("xy", zip(*pairs, strict=True), strict=True)}
    )


def test_the_error_is_the_share_of_distinct_tuples() -> None:
    """Of ten tuples one is missing, in three rows; a row with a null does not count."""
    orders = [*STOCK[:9], (4, 9), (4, 9), (4, 9), (None, 7)]
    watched = Watched(
        filled({"r": orders, "s": [*STOCK, (9, 9), (9, 7)]}, SCHEMAS), InclusionSettings(0.1, max_arity=2)
    )
    ind = watched.result()[WHOLE]
    assert (ind.missing_values, ind.missing_rows, ind.value_coverage, ind.row_coverage) == (1, 3, 0.9, 0.75)
    assert watched.explain(WHOLE).to_json()["value_coverage"] == 0.9
    less = Watched(filled({"r": orders, "s": [*STOCK, (9, 9), (9, 7)]}, SCHEMAS), InclusionSettings(0.09, max_arity=2))
    assert WHOLE not in less.result()


def test_a_part_may_have_more_error_than_the_whole() -> None:
    """One of the two values of x is missing, and one of the hundred tuples: so the parts are a condition."""
    orders = [*((1, y) for y in range(99)), (2, 0)]
    tables = filled({"r": orders, "s": [(1, y) for y in range(99)]}, SCHEMAS)
    assert WHOLE not in Watched(tables, InclusionSettings(0.1, max_arity=2)).result()
    assert WHOLE in Watched(tables, InclusionSettings(0.5, max_arity=2)).result()


def test_a_batch_breaks_and_mends_one() -> None:
    watched = Watched(filled({"r": STOCK[:9], "s": STOCK}, SCHEMAS), InclusionSettings(0.1, max_arity=2))
    assert watched.result()[WHOLE].missing_values == 0
    diff = watched.apply("r", [(4, 1), (4, 1)])
    assert WHOLE not in diff.lost.keys() | diff.changed.keys(), "that tuple is there"
    changed = watched.apply("s", deletes=[9]).changed
    assert [now.to_json()["missing_rows"] for text, (_, now) in changed.items() if text == WHOLE] == [2]
    broken = watched.apply("s", deletes=[8])
    assert WHOLE in broken.lost
    witness = broken.witnesses[WHOLE]
    assert witness.to_json()["missing_values"] >= 1
    assert set(witness.rows) <= set(watched.several.tables["r"].living_ids().tolist())
    assert WHOLE in watched.apply("s", [(4, 0)]).gained


def test_a_state_made_before_means_what_it_meant(tmp_path: Path) -> None:
    """Then those of several columns had to hold exactly, whatever the error was."""
    orders, stock = rows([*STOCK[:9], (4, 9)]), rows([*STOCK, (9, 9)])
    state = tmp_path / "state"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(INDState, "allows_partial", False)
        made = hf.Monitor.create(state, {"r": orders, "s": stock}, watch="ind", error=0.1, max_arity=2)
        before = {ind.text for ind in made.results()}
        made.close()
    assert WHOLE not in before
    assert verify(state, deep=True).problems == ()
    with hf.Monitor.open(state) as monitor:
        assert {ind.text for ind in monitor.results()} == before
        monitor.apply(inserts=rows([(4, 1)]), table="r")
        monitor.add_column("note", "string", table="r")
        monitor.checkpoint()
        assert WHOLE not in {ind.text for ind in monitor.results()}
    with hf.Monitor.open(state) as monitor:
        assert not any(ind.text == WHOLE for ind in monitor.results())
        monitor.unwatch("ind")
        monitor.watch("ind", error=0.1, max_arity=2)
        assert any(ind.text == WHOLE for ind in monitor.results())
    assert verify(state, deep=True).problems == ()


def test_a_dump_of_exact_ones_has_its_old_form() -> None:
    watched = Watched(filled({"r": STOCK, "s": STOCK}, SCHEMAS), InclusionSettings(max_arity=2))
    assert isinstance(watched.engine, InclusionEngine)
    _, facts = watched.engine.dump(watched.state)
    assert facts.keys() == {"columns", "candidates"}
