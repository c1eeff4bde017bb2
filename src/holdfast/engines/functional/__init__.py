"""Keys and functional dependencies, exact and approximate, from the agree-sets of a table's row pairs; and those that
were given by name, from the rows in groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from holdfast.borders.strategy_choice import HELP, Method, refuse_unknown
from holdfast.engines.contract import FindingTable, Json, NoSettings, Option, Suggestible, score_cell
from holdfast.engines.given import GivenClass
from holdfast.errors import BadInput, refuse_below, refuse_no_error
from holdfast.rules.dependency import FD, Key
from holdfast.rules.given import rules_of

if TYPE_CHECKING:
    from holdfast.engines.functional.engine import FunctionalEngine
    from holdfast.engines.functional.explain import DependencyExplanation
    from holdfast.engines.functional.groups_keeper import GroupsKeeper
    from holdfast.engines.scored import Scored, Wanted
    from holdfast.engines.watched import WatchedTable
    from holdfast.progress import Progress
    from holdfast.rules.given import TableRules
    from holdfast.table.runner import Runner


@dataclass(frozen=True)
class FunctionalSettings:
    """How far keys and FDs that are found may fail to hold, and how long they may be."""

    error: Annotated[float, Option("Also rules that hold but for this share of pairs of rows (g1).", 0.0, 1.0)] = 0.0
    max_lhs: Annotated[int | None, Option("At most N columns in a left side or key.", 0)] = None
    method: Annotated[Method, Option(HELP)] = "auto"

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(0, self.max_lhs, "the number of columns of a left side")
        refuse_no_error(self.error)
        refuse_unknown(self.method)
        if self.error and self.method == "borders":
            raise BadInput(
                "borders prove keys and FDs that no pair of rows breaks; those that some may break are found by "
                "counting pairs, or groups of rows; leave out --method borders, or --error"
            )


def _cells(rule: Json) -> list[str]:
    return [score_cell(rule), f"{rule['error']:.4%}" if rule.get("error") else "0", rule["text"]]


class _KeysOrFDs(Suggestible[FunctionalSettings, "WatchedTable"]):
    settings = FunctionalSettings
    many = scored = True
    measure = "error"

    def engine(self, settings: FunctionalSettings, given: Mapping[str, TableRules]) -> FunctionalEngine:  # noqa: ARG002
        """Both are found from agree-sets."""
        from holdfast.engines.functional.engine import FunctionalEngine

        return FunctionalEngine(self, settings)


class Keys(_KeysOrFDs):
    """Keys that are found."""

    name, title, rules = "ucc", "keys", (Key,)
    suggested = "likely keys"
    table = FindingTable(("score", "error", "key"), _cells, ("score", "error"))

    def likely(self, subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
        """Ranked by how few rows are to remove."""
        from holdfast.engines.functional.likely_keys import likely

        return likely(subject, wanted, runner, progress)


class FDs(_KeysOrFDs):
    """Functional dependencies that are found."""

    name, title, rules = "fd", "functional dependencies", (FD,)
    suggested = "what determines what"
    by_left_side = True
    lens = ("What determines it", "right"), ("What it determines", "left")
    table = FindingTable(("score", "error", "dependency"), _cells, ("score", "error"))

    def likely(self, subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
        """By how much rows agree."""
        from holdfast.engines.functional.likely_fds import likely

        return likely(subject, wanted, runner, progress)


class NamedDependencies(GivenClass[NoSettings]):
    """Keys and FDs that were given."""

    name, title, rules = "named", "violations of named dependencies", (FD, Key)
    yours = "your keys and dependencies"
    settings = NoSettings
    explains_rows = False

    def keeper(self, settings: NoSettings, given: Mapping[str, TableRules], subject: WatchedTable) -> GroupsKeeper:  # noqa: ARG002
        """By rows in groups."""
        from holdfast.engines.functional.groups_keeper import GroupsKeeper

        return GroupsKeeper(rules_of(given, subject.table.schema), subject.table.schema)

    def explain_unwatched(self, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> DependencyExplanation:  # noqa: ARG002
        """As one that is watched: groups are made of the table."""
        from holdfast.engines.functional.explain import explain

        return explain(subject.table, text)


RULE_CLASSES = (Keys(), FDs(), NamedDependencies())
