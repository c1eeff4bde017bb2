"""The texts of pointwise order dependencies. They are found, and not given: denial constraints are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.engines.pointwise.model import is_pointwise, parse

EXAMPLES = ("{Salary<} -> Rate<=",)
DESCRIBED = ("a pointwise order dependency, {Salary<} -> Rate<=",)
means = is_pointwise


def canonical(text: str) -> str:
    """The rule as it is always written; in which order columns come, only a table tells."""
    return parse(text).text


def renamed(text: str, table: str, names: Mapping[str, str]) -> str:  # noqa: ARG001
    """The rule of a table whose columns have other names now."""
    rule = parse(text)
    *left, right = [(names.get(name, name), operator) for name, operator in (*rule.left, rule.right)]
    return replace(rule, left=tuple(left), right=right).text
