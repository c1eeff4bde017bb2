"""The texts of rules about a table, as people give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.engines.declared import GivenRule
from holdfast.engines.row.table_check import check
from holdfast.engines.row.table_model import TableRule, is_table_rule, parse
from holdfast.table.table import Schema

EXAMPLES = ("rows >= 1000",)
DESCRIBED = ("a rule about a table, such as rows >= 1000 or share(null Phone) <= 0.01",)
means = is_table_rule


def canonical(text: str) -> str:
    """The rule as it is always written."""
    return parse(text).text


def prefix(text: str) -> str:  # noqa: ARG001
    """`table1` names a rule about a table."""
    return "table"


def rule_of(rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> TableRule:
    """The rule with its constant in the type of its column."""
    parsed = parse(rule.text, name=rule.name, table=schema.name, severity=rule.severity, note=rule.note)
    return check(parsed, schema, ordered)


def bound(rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """The rule with its constant in the type of its column; nothing is odd about it."""
    return rule_of(rule, schema, ordered).text, ()


def renamed(text: str, table: str, names: Mapping[str, str]) -> str:  # noqa: ARG001
    """The rule of a table whose columns have other names now."""
    rule = parse(text)
    column = rule.quantity.column
    return replace(rule, quantity=replace(rule.quantity, column=names.get(column, column))).text
