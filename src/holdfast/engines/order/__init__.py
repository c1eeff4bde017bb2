"""Order dependencies: canonical ones, which columns are constant and which never swap within the groups of others; and
those that were given, which lists of columns order which others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from holdfast.borders.method import HELP, Method, refuse_unknown
from holdfast.engines.declared import FindingTable, Json, Option, RuleClass, score_cell
from holdfast.engines.order.list_class import LISTS
from holdfast.errors import BadInput, refuse_below
from holdfast.visible import brief


@dataclass(frozen=True)
class OrderSettings:
    """Which order dependencies are looked for, and how far they may fail to hold."""

    directions: Annotated[
        Literal["asc", "both"], Option("Pairs of columns that rise together alone, or those of which one falls, too.")
    ] = "both"
    max_level: Annotated[int | None, Option("At most so many columns in a context.", 0)] = None
    min_score: Annotated[
        int | None, Option("Only rules with at least this score, the sum of the squared sizes of their groups.", 0)
    ] = None
    error: Annotated[float, Option("Also rules that hold but for this share of rows.", 0.0, 1.0)] = 0.0
    method: Annotated[Method, Option(HELP)] = "auto"

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(0, self.max_level, "the number of columns of a context")
        refuse_below(0, self.min_score, "the score")
        if self.directions not in ("asc", "both"):
            raise BadInput(f"there are no directions {self.directions!r}; choose from: asc, both")
        refuse_unknown(self.method)
        if not 0.0 <= self.error < 1.0:
            raise BadInput(f"the error is a share, from 0 to below 1, not {self.error}; choose another")


def _cells(rule: Json) -> list[str]:
    score = brief(rule["score"]) if "score" in rule and not rule.get("empty") else score_cell(rule)
    return [score, f"{rule['error']:.4%}" if rule["error"] else "0", rule["text"]]


def _columns(rule: Json) -> set[tuple[str, str]]:
    own = [rule["constant"]] if "constant" in rule else rule["pair"]
    return {(rule["table"], name) for name in (*rule["context"], *own)}


RULE_CLASSES = (
    RuleClass(
        "od",
        "order dependencies",
        "holdfast.engines.order.engine",
        settings=OrderSettings,
        many=True,
        texts="holdfast.engines.order.texts",
        meanings="holdfast.engines.order.meaning",
        likely="holdfast.engines.order.likely",
        table=FindingTable(("score", "error", "dependency"), _cells, ("score", "error")),
        measure="error",
        columns=_columns,
    ),
    LISTS,
)
