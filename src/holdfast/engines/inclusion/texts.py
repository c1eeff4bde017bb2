"""The texts of inclusion dependencies. They are found, and not given."""

from __future__ import annotations

from holdfast.engines.inclusion.model import is_inclusion, parse

EXAMPLES = ("orders.cust in customers.id",)
DESCRIBED = ("an inclusion dependency, orders.cust in customers.id",)
means = is_inclusion


def canonical(text: str) -> str:
    """The dependency as it is always written."""
    return parse(text).text


def table(text: str) -> str:
    """The dependent one: its rows are those that break it."""
    return parse(text).dependent.table
