"""Pairs of rows as a graph, compared with a plain set of pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from holdfast.search.graph import PairGraph

ends = st.integers(0, 12)


class PairsBesideASet(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.graph = PairGraph()
        self.pairs: set[tuple[int, int]] = set()

    @rule(new=st.sets(st.tuples(ends, st.integers(-1, 12)).filter(lambda p: p[0] != p[1]), max_size=30))
    def add(self, new: set[tuple[int, int]]) -> None:
        fresh = np.array(sorted(new - self.pairs), np.int64).reshape(-1, 2)
        self.graph.add(fresh[:, 0].copy(), fresh[:, 1].copy())
        self.pairs |= new

    @rule(rows=st.sets(ends, max_size=4))
    def remove(self, rows: set[int]) -> None:
        gone = self.graph.remove_rows(np.array(sorted(rows), np.int64))
        expected = {pair for pair in self.pairs if rows & set(pair)}
        assert sorted(map(tuple, gone.tolist())) == sorted(expected)
        self.pairs -= expected

    @invariant()
    def same(self) -> None:
        assert sorted(tuple(pair) for pair in self.graph.pairs().tolist()) == sorted(self.pairs)
        degrees = {row: sum(row in pair for pair in self.pairs) for row in range(13)}
        assert self.graph.degrees(np.arange(13)).tolist() == list(degrees.values())
        for row in range(0, 13, 4):
            assert [tuple(p) for p in self.graph.pairs_of(row).tolist()] == sorted(p for p in self.pairs if row in p)


TestPairsBesideASet = PairsBesideASet.TestCase
TestPairsBesideASet.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)


def test_many_rows_come_and_go_in_bounded_memory() -> None:
    graph = PairGraph()
    for start in range(0, 1_000_000, 10_000):
        lefts = np.arange(start, start + 10_000)
        graph.add(lefts, lefts + 5_000_000)
        graph.remove_rows(lefts)
    assert len(graph) == 0
    assert graph.nbytes < 4_000_000
