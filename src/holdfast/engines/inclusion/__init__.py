"""Inclusion dependencies: attribute clusters across tables, and the foreign keys that nobody wrote down; and those that
were given by name, from the rows that have no partner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from holdfast.engines.declared import FindingTable, Json, Option, RuleClass, score_cell
from holdfast.errors import BadInput


@dataclass(frozen=True)
class InclusionSettings:
    """What share of values may be missing, how values compare, and how many columns a side may have."""

    error: Annotated[float, Option("Also rules that hold but for this share of distinct values.", 0.0, 1.0)] = 0.0
    compare: Annotated[Literal["typed", "text"], Option("Whether values compare by type, or as text.")] = "typed"
    max_arity: Annotated[
        int,
        Option(
            "At most so many columns on each side. One of several columns is told where it holds in rows without a "
            "null in them, and each of its parts holds, too.",
            1,
        ),
    ] = 1

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        if self.max_arity < 1:
            raise BadInput(f"an inclusion dependency has at least one column on each side, not {self.max_arity}")
        if not 0.0 <= self.error < 1.0:
            raise BadInput(f"the error is a share, from 0 to below 1, not {self.error}; choose another")
        if self.compare not in ("typed", "text"):
            raise BadInput(f"values can't compare as {self.compare!r}; choose from: typed, text")


def _cells(rule: Json) -> list[str]:
    reasons = ", ".join(f"{name} {share:.0%}" for name, share in rule.get("reasons", {}).items())
    return [score_cell(rule), f"{rule['value_coverage']:.2%}", f"{rule['row_coverage']:.2%}", rule["text"], reasons]


def _columns(rule: Json) -> set[tuple[str, str]]:
    return {(side[0], column) for side in (rule["dependent"], rule["referenced"]) for column in side[1:]}


_TEXTS, _MEANINGS = "holdfast.engines.inclusion.texts", "holdfast.engines.inclusion.meaning"
_NUMBERS = ("score", "values in", "rows in")
RULE_CLASSES = (
    RuleClass(
        "ind",
        "inclusion dependencies",
        "holdfast.engines.inclusion.engine",
        settings=InclusionSettings,
        across=True,
        texts=_TEXTS,
        meanings=_MEANINGS,
        picture="holdfast.engines.inclusion.picture",
        likely="holdfast.engines.inclusion.likely",
        table=FindingTable((*_NUMBERS, "dependency", "reasons"), _cells, _NUMBERS),
        measure="value_coverage",
        columns=_columns,
    ),
    RuleClass(
        "reference",
        "rows without a partner in another table",
        "holdfast.engines.inclusion.references",
        given=True,
        across=True,
        texts=_TEXTS,
        meanings=_MEANINGS,
    ),
)
