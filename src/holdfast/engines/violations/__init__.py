"""What classes share whose given rules are violated by pairs of rows: which pairs these are, found, kept under batches,
listed and explained. A class brings its rules, the pair queries that say each, and its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from holdfast.engines.contract import Option
from holdfast.errors import refuse_below


@dataclass(frozen=True)
class ViolationSettings:
    """How many violations of a rule are kept as pairs; beyond, their number alone is."""

    pair_limit: Annotated[
        int | None, Option("Keep at most so many violations of a rule as pairs; beyond, their number alone.", 0)
    ] = None
    count_only: Annotated[bool, Option("Keep the number of violations alone.")] = False

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(0, self.pair_limit, "the number of violations to keep as pairs")
