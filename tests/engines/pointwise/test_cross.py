"""Denial constraints across columns against the definition, batch after batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.changes.diff import Diff, Finding
from holdfast.engines.pointwise import comparison_counts
from holdfast.engines.pointwise.comparisons import OPERATORS, PER_LINE, Comparisons
from holdfast.engines.pointwise.conjunctions import NONE, listed, representatives, weaker
from holdfast.engines.registry import make_engine
from holdfast.errors import BadInput
from holdfast.rules.cross import CrossDenial
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.promotion import as_given
from holdfast.rules.registry import parse
from holdfast.table.nulls import NullMode
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.laws.world import COLUMNS, Batch, Kept, Row, World, batches, null_modes, row_lists
from tests.oracle import cross as oracle

NAMES = [column.name for column in COLUMNS]
NUMBER, TEXT, REAL = (NAMES.index(name) for name in ("number", "text", "real"))
ACROSS = "number,text,real"
Rules = dict[oracle.Conjunction, float | None]


def lines_of(ordered: str | None) -> oracle.Lines:
    """The columns of `ACROSS` that compare: numbers with each other, text with itself."""
    numbers = [((t, s), True) for t in (NUMBER, REAL) for s in (NUMBER, REAL)]
    return tuple(sorted([*numbers, ((TEXT, TEXT), ordered is not None)]))


def plain(row: Sequence[Any]) -> Row:
    """A row whose numbers Python compares as we do: NaN is the largest and equals itself."""

    def number(value: float | None) -> Any:
        return None if value is None else (math.isnan(value), 0.0 if math.isnan(value) else value)

    return tuple(number(value) if column in (NUMBER, REAL) else value for column, value in enumerate(row))


def by_number(rule: Finding | DenialConstraint) -> oracle.Conjunction:
    assert isinstance(rule, DenialConstraint)
    sides = (each.cells for each in rule.predicates)
    columns = [tuple(NAMES.index(cell.column) for cell in cells) for cells in sides]
    return frozenset((t, each.operator, s) for each, (t, s) in zip(rule.predicates, columns, strict=True))


def found(kept: Kept) -> Rules:
    """The rules with their coverage, the highest first."""
    ranked, result = kept.ranked(), kept.result()
    assert {rule.text for rule in ranked} == {*result}
    assert {text: result[text] for text in result} == result
    rules = {by_number(rule): rule.coverage for rule in ranked if isinstance(rule, CrossDenial)}
    assert [*rules.values()] == sorted(rules.values(), key=lambda share: -(share or 0.0))
    assert len(rules) == len(ranked)
    return rules


def expected(rows: list[Row], lines: oracle.Lines, most: int, least: float) -> Rules:
    rules = oracle.rules([plain(row) for row in rows], lines, most)
    return {rule: float(share) for rule, share in rules.items() if share >= least}


@settings(max_examples=30)
@given(
    first=row_lists,
    stream=st.lists(batches, min_size=1, max_size=3),
    nulls=null_modes,
    most=st.sampled_from([3, 3, 2, 1]),
    ordered=st.sampled_from([None, "text"]),
    least=st.sampled_from([0.0, 0.0, 0.25]),
)
def test_every_batch_by_definition(
    first: list[Row], stream: list[Batch], nulls: NullMode, most: int, ordered: str | None, least: float
) -> None:
    options = {"across": ACROSS, "max_comparisons": most, "ordered": ordered, "min_coverage": least}
    lines = lines_of(ordered)
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(make_engine("cross", options), world)
    assert found(kept) == expected(world.rows, lines, most, least)
    for number, batch in enumerate(stream):
        if number == 1:
            kept.reload()
        rows, before = world.rows, kept.result()
        diff = kept.follow(world.change(batch))
        assert found(kept) == expected(world.rows, lines, most, least)
        assert diff.patch(before) == kept.result()
        check_diff(diff, rows, world.rows, lines)


def check_diff(diff: Diff, before: list[Row], after: list[Row], lines: oracle.Lines) -> None:
    for rules, rows in ((diff.lost, after), (diff.gained, before)):
        pairs = list(permutations(map(plain, rows), 2))
        for text, rule in rules.items():
            met = any(oracle.meets(by_number(rule), *pair) for pair in pairs)
            cause = diff.causes.get(text)
            if rules is diff.lost:
                assert met == (text in diff.witnesses) == (cause is None)
            else:
                assert met == (cause is not None and cause.kind == "mended")
            if met or cause is None:
                continue
            assert cause.kind in ("stronger", "untested", "below --min-coverage")
            if cause.kind == "stronger":
                check_stronger(by_number(rule), cause.by, pairs, lines)
    for text, witness in diff.witnesses.items():
        t, s = (plain([_number(own[name]) for name in NAMES]) for own in witness.values)
        assert oracle.meets(by_number(diff.lost[text]), t, s), "row t is named first"
        assert witness.sentence


def check_stronger(rule: oracle.Conjunction, text: str, pairs: Sequence[oracle.Pair], lines: oracle.Lines) -> None:
    """What a rule follows from holds, and says as much and more."""
    other = by_number(CrossDenial.parse(text))
    assert not any(oracle.meets(other, *pair) for pair in pairs)
    assert other != oracle.first(rule, lines, 3)
    assert {other, oracle.mirrored(other)} & {*oracle.parts(oracle.closure(rule, lines), 3)}


def _number(value: Any) -> Any:
    """JSON has no NaN and no infinities."""
    return float(value) if value in ("NaN", "Infinity", "inf", "nan") else value


# ---- what conjunctions imply ----------------------------------------------------------------------------------------

_LINES: oracle.Lines = tuple(((t, s), t < 2 and s < 2) for t in range(3) for s in range(3))
_TEXTS = Schema("t", tuple(Column(name, pa.string()) for name in "abc"))
_COMPARISONS = Comparisons.of(_TEXTS, None, (0, 1))
numbers = st.integers(0, len(_COMPARISONS) * PER_LINE - 1)
conjunctions = st.lists(numbers, min_size=1, max_size=3, unique_by=lambda number: number // PER_LINE)


def as_oracle(row: Sequence[int]) -> oracle.Conjunction:
    own = [(*_COMPARISONS.lines[number // PER_LINE], OPERATORS[number % PER_LINE]) for number in row if number != NONE]
    return frozenset((t, operator, s) for t, s, operator in own)


@settings(max_examples=200)
@given(some=conjunctions)
def test_what_a_conjunction_implies(some: list[int]) -> None:
    """The third column is compared for equality alone."""
    if not all(_COMPARISONS.allowed[number // PER_LINE, number % PER_LINE] for number in some):
        return
    row = listed(np.array([some]))
    own = as_oracle(some)
    implied = {each for each in oracle.parts(oracle.closure(own, _LINES), 3) if len(each) <= len(own)}
    assert {*map(as_oracle, weaker(row[0], _COMPARISONS).tolist())} == implied
    (found,) = representatives(row, _COMPARISONS).tolist()
    assert as_oracle(found) == oracle.first(own, _LINES, 3)


@settings(max_examples=30)
@given(rows=st.lists(st.tuples(*[st.sampled_from([None, "x", "y"])] * 3), max_size=5))
def test_columns_of_text(rows: list[Row]) -> None:
    """Three columns that compare with each other for equality: many conjunctions are equivalent."""
    table = pa.table({name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate("abc")})
    found = hf.discover(table, "cross").to_json()
    places = {name: place for place, name in enumerate("abc")}
    own = {
        frozenset((places[t], operator, places[s]) for t, operator, s in rule["comparisons"]): rule["coverage"]
        for rule in found
    }
    lines = tuple((line, False) for line, _ in _LINES)
    assert own == {each: float(share) for each, share in oracle.rules(rows, lines, 3).items()}


# ---- counts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_nulls", [False, True])
def test_counts_of_many_rows(has_nulls: bool) -> None:
    """More rows than a plane has bits for, and than one thread compares."""
    chance = np.random.default_rng(7)
    columns = chance.integers(0, 40, (3, 2300))
    missing = chance.random(columns.shape) < (0.1 if has_nulls else 0.0)
    table = pa.table({name: pa.array(columns[c], mask=missing[c]) for c, name in enumerate("abc")})
    found = hf.discover(table, "cross").to_json()
    assert found
    compare = {
        "<": np.less,
        "<=": np.less_equal,
        "=": np.equal,
        "!=": np.not_equal,
        ">=": np.greater_equal,
        ">": np.greater,
    }
    for rule in found[:: max(1, len(found) // 20)]:
        met, known = [], []
        for t, operator, s in rule["comparisons"]:
            one, other = ("abc".index(name) for name in (t, s))
            known.append(~missing[one][:, None] & ~missing[other] & ~np.eye(len(columns[0]), dtype=np.bool_))
            met.append(compare[operator](columns[one][:, None], columns[other]) & known[-1])
        assert not np.logical_and.reduce(met).any()
        near = [
            np.logical_and.reduce([known[place], *met[:place], *met[place + 1 :]]).sum() for place in range(len(met))
        ]
        assert rule["coverage"] == sum(near) / (2300 * 2299)


# ---- rules as values ------------------------------------------------------------------------------------------------


def test_a_rule_reads_back_and_is_given_as_it_is() -> None:
    table = pa.table({"Low": [1, 2, 5], "High": [5, 6, 7], "City": ["a", "b", "a"]})
    found = hf.discover(table, "cross", across="Low,High")
    rule = found.findings[0]
    assert isinstance(rule, CrossDenial)
    assert found.to_json()[0] == {
        "kind": "cross",
        "table": "table",
        "comparisons": [["Low", ">", "High"]],
        "coverage": 1.0,
        "text": "not(t.Low > s.High)",
    }
    given_rule, _ = as_given(rule)
    assert type(given_rule) is DenialConstraint
    assert given_rule == parse(rule.text).in_table(table.column_names, "table")
    assert rule.says == "No two rows t and s have t.Low > s.High."
    assert not hf.check(table, [rule.text]).violated


# ---- limits ---------------------------------------------------------------------------------------------------------


def test_too_many_lines_are_refused() -> None:
    wide = pa.table({f"c{place}": [1, 2] for place in range(6)})
    with pytest.raises(BadInput, match=r"36 pairs of a column of t with one of s.*name fewer: --across c0,c1"):
        hf.discover(wide, "cross")
    assert hf.discover(wide, "cross", across="c0,c1,c2,c3,c4").findings


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def rows(first: int, count: int) -> pa.Table:
        return pa.table({"a": range(first, first + count), "b": range(first + 1, first + count + 1)})

    monkeypatch.setattr(comparison_counts, "MOST_PAIRS", 100)
    with pytest.raises(BadInput, match=r"has 11 rows: rules across columns would compare 110 ordered pairs.*sample"):
        hf.discover(rows(0, 11), "cross")
    with hf.Monitor.create(tmp_path / "state", {"t": rows(0, 10)}, watch=["cross"]) as watch:
        before = watch.results("cross")
        with pytest.raises(BadInput, match=r"6 rows came and 0 went: .* smaller batches"):
            watch.apply(inserts=rows(10, 6))
        assert watch.results("cross") == before
        watch.apply(inserts=rows(10, 3))
        watch.apply(inserts=rows(13, 2))
    assert hf.verify(tmp_path / "state", deep=True).problems == ()


def test_columns_that_do_not_compare() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    assert not hf.discover(table, "cross").findings
    with pytest.raises(BadInput, match="--across: no two of the columns a, b can be compared"):
        hf.discover(table, "cross", across="a,b")
    with pytest.raises(BadInput, match="--across: there is no column 'c'"):
        hf.discover(table, "cross", across="a,c")
    with pytest.raises(BadInput, match="1 to 3 comparisons of columns, not 4"):
        hf.discover(table, "cross", max_comparisons=4)
