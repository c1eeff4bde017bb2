"""Never-sets: comparisons of two rows that no two rows meet together. Read as implications within columns they are
pointwise order dependencies; between different columns they are denial constraints, a class of its own. So the results
of each have one meaning, and neither has options for the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from holdfast.borders.strategy_choice import HELP, Method, refuse_unknown
from holdfast.engines.contract import FindingTable, Json, Option, RuleClass, Suggestible
from holdfast.engines.found import text_order
from holdfast.errors import BadInput, refuse_below
from holdfast.rules.cross import CrossDenial
from holdfast.rules.pointwise import Pointwise

if TYPE_CHECKING:
    from holdfast.engines.pointwise.cross_engine import CrossEngine
    from holdfast.engines.pointwise.engine import PointwiseEngine
    from holdfast.engines.scored import Scored, Wanted
    from holdfast.engines.watched import WatchedTable
    from holdfast.progress import Progress
    from holdfast.rules.given import TableRules
    from holdfast.table.runner import Runner

SHORT, SHORTER, MANY_COLUMNS = 3, 2, 24  # columns of a left side by default; on wide tables; beyond how many
MOST_COMPARISONS = 3  # of a denial constraint across columns


@dataclass(frozen=True)
class PointwiseSettings:
    """Which pointwise order dependencies are looked for."""

    max_lhs: Annotated[
        int | None,
        Option(f"At most N columns in a left side; {SHORT} if not given, {SHORTER} beyond {MANY_COLUMNS} columns.", 0),
    ] = None
    rhs: Annotated[
        str | None,
        Option("Only rules with one of these columns on the right side: names with commas between.", columns=True),
    ] = None
    ordered: Annotated[str | None, Option(text_order.HELP, columns=True)] = None
    min_coverage: Annotated[
        float, Option("Only rules whose left side at least this share of the pairs of rows meets.", 0.0, 1.0)
    ] = 0.0
    vacuous: Annotated[bool, Option("Also rules whose left side no two rows meet.")] = False
    method: Annotated[Method, Option(HELP)] = "auto"

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(0, self.max_lhs, "the number of columns of a left side")
        refuse_unknown(self.method)
        _refuse_no_share(self.min_coverage)
        if self.vacuous and self.min_coverage:
            raise BadInput(
                "--min-coverage leaves out what few pairs of rows test, --vacuous asks for it; leave out one"
            )

    def longest(self, columns: int) -> int:
        """How many columns a left side may have: `max_lhs`, or by the width of the table alone. It is part of the
        question, so it must not depend on how the answer is found.
        """
        if self.max_lhs is not None:
            return self.max_lhs
        return SHORT if columns <= MANY_COLUMNS else SHORTER


def _cells(rule: Json) -> list[str]:
    share = "–" if "coverage" not in rule else f"{rule['coverage']:.4%}"
    error = f" ± {rule['coverage_error']:.4%}" if rule.get("coverage_error") else ""
    return [share + error, rule["text"]]


class PointwiseOrders(Suggestible[PointwiseSettings, "WatchedTable"]):
    """Pointwise order dependencies that are found."""

    name, title, rules = "pod", "pointwise order dependencies", (Pointwise,)
    suggested = "orders between pairs of rows"
    settings = PointwiseSettings
    many = denials = True
    lens = (("Orders", ""),)
    table = FindingTable(("coverage", "dependency"), _cells, ("coverage",))

    def engine(self, settings: PointwiseSettings, given: Mapping[str, TableRules]) -> PointwiseEngine:  # noqa: ARG002
        """By counting pairs, or by evidence and proof."""
        from holdfast.engines.pointwise.engine import PointwiseEngine

        return PointwiseEngine(self, settings)

    def likely(self, subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
        """By how many pairs of rows test them."""
        from holdfast.engines.pointwise.likely import likely

        return likely(subject, wanted, runner, progress)


@dataclass(frozen=True)
class CrossSettings:
    """Which denial constraints across columns are looked for."""

    across: Annotated[
        str | None,
        Option(
            "The columns that are compared with each other: names with commas between; all that compare if not given.",
            columns=True,
        ),
    ] = None
    max_comparisons: Annotated[int, Option("At most N comparisons in a rule.", 1, MOST_COMPARISONS)] = MOST_COMPARISONS
    ordered: Annotated[str | None, Option(text_order.HELP, columns=True)] = None
    min_coverage: Annotated[
        float, Option("Only rules that at least this share of the pairs of rows comes near.", 0.0, 1.0)
    ] = 0.0

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        if not 1 <= self.max_comparisons <= MOST_COMPARISONS:
            bounds = f"1 to {MOST_COMPARISONS}"
            raise BadInput(f"a rule has {bounds} comparisons of columns, not {self.max_comparisons}; choose another")
        _refuse_no_share(self.min_coverage)


def _refuse_no_share(coverage: float) -> None:
    if not 0.0 <= coverage <= 1.0:
        raise BadInput(f"the coverage is a share, from 0 to 1, not {coverage}; choose another")


class CrossDenials(RuleClass[CrossSettings]):
    """Denial constraints across columns that are found."""

    name, title, rules = "cross", "denial constraints across columns", (CrossDenial,)
    settings = CrossSettings
    many = denials = True
    table = FindingTable(("coverage", "constraint"), _cells, ("coverage",))
    is_searched = False  # not among all columns: `across` may name those that it is among

    def engine(self, settings: CrossSettings, given: Mapping[str, TableRules]) -> CrossEngine:  # noqa: ARG002
        """By counting pairs."""
        from holdfast.engines.pointwise.cross_engine import CrossEngine

        return CrossEngine(self, settings)


RULE_CLASSES = (PointwiseOrders(), CrossDenials())
