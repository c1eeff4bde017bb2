"""Denial constraints: rules such as `not(t.Zip = s.Zip and t.City != s.City)`, and the row pairs that break them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from holdfast.engines.declared import Option, RuleClass
from holdfast.errors import refuse_below


@dataclass(frozen=True)
class DenialSettings:
    """How many violations of a rule are kept as pairs; beyond, their number alone is."""

    pair_limit: Annotated[
        int | None, Option("Keep at most so many violations of a rule as pairs; beyond, their number alone.", 0)
    ] = None
    count_only: Annotated[bool, Option("Keep the number of violations alone.")] = False

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(0, self.pair_limit, "the number of violations to keep as pairs")


RULE_CLASSES = (
    RuleClass(
        "dc",
        "violations",
        "holdfast.engines.denial.engine",
        settings=DenialSettings,
        given=True,
        texts="holdfast.engines.denial.texts",
    ),
)
