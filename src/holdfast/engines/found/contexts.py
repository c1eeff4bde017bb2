"""The engine of found rules that are targets in contexts: keys, functional dependencies, order dependencies.

A class names its targets, its strategies and its words; all else is the same for all of them. Of the covers that its
strategy gives some are minimal rules; one whose score is below the threshold, where a class has such, is not reported.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar

from holdfast.borders.cover import Cover, Parts, dump_parts, load_parts
from holdfast.borders.targets import Targets
from holdfast.changes.diff import CauseKind, Diff
from holdfast.engines.found.covers import minimal
from holdfast.engines.found.diff import ContextMoment, ContextStep
from holdfast.engines.found.engine import FoundEngine, FoundState
from holdfast.engines.found.rules import ContextWording, FoundRules, R
from holdfast.engines.found.strategies import CoverStrategy, Spec
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.pairs.filled import FilledColumns
from holdfast.progress import SILENT, Progress
from holdfast.rules.error_measures import ErrorName
from holdfast.table.change import Batch
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class ContextState(FoundState, Generic[R]):
    """The covers of every target, the minimal rules among them, and the strategy that keeps them. `table`, and
    `filled`, which knows the empty rules, are as of the last batch that was taken in, which the subject may be ahead
    of; `now` is how the rules stand then.
    """

    now: ContextMoment[R] | None = None
    spec: Spec
    strategy: CoverStrategy

    def __init__(self, subject: WatchedTable, spec: Spec, strategy: CoverStrategy, covers: Parts, why: str) -> None:
        super().__init__(subject, spec, strategy, why)
        self.covers: dict[int, Cover] = {}
        self.minimal: dict[int, Cover] = {}
        self._columns = subject.part(FilledColumns)
        self.follow(subject.table, covers)

    def follow(self, after: Table, changed: Parts) -> list[int]:
        """Take in the covers that a batch changed; gives the targets whose minimal rules may have changed."""
        self.table, self.filled = after, self._columns.now
        self.covers |= changed
        touched = touched_by(changed, self.spec.targets)
        self.minimal |= minimal(self.covers, self.spec.targets, touched)
        return touched

    def replace(self, other: ContextState[R]) -> None:
        """Go on with another state of the same table."""
        self.__dict__.update(other.__dict__)


def touched_by(changed: Iterable[int], targets: Targets) -> list[int]:
    """The targets whose minimal rules may change with the covers of some: these, and the pairs of constants."""
    found = set(changed)
    constants = {target for target in found if target < targets.key}
    for one, other in targets.ordered_pairs if constants and targets.ascending_pairs else ():
        if one in constants or other in constants:
            found |= {targets.ascending(one, other)}
            found |= {targets.descending(one, other)} if targets.descending_pairs else set()
    return sorted(found)


def stored_within(facts: Facts) -> tuple[int, ...] | None:
    """The columns of which contexts are made in a state, as its dump says; None: all."""
    return None if facts.get("within") is None else tuple(facts["within"])


S = TypeVar("S", bound=ContextState[Any])


class ContextEngine(FoundEngine[FoundRules[R], S, CoverStrategy], Generic[R, S]):
    """Rules that are targets in contexts."""

    state: type[S]
    wording: type[ContextWording[R]]
    stored_as: ClassVar[tuple[str, str]]  # the names of contexts and of errors in a dump
    error: ClassVar[ErrorName]
    smaller: ClassVar[CauseKind]  # what it is called that a rule follows from one with a smaller context

    @abstractmethod
    def _spec(self, table: Table, within: tuple[int, ...] | None = None) -> Spec:
        """What is looked for; contexts are made of all columns, or `within` some."""

    def _above(self, state: S) -> Parts:
        """The minimal rules whose score reaches the threshold."""
        return state.minimal

    # ---- verbs ------------------------------------------------------------------------------------------------------

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> S:
        """Find the covers of all targets."""
        return self._found(subject, self._spec(subject.table), runner, progress)

    def _found(self, subject: WatchedTable, spec: Spec, runner: Runner, progress: Progress) -> S:
        choice = self._choice(spec, subject.table, progress)
        strategy, covers = self._strategy(choice.name).begin(subject, spec, runner, progress)
        return self.state(subject, spec, strategy, covers, choice.why)

    def follow(self, state: S, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Derive what a batch changed in the covers, and so in the rules."""
        change, before = batch.only, state.now or self._moment(state)
        followed = state.strategy.follow(state.covers, change, runner, progress)
        touched = state.follow(change.after, followed.covers)
        is_new = self._renewed(state, change.after, runner, progress)
        state.now = self._moment(state)
        step = ContextStep(before, state.now, self.smaller, followed.pairs, None if is_new else followed.moved)
        if is_new or before.has_pairs != step.after.has_pairs:
            touched = list(state.minimal)
        state.step = step
        return step.difference(touched)

    def _renewed(self, state: S, after: Table, runner: Runner, progress: Progress) -> bool:  # noqa: ARG002
        """Whether rules of any target may have come or gone otherwise; here covers are found again, if need be."""
        return False

    def result(self, state: S) -> FoundRules[R]:
        """All minimal rules that hold; a mapping that makes them when they are read."""
        schema, rows = state.table.schema, state.table.rows
        parts = self._above(state) if rows >= FEWEST_ROWS else {}
        wording = self.wording(schema.name, tuple(schema.names), state.spec.targets)
        return FoundRules(wording, parts, rows, self.error, state.filled)

    def _moment(self, state: S) -> ContextMoment[R]:
        covers = dict(state.covers), dict(state.minimal)
        return ContextMoment(state.table.rows, self.result(state), state.spec.targets, *covers)

    def _dumped(self, state: S) -> tuple[Arrays, Facts]:
        """The covers."""
        within = state.spec.targets.within
        return dump_parts(state.covers, *self.stored_as), {} if within is None else {"within": within}

    def _stored_spec(self, table: Table, facts: Facts) -> Spec:
        """What is looked for in a state, as its dump says."""
        return self._spec(table, stored_within(facts))

    def load(self, subject: WatchedTable, arrays: Arrays, facts: Facts) -> S:
        """The state from its arrays."""
        spec = self._stored_spec(subject.table, facts)
        strategy = self._loaded(subject, spec, arrays, facts)
        covers = load_parts(arrays, *self.stored_as, spec.targets.context_words)
        return self.state(subject, spec, strategy, covers, facts["why"])
