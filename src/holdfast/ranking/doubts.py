"""Rows that look wrong: those that break likely rules which nearly all others keep, and the value that is to blame.

A row that breaks several rules is told before one that breaks a single one. To blame is the column that most of its
broken rules have on the right, for that is where other rows say what is usual; unless more of them have one on the
left: then that one is wrong, and what it should be is not known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from holdfast.engines.declared import GivenRule, TableRules
from holdfast.engines.registry import given_class, make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.ranking.suggestion import Doubt, Suggestion
from holdfast.table.naming import names_of
from holdfast.table.plain import plain_rows
from holdfast.table.runner import Runner
from holdfast.table.table import Table

_RULES = 12  # the best so many are looked at
_SURE = 0.05  # a rule that more rows than this share break says little of any of them


@dataclass
class _Broken:
    """What a row breaks: rules, each with a row that has what is usual."""

    weight: float = 0.0
    rules: list[tuple[Suggestion, int]] = field(default_factory=list)


def doubts(
    suggestions: Iterable[Suggestion], tables: Mapping[str, WatchedTable], runner: Runner, most: int = 5
) -> tuple[Doubt, ...]:
    """The rows of some tables to look at first, at most so many of each."""
    near = [each for each in suggestions if each.is_told and each.kind == "fd" and 0 < each.scored.g3 <= _SURE]
    found: list[Doubt] = []
    for name, watched in tables.items():
        rules = list(islice((each for each in near if each.table == name), _RULES))
        broken = _broken(rules, watched, runner) if rules else {}
        first = sorted(broken, key=lambda row: (-broken[row].weight, row))[:most]
        found += [_doubt(watched.table, row, broken[row].rules) for row in first]
    return tuple(found)


def _broken(rules: Sequence[Suggestion], watched: WatchedTable, runner: Runner) -> dict[int, _Broken]:
    by_name = {f"rule {each.rank}": each for each in rules}
    declared = given_class(rules[0].scored.as_given)
    assert declared is not None, "what is suggested can be given"
    table = watched.table.schema.name
    given = TableRules(tuple(GivenRule(name, table, each.scored.as_given) for name, each in by_name.items()))
    engine = make_engine(declared.name, {}, {table: given})
    broken: dict[int, _Broken] = defaultdict(_Broken)
    for listing in engine.listings(engine.discover(watched, runner), watched):
        rule = by_name[listing.rule.name]
        for row, beside in listing.listed.tolist():
            broken[row].rules.append((rule, beside))
            broken[row].weight += rule.scored.score * (1.0 - rule.scored.g3)
    return broken


def _doubt(table: Table, row: int, rules: Sequence[tuple[Suggestion, int]]) -> Doubt:
    sides = [(rule, rule.scored.rule.to_json(), beside) for rule, beside in rules]
    right = Counter(about["rhs"] for _, about, _ in sides)
    left = Counter(column for _, about, _ in sides for column in about["lhs"])
    column, broken = right.most_common(1)[0]
    blamed = next((name for name, count in left.most_common(1) if count > max(broken, right[name])), column)
    values = plain_rows(table.values(np.array([row, *(beside for *_, beside in sides)])))
    usual = next(
        (other[blamed] for other, (_, about, _) in zip(values[1:], sides, strict=True) if about["rhs"] == blamed), None
    )
    ordered = sorted(rules, key=lambda each: (each[0].scored.rule.to_json()["rhs"] != blamed, each[0].rank))
    looked_at = list(dict.fromkeys([blamed, *(name for _, about, _ in sides for name in about["lhs"])]))
    named = names_of(table, np.array([row]), looked_at)[0]
    return Doubt(
        table.schema.name, row, named, blamed, values[0][blamed], usual, tuple(rule.text for rule, _ in ordered)
    )
