"""References within a table that share a column: the tenant of `nodes(tenant, parent) in nodes(tenant, id)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.inclusion import InclusionSettings
from holdfast.table.types import Column
from tests.engines.inclusion.several import Watched, filled
from tests.engines.inclusion.test_inclusion import check
from tests.engines.inclusion.test_likely import likely_in
from tests.oracle import inclusion as oracle

RULE = "nodes(tenant, parent) in nodes(tenant, id)"
NODES = [(1, 1, None), (1, 2, 1), (1, 3, 1), (2, 1, None), (2, 2, 1)]
NAMES = ["tenant", "id", "parent"]
SCHEMAS = {
    "t": tuple(Column(name, pa.int64()) for name in "abcd"),
    "u": (Column("e", pa.int64()), Column("f", pa.string())),
}
_numbers, _texts = st.sampled_from([None, 1, 1, 2]), st.sampled_from([None, "x"])
_rows = {"t": st.tuples(*[_numbers] * 4), "u": st.tuples(_numbers, _texts)}
first_rows = st.fixed_dictionaries({name: st.lists(row, max_size=5) for name, row in _rows.items()})
batches = st.sampled_from("tttu").flatmap(
    lambda name: st.tuples(st.just(name), st.lists(_rows[name], max_size=3), st.lists(st.integers(0, 9), max_size=3))
)


def nodes(rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table([pa.array(values, pa.int64()) for values in zip(*rows, strict=True)], NAMES)


@settings(max_examples=60)
@given(
    first=first_rows,
    stream=st.lists(batches, max_size=3),
    arity=st.integers(2, 4),
    error=st.sampled_from([0.0, 0.0, 0.2, 0.5]),
)
def test_what_is_kept_is_what_the_definition_says(first: Any, stream: list[Any], arity: int, error: float) -> None:
    """Few values in many columns: most of what holds shares a column, and much of it breaks and comes back."""
    options = InclusionSettings(error, max_arity=arity)
    watched = Watched(filled(first, SCHEMAS), options)
    check(watched, options)
    for number, batch in enumerate(stream):
        before = watched.result()
        diff = watched.apply(*batch)
        check(watched, options)
        assert diff.patch(before) == watched.result() == watched.rediscovered()
        if number == 0:
            watched.reload()
        for text in watched.result():
            assert watched.explain(text).holds or error


sides = st.permutations("abcd").map(lambda names: names[:2])


@given(first=first_rows, batch=batches, left=sides, right=sides)
def test_every_figure_of_an_explanation(first: Any, batch: Any, left: list[str], right: list[str]) -> None:
    watched = Watched(filled(first, SCHEMAS), InclusionSettings(max_arity=2))
    watched.apply(*batch)
    explained = watched.explain(f"t({', '.join(left)}) in t({', '.join(right)})").to_json()
    pairs = tuple((("t", a), ("t", b)) for a, b in zip(left, right, strict=True))
    missing, values, rows = oracle.missing(watched.several.plain(), pairs)
    assert (explained["missing_values"], explained["missing_rows"]) == (len(missing), missing.total())
    assert explained["value_coverage"] == pytest.approx(1 - len(missing) / values if values else 1.0)
    assert explained["row_coverage"] == pytest.approx(1 - missing.total() / rows if rows else 1.0)
    assert (explained["holds"], explained.get("empty", False)) == (not missing, not rows)
    if missing:
        counted = {tuple(each["value"]): each["rows"] for each in explained["witness"]["missing"]}
        assert len(counted) == min(3, len(missing))
        assert counted.items() <= {tuple(int(n) for _, n in value): n for value, n in missing.items()}.items()
        assert explained["witness"]["missing_values"] == len(missing)
        assert explained["witness"]["missing_rows"] == missing.total()


def test_found_kept_broken_and_explained(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", {"nodes": nodes(NODES)}, watch=["ind"], max_arity=2) as state:
        found = {rule.text: rule.to_json() for rule in state.results()}
        assert found[RULE]["dependent"] == ["nodes", "tenant", "parent"]
        assert "nodes(tenant, id) in nodes(tenant, id)" not in found
        assert "nodes(id, parent) in nodes(tenant, parent)" not in found
        broken = state.apply(inserts=nodes([(2, 3, 3), (2, 4, 9), (3, 1, 2)]))
        lost = {rule.text: rule for rule in broken.lost}
        witness = broken.witness(lost[RULE])
        assert witness is not None
        assert witness.values[0] == {"parent": 9}, "a part of it broke, too"
        mended = state.apply(inserts=nodes([(2, 9, None)]))
        assert RULE not in {rule.text for rule in mended.gained}, "the parent of (3, 1, 2) is another tenant's"
        explained = "\n".join(state.explain(RULE))
        assert "Missing on the right: 1 value in 1 row;" in explained
        assert "[3, 2] in 1 row" in explained
        assert RULE in {rule.text for rule in state.apply(inserts=nodes([(3, 2, None)])).gained}
        gone = state.apply(deletes=nodes([(3, 2, None)]))
        witness = gone.witness(next(rule for rule in gone.lost if rule.text == RULE))
        assert witness is not None
        assert witness.to_json()["missing"] == [{"value": [3, 2], "rows": 1}]
        assert (witness.to_json()["missing_values"], witness.to_json()["missing_rows"]) == (1, 1)
        assert witness.values == ({"tenant": 3, "parent": 2},)
        state.apply(deletes=nodes([(3, 1, 2)]))
        state.promote(RULE)
        outcome = state.apply(inserts=nodes([(1, 9, 4), (1, 10, 9)]))
        assert outcome.moved(RULE) == (1, 0)


def test_a_shared_column_speaks_for_a_reference() -> None:
    columns = tuple(Column(name, pa.int64()) for name in NAMES)
    watched = Watched(filled({"nodes": NODES}, {"nodes": columns}), InclusionSettings(max_arity=2))
    rated = {text: each.to_json() for text, each in watched.engine.ranked(watched.state).items()}
    assert rated[RULE]["score"] > rated["nodes(tenant, parent) in nodes(id, tenant)"]["score"]
    alone, shared = rated["nodes.parent in nodes.id"]["reasons"], rated[RULE]["reasons"]
    assert (alone.pop("key"), shared.pop("key"), alone.pop("other table"), shared.pop("other table")) == (0, 1, 0, 0)
    assert shared == pytest.approx({name: (1 + share) / 2 for name, share in alone.items()}, abs=1e-3)


def tenants(many: int = 20, each: int = 30) -> dict[str, dict[str, list[Any]]]:
    rows = [(t, i, 1 + i // 3, 1 + i % 3) for t in range(1, many + 1) for i in range(1, each + 1)]
    names = ("tenant", "node", "node_parent", "size")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return {"nodes": columns, "tenants": {"tenant": list(range(1, many + 1)), "label": ["x"] * many}}


def test_suggested_among_several_tables() -> None:
    found = likely_in(tenants())
    best, other = "nodes(tenant, node_parent) in nodes(tenant, node)", "nodes(tenant, size) in nodes(tenant, node)"
    assert found[best].score > max(found[other].score, found["nodes.node_parent in nodes.node"].score)
    assert found[best].sentence.startswith(
        "all 600 rows of nodes have their partner in nodes; nodes(tenant, node) is a key"
    )


def test_equal_columns_next_to_a_key_are_no_reference() -> None:
    tables = tenants()
    tables["nodes"]["copy"] = tables["nodes"]["size"]
    tables["nodes"]["row"] = list(range(1000, 1600))
    found = likely_in(tables)
    assert found["nodes(tenant, node_parent) in nodes(tenant, node)"].score > 0.6
    equal = [score for text, score in found.items() if "row" in text and "copy" in text]
    assert all(each.score < 0.6 for each in equal)
    assert not [text for text in found if text.startswith("nodes(tenant, node, ")], "one column is shared at most"
