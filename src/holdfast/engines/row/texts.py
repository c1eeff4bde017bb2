"""The texts of rules about one row, as people give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from holdfast.engines.declared import GivenRule
from holdfast.engines.language.constants import Constant
from holdfast.engines.row.check import check
from holdfast.engines.row.model import Cell, Condition, RowRule
from holdfast.engines.row.parse import is_row_rule, parse
from holdfast.table.table import Schema

EXAMPLES = ("t.Age between 0 and 120",)
DESCRIBED = ("a rule about one row, such as t.Age between 0 and 120",)
means = is_row_rule


def canonical(text: str) -> str:
    """The rule as it is always written."""
    return parse(text).text


def prefix(text: str) -> str:  # noqa: ARG001
    """`row1` names a rule about one row."""
    return "row"


def rule_of(rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> RowRule:
    """The rule with constants in the types of the table's columns."""
    return check(RowRule(parse(rule.text), rule.name, schema.name, rule.severity, rule.note), schema, ordered)


def bound(rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """The rule with constants in the types of the columns; nothing is odd about it."""
    return rule_of(rule, schema, ordered).text, ()


def renamed(text: str, table: str, names: Mapping[str, str]) -> str:  # noqa: ARG001
    """The rule of a table whose columns have other names now."""
    condition: Condition = _renamed(parse(text), names)
    return condition.text


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """A condition, or a part of one, with other names in its cells."""
    if isinstance(part, Cell):
        return Cell(names.get(part.column, part.column))
    if isinstance(part, tuple):
        return tuple(_renamed(each, names) for each in part)
    if not is_dataclass(part) or isinstance(part, type | Constant):
        return part
    return replace(part, **{each.name: _renamed(getattr(part, each.name), names) for each in fields(part)})
