"""Problems planted in seasons, watched as a new user would: those that expectations can see are seen on their day.

A problem counts as seen if its batch is an alarm; where only a warning is promised, if it says something of its table.
`PARTS` are the parts whose problems are asserted: with another part, its problems count as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import holdfast as hf
from holdfast.results.outcome import Outcome
from tests.seasons.generator import Columns, Random, as_table, domains, together
from tests.seasons.problems import BATCHES, Problem, seen_by
from tests.seasons.replay import replayed

PARTS = BATCHES
HISTORY, DAYS = 45, 22


def _planted(seed: int, days: range) -> dict[int, Problem]:
    """A problem on every other day, of the kinds that the parts are to see."""
    every = [each for part in PARTS for each in seen_by(part)]
    order = np.random.default_rng(seed).permutation(len(every))
    return {day: every[order[place % len(every)]] for place, day in enumerate(days[1::2])}


def _is_seen(problem: Problem, outcome: Outcome) -> bool:
    about = {each.key[1] for each in outcome.worse() if each.level == "failed" or not problem.alarm}
    return problem.table in about and (outcome.broken or not problem.alarm)


@pytest.mark.parametrize("seed", range(5))
def test_nine_in_ten_problems_are_seen_on_their_day(tmp_path: Path, seed: int) -> None:
    random, tables = np.random.default_rng(seed), domains(seed)
    first = {each.name: as_table(together([each.day(day, random) for day in range(HISTORY)])) for each in tables}
    planted = _planted(seed, range(HISTORY, HISTORY + DAYS))
    missed: list[str] = []
    false: list[str] = []
    with hf.Monitor.create(tmp_path / "state", first) as watch:
        for day in range(HISTORY, HISTORY + DAYS):
            problem, rows = planted.get(day), {each.name: each.day(day, random) for each in tables}
            outcome = watch.apply(inserts=_batch(rows, problem, random))
            if problem is None:
                false += [each.sentence for each in outcome.unusual]
            elif not _is_seen(problem, outcome):
                missed.append(problem.name)
    assert len(missed) <= 0.1 * len(planted), missed
    assert not false


def _batch(rows: Mapping[str, Columns], problem: Problem | None, random: Random) -> dict[str, object]:
    """The rows of a day, with a problem."""
    own = dict(rows)
    if problem is not None:
        own[problem.table] = problem.spoil(random, own[problem.table])
    return {name: as_table(each) for name, each in own.items()}


def test_each_kind_of_problem_is_seen(tmp_path: Path) -> None:
    """By the statistics alone, each kind three times."""
    missed: Counter[str] = Counter()
    for seed in range(3):
        random = np.random.default_rng(50 + seed)
        for domain in domains(seed):
            own = [each for each in seen_by("batches") if each.table == domain.name]
            days = [domain.day(day, random) for day in range(HISTORY + 2 * len(own))]
            for place, problem in enumerate(own):
                days[HISTORY + 2 * place + 1] = problem.spoil(random, days[HISTORY + 2 * place + 1])
            for day, (layout, found) in enumerate(replayed(tmp_path, days, domain.time, HISTORY)):
                levels = {layout.figures[each.place].level for each in found.said}
                if day % 2 and not levels & ({"error"} if own[day // 2].alarm else {"error", "warn"}):
                    missed[own[day // 2].name] += 1
    assert missed.total() <= 0.1 * 3 * len(seen_by("batches")), missed
    assert max(missed.values(), default=0) < 3, missed


def test_problems_of_rows_are_seen_by_rules_about_one_row(tmp_path: Path) -> None:
    """Each breaks such a rule of its table on its day, also one that only warns; days between break none."""
    random, tables = np.random.default_rng(0), domains(0)
    first = {each.name: as_table(together([each.day(day, random) for day in range(HISTORY)])) for each in tables}
    wrong = seen_by("rows")
    with hf.Monitor.create(tmp_path / "state", first) as watch:
        for place in range(2 * len(wrong)):
            problem = wrong[place // 2] if place % 2 else None
            rows = {each.name: each.day(HISTORY + place, random) for each in tables}
            outcome = watch.apply(inserts=_batch(rows, problem, random))
            broken = {each.key[1] for each in outcome.worse() if each.key[0] == "row"}
            assert broken == ({problem.table} if problem else set()), problem
