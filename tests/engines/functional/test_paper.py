"""The paper's Table 1 (papers: dynast), with its deletion and its insertions, step by step."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.functional.agree_sets import AgreeSetStrategy
from holdfast.engines.functional.engine import DependencyState
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BatchReader, Sources, build_table
from holdfast.pairs import bitsets
from holdfast.progress import Progress
from holdfast.rules.dependency import FD, Key
from holdfast.table.change import Batch, Change
from holdfast.table.runner import Threads
from holdfast.table.table import Table
from tests.oracle import functional as oracle

Employee = tuple[str, str, str, int]
COLUMNS = ("FN", "LN", "P", "S")
FIRST = [
    ("John", "Bond", "Manager", 2500),
    ("Marie", "Miller", "Manager", 3000),
    ("Marie", "Bond", "Employee", 2000),  # the table prints "Employer", but its agree-sets need "Employee"
    ("Tom", "Gray", "Manager", 3000),
]
FRESH = [("John", "Miller", "Employee", 2000), ("Anna", "Scott", "Manager", 3000)]


def arrow(rows: list[Employee]) -> pa.Table:
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)})


def changed(table: Table, folder: Path, inserts: pa.Table | None, deletes: pa.Table | None) -> Change:
    sources = Sources(inserts=inserts, deletes=deletes)
    done = BatchReader(table, (), ReadOptions(), None, "error", str(folder), None, Progress()).admit(sources)
    return Change(table, done.table, done.born, done.dead)


def counted(state: DependencyState) -> Counter[frozenset[str]]:
    """The agree-sets by column names, the empty one aside, as the paper lists them."""
    assert isinstance(state.strategy, AgreeSetStrategy)
    sets, counts = state.strategy.pairs.sets.sets, state.strategy.pairs.sets.counts
    named = {frozenset(COLUMNS[c] for c in bitsets.elements(one)): int(n) for one, n in zip(sets, counts, strict=True)}
    return Counter({names: count for names, count in named.items() if names})


def by_definition(rows: list[Employee]) -> tuple[set[str], set[str]]:
    fds = {FD("Employee", tuple(COLUMNS[c] for c in lhs), COLUMNS[a]).text for lhs, a in oracle.fds(rows, 4, "equal")}
    return fds, {Key("Employee", tuple(COLUMNS[c] for c in key)).text for key in oracle.keys(rows, 4, "equal")}


def test_table_1_step_by_step(tmp_path: Path) -> None:
    table = build_table("Employee", arrow(FIRST), ReadOptions(), (), "equal", str(tmp_path), None, Progress())
    fd, ucc = make_engine("fd"), make_engine("ucc")
    watched = WatchedTable(table.admitted.table)
    states = [one.discover(watched, Threads()) for one in (fd, ucc)]
    p, ln, fn, ps = (frozenset(names) for names in (["P"], ["LN"], ["FN"], ["P", "S"]))
    assert counted(states[0]).keys() == {p, ln, fn, ps}
    assert {text for text in fd.result(states[0]) if text.endswith("-> FN")} == {"LN, P -> FN", "LN, S -> FN"}
    assert (set(fd.result(states[0])), set(ucc.result(states[1]))) == by_definition(FIRST)

    gone = changed(table.admitted.table, tmp_path, None, arrow(FIRST[3:]))
    watched.follow(gone, Threads())
    diffs = [_followed(one, state, Batch([gone])) for one, state in zip((fd, ucc), states, strict=True)]
    assert counted(states[0]) == {p: 1, ln: 1, fn: 1}
    assert not any(diff.witnesses for diff in diffs), "a deletion breaks nothing"
    assert (set(fd.result(states[0])), set(ucc.result(states[1]))) == by_definition(FIRST[:3])

    fresh = changed(gone.after, tmp_path, arrow(FRESH), None)
    watched.follow(fresh, Threads())
    diffs = [_followed(one, state, Batch([fresh])) for one, state in zip((fd, ucc), states, strict=True)]
    assert counted(states[0]) == {p: 2, ln: 2, fn: 2, ps: 2}, "section 6"
    assert (set(fd.result(states[0])), set(ucc.result(states[1]))) == by_definition(FIRST[:3] + FRESH)
    one, other = diffs[0].witnesses["S -> FN"].values
    assert one["S"] == other["S"]
    assert one["FN"] != other["FN"]


def _followed(engine: Engine[Any, Any], state: Any, batch: Batch) -> Diff:
    return engine.explained(state, engine.follow(state, batch, Threads()), batch)


@pytest.mark.parametrize(("error", "expected"), [(0.0, False), (0.19, False), (0.2, True)])
def test_the_error_counts_unordered_pairs(tmp_path: Path, error: float, expected: bool) -> None:
    """Definition 6.1 on t1, t2, t3, t5, t6: two of ten pairs agree on S, and differ on FN."""
    rows = FIRST[:3] + FRESH
    table = build_table("Employee", arrow(rows), ReadOptions(), (), "equal", str(tmp_path), None, Progress())
    found = make_engine("fd", {"error": error})
    rules: Any = found.result(found.discover(WatchedTable(table.admitted.table), Threads()))
    assert ("S -> FN" in rules) is expected
    if expected:
        assert rules["S -> FN"].error == 0.2
