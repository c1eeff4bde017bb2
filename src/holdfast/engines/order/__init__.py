"""Order dependencies: canonical ones, which columns are constant and which never swap within the groups of others; and
those that were given, which lists of columns order which others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from holdfast.borders.strategy_choice import HELP, Method, refuse_unknown
from holdfast.engines.contract import CurrentExplanation, FindingTable, Json, Option, Suggestible, score_cell
from holdfast.engines.found import text_order
from holdfast.engines.given import PairClass, ViolationSettings
from holdfast.errors import BadInput, refuse_below, refuse_no_error
from holdfast.rules.lists import ListOD
from holdfast.rules.order import Compatible, ConstantOD
from holdfast.rules.registry import parse
from holdfast.rules.rule import Scope
from holdfast.visible import brief

if TYPE_CHECKING:
    from holdfast.engines.order.engine import OrderEngine
    from holdfast.engines.order.list_keeper import ListsKeeper
    from holdfast.engines.scored import Scored, Wanted
    from holdfast.engines.watched import WatchedTable
    from holdfast.progress import Progress
    from holdfast.rules.given import TableRules
    from holdfast.table.runner import Runner


@dataclass(frozen=True)
class OrderSettings:
    """Which order dependencies are looked for, and how far they may fail to hold."""

    directions: Annotated[
        Literal["asc", "both"], Option("Pairs of columns that rise together alone, or those of which one falls, too.")
    ] = "both"
    max_level: Annotated[int | None, Option("At most N columns in a context.", 0)] = None
    min_score: Annotated[
        int | None,
        Option("Only rules with N tested pairs of rows or more: the sum of the squared sizes of their groups.", 0),
    ] = None
    error: Annotated[float, Option("Also rules that hold but for this share of rows (g3).", 0.0, 1.0)] = 0.0
    method: Annotated[Method, Option(HELP)] = "auto"
    ordered: Annotated[str | None, Option(text_order.HELP, columns=True)] = None

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(0, self.max_level, "the number of columns of a context")
        refuse_below(0, self.min_score, "the number of pairs of rows that test a rule")
        if self.directions not in ("asc", "both"):
            raise BadInput(f"there are no directions {self.directions!r}; choose from: asc, both")
        refuse_unknown(self.method)
        refuse_no_error(self.error)


def _cells(rule: Json) -> list[str]:
    is_known = "tested_pairs" in rule and not rule.get("empty")
    tested = brief(rule["tested_pairs"]) if is_known else score_cell(rule)
    return [tested, f"{rule['error']:.4%}" if rule["error"] else "0", rule["text"]]


class Orders(Suggestible[OrderSettings, "WatchedTable"]):
    """Canonical order dependencies that are found."""

    name, title, rules = "od", "order dependencies", (ConstantOD, Compatible)
    suggested = "orders"
    lens = (("Orders", ""),)
    settings = OrderSettings
    many = True
    measure = "error"
    table = FindingTable(("tested pairs", "error", "dependency"), _cells, ("tested pairs", "error"))

    def engine(self, settings: OrderSettings, given: Mapping[str, TableRules]) -> OrderEngine:  # noqa: ARG002
        """Exact ones by counting pairs or by borders, others by counting removals."""
        from holdfast.engines.order.engine import OrderEngine

        return OrderEngine(self, settings)

    def likely(self, subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
        """By how many pairs of rows they order."""
        from holdfast.engines.order.likely import likely

        return likely(subject, wanted, runner, progress)


class Lists(PairClass):
    """List order dependencies that were given: all splits and swaps. Nulls come first, as in `table/order.py`."""

    name, title, rules = "lod", "violations of list order dependencies", (ListOD,)
    yours = "your sort orders"

    def keeper(
        self, settings: ViolationSettings, given: Mapping[str, TableRules], subject: WatchedTable
    ) -> ListsKeeper:
        """All violating pairs, and how far each rule holds."""
        from holdfast.engines.order.list_keeper import ListsKeeper

        return ListsKeeper.of(settings, given, subject)

    def explain_unwatched(self, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> CurrentExplanation:
        """The first two rows that break it, how far it holds, and what it means."""
        from holdfast.engines.order.list_first import explained

        if rows:
            return super().explain_unwatched(subject, text, rows)
        schema = subject.table.schema
        rule, _ = parse(text).checked(Scope({schema.name: schema}, schema.name))
        assert isinstance(rule, ListOD)
        return explained(rule, subject.table)


RULE_CLASSES = (Orders(), Lists())
