"""The alarm budget: which suggestions are errors, by the breaks to expect of them by chance."""

from __future__ import annotations

import datetime as dt
import doctest
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.errors import BadInput
from holdfast.ranking import expectation
from holdfast.ranking.expectation import EACH, FEWEST, Expectation, Usual


def orders(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table({
        "id": [f"O-{number:06d}" for number in numbers],
        "state": [["new", "sent", "done"][number % 3] for number in numbers],
    })  # fmt: skip


def test_the_examples_are_right() -> None:
    assert not doctest.testmod(expectation).failed


@given(st.lists(st.one_of(st.none(), st.floats(0, 0.02)), max_size=300), st.sampled_from([0.0, 0.1, 1.0]))
def test_errors_stay_within_the_budget(breaks: list[float | None], budget: float) -> None:
    """Each, and all together; a rule that is left out would exceed it, and is broken more often than those taken."""
    allowed = Expectation(budget=budget).errors(breaks)
    taken = [each for each, error in zip(breaks, allowed, strict=True) if error and each is not None]
    left = [each for each, error in zip(breaks, allowed, strict=True) if not error]
    assert sum(taken) <= budget * (1 + 1e-9)
    assert all(each <= EACH * budget for each in taken)
    assert None not in left
    for each in left:
        assert each is not None
        assert each > EACH * budget or sum(taken) + each > budget * (1 - 1e-9)


def test_many_rules_share_the_budget() -> None:
    assert sum(Expectation(budget=0.1).errors([0.001] * 150)) == 100


def test_a_usual_batch_is_that_of_the_history() -> None:
    assert Usual.of([5] * (FEWEST - 1), 3000) == Usual(100.0)
    assert Usual.of([5, 7, 900] * FEWEST, 3000) == Usual(7.0, 3 * FEWEST)


def test_a_budget_of_nothing_leaves_warnings() -> None:
    found = hf.suggest(orders(0, 900), alarm_budget=0.0)
    assert {each.severity for each in found if each.expected_breaks is not None} == {"warn"}
    assert "error" in {each.severity for each in hf.suggest(orders(0, 900))}


@pytest.mark.parametrize("budget", [-0.1, float("nan"), float("inf")])
def test_what_is_no_budget_is_refused(budget: float, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="alarm budget"):
        hf.suggest(orders(0, 900), alarm_budget=budget)
    with pytest.raises(BadInput, match="alarm budget"):
        hf.Monitor.create(tmp_path / "s", orders(0, 900), alarm_budget=budget)


def test_a_state_keeps_its_budget_and_knows_its_batches(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", {"t": orders(0, 900)}, alarm_budget=0.0) as watch:
        assert {each.severity for each in watch.rules().entries if each.text != "t.id is not null"} == {"warn"}
        assert {each.severity for each in watch.suggest(alarm_budget=0.1)} == {"warn", "error"}
        assert watch.suggest().ranked[0].usual == Usual(30.0)
        for number in range(FEWEST):
            watch.apply(inserts=orders(900 + 3 * number, 3))
        assert watch.suggest().ranked[0].usual == Usual(3.0, FEWEST)


def test_a_note_says_what_to_expect() -> None:
    notes = [each.note for each in hf.suggest({"t": orders(0, 900)}).rules().entries]
    assert all(" times in 100 batches of 30 rows (score " in note for note in notes)
    assert any("chance breaks it less than 0.001 times" in note for note in notes)


def test_the_budget_of_a_state_can_be_changed(tmp_path: Path) -> None:
    """Suggested rules become errors or warnings by it; rules of a user, and what batches broke, stay as they are."""
    with hf.Monitor.create(tmp_path / "s", {"t": orders(0, 900)}) as watch:
        watch.add_rules("t.state != 'lost'")
        before = {each.text: each.severity for each in watch.rules().entries}
        assert before["t.id matches 'O-[0-9]{6}'"] == before["t.state != 'lost'"] == "error"
        watch.alarm_budget(0.0)
        after = {each.text: each.severity for each in watch.rules().entries}
        assert after["t.id matches 'O-[0-9]{6}'"] == "warn"
        assert after["t.state != 'lost'"] == "error"
        assert after["t.id is not null"] == "error", "a key that names rows has values, whatever chance does"
        assert watch.alarm_budget(0.0).batch is None
        watch.alarm_budget(0.1)
        assert {each.text: each.severity for each in watch.rules().entries} == before
        assert watch.suggest().expectation.budget == 0.1


def test_more_budget_makes_no_error_a_warning(tmp_path: Path) -> None:
    """Also where rows that came since speak against it: a null in another column makes a rule about nulls less sure."""
    with hf.Monitor.create(tmp_path / "s", {"t": orders(0, 900)}) as watch:
        before = {each.text for each in watch.rules().entries if each.severity == "error"}
        assert "t.id is not null" in before
        nothing = pa.table({"id": ["O-000900"], "state": pa.array([None], pa.string())})
        watch.apply(inserts=nothing)
        watch.alarm_budget(1.0)
        assert before <= {each.text for each in watch.rules().entries if each.severity == "error"}
        watch.alarm_budget(0.5)
        watch.alarm_budget(0.0)
        errors = {each.text for each in watch.rules().entries if each.severity == "error"}
        watch.alarm_budget(0.0)
        assert errors == {each.text for each in watch.rules().entries if each.severity == "error"}


def test_a_first_load_that_is_cut_into_days_knows_its_batches(tmp_path: Path) -> None:
    days = pa.array([dt.datetime(2025, 1, 1) + dt.timedelta(hours=number) for number in range(960)])
    table = orders(0, 960).append_column("at", days)
    with hf.Monitor.create(tmp_path / "s", {"t": table}) as watch:
        (note,) = (each.note for each in watch.rules().entries if each.text == "t.id matches 'O-[0-9]{6}'")
    assert " times in 100 batches of 24 rows (score " in note
