"""The frame of engines for found rules of one table.

A class finds and keeps rules by one of several strategies. Each batch is a step from one moment to the next. Which
rules came and went is compared at once; why, and which rows broke those that went, is said afterwards (see `causes` and
`witnesses`). A table of fewer than two rows has no pair that could test a rule, and then none is reported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar, cast

from holdfast.borders.cover import Mask
from holdfast.borders.strategy_choice import StrategyChoice, strategy_in_words
from holdfast.changes.diff import Cause, CauseKind, Diff
from holdfast.engines.contract import Engine, RuleExplanation
from holdfast.engines.found.causes import Causes, Standing
from holdfast.engines.found.rules import ListedRules
from holdfast.engines.found.strategies import Strategy
from holdfast.engines.found.witnesses import Broken
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import Arrays, Facts, WatchedTable, below, inside
from holdfast.progress import Progress
from holdfast.table.change import Batch
from holdfast.table.table import Table

F = TypeVar("F", bound=ListedRules[Any, Any])


@dataclass(frozen=True, eq=False)
class Moment(Generic[F]):
    """The rules that are reported at a moment, as two rows at least are there and nothing keeps them out."""

    rows: int
    reported: F

    @property
    def has_pairs(self) -> bool:
        """Whether a pair of rows could test a rule."""
        return self.rows >= FEWEST_ROWS


class Step(ABC, Generic[F]):
    """What a batch did to the rules of a class."""

    @abstractmethod
    def of_lost(self, lost: F) -> Standing:
        """How rules that were lost stand after the batch."""

    @abstractmethod
    def of_gained(self, gained: F) -> Standing:
        """How rules that were gained stood before the batch."""

    @abstractmethod
    def broken(self, lost: F, which: Mask) -> Broken:
        """Those of the lost rules that rows broke."""


class FoundState:
    """A strategy with what it keeps, why it was chosen, and what the last batch did, until that is explained."""

    step: Step[Any] | None = None

    def __init__(self, subject: WatchedTable, spec: Any, strategy: Any, why: str) -> None:
        self.subject, self.spec, self.strategy, self.why = subject, spec, strategy, why


S = TypeVar("S", bound=FoundState)
St = TypeVar("St", bound=Strategy[Any])


class FoundEngine(Engine[WatchedTable, S], Generic[F, S, St]):
    """Rules of one table that a strategy finds and keeps."""

    strategies: ClassVar[tuple[type[Strategy[Any]], ...]]
    explanation: Callable[[Table, str], RuleExplanation]  # of a rule of a table, given its text
    folder: ClassVar[str] = "way/"  # of the strategy's arrays in a dump
    below: ClassVar[CauseKind] = "score"  # what it is called that a rule is below the threshold
    mended: ClassVar[Cause | None] = Cause("mended")  # why rules came that rows broke; None: nobody says why any came

    @abstractmethod
    def _choice(self, spec: Any, table: Table, progress: Progress) -> StrategyChoice:
        """The strategy, and why."""

    def _strategy(self, name: str) -> type[St]:
        return cast(type[St], next(each for each in self.strategies if each.name == name))

    def explained(self, state: S, diff: Diff, batch: Batch) -> Diff:
        """Why rules came and went, and which rows broke those that were lost. What nothing had tested did not break."""
        step, state.step = state.step, None
        assert step is not None
        if not (diff.lost or diff.gained):
            return diff
        lost, gained = cast(F, diff.lost), cast(F, diff.gained)
        went, came = step.of_lost(lost), step.of_gained(gained) if self.mended else None
        kinds = self._broken_as(lost)

        def causes() -> dict[str, Cause]:
            of_lost = went.causes(lost.with_texts(), kinds, self.below)
            if came is None:
                return of_lost
            return {**of_lost, **came.causes(gained.with_texts(), lambda _: self.mended, self.below)}

        found = step.broken(lost, went.broken).witnesses(batch.only) if went.broken.any() else {}
        return replace(diff, witnesses=found, causes=Causes(causes))

    def _broken_as(self, lost: F) -> Callable[[int], Cause | None]:  # noqa: ARG002
        """What it is called that rows broke a rule that was lost, by its place; None: that is plain."""
        return lambda _: None

    def dump(self, state: S) -> tuple[Arrays, Facts]:
        """The rules, and what the strategy keeps; which one it is, and why."""
        (arrays, facts), (own, about) = self._dumped(state), state.strategy.dump()
        return {**arrays, **below(self.folder, own)}, {**facts, "way": state.strategy.name, "why": state.why, **about}

    @abstractmethod
    def _dumped(self, state: S) -> tuple[Arrays, Facts]:
        """The rules as arrays, and facts about them."""

    def _loaded(self, subject: WatchedTable, spec: Any, arrays: Arrays, facts: Facts) -> St:
        """The strategy from its arrays."""
        return self._strategy(facts["way"]).load(subject, spec, inside(self.folder, arrays), facts)

    def explain(self, state: S | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> RuleExplanation:  # noqa: ARG002
        """How far a rule holds, watched or not, and which rows to look at."""
        self.refuse_rows(rows)
        return self.explanation(subject.table, text)

    def how(self, state: S) -> str:
        """By which strategy, and why."""
        return strategy_in_words(state.strategy.name, state.why)
