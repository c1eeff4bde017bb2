"""Keys and functional dependencies, exact and approximate, from the agree-sets of a table's row pairs; and those that
were given by name, from the rows in groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from holdfast.borders.method import HELP, Method, refuse_unknown
from holdfast.engines.declared import FindingTable, Json, Option, RuleClass, score_cell
from holdfast.errors import BadInput, refuse_below


@dataclass(frozen=True)
class FunctionalSettings:
    """How far keys and FDs that are found may fail to hold, and how long they may be."""

    error: Annotated[float, Option("Also rules that hold but for this share of pairs of rows.", 0.0, 1.0)] = 0.0
    max_lhs: Annotated[int | None, Option("At most so many columns in a left side or key.", 0)] = None
    method: Annotated[Method, Option(HELP)] = "auto"

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(0, self.max_lhs, "the number of columns of a left side")
        if not 0.0 <= self.error < 1.0:
            raise BadInput(f"the error is a share, from 0 to below 1, not {self.error}; choose another")
        refuse_unknown(self.method)
        if self.error and self.method == "borders":
            raise BadInput(
                "the error of keys and FDs is a share of pairs of rows, which only counting tells; leave out --method "
                "borders, or --error"
            )


def _cells(rule: Json) -> list[str]:
    return [score_cell(rule), f"{rule['error']:.4%}" if rule.get("error") else "0", rule["text"]]


def _columns(rule: Json) -> set[tuple[str, str]]:
    names = rule["columns"] if "columns" in rule else [*rule["lhs"], rule["rhs"]]
    return {(rule["table"], name) for name in names}


_TEXTS, _MEANINGS = "holdfast.engines.functional.texts", "holdfast.engines.functional.meaning"


def _found(name: str, title: str, heading: str, likely: str) -> RuleClass:
    return RuleClass(
        name,
        title,
        "holdfast.engines.functional.engine",
        settings=FunctionalSettings,
        many=True,
        scored=True,
        texts=_TEXTS,
        meanings=_MEANINGS,
        likely=likely,
        table=FindingTable(("score", "error", heading), _cells, ("score", "error")),
        measure="error",
        columns=_columns,
    )


RULE_CLASSES = (
    _found("ucc", "keys", "key", "holdfast.engines.functional.likely_keys"),
    _found("fd", "functional dependencies", "dependency", "holdfast.engines.functional.likely_fds"),
    RuleClass(
        "named",
        "violations of named dependencies",
        "holdfast.engines.functional.named",
        given=True,
        texts=_TEXTS,
        meanings=_MEANINGS,
    ),
)
