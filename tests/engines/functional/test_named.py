"""Given keys and FDs: their track records under batches, equal for all who open the state, and their trust."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.functional.groups import Groups
from holdfast.engines.given.track_record import TrackRecord
from holdfast.table.nulls import NullMode
from tests.engines.functional.test_groups import followed, lefts, rights
from tests.laws.world import Batch, Row, World, batches, null_modes, row_lists
from tests.oracle import functional as oracle


@settings(max_examples=80)
@given(first=row_lists, stream=st.lists(batches, min_size=1, max_size=4), lhs=lefts, rhs=rights, nulls=null_modes)
def test_rows_that_might_have_broken_a_rule_are_counted(
    first: list[Row], stream: list[Batch], lhs: list[int], rhs: int | None, nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    groups = Groups(world.table, lhs, rhs)
    for batch in stream:
        before = oracle.to_remove_by_group(_rows(world), lhs, rhs, nulls)
        change = world.change(batch)
        effect = followed(groups, change)
        names = [tuple(row[c] for c in lhs) for row in _rows(world)]
        old = len(names) - len(change.born)
        outside = set(groups.outside_pairs()[:, 0].tolist())
        ids = world.table.living_ids().tolist()
        tested: Counter[tuple[object, ...]] = Counter()
        wrong: Counter[tuple[object, ...]] = Counter()
        for place in range(old, len(names)):
            if None not in names[place]:
                older = [name for name in names[:place] if None not in name]
                tested[names[place]] += bool(older) if rhs is None else names[place] in older
                wrong[names[place]] += ids[place] in outside
        after = oracle.to_remove_by_group(_rows(world), lhs, rhs, nulls)
        assert effect.tested == tested.total()
        assert effect.broke == sum(max(wrong[name], after[name] - before[name]) for name in tested)


def _rows(world: World) -> list[Row]:
    """The living rows in the order of their ids; NaN equals itself."""
    rows = [tuple(row.values()) for row in world.table.values(world.table.living_ids()).to_pylist()]
    return [tuple("NaN" if value != value else value for value in row) for row in rows]


def _batch(*rows: tuple[int, str]) -> pa.Table:
    return pa.table({"zip": [zip_code for zip_code, _ in rows], "city": [city for _, city in rows]})


_BATCHES = [
    _batch((1, "Berlin"), (3, "Kiel")),
    _batch((1, "Berlin"), (2, "Altona"), (2, "Hamburg")),
    _batch((1, "Brelin")),
]


@pytest.mark.parametrize("checkpoint", [False, True])
def test_the_track_record_of_a_rule_is_stored(tmp_path: Path, checkpoint: bool) -> None:
    """Also where batches are replayed together that came one by one, and took away the row that others shared with."""
    towns = _batch((1, "Berlin"), (2, "Hamburg"))
    rules = ["zip -> city", "key(zip)"]
    with hf.Monitor.create(tmp_path / "state", {"towns": towns}, watch=[], rules=rules) as monitor:
        assert [_track_record(line) for line in _lines(monitor)] == [(0, 0), (0, 0)]
        for batch in _BATCHES:
            monitor.apply(inserts=batch)
        monitor.apply(deletes=_batch((2, "Hamburg"), (2, "Hamburg")))
        lines = _lines(monitor)
        assert [_track_record(line) for line in lines] == [(5, 2), (6, 5)]
        assert all(line["score"] <= line["trust"] < 1 for line in lines)
        history = {line["text"]: (line["score"], line["support"]) for line in monitor.rule_history()}
        assert history == {line["text"]: (line["score"], line["support"]) for line in lines}
        if checkpoint:
            monitor.checkpoint()
    with hf.Monitor.open(tmp_path / "state") as monitor:
        assert _lines(monitor) == lines
        monitor.apply(inserts=_batch((3, "Kiel")))
        assert [_track_record(line) for line in _lines(monitor)] == [(6, 2), (7, 6)]
    with hf.Monitor.open(tmp_path / "state", write=False) as view:
        assert [_track_record(line) for line in _lines(view)] == [(6, 2), (7, 6)]
    assert not hf.verify(tmp_path / "state", deep=True).problems


def _lines(view: hf.View) -> list[dict[str, Any]]:
    return [finding.to_json() for finding in view.results("named")]


def _track_record(line: dict[str, Any]) -> tuple[object, object]:
    return line["tested_since"], line["broke_since"]


def test_trust_rises_with_rows_that_passed_and_falls_with_those_that_broke() -> None:
    assert TrackRecord().trust(0.5) == 0.5
    assert TrackRecord(100, 0).trust(0.5) == 0.75
    passed = [TrackRecord(rows, 0).trust(0.5) for rows in (0, 10, 100, 1000, 10**6)]
    assert passed == sorted(set(passed))
    broke = [TrackRecord(1000, rows).trust(0.5) for rows in (0, 1, 10, 999)]
    assert broke == sorted(set(broke), reverse=True)
    assert TrackRecord(10, 10).trust(0.5) == 0.5
