"""1,000 batches and more in which nothing is wrong: at most one alarm, and hardly a warning."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.seasons.generator import domains
from tests.seasons.replay import replayed

HISTORY, DAYS = 45, 70


def test_quiet_batches_raise_at_most_one_alarm_in_a_thousand(tmp_path: Path) -> None:
    batches = 0
    alarms: list[object] = []
    warnings: list[object] = []
    for seed in range(5):
        random = np.random.default_rng(1_000 + seed)
        for domain in domains(seed):
            days = [domain.day(day, random) for day in range(HISTORY + DAYS)]
            for layout, found in replayed(tmp_path, days, domain.time, HISTORY):
                batches += 1
                for each in found.said:
                    figure = layout.figures[each.place]
                    (alarms if figure.level == "error" else warnings).append((seed, domain.name, figure, each))
    assert batches >= 1_000
    assert len(alarms) <= 1, alarms
    assert len(warnings) <= 2, warnings
