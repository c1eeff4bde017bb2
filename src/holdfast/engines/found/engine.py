"""The engine of found rules that are targets in contexts: keys, functional dependencies, order dependencies.

A class names its targets, its strategies and its words; all else is the same for all of them. Of the covers that its
strategy gives some are minimal rules; a table of fewer than two rows has no pair that could test one, and then none is
reported; nor is one whose score is below the threshold, where a class has such (see `causes`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.cover import Cover, Listed, Numbers, Parts, dump_parts, load_parts
from holdfast.borders.evidence import Witnesses
from holdfast.borders.method import StrategyChoice, strategy_in_words
from holdfast.borders.targets import Targets
from holdfast.changes.diff import NOBODY, Cause, CauseKind, Diff, Witness
from holdfast.engines.contract import Engine, RuleClass, RuleExplanation
from holdfast.engines.found.causes import Causes
from holdfast.engines.found.covers import minimal
from holdfast.engines.found.diff import Moment, Step
from holdfast.engines.found.rules import FoundRules, R, Wording
from holdfast.engines.found.strategies import CoverStrategy, Spec
from holdfast.engines.found.witnesses import Broken, Compared, breaking_pairs
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import Arrays, Facts, WatchedTable, inside
from holdfast.kernels.evidence import first_breaking
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.filled import FilledColumns
from holdfast.progress import SILENT, Progress
from holdfast.rules.error_measures import ErrorName
from holdfast.rules.rule import Rule
from holdfast.table.change import Batch, Change
from holdfast.table.row_names import witnesses_of
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class ContextState(Generic[R]):
    """The covers of every target, the minimal rules among them, and the strategy that keeps them. `table`, and
    `filled`, which knows the empty rules, are as of the last batch that was taken in, which the subject may be ahead
    of; `now` is how the rules stand then, and `step` what this batch did, until it is explained.
    """

    now: Moment[R] | None = None
    step: Step[R] | None = None

    def __init__(self, subject: WatchedTable, spec: Spec, strategy: CoverStrategy, covers: Parts, why: str) -> None:
        self.subject, self.spec, self.strategy, self.why = subject, spec, strategy, why
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
    for one, other in combinations(range(targets.columns), 2) if constants and targets.ascending_pairs else ():
        if one in constants or other in constants:
            found |= {targets.ascending(one, other)}
            found |= {targets.descending(one, other)} if targets.descending_pairs else set()
    return sorted(found)


S = TypeVar("S", bound=ContextState[Any])


class ContextEngine(Engine[WatchedTable, S], Generic[R, S]):
    """Rules that are targets in contexts."""

    state: type[S]
    wording: type[Wording[R]]
    strategies: ClassVar[tuple[type[CoverStrategy], ...]]
    explanation: Callable[[Table, str], RuleExplanation]  # of a rule of a table, given its text
    stored_as: ClassVar[tuple[str, str]]  # the names of contexts and of errors in a dump
    folder: ClassVar[str] = ""  # of the strategy's arrays there
    error: ClassVar[ErrorName]
    smaller: ClassVar[CauseKind]  # what it is called that a rule follows from one with a smaller context
    mended: ClassVar[Cause | None] = None  # why rules are gained that rows broke; None: nobody says why any is gained

    def __init__(self, declared: RuleClass[Any], settings: Any) -> None:
        self.declared, self._settings = declared, settings

    @abstractmethod
    def _spec(self, table: Table, within: tuple[int, ...] | None = None) -> Spec:
        """What is looked for; contexts are made of all columns, or `within` some."""

    @abstractmethod
    def _choice(self, spec: Spec, table: Table, progress: Progress) -> StrategyChoice:
        """The strategy, and why."""

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

    def _strategy(self, name: str) -> type[CoverStrategy]:
        return next(each for each in self.strategies if each.name == name)

    def follow(self, state: S, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Derive what a batch changed in the covers, and so in the rules."""
        change, before = batch.only, state.now or self._moment(state)
        followed = state.strategy.follow(state.covers, change, runner, progress)
        touched = state.follow(change.after, followed.covers)
        is_new = self._renewed(state, change.after, runner, progress)
        state.now = self._moment(state)
        state.step = Step(before, state.now, followed.pairs, None if is_new else followed.moved)
        if is_new or before.has_pairs != state.step.after.has_pairs:
            touched = list(state.minimal)
        return state.step.difference(touched)

    def _renewed(self, state: S, after: Table, runner: Runner, progress: Progress) -> bool:  # noqa: ARG002
        """Whether rules of any target may have come or gone otherwise; here covers are found again, if need be."""
        return False

    def explained(self, state: S, diff: Diff, batch: Batch) -> Diff:
        """Why rules came and went, and which rows broke those that were lost. What nothing had tested did not break."""
        step, state.step = state.step, None
        assert step is not None
        lost, gained = cast(FoundRules[R], diff.lost), cast(FoundRules[R], diff.gained)
        went = step.of_lost(lost.listed, self.smaller)
        came = step.of_gained(gained.listed, self.smaller) if self.mended else None
        tested = ~lost.filled.empty(lost.wording.needed(lost.listed))
        found = witnesses(lost, went.broken & tested, batch.only, step.pairs)
        kinds = self._broken_as(lost)

        def causes() -> dict[str, Cause]:
            of_lost = went.causes(lost.with_texts(), kinds)
            return of_lost if came is None else {**of_lost, **came.causes(gained.with_texts(), lambda _: self.mended)}

        count = len(lost) + len(gained) if came else len(lost) - int(np.count_nonzero(went.broken))
        return replace(diff, witnesses=found, causes=Causes(count, causes))

    def _broken_as(self, lost: FoundRules[R]) -> Callable[[int], Cause | None]:  # noqa: ARG002
        """What it is called that rows broke a rule that was lost, by its place; None: that is plain."""
        return lambda _: None

    def result(self, state: S) -> FoundRules[R]:
        """All minimal rules that hold; a mapping that makes them when they are read."""
        schema, rows = state.table.schema, state.table.rows
        parts = self._above(state) if rows >= FEWEST_ROWS else {}
        wording = self.wording(schema.name, tuple(schema.names), state.spec.targets)
        return FoundRules(wording, parts, rows, self.error, state.filled)

    def _moment(self, state: S) -> Moment[R]:
        covers = dict(state.covers), dict(state.minimal)
        return Moment(state.table.rows, state.spec.targets, *covers, self.result(state))

    def dump(self, state: S) -> tuple[Arrays, Facts]:
        """The covers, and what the strategy keeps."""
        own, facts = state.strategy.named_dump(self.folder, state.why)
        within = state.spec.targets.within
        return dump_parts(state.covers, *self.stored_as) | own, facts if within is None else {**facts, "within": within}

    def load(self, subject: WatchedTable, arrays: Arrays, facts: Facts) -> S:
        """The state from its arrays."""
        within = facts.get("within")
        spec = self._spec(subject.table, None if within is None else tuple(within))
        strategy = self._strategy(facts["way"]).load(subject, spec, inside(self.folder, arrays), facts)
        covers = load_parts(arrays, *self.stored_as, spec.targets.context_words)
        return self.state(subject, spec, strategy, covers, facts["why"])

    def how(self, state: S) -> str:
        """By which strategy, and why."""
        return strategy_in_words(state.strategy.name, state.why)

    def explain(self, state: S | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> RuleExplanation:  # noqa: ARG002
        """How far a rule holds, watched or not, and which rows to look at."""
        self.refuse_rows(rows)
        return self.explanation(subject.table, text)


class BrokenContexts(Broken):
    """Targets in contexts that rows broke."""

    def __init__(self, listed: Listed, wording: Wording[Any]) -> None:
        self._listed, self._wording = listed, wording

    @property
    def sizes(self) -> Numbers:
        """The columns of each context."""
        return bitsets.sizes(self._listed.contexts)

    def known(self, pairs: Witnesses | None, born: range) -> Numbers:
        """For each rule one of some pairs that has a new row and breaks it, NOBODY where none does."""
        found = np.full((len(self._listed), 2), NOBODY)
        if pairs is not None:
            is_new = (pairs.rows >= born.start) & (pairs.rows < born.stop)
            new = pairs.some(np.flatnonzero(is_new.any(axis=1)))
            places = self._first(np.arange(len(found)), new.agree, new.broken)
            found[places >= 0] = new.rows[places[places >= 0]]
        return found

    def hits(self, rules: Numbers, seen: Compared) -> Numbers:
        """The first pair that agrees on the context and breaks the target."""
        targets = self._wording.targets
        places, *sets = seen.by_order if targets.ascending_pairs else seen.by_equality
        found = self._first(rules, sets[0], targets.broken_by(*sets))
        return np.where(found >= 0, places[found], -1)

    def _first(self, rules: Numbers, agree: Words, broken: Words) -> Numbers:
        """For each of some rules the first pair that breaks it, given what pairs agree on and break."""
        found = np.empty(len(rules), np.int64)
        first_breaking(self._listed.contexts[rules], self._listed.targets[rules], agree, broken, found)
        return found

    def rule(self, number: int) -> Rule:
        """A rule."""
        rule: Rule = self._wording.rule_of(self._listed.some(np.array([number])))
        return rule


def witnesses(
    lost: FoundRules[Any], broken: NDArray[np.bool_], change: Change, known: Witnesses | None
) -> dict[str, Witness]:
    """Two rows for each of those rules that were lost as rows broke them, by its text."""
    if not broken.any():
        return {}
    rules = BrokenContexts(lost.listed.some(broken), lost.wording)
    pairs = breaking_pairs(rules, change, rules.known(known, change.born))
    texts = [text for text, is_broken in zip(lost.with_texts(), broken.tolist(), strict=True) if is_broken]
    found = {text: (one, other) for text, (one, other) in zip(texts, pairs.tolist(), strict=True) if one >= 0}
    return witnesses_of(change.after, found) if found else {}
