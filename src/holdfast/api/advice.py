"""Advice on clauses of queries, from the rules of a state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from holdfast.advice.advice import Advice, advise
from holdfast.advice.clauses import Clause, read_clause, read_order
from holdfast.advice.known import USED, KnownRules
from holdfast.advice.reasoning import Reasoner
from holdfast.changes.diff import Result
from holdfast.engines.registry import finder, rule_classes
from holdfast.errors import BadInput
from holdfast.rules.dependency import FD
from holdfast.rules.lists import ListOD
from holdfast.rules.order import Compatible
from holdfast.rules.registry import parse
from holdfast.table.table import Schema


def advice_on(text: str, have: Sequence[str], schema: Schema, results: Mapping[str, Result]) -> Advice:
    """Advice on a clause about a table, from the results of the classes that are watched there."""
    clause = read_clause(text, schema.names)
    orders = [read_order(each, schema.names) for each in have]
    if schema.nulls.are_distinct:
        raise BadInput(
            "advice needs a state with --nulls equal: where nulls are distinct, rules don't cover rows with nulls, "
            "but queries sort and group them"
        )
    used = [each for each in rule_classes().values() if each.name in results and {*each.rules} & {*USED}]
    given = [finding for each in used if each.given for finding in results[each.name].values()]
    found = (finding for each in used if not each.given for finding in results[each.name].values())
    listed = [name for each in given if isinstance(rule := parse(each.text), ListOD) for name in rule.columns]
    near = {*listed, *(column.name for columns in (clause.columns, *orders) for column in columns)}
    known = KnownRules.of(chain(given, found), schema.names, near)
    return advise(schema.name, clause, Reasoner(known), orders, _notes(clause, [each.name for each in used]))


def _notes(clause: Clause, used: Collection[str]) -> list[str]:
    """Which classes to watch to learn more."""
    orders, dependencies = finder(Compatible).name, finder(FD).name
    if not used:
        return [f"no watched class answers this; start the state with --watch {dependencies},{orders}"]
    if orders in used:
        return []
    if clause.is_order:
        return [f"only given rules say here which columns order others; --watch {orders} finds more"]
    if dependencies in used:
        return []
    return [f"only some rules say here which columns determine others; --watch {dependencies} finds more"]
