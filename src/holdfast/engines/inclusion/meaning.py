"""What inclusion dependencies say."""

from __future__ import annotations

from holdfast.engines.inclusion.model import parse
from holdfast.engines.meaning import Meaning, Partner


def meaning(text: str) -> Meaning:
    """A row breaks it whose values do not occur on the other side."""
    rule = parse(text)
    own, other = rule.dependent, rule.referenced
    partner = Partner(own.table, own.columns, other.table, other.columns)
    return Meaning(f"Every {own} is a {other}.", own.columns, partner=partner)
