"""The texts of inclusion dependencies, as they are found, and as people give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.changes.reader import refuse_unknown
from holdfast.engines.declared import GivenRule
from holdfast.engines.inclusion.model import Side, is_inclusion, parse
from holdfast.engines.inclusion.values import class_of
from holdfast.errors import BadInput, suggest
from holdfast.table.table import Schema
from holdfast.table.types import Column, show_type

EXAMPLES = ("orders.cust in customers.id",)
DESCRIBED = ("an inclusion dependency, orders.cust in customers.id",)
means = is_inclusion


def canonical(text: str) -> str:
    """The dependency as it is always written."""
    return parse(text).text


def prefix(text: str) -> str:  # noqa: ARG001
    """`ref1` names a reference from one table to another."""
    return "ref"


def table(text: str) -> str:
    """The dependent one: its rows are those that break it."""
    return parse(text).dependent.table


def bound_across(rule: GivenRule, schemas: Mapping[str, Schema]) -> tuple[str, tuple[str, ...]]:
    """The dependency, whose tables and columns must be there, and columns compare."""
    ind = parse(rule.text)
    try:
        sides = [_columns(rule.text, side, schemas) for side in (ind.dependent, ind.referenced)]
        if ind.dependent == ind.referenced:
            raise BadInput(f"{rule.text!r} says that columns refer to themselves, which holds always; name others")
        for a, b in zip(*sides, strict=True):
            if class_of(a.type) != class_of(b.type):
                raise BadInput(
                    f"{rule.text!r}: {a.name} ({show_type(a.type)}) and {b.name} ({show_type(b.type)}) don't compare"
                )
    except BadInput as error:
        raise BadInput(f"rule {rule.name!r}: {error}") from None
    return ind.text, ()


def renamed(text: str, table: str, names: Mapping[str, str]) -> str:
    """The dependency where columns of a table have other names now."""
    ind = parse(text)
    sides = [_renamed(side, names) if side.table == table else side for side in (ind.dependent, ind.referenced)]
    return replace(ind, dependent=sides[0], referenced=sides[1]).text


def _renamed(side: Side, names: Mapping[str, str]) -> Side:
    return replace(side, columns=tuple(names.get(name, name) for name in side.columns))


def _columns(text: str, side: Side, schemas: Mapping[str, Schema]) -> list[Column]:
    if side.table not in schemas:
        raise BadInput(f"{text!r}: there is no table {side.table!r}; {suggest(side.table, schemas)}")
    schema = schemas[side.table]
    refuse_unknown(text, side.columns, schema.names)
    return [schema.columns[schema.names.index(name)] for name in side.columns]
