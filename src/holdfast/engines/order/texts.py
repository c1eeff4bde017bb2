"""The texts of canonical order dependencies. They are found, and not given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.engines.order.model import Constant, is_canonical, parse

EXAMPLES = ("{State}: Salary ~ Rate",)
DESCRIBED = ("an order dependency, {State}: Salary ~ Rate",)
means = is_canonical


def canonical(text: str) -> str:
    """The rule as it is always written; which column of a pair comes first, only a table tells."""
    return parse(text).text


def renamed(text: str, table: str, names: Mapping[str, str]) -> str:  # noqa: ARG001
    """The rule of a table whose columns have other names now."""
    rule = parse(text)
    context = tuple(names.get(name, name) for name in rule.context)
    if isinstance(rule, Constant):
        return replace(rule, context=context, column=names.get(rule.column, rule.column)).text
    one, other = rule.pair
    return replace(rule, context=context, pair=(names.get(one, one), names.get(other, other))).text
