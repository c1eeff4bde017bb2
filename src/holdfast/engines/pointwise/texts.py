"""The texts of pointwise order dependencies. They are found, and not given: denial constraints are."""

from __future__ import annotations

from holdfast.engines.pointwise.model import is_pointwise, parse

EXAMPLES = ("{Salary<} -> Rate<=",)
DESCRIBED = ("a pointwise order dependency, {Salary<} -> Rate<=",)
means = is_pointwise


def canonical(text: str) -> str:
    """The rule as it is always written; in which order columns come, only a table tells."""
    return parse(text).text
