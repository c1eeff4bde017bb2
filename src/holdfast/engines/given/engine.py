"""The one engine of given rules: what is found is how each stands, and which rows violate it.

    engine.follow(state, batch)    ready -> look -> settle -> how the rules stand -> the diff

A keeper has the rules of its kind (see `keeper`); what it answers becomes statuses, diffs and listings here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from holdfast.changes.diff import Diff, ViolationChange
from holdfast.engines.contract import BASELINE, CurrentExplanation, Engine, Json
from holdfast.engines.given import GivenClass
from holdfast.engines.given.baseline import Baseline
from holdfast.engines.given.grace import Grace
from holdfast.engines.given.keeper import Answer, Keeper, Old, Previous, Tally
from holdfast.engines.given.status import Status
from holdfast.engines.given.track_record import TrackRecord
from holdfast.engines.given.violation_changes import changes_of
from holdfast.engines.listing import Listing
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import TableRules
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule
from holdfast.table.change import Batch
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner


@dataclass
class GivenState:
    """A keeper, its state, and how each rule stands since the last batch."""

    keeper: Keeper[Any, Any]
    own: Any
    statuses: list[Status]

    def take_in(self, answer: Answer, batch: Batch) -> tuple[list[Status], list[Status], Answer]:
        """How each rule stood before a batch, and how it stands now; and what the batch did to violations: those that
        have time left are none.
        """
        old, made, effects = self.statuses, [], []
        for status, tally, effect in zip(old, self.keeper.tallies(self.own), answer, strict=True):
            if status.grace is None:
                made.append(status.after(tally, effect, batch))
            else:
                grace, effect = status.grace.after(status.named, effect, batch)  # less of the same
                made.append(replace(status, grace=grace).after(grace.of(tally), effect, batch))
            effects.append(effect)
        self.statuses = made
        return old, made, effects

    def accept(self, texts: Mapping[str, bool]) -> GivenState:
        """The same with the violations of some rules accepted as they are now, or no longer (False)."""
        made = [
            replace(each, baseline=Baseline.of(each.tally) if texts[each.text] else None)
            if each.text in texts
            else each
            for each in self.statuses
        ]
        return replace(self, statuses=made)

    def number_baselines(self) -> None:
        """Count the open violations from now on: values by which they are known may be written otherwise. Rows that
        wait for a partner are violations, as they may have other numbers.
        """
        tallies = self.keeper.tallies(self.own)
        self.statuses = [
            replace(
                each, baseline=each.baseline and each.baseline.by_number(), grace=each.grace and Grace()
            ).with_tally(tally)
            for each, tally in zip(self.statuses, tallies, strict=True)
        ]

    @property
    def baselines(self) -> dict[str, Json]:
        """What a state stores of the rules that the tables don't say: what is accepted, and what has time left."""
        return {each.text: known for each in self.statuses if (known := each.remembered) is not None}


class GivenEngine(Engine[Any, GivenState]):
    """How given rules of one class stand, and the rows that violate them."""

    declared: GivenClass[Any]

    def __init__(self, declared: GivenClass[Any], settings: Any, given: Mapping[str, TableRules]) -> None:
        super().__init__(declared, settings)
        self._given = given

    # ---- finding ----------------------------------------------------------------------------------------------------

    def discover(self, subject: Any, runner: Runner, progress: Progress = SILENT) -> GivenState:
        """Look at all rows."""
        keeper = self._keeper(subject)
        return self._state(keeper, keeper.begin(subject, runner, progress))

    def with_rules(self, state: GivenState, subject: Any, runner: Runner, progress: Progress = SILENT) -> GivenState:
        """Look at all rows for the rules that are new."""
        keeper = self._keeper(subject)
        known = Previous(state.keeper.texts, state.own)
        old: Old = known
        if state.keeper.is_sliced and not keeper.is_sliced:
            from holdfast.engines.given.slices import without_slices  # what most batches need not load

            old = without_slices(known)
        own = keeper.begin(subject, runner, progress, old)
        return self._state(keeper, own, {status.text: status for status in state.statuses})

    def _keeper(self, subject: Any) -> Keeper[Any, Any]:
        rules = (rule for own in self._given.values() for rule in own.rules)
        if not self.declared.is_sliced or not any(" where " in rule.text for rule in rules):
            return self.declared.keeper(self._settings, self._given, subject)
        from holdfast.engines.given.slices import keeper_of  # what most batches need not load

        return keeper_of(self.declared, self._settings, self._given, subject)

    def _state(self, keeper: Keeper[Any, Any], own: Any, known: Mapping[str, Status] | None = None) -> GivenState:
        new = TrackRecord() if keeper.has_track else None
        made = []
        for named, tally in zip(keeper.rules, keeper.tallies(own), strict=True):
            old = (known or {}).get(named.text)
            fresh = Grace() if getattr(named.rule, "grace", 0) else None
            track, baseline, grace = (old.track, old.baseline, old.grace) if old else (new, None, fresh)
            made.append(Status(named, tally, keeper.shown, track, baseline, grace).with_tally(tally))
        return GivenState(keeper, own, made)

    # ---- batches ----------------------------------------------------------------------------------------------------

    def follow(self, state: GivenState, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Find what a batch violates, and what it resolves."""
        keeper = state.keeper
        born, dead = {each.table: each.come for each in batch}, {each.table: each.gone for each in batch}
        own, answer = keeper.look(keeper.ready(state.own, batch), born, dead)
        state.own = keeper.settle(own, batch)
        before, after, effects = state.take_in(answer, batch)
        return diff_of(before, after, changes_of(keeper, effects, batch))

    def recall(self, state: GivenState, results: Iterable[Json]) -> None:
        """Take over the track records and baselines of the database: batches that are replayed together give others."""
        stored = {line["text"]: line for line in results}
        state.own = state.keeper.recall(state.own, stored)
        state.statuses = [
            _recalled(status, tally, stored[status.text]) if status.text in stored else status
            for status, tally in zip(state.statuses, state.keeper.tallies(state.own), strict=True)
        ]

    # ---- looking ----------------------------------------------------------------------------------------------------

    def result(self, state: GivenState) -> dict[str, Status]:
        """How each rule stands."""
        return {status.text: status for status in state.statuses}

    def ranked(self, state: GivenState) -> dict[str, Status]:
        """The same, with what only a look at the tables shows."""
        news = zip(state.statuses, state.keeper.measured(state.own), strict=True)
        return {status.text: status.with_tally(tally) for status, tally in news}

    def listings(self, state: GivenState, subject: Any, rule: str | None = None) -> Sequence[Listing]:
        """The violations of all rules, or of those with a name or text."""
        keeper = state.keeper
        wanted = [number for number, named in enumerate(keeper.rules) if named.is_called(rule)]
        return [self._listing(state, subject, number) for number in wanted]

    def _listing(self, state: GivenState, subject: Any, number: int) -> Listing:
        """The violations of a rule, without those that have time left."""
        listing, status = state.keeper.listing(state.own, subject, number), state.statuses[number]
        if status.grace is not None and status.grace.waiting:
            pairs = listing.listed[~np.isin(listing.listed[:, 0], list(status.grace.waiting))]
            listing = replace(listing, pairs=pairs, count=len(pairs))
        return replace(listing, accepted=status.accepted)

    def explain(
        self, state: GivenState | None, subject: Any, text: str, rows: Sequence[int] = ()
    ) -> CurrentExplanation:
        """Why a rule doesn't hold, and which rows to look at first, or why just these break it."""
        if not self.declared.explains_rows:
            self.refuse_rows(rows)
        texts = [] if state is None else state.keeper.texts
        written = text if text in texts else parse(text).text
        if state is None or written not in texts:
            return self.declared.explain_unwatched(self._about(parse(text), subject), text, rows)
        return state.keeper.explain(state.own, subject, texts.index(written), rows)

    def _about(self, rule: Rule, subject: Any) -> Any:
        """The subject with the rows that a rule is about."""
        if rule.where is None or not self.declared.is_sliced:
            return subject
        from holdfast.engines.given.slices import only_where  # what most batches need not load

        return only_where(rule.where, rule.table, subject)

    # ---- in files ---------------------------------------------------------------------------------------------------

    def dump(self, state: GivenState) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The state of the keeper; track records lie in the database."""
        return state.keeper.dump(state.own)

    def load(self, subject: Any, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> GivenState:
        """The state that `dump` described."""
        keeper = self._keeper(subject)
        return self._state(keeper, keeper.load(subject, arrays, facts))

    def rewritten(self, state: GivenState, subject: Any, kept: Mapping[str, UsedCodes]) -> GivenState:
        """The same state of a table that was rewritten."""
        return replace(state, own=state.keeper.rewritten(state.own, subject, kept))


def _recalled(status: Status, tally: Tally, line: Json) -> Status:
    """A status with what the database has of it."""
    track = status.track
    if track and "tested_since" in line:
        track = TrackRecord(line["tested_since"], line["broke_since"])
    return replace(status, track=track).recalled(line.get(BASELINE)).with_tally(tally)


def diff_of(before: Sequence[Status], after: Sequence[Status], moved: Mapping[str, ViolationChange]) -> Diff:
    """What became of the rules. One whose violations are others now has changed, also where they are as many."""
    stood = zip(before, after, strict=True)
    differ = {now.text: (old, now) for old, now in stood if now is not old or now.text in moved}
    others = {text: differ[text] for text, change in moved.items() if change.new or change.gone}
    return Diff(
        changed={**others, **{text: (old, now) for text, (old, now) in differ.items() if old != now}},
        violations=moved,
        figures={text: now for text, (old, now) in differ.items() if now.moved(old)},
        baselines={
            text: remembered
            for text, (old, now) in differ.items()
            if now.baseline is not old.baseline or now.grace is not old.grace
            if (remembered := now.remembered) is not None
        },
    )
