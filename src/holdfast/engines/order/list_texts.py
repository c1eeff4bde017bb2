"""The texts of list order dependencies, as people give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.engines.declared import GivenRule
from holdfast.engines.order.list_model import ListOD, SortList
from holdfast.engines.order.list_parse import is_list_od, parse, refuse_unknown
from holdfast.engines.order.list_queries import queries_of
from holdfast.errors import BadInput
from holdfast.table.table import Schema

EXAMPLES = ("[Year, Salary] orders [Year, Bin]",)
DESCRIBED = ("a list order dependency, such as [Year, Salary] orders [Year, Bin]",)
means = is_list_od


def canonical(text: str) -> str:
    """The rule as it is always written."""
    return parse(text).text


def prefix(text: str) -> str:  # noqa: ARG001
    """`lod1` names a list order dependency."""
    return "lod"


def rule_of(given: GivenRule, schema: Schema) -> ListOD:
    """The rule of a table that has its columns."""
    rule = replace(parse(given.text), name=given.name, table=schema.name, severity=given.severity, note=given.note)
    refuse_unknown(given.text, (*rule.by, *rule.then), schema.names)
    return rule


def refuse_distinct_nulls(schema: Schema) -> None:
    """A null that equals nothing has no place in an order."""
    if schema.nulls.are_distinct:
        raise BadInput("where nulls are distinct, rows with nulls have no order: use --nulls equal (nulls come first)")


def bound(rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> tuple[str, tuple[str, ...]]:  # noqa: ARG001
    """The rule, and what is allowed and yet odd about it. Text columns have the order that ORDER BY gives them."""
    try:
        refuse_distinct_nulls(schema)
        own = rule_of(rule, schema)
    except BadInput as error:
        raise BadInput(f"rule {rule.name!r}: {error}") from None
    if not queries_of(own, schema):
        return own.text, ("no rows can violate this rule: rows sorted by the first list are sorted by the second",)
    return own.text, tuple(_repeated("first", own.by) + _repeated("second", own.then))


def renamed(text: str, table: str, names: Mapping[str, str]) -> str:  # noqa: ARG001
    """The rule of a table whose columns have other names now."""
    rule = parse(text)
    by, then = (tuple(replace(c, name=names.get(c.name, c.name)) for c in each) for each in (rule.by, rule.then))
    return replace(rule, by=by, then=then).text


def _repeated(which: str, columns: SortList) -> list[str]:
    """A column decides where it first stands in a list, and never again."""
    names = [column.name for column in columns]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    return [f"the column {name!r} stands in the {which} list before, so it decides nothing there" for name in twice]
