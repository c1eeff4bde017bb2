"""Inclusion dependencies: attribute clusters across tables, and the foreign keys that nobody wrote down; and those that
were given by name, from the rows that have no partner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from holdfast.engines import contract
from holdfast.engines.contract import Json, NoSettings, Option, Suggestible, score_cell
from holdfast.engines.given import GivenClass
from holdfast.errors import BadInput, refuse_no_error
from holdfast.rules.inclusion import IND

if TYPE_CHECKING:
    from holdfast.engines.inclusion.engine import InclusionEngine
    from holdfast.engines.inclusion.references import OrphansKeeper
    from holdfast.engines.scored import Scored, Wanted
    from holdfast.engines.watched import WatchedTable
    from holdfast.progress import Progress
    from holdfast.rules.given import TableRules
    from holdfast.table.runner import Runner

    Tables = Mapping[str, WatchedTable]


@dataclass(frozen=True)
class InclusionSettings:
    """What share of values may be missing, how values compare, and how many columns a side may have."""

    error: Annotated[float, Option("Also rules that hold but for this share of distinct values.", 0.0, 1.0)] = 0.0
    compare: Annotated[Literal["typed", "text"], Option("Whether values compare by type, or as text.")] = "typed"
    max_arity: Annotated[
        int,
        Option(
            "At most N columns on each side. One of several columns is reported where it holds in rows "
            "without a null in them, up to the error, and each of its parts holds so, too.",
            1,
        ),
    ] = 1

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        if self.max_arity < 1:
            raise BadInput(f"an inclusion dependency has at least one column on each side, not {self.max_arity}")
        refuse_no_error(self.error)
        if self.compare not in ("typed", "text"):
            raise BadInput(f"values can't compare as {self.compare!r}; choose from: typed, text")


def _cells(rule: Json) -> list[str]:
    reasons = ", ".join(f"{name} {share:.0%}" for name, share in rule.get("reasons", {}).items())
    return [score_cell(rule), f"{rule['value_coverage']:.2%}", f"{rule['row_coverage']:.2%}", rule["text"], reasons]


_NUMBERS = ("score", "values in", "rows in")


class Inclusions(Suggestible[InclusionSettings, "Tables"], contract.Drawable[InclusionSettings]):
    """Inclusion dependencies that are found."""

    name, title, rules = "ind", "inclusion dependencies", (IND,)
    suggested = "likely foreign keys"
    lens = (("Foreign keys", ""),)
    settings = InclusionSettings
    across = references = True
    measure = "value_coverage"
    table = contract.FindingTable((*_NUMBERS, "dependency", "reasons"), _cells, _NUMBERS)

    def engine(self, settings: InclusionSettings, given: Mapping[str, TableRules]) -> InclusionEngine:  # noqa: ARG002
        """From attribute clusters."""
        from holdfast.engines.inclusion.engine import InclusionEngine

        return InclusionEngine(self, settings)

    def likely(self, subject: Tables, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
        """By what makes a foreign key."""
        from holdfast.engines.inclusion.likely import likely

        return likely(subject, wanted, runner, progress)

    def pictures(self) -> contract.Pictures:
        """Tables and the references between them."""
        from holdfast.engines.inclusion import picture

        return picture


class References(GivenClass[NoSettings]):
    """References that were given."""

    name, title, rules = "reference", "rows without a partner in another table", (IND,)
    yours = "your references"
    settings = NoSettings
    across = references = True
    explains_rows = False

    def keeper(self, settings: NoSettings, given: Mapping[str, TableRules], subject: Tables) -> OrphansKeeper:  # noqa: ARG002
        """The rows without a partner."""
        from holdfast.engines.inclusion.references import OrphansKeeper

        return OrphansKeeper.of(given, subject)


RULE_CLASSES = (Inclusions(), References())
