"""Rules that are given: one engine, and keepers that keep the rules of one kind true under batches.

A class of given rules declares its keeper (`GivenClass.keeper`); all else is the same for all of them: how a rule
stands, what a batch did, which rows violate a rule, and why.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.engines.contract import Explanation, RuleClass, Settings
from holdfast.errors import BadInput

if TYPE_CHECKING:
    from holdfast.engines.given.engine import GivenEngine
    from holdfast.engines.given.keeper import Keeper
    from holdfast.rules.given import TableRules


class GivenClass(RuleClass[Settings]):
    """One class of rules that are given."""

    given = True
    explains_rows: ClassVar[bool] = True  # whether it can be asked why just these rows break a rule

    @abstractmethod
    def keeper(self, settings: Settings, given: Mapping[str, TableRules], subject: Any) -> Keeper[Any, Any]:
        """What keeps the rules that were given, by table, for a subject: a `WatchedTable`, or all of them by name."""

    def engine(self, settings: Settings, given: Mapping[str, TableRules]) -> GivenEngine:
        """The one engine of given rules."""
        from holdfast.engines.given.engine import GivenEngine

        return GivenEngine(self, settings, given)

    def explain_unwatched(self, subject: Any, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """Why a rule that is not watched doesn't hold, where a look at the subject can tell."""
        raise BadInput(f"can't explain {text!r}: it is not watched here; add it with: holdfast rules STATE add")
