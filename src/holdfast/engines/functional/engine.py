"""Keys and FDs behind the verbs that every engine offers.

One class serves both, for they are one thing: the minimal left sides of some targets (see `pairs.maximal`). FDs have
the columns as targets, keys the row itself. They are found by counting all pairs of rows, or, on tall tables, by
borders (see `holdfast.borders`). `settings.error` above 0 asks for approximate rules, `settings.max_lhs` bounds left
sides and keys. A table of fewer than two rows has no pair that could test a rule: then none is told.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from holdfast.borders.borders import Borders
from holdfast.borders.method import AGREE_SETS, NS_AN_AGREE_SET, Choice, choose, way_in_words
from holdfast.borders.parts import Part
from holdfast.borders.rows import CodedColumns
from holdfast.borders.targets import Targets
from holdfast.changes.diff import Cause, Diff, Witness
from holdfast.engines.contexts import difference, minus
from holdfast.engines.contract import Engine, RuleClass
from holdfast.engines.functional import FunctionalSettings, derive
from holdfast.engines.functional.approximate import derive_approximate
from holdfast.engines.functional.differ import (
    Implied,
    witnesses_among,
    witnesses_found,
    witnesses_in,
)
from holdfast.engines.functional.explain import Explanation, explain
from holdfast.engines.functional.result import Rules, Wording
from holdfast.engines.functional.scoring import Ranked, worth_of
from holdfast.engines.functional.state import CountedAgreeSets, State, parts_of, refuse_wide
from holdfast.engines.thresholds import FEWEST_ROWS, limit_of
from holdfast.engines.watched import WatchedTable
from holdfast.pairs.bitsets import Words
from holdfast.pairs.hitting import Mended
from holdfast.progress import SILENT, Progress, search_progress
from holdfast.rules.dependency import pairs_of
from holdfast.table.change import Batch, Change
from holdfast.table.runner import Runner
from holdfast.table.table import Table
from holdfast.table.threads import OnProgress


class FunctionalEngine(Engine[WatchedTable, State]):
    """Minimal keys (`ucc`) or minimal FDs (`fd`), exact, or approximate up to a share of pairs."""

    def __init__(self, declared: RuleClass[Any], settings: FunctionalSettings) -> None:
        self.declared = declared
        self._error, self._max_lhs, self._method = settings.error, settings.max_lhs, settings.method

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Compare all pairs, and derive; or compare some, and prove what they leave."""
        refuse_wide(subject.table)
        choice = self._choice(subject.table, progress)
        if choice.name == "borders":
            rows = subject.part(CodedColumns, runner, progress)
            borders = Borders.of(rows, self._targets(subject.table), self._max_lhs, runner, progress)
            return State(subject, borders, _exact(borders.covers), choice.why)
        pairs = subject.part(CountedAgreeSets, runner, progress)
        return State(subject, pairs, self._parts(subject.table, pairs, progress), choice.why)

    def _choice(self, table: Table, progress: Progress) -> Choice:
        rows, columns = table.rows, len(table.schema.columns)
        if not self._error:
            return choose(self._method, rows, columns, AGREE_SETS)
        if (pairs := pairs_of(rows)) > AGREE_SETS.wide_pairs:
            minutes = pairs * NS_AN_AGREE_SET / (os.cpu_count() or 1) / 60e9
            progress.note(
                f"Approximate {self.declared.title} are measured by their share of pairs of rows, so all {pairs:,} are "
                f"counted: about {minutes:,.0f} minutes here. Exact ones need no counting."
            )
        return Choice("counts", "as their error is a share of all pairs of rows")

    def follow(self, state: State, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Derive what a batch changed in the agree-sets, or prove what is left of the rules."""
        change = batch.only
        before = self.result(state)
        state.follow(change.after)
        if isinstance(state.basis, Borders):
            return self._follow_borders(state, state.basis, before, change, runner, progress)
        pairs = state.basis
        maximal = pairs.changed
        if self._error or maximal is None or not _is_tested(change):
            state.parts = self._parts(change.after, pairs, progress)
            after = self.result(state)
            targets = {**before.parts, **after.parts}
            lost, gained = minus(before.parts, after.parts, targets), minus(after.parts, before.parts, targets)
            return difference(before, after, lost, gained)
        covers = {target: part.sets for target, part in state.parts.items()}
        said = self._saying(len(covers), progress)
        changed = derive.follow(covers, maximal.shift, maximal.before, self._max_lhs, said)
        state.parts.update({target: Part(now.sets) for target, now in changed.items()})
        return _exact_diff(before, self.result(state), changed)

    def _follow_borders(
        self, state: State, borders: Borders, before: Rules, change: Change, runner: Runner, progress: Progress
    ) -> Diff:
        changed = borders.follow(change.dead, runner, progress)
        state.parts.update(_exact({target: now.sets for target, now in changed.items()}))
        after = self.result(state)
        return _exact_diff(before, after, changed) if _is_tested(change) else Diff(after, before)

    def explained(self, state: State, diff: Diff, batch: Batch) -> Diff:
        """Who broke the rules that were lost, or which ones they follow from; what they were worth, and what those are
        worth that were gained. Where no pair of rows was there, or is any more, nothing is broken that nothing tests.
        """
        lost, gained, change = cast(Rules, diff.lost), cast(Rules, diff.gained), batch.only
        if not _is_tested(change):
            return replace(diff, causes=dict.fromkeys(lost, Cause("untested")))
        witnesses = self._witnesses(state, lost.tested(), change) if lost else {}
        return replace(
            diff,
            witnesses=witnesses,
            causes=Implied(lost, gained),
            worth=worth_of(change.before, lost, witnesses),
            gained_worth=worth_of(change.after, gained),
        )

    def _witnesses(self, state: State, lost: Rules, change: Change) -> dict[str, Witness]:
        """Pairs that break rules that were lost, from what the last batch left."""
        if isinstance(state.basis, Borders):
            return witnesses_among(lost, state.basis.evidence.witnesses, change.after)
        if self._error or state.basis.changed is None:
            return witnesses_found(lost, self.result(state), change)
        return witnesses_in(lost, state.basis.changed.shift, change)

    def result(self, state: State) -> Rules:
        """All minimal rules that hold; a mapping that makes them when asked."""
        schema, rows = state.table.schema, state.table.rows
        parts = state.parts if rows >= FEWEST_ROWS else {}
        return Rules(Wording(schema.name, tuple(schema.names)), parts, pairs_of(rows), state.filled)

    def ranked(self, state: State) -> Ranked:
        """The same, those with the highest scores first."""
        return Ranked(self.result(state), state.table)

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The rules."""
        return state.dump(), {"way": "borders" if isinstance(state.basis, Borders) else "counts", "why": state.why}

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its arrays."""
        table, parts, why = subject.table, parts_of(subject.table, arrays), facts["why"]
        if facts["way"] != "borders":
            return State(subject, subject.part(CountedAgreeSets), parts, why)
        covers = {target: part.sets for target, part in parts.items()}
        rows = subject.part(CodedColumns)
        return State(subject, Borders.load(rows, self._targets(table), self._max_lhs, covers, arrays), parts, why)

    def how(self, state: State) -> str:
        """By which way, and why."""
        return way_in_words("borders" if isinstance(state.basis, Borders) else "counts", state.why)

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """How far a key or an FD holds, watched or not, and which rows to look at."""
        self.refuse_rows(rows)
        return explain(subject.table, text)

    def _targets(self, table: Table) -> Targets:
        is_fd = self.declared.name == "fd"
        return Targets(len(table.schema.columns), constants=is_fd, keys=not is_fd)

    def _parts(self, table: Table, pairs: CountedAgreeSets, progress: Progress) -> dict[int, Part]:
        targets = self._targets(table).wanted()
        said = self._saying(len(targets), progress)
        if not self._error:
            covers = derive.derive(pairs.maximal(progress), targets, self._max_lhs, said)
            return {target: Part(lhs) for target, lhs in covers.items()}
        limit = limit_of(self._error, pairs_of(table.rows))
        columns = len(table.schema.columns)
        return derive_approximate(pairs.sets.sets, pairs.sets.counts, columns, targets, limit, self._max_lhs, said)

    def _saying(self, targets: int, progress: Progress) -> OnProgress:
        """What is said while so many targets are worked on."""
        bound = "Where short rules are enough, stop and bound them: discover or init with --max-lhs 3."
        shorter = bound if self._max_lhs is None else None
        return search_progress(progress, self.declared.title, "columns", targets, shorter)


def _is_tested(change: Change) -> bool:
    """Whether pairs of rows could test a rule, before a batch and after it."""
    return min(change.before.rows, change.after.rows) >= FEWEST_ROWS


def _exact(covers: Mapping[int, Words]) -> dict[int, Part]:
    return {target: Part(lhs) for target, lhs in covers.items()}


def _exact_diff(before: Rules, after: Rules, changed: Mapping[int, Mended]) -> Diff:
    """From what became of the targets that a batch touched."""
    lost, gained = (_exact({t: getattr(now, moved) for t, now in changed.items()}) for moved in ("lost", "gained"))
    return difference(before, after, lost, gained)
