"""Slices of a table, searched one by one as tasks would, give what one search of the whole gives."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.engines.given.queries import queries_of
from holdfast.rules.denial import DenialConstraint
from holdfast.search.slices import find_in_tasks
from holdfast.table.runner import Threads
from tests.engines.denial.streams import detect, discover
from tests.engines.denial.test_engine import SCHEMA, constraints, rows
from tests.table.building import Kept, inserts

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Tasks:
    """A runner that keeps to the rules of tasks: function, items and answers travel as bytes."""

    is_local = False

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        answers: list[Answer] = []
        for item in items:
            there, what = pickle.loads(pickle.dumps((function, item)))
            answers.append(pickle.loads(pickle.dumps(there(what))))
        return answers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("segments"))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(rows, min_size=1, max_size=20),
    st.lists(constraints, min_size=1, max_size=3),
    st.integers(1, 4),
    st.sampled_from([0, 5, 10_000]),
)
def test_slices_agree_with_the_whole(
    folder: str, start: list[tuple[Any, ...]], rules: list[DenialConstraint], slices: int, limit: int
) -> None:
    _, kept = Kept.empty(SCHEMA, folder).operate(inserts(start))
    _, kept = kept.operate(inserts(start[:3]))
    whole = detect(kept.table, rules, Threads(2), limit)
    sliced = find_in_tasks(
        kept.table, [query for rule in rules for query in queries_of(rule, SCHEMA)], Tasks(), limit, slices
    )
    for one, other in zip(whole, sliced, strict=True):
        assert (one.count, one.pairs is None) == (other.count, other.pairs is None)
        if one.pairs is not None and other.pairs is not None:
            assert one.pairs.tolist() == other.pairs.tolist()


def test_a_runner_of_tasks_finds_the_first_set(folder: str) -> None:
    start = [(i % 3, i, i / 2, None, "a", None) for i in range(9)]
    _, kept = Kept.empty(SCHEMA, folder).operate(inserts(start))
    rules = [
        DenialConstraint.parse("not(t.a = s.a and t.b < s.b)"),
        DenialConstraint.parse("not(t.b > s.b and t.f <= s.f)"),
    ]
    states = [discover(kept.table, rules, runner) for runner in (Tasks(), Threads(2))]
    for one, other in zip(states[0].found(), states[1].found(), strict=True):
        assert one.pairs is not None and other.pairs is not None  # noqa: PT018
        assert one.pairs.tolist() == other.pairs.tolist()
