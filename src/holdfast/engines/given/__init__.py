"""Rules that are given: one engine, and keepers that keep the rules of one kind true under batches.

A class of given rules declares its keeper (`GivenClass.keeper`); all else is the same for all of them: how a rule
stands, what a batch did, which rows violate a rule, and why. A class whose rules pairs of rows violate (`PairClass`)
brings its rules alone: these pairs follow from what a rule says.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from holdfast.engines.contract import CurrentExplanation, Option, RuleClass, Settings
from holdfast.errors import BadInput, refuse_below

if TYPE_CHECKING:
    from holdfast.engines.given.engine import GivenEngine
    from holdfast.engines.given.keeper import Keeper
    from holdfast.rules.given import TableRules


class GivenClass(RuleClass[Settings]):
    """One class of rules that are given."""

    given = True
    explains_rows: ClassVar[bool] = True  # whether it says why just these rows break a rule
    is_sliced: ClassVar[bool] = True  # whether its keeper knows nothing of `where` (see `slices`)

    @abstractmethod
    def keeper(self, settings: Settings, given: Mapping[str, TableRules], subject: Any) -> Keeper[Any, Any]:
        """What keeps the rules that were given, by table, for a subject: a `WatchedTable`, or all of them by name."""

    def engine(self, settings: Settings, given: Mapping[str, TableRules]) -> GivenEngine:
        """The one engine of given rules."""
        from holdfast.engines.given.engine import GivenEngine

        return GivenEngine(self, settings, given)

    def explain_unwatched(self, subject: Any, text: str, rows: Sequence[int] = ()) -> CurrentExplanation:  # noqa: ARG002
        """Why a rule that is not watched doesn't hold, where a look at the subject shows that."""
        raise BadInput(f"can't explain {text!r}: it is not watched here; add it with: holdfast rules STATE add")


@dataclass(frozen=True)
class ViolationSettings:
    """How many violations of a rule are kept as pairs; beyond, their number alone is."""

    pair_limit: Annotated[
        int | None, Option("Keep at most N violations of a rule as pairs; beyond, their number alone.", 0)
    ] = None
    count_only: Annotated[bool, Option("Keep the number of violations alone.")] = False

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(0, self.pair_limit, "the number of violations to keep as pairs")


class PairClass(GivenClass[ViolationSettings]):
    """One class of rules that pairs of rows violate."""

    settings = ViolationSettings

    def keeper(self, settings: ViolationSettings, given: Mapping[str, TableRules], subject: Any) -> Keeper[Any, Any]:
        """All violating pairs, by pair search."""
        from holdfast.engines.given.pairs import PairsKeeper

        return PairsKeeper.of(settings, given, subject)
