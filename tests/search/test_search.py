"""The pair search against the definition: random queries on random streams, in both meanings of null."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.search.queries import Condition, Operator, PairQuery
from holdfast.search.search import BatchPairs, PairSearch
from holdfast.search.slices import find_in_tasks
from holdfast.table.change import Change
from holdfast.table.nulls import Nulls
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.engines.denial.streams import Stream
from tests.engines.denial.test_engine_slices import Tasks
from tests.oracle import pairs as oracle
from tests.table.building import Kept, inserts

SCHEMA = Schema(
    "t", (Column("a", pa.int64()), Column("b", pa.int64()), Column("x", pa.string()), Column("y", pa.string()))
)
OPERATORS: tuple[Operator, ...] = ("=", "!=", "<", "<=", ">", ">=")
MANY = 1 << 30
numbers = st.sampled_from((None, 0, 1, 2, 2**63 - 1))
texts = st.sampled_from((None, "", "a", "b", "é"))
rows = st.tuples(numbers, numbers, texts, texts)
columns = st.sampled_from(((0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (1, 0), (2, 3), (3, 2)))
conditions = st.builds(lambda pair, op: Condition(pair[0], op, pair[1]), columns, st.sampled_from(OPERATORS))
queries = st.lists(conditions, min_size=1, max_size=4).map(lambda some: PairQuery(tuple(dict.fromkeys(some))))
meanings = st.sampled_from((Nulls.SQL, Nulls.EQUAL))
batches = st.lists(st.tuples(st.lists(rows, max_size=6), st.lists(st.integers(0, 30), max_size=5)), max_size=4)
many = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


def wanted(stream: Stream, query: PairQuery, nulls: Nulls) -> set[tuple[int, int]]:
    """By definition; of a symmetric query each pair once, the older row first."""
    found = oracle.pairs(stream.rows, [(c.mine, c.operator, c.theirs) for c in query.conditions], nulls)
    if query.symmetric:
        assert found == {(s, t) for t, s in found}
        return {(t, s) for t, s in found if t < s}
    return found


def follow(search: PairSearch, change: Change, counted: Iterable[int] = ()) -> BatchPairs:
    """Let a search take in a batch."""
    search.ready(change.before, change.after)
    return search.look(change.come, change.gone, counted)


def as_set(pairs: Any) -> set[tuple[int, int]]:
    return {(int(t), int(s)) for t, s in pairs}


@many
@given(st.lists(rows, max_size=14), st.lists(queries, min_size=1, max_size=3), meanings)
def test_finds_all_the_first_and_how_many(start: list[tuple[Any, ...]], queries: list[PairQuery], nulls: Nulls) -> None:
    stream = Stream.of(SCHEMA, start)
    search = PairSearch(stream.table, queries, nulls)
    everything = search.all(MANY)
    for number, query in enumerate(queries):
        pairs = wanted(stream, query, nulls)
        assert as_set(everything[number].pairs) == pairs
        assert as_set(search.pairs(number, MANY).pairs) == pairs
        assert search.count(number) == len(pairs)
        first = search.first(number)
        assert first in pairs if pairs else first is None
        assert PairSearch(stream.table, [query], nulls).all(0)[0].count == len(pairs)


@many
@given(st.lists(rows, max_size=10), batches, st.lists(queries, min_size=1, max_size=3), meanings)
def test_follows_a_stream(
    start: list[tuple[Any, ...]],
    changes: list[tuple[list[tuple[Any, ...]], list[int]]],
    queries: list[PairQuery],
    nulls: Nulls,
) -> None:
    stream = Stream.of(SCHEMA, start)
    search = PairSearch(stream.table, queries, nulls)
    for inserted, picks in changes:
        before = [wanted(stream, query, nulls) for query in queries]
        dead = sorted({list(stream.rows)[pick % len(stream.rows)] for pick in picks}) if stream.rows else []
        batch = follow(search, stream.change(inserted, dead), range(len(queries)))
        for number, query in enumerate(queries):
            now = wanted(stream, query, nulls)
            kept = {pair for pair in before[number] if not set(pair) & set(dead)}
            added = now - kept
            assert as_set(batch.added(number, MANY)) == added
            assert batch.count(number) == len(added)
            assert batch.lost[number] == len(before[number]) - len(kept)
            assert search.count(number) == len(now)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("segments"))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(rows, min_size=1, max_size=20), queries, meanings, st.integers(1, 4), st.sampled_from([0, MANY]))
def test_slices_agree_with_the_whole(
    folder: str, start: list[tuple[Any, ...]], query: PairQuery, nulls: Nulls, slices: int, limit: int
) -> None:
    _, kept = Kept.empty(SCHEMA, folder).operate(inserts(start))
    (whole,) = PairSearch(kept.table, [query], nulls).all(limit)
    (sliced,) = find_in_tasks(kept.table, [query], Tasks(), limit, slices, nulls)
    assert whole.count == sliced.count
    assert (whole.pairs is None) == (sliced.pairs is None)
    if whole.pairs is not None:
        assert as_set(whole.pairs) == as_set(sliced.pairs)


def test_the_first_hit_ends_the_search() -> None:
    stream = Stream.of(SCHEMA, [(i, -i, "a", None) for i in range(2_000)])
    search = PairSearch(stream.table, [PairQuery((Condition(0, "<", 0), Condition(1, ">", 1)))])
    t, s = search.first(0) or (-1, -1)
    assert t < s
    assert search.count(0) == 2_000 * 1_999 // 2


def test_a_batch_without_queries_makes_new_indexes() -> None:
    stream = Stream.of(SCHEMA, [(i % 5, i, "a", None) for i in range(50)])
    query = PairQuery((Condition(0, "=", 0), Condition(1, "<", 1)))
    search = PairSearch(stream.table, [query])
    follow(search, stream.change([(1, 1, "a", None)], [3]))
    missed = stream.change([(1, 2, "a", None)], [4, 5])
    search.ready(missed.before, missed.after)
    followed = follow(search, stream.change([(1, 0, "a", None)], [6]), [0])
    assert followed.count(0) == sum(1 for a, b, *_ in stream.rows.values() if a == 1 and b > 0)
    assert search.count(0) == len(wanted(stream, query, Nulls.SQL))
    missed = stream.change([(1, 3, "a", None)], [7])
    search.ready(missed.before, missed.after)
    assert search.count(0) == len(wanted(stream, query, Nulls.SQL))
