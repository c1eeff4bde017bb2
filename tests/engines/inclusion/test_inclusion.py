"""Inclusion dependencies against their definition, along random streams over several tables."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.engines.inclusion import InclusionSettings, discover, maintain
from holdfast.engines.inclusion.clusters import AttributeClusters
from holdfast.engines.inclusion.values import Compare
from tests.engines.inclusion.several import Row, Several, Watched, batches, filled, first_rows, texts_of
from tests.oracle import inclusion as oracle

streams = st.lists(batches, max_size=4)
compares = st.sampled_from(["typed", "text"])
Batches = list[tuple[str, list[Row], list[int]]]


def check(watched: Watched, options: InclusionSettings) -> None:
    """The state says what the definitions say."""
    plain = watched.several.plain()
    assert watched.clusters() == dict(oracle.clusters(plain, options.compare))
    unary = oracle.unary(plain, options.compare, options.error)
    held = oracle.columns(plain, options.compare)
    found = watched.result()
    assert {text for text, ind in found.items() if ind.arity == 1} == texts_of(unary)
    for pair, (values, rows) in unary.items():
        ind = found[next(iter(texts_of([pair])))]
        distinct, total = len(held[pair[0]]), held[pair[0]].total()
        assert (ind.missing_values, ind.missing_rows, ind.empty) == (values, rows, distinct == 0)
        assert ind.value_coverage == (1.0 if not distinct else (distinct - values) / distinct)
        assert ind.row_coverage == (1.0 if not total else (total - rows) / total)
    several = oracle.several(plain, options.compare, options.max_arity, options.error)
    assert {text for text, ind in found.items() if ind.arity > 1} == texts_of(several)
    for pairs, empty in several.items():
        ind = found[next(iter(texts_of([pairs])))]
        missing, distinct, total = oracle.missing(plain, pairs, options.compare)
        assert (ind.missing_values, ind.missing_rows, ind.empty) == (len(missing), missing.total(), empty)
        assert ind.value_coverage == (1.0 if not distinct else (distinct - len(missing)) / distinct)
        assert ind.row_coverage == (1.0 if not total else (total - missing.total()) / total)


@settings(max_examples=80)
@given(first=first_rows, stream=streams, compare=compares, error=st.sampled_from([0.0, 0.4]), arity=st.integers(1, 3))
def test_what_is_maintained_is_what_the_definition_says(
    first: dict[str, list[Row]], stream: Batches, compare: Compare, error: float, arity: int
) -> None:
    options = InclusionSettings(error, compare, arity)
    watched = Watched(filled(first), options)
    check(watched, options)
    for batch in stream:
        before = watched.result()
        diff = watched.apply(*batch)
        check(watched, options)
        assert diff.patch(before) == watched.result() == watched.rediscovered()


@settings(max_examples=30)
@given(first=first_rows, stream=streams, compare=compares, error=st.sampled_from([0.0, 0.3]))
def test_every_loss_has_a_witness_that_is_one(
    first: dict[str, list[Row]], stream: Batches, compare: Compare, error: float
) -> None:
    watched = Watched(filled(first), InclusionSettings(error, compare, 2))
    for batch in stream:
        diff = watched.apply(*batch)
        for text, lost in diff.lost.items():
            if lost.to_json().get("empty"):
                assert text not in diff.witnesses, "nothing had tested it"
                continue
            if lost.to_json()["dependent"][2:] and text not in diff.witnesses:
                assert watched.explain(text).holds, "it was lost as a column became empty"
                continue
            witness: Any = diff.witnesses[text]
            table = watched.several.tables[lost.to_json()["dependent"][0]]
            assert witness.rows
            assert set(witness.rows) <= set(table.living_ids().tolist()), "the rows are alive"
            assert 0 < len(witness.missing) <= 3
            assert witness.missing_rows >= sum(rows for _, rows in witness.missing) > 0
            again = watched.explain(text)
            if lost.to_json()["dependent"][2:]:
                continue
            assert (again.rule.missing_values, again.rule.missing_rows) == (
                witness.missing_values,
                witness.missing_rows,
            )
            assert not again.holds


@settings(max_examples=20)
@given(first=first_rows, stream=streams, at=st.integers(0, 3), compare=compares, error=st.sampled_from([0.0, 0.4]))
def test_save_and_load_in_the_middle(
    first: dict[str, list[Row]], stream: Batches, at: int, compare: Compare, error: float
) -> None:
    options = InclusionSettings(error, compare, 2)
    watched = Watched(filled(first), options)
    for number, batch in enumerate(stream):
        if number == at:
            before = watched.result()
            watched.reload()
            assert watched.result() == before
        watched.apply(*batch)
    check(watched, options)


@settings(max_examples=30)
@given(
    first=first_rows,
    stream=st.lists(st.tuples(batches, st.sets(st.sampled_from("abc"))), max_size=4),
    compare=compares,
    error=st.sampled_from([0.0, 0.4]),
)
@example(  # a value that died and was dropped comes back, with a lesser one
    first={"a": [], "b": [], "c": [(None, None, True)]},
    stream=[(("c", [], [0]), set()), (("c", [(None, None, True), (None, None, False)], []), {"c"})],
    compare="typed",
    error=0.0,
)
def test_rewriting_tables_in_the_middle(
    first: dict[str, list[Row]],
    stream: list[tuple[tuple[str, list[Row], list[int]], set[str]]],
    compare: Compare,
    error: float,
) -> None:
    """Results and diffs, witnesses included, are those of tables that were never rewritten."""
    plain, kept = (Watched(filled(first), InclusionSettings(error, compare, 2)) for _ in range(2))
    for batch, rewritten in stream:
        kept.rewrite(rewritten)
        assert kept.apply(*batch) == plain.apply(*batch)
        assert list(kept.result().items()) == list(plain.result().items())


@settings(max_examples=20)
@given(first=first_rows, batch=batches)
def test_a_batch_and_its_negation(first: dict[str, list[Row]], batch: tuple[str, list[Row], list[int]]) -> None:
    watched = Watched(filled(first), InclusionSettings(max_arity=2))
    before, clusters = watched.result(), watched.clusters()
    name, inserts, _ = batch
    count = len(first[name])
    watched.apply(name, inserts)
    watched.apply(name, (), range(count, count + len(inserts)))
    assert (watched.result(), watched.clusters()) == (before, clusters)


@settings(max_examples=30)
@given(first=first_rows, stream=streams, compare=compares)
def test_small_pieces_give_the_same(first: dict[str, list[Row]], stream: Batches, compare: Compare) -> None:
    """Ranges of a few values, pieces of a few keys, and tables of clusters that must grow."""
    options = InclusionSettings(compare=compare)
    with (
        patch.object(discover, "_VALUES_AT_ONCE", 3),
        patch.object(maintain, "_KEYS_AT_ONCE", 2),
        patch.object(maintain, "_WORTH_THREADS", 0),
        patch("holdfast.pairs.keys._LEAST", 1),
        patch("holdfast.engines.inclusion.clusters._VALUES_AT_ONCE", 2),
    ):
        watched = Watched(filled(first), options)
        check(watched, options)
        for batch in stream:
            watched.apply(*batch)
            check(watched, options)
        assert watched.result() == watched.rediscovered()


@settings(max_examples=30)
@given(first=first_rows, stream=streams)
def test_dependencies_follow_from_the_clusters_alone(first: dict[str, list[Row]], stream: Batches) -> None:
    """Lemma 4.2: A is in B iff every cluster that contains A contains B. And the sums are those of the clusters."""
    watched = Watched(filled(first))
    for batch in stream:
        watched.apply(*batch)
    clusters = watched.clusters()
    named = {(each.table, each.name) for each in watched.state.attributes}
    derived = {(a, b) for a in named for b in named - {a} if all(b in c for c in clusters if a in c)}
    assert texts_of(derived) == set(watched.result())
    values = watched.state.clusters.values
    for a in watched.state.attributes:
        for b in watched.state.attributes:
            both = {(a.table, a.name), (b.table, b.name)}
            assert values[a.number, b.number] == sum(n for c, n in clusters.items() if both <= c)


@pytest.mark.parametrize("columns", [1, 63, 64, 65, 300])
def test_clusters_of_many_columns_survive_a_dump(columns: int) -> None:
    import numpy as np

    clusters = AttributeClusters(columns)
    before = np.zeros((3, columns), np.int64)
    after = before.copy()
    after[0, :], after[1, columns - 1], after[2, 0] = 1, 5, 7
    clusters.move(before, after, np.arange(columns))
    again = AttributeClusters.load(columns, clusters.dump())  # type: ignore[arg-type]
    assert again.counts == clusters.counts
    assert again.counts == {(1 << columns) - 1: 1, 1 << columns - 1: 1, 1: 1} or columns == 1
    clusters.move(after, before, np.arange(columns))
    assert not clusters.counts
    assert not clusters.values.any()
    assert not clusters.rows.any()


def test_without_any_table_row_everything_is_empty() -> None:
    watched = Watched(Several())
    assert all(ind.empty for ind in watched.result().values())
    assert len(watched.result()) == 90
