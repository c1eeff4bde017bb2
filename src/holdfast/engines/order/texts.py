"""The texts of canonical order dependencies. They are found, and not given."""

from __future__ import annotations

from holdfast.engines.order.model import is_canonical, parse

EXAMPLES = ("{State}: Salary ~ Rate",)
DESCRIBED = ("an order dependency, {State}: Salary ~ Rate",)
means = is_canonical


def canonical(text: str) -> str:
    """The rule as it is always written; which column of a pair comes first, only a table tells."""
    return parse(text).text
