"""The one engine of given rules: what is found is how each stands, and which rows violate it.

    engine.follow(state, batch)    ready -> look -> settle -> how the rules stand -> the diff

A keeper has the rules of its kind (see `keeper`); what it answers becomes statuses, diffs and listings here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.changes.diff import Diff, ViolationChange, between
from holdfast.engines.contract import Engine, Explanation, Json
from holdfast.engines.given import GivenClass
from holdfast.engines.given.changed import changes_of
from holdfast.engines.given.keeper import BROKE, TESTED, Answer, Keeper, Known
from holdfast.engines.given.status import Status, TrackRecord
from holdfast.engines.listing import Listing
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import TableRules
from holdfast.rules.registry import parse
from holdfast.table.change import Batch
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner


@dataclass
class State:
    """A keeper, its state, and the track record of each rule, for classes that have one."""

    keeper: Keeper[Any, Any]
    kept: Any
    tracks: dict[str, TrackRecord] = field(default_factory=dict)

    def statuses(self) -> dict[str, Status]:
        """How each rule stands, by its text."""
        keeper = self.keeper
        return {
            named.text: Status(named, standing, keeper.shown, self.tracks.get(named.text))
            for named, standing in zip(keeper.rules, keeper.standings(self.kept), strict=True)
        }


class GivenEngine(Engine[Any, State]):
    """How given rules of one class stand, and the rows that violate them."""

    def __init__(self, declared: GivenClass[Any], settings: Any, given: Mapping[str, TableRules]) -> None:
        self.declared: GivenClass[Any] = declared
        self._settings, self._given = settings, given

    # ---- finding ----------------------------------------------------------------------------------------------------

    def discover(self, subject: Any, runner: Runner, progress: Progress = SILENT) -> State:
        """Look at all rows."""
        keeper = self._keeper(subject)
        return self._state(keeper, keeper.begin(subject, runner, progress))

    def with_rules(self, state: State, subject: Any, runner: Runner, progress: Progress = SILENT) -> State:
        """Look at all rows for the rules that are new."""
        keeper = self._keeper(subject)
        kept = keeper.taking_over(Known(state.keeper.texts, state.kept), subject, runner, progress)
        return self._state(keeper, kept, state.tracks)

    def _keeper(self, subject: Any) -> Keeper[Any, Any]:
        return self.declared.keeper(self._settings, self._given, subject)

    def _state(self, keeper: Keeper[Any, Any], kept: Any, tracks: Mapping[str, TrackRecord] | None = None) -> State:
        known = tracks or {}
        texts = keeper.texts if keeper.has_track else []
        return State(keeper, kept, {text: known.get(text, TrackRecord()) for text in texts})

    # ---- batches ----------------------------------------------------------------------------------------------------

    def follow(self, state: State, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Find what a batch violates, and what it resolves."""
        before, keeper = state.statuses(), state.keeper
        kept = keeper.ready(state.kept, batch)
        born, dead = {each.table: each.come for each in batch}, {each.table: each.gone for each in batch}
        kept, answer = keeper.look(kept, born, dead)
        state.kept = keeper.settle(kept, batch)
        self._track(state, answer)
        return _diff(before, state.statuses(), changes_of(keeper, answer, batch))

    def _track(self, state: State, answer: Answer) -> None:
        for named, counts in zip(state.keeper.rules, answer.counts.tolist(), strict=True):
            if named.text in state.tracks:
                state.tracks[named.text] = state.tracks[named.text].then(counts[TESTED], counts[BROKE])

    def recall(self, state: State, told: Iterable[Json]) -> None:
        """Take over the track records that the database keeps: batches replayed together tell them otherwise."""
        for line in told:
            if line["text"] in state.tracks:
                state.tracks[line["text"]] = TrackRecord(line["tested_since"], line["broke_since"])

    # ---- looking ----------------------------------------------------------------------------------------------------

    def result(self, state: State) -> dict[str, Status]:
        """How each rule stands."""
        return state.statuses()

    def listings(self, state: State, subject: Any, rule: str | None = None) -> Sequence[Listing]:
        """The violations of all rules, or of those with a name or text."""
        keeper = state.keeper
        asked = [number for number, named in enumerate(keeper.rules) if named.is_called(rule)]
        return [keeper.listing(state.kept, subject, number) for number in asked]

    def explain(self, state: State | None, subject: Any, text: str, rows: Sequence[int] = ()) -> Explanation:
        """Why a rule doesn't hold, and which rows to look at first, or why just these break it."""
        if not self.declared.explains_rows:
            self.refuse_rows(rows)
        texts = [] if state is None else state.keeper.texts
        written = text if text in texts else parse(text).text
        if state is None or written not in texts:
            return self.declared.explain_unwatched(subject, text, rows)
        return state.keeper.explain(state.kept, subject, texts.index(written), rows)

    # ---- in files ---------------------------------------------------------------------------------------------------

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """What the keeper keeps; track records lie in the database."""
        return state.keeper.dump(state.kept)

    def load(self, subject: Any, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state that `dump` described."""
        keeper = self._keeper(subject)
        return self._state(keeper, keeper.load(subject, arrays, facts))

    def rewritten(self, state: State, subject: Any, kept: Mapping[str, Kept]) -> State:
        """The same state of a table that was rewritten."""
        return replace(state, kept=state.keeper.rewritten(state.kept, subject, kept))


def _diff(before: Mapping[str, Status], after: Mapping[str, Status], moved: Mapping[str, ViolationChange]) -> Diff:
    """What became of the rules; of the others those whose figures moved."""
    diff = between(before, after).with_violations(before, after, moved)
    return replace(diff, figures={text: now for text, now in after.items() if now.moved(before[text])})
