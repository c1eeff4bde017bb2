"""Order dependencies behind the verbs that every engine offers.

Which rules hold follows from the covers of all targets (see `ways`). `settings.directions` says whether pairs of which
one column falls are targets, too, `max_level` bounds contexts, `error` above 0 asks for approximate rules. `min_score`
leaves out rules with a lower score. Columns that can be in no context with that score are in none that is looked for;
where a batch raises the score of one, rules are found anew. A table of fewer than two rows has no pair that could test
a rule: then none is told.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.borders.method import SIGNATURES, Choice, choose
from holdfast.borders.parts import Part
from holdfast.borders.targets import Targets
from holdfast.changes.diff import Diff
from holdfast.engines.contexts import Listed
from holdfast.engines.order import OrderSettings
from holdfast.engines.order.approximate import Approximate
from holdfast.engines.order.counts import Counts
from holdfast.engines.order.differ import Moment, Step, difference, with_causes
from holdfast.engines.order.explain import Explanation, explain
from holdfast.engines.order.result import Rules, Wording, pairs_of_targets
from holdfast.engines.order.scores import Scores
from holdfast.engines.order.state import State
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import WatchedTable
from holdfast.engines.ways import Asked, Bordered, WaysEngine
from holdfast.pairs import bitsets
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Batch
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class OrderEngine(WaysEngine[State]):
    """Minimal canonical order dependencies (`od`)."""

    WAYS = Counts, Bordered, Approximate
    state = State
    _settings: OrderSettings

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Find the covers of all targets."""
        return self._found(subject, self._worth(subject.table), runner, progress)

    def _found(
        self, subject: WatchedTable, within: tuple[int, ...] | None, runner: Runner, progress: Progress
    ) -> State:
        asked = self._asked(subject.table, within)
        state = self._begun(subject, asked, self._choice(asked, subject.table.rows), runner, progress)
        for contexts, together in state.way.reckoned():
            state.scores.know(contexts, together)
        return state

    def follow(self, state: State, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Derive what a batch changed."""
        change = batch.only
        before, within = self._moment(state), state.asked.targets.within
        followed = state.way.follow(state.covers, change, runner, progress)
        touched = state.follow(change.after, followed.covers)
        worth = self._worth(change.after)
        if within is not None and (worth is None or not set(worth) <= set(within)):
            wider = None if worth is None else tuple(sorted({*within, *worth}))
            state.replace(self._found(state.subject, wider, runner, progress))
        after = self._moment(state)
        if self._settings.min_score is not None or before.is_tested != after.is_tested:
            touched = list(state.told)
        state.step = Step(before, after, followed.pairs)
        return difference(state.step, touched, _wording(state))

    def explained(self, state: State, diff: Diff, batch: Batch) -> Diff:
        """Why rules came and went, and which rows broke those that were lost."""
        step, state.step = state.step, None
        assert step is not None
        return with_causes(diff, step, _wording(state), batch.only)

    def result(self, state: State) -> Rules:
        """All minimal rules that hold; a mapping that makes them when asked."""
        return Rules(_wording(state), self._told(state), state.table.rows, state.filled)

    def ranked(self, state: State) -> Rules:
        """The same with their scores, the highest first."""
        rules, targets = self.result(state), state.asked.targets
        scores = state.scores.of(rules.listed.contexts, pairs_of_targets(targets)[rules.listed.targets])
        return rules.in_order(rules.listed.best_first(scores))

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """Whether a rule holds, watched or not, with its score; or two rows that break it."""
        self.refuse_rows(rows)
        return explain(subject.table, text)

    def _asked(self, table: Table, within: tuple[int, ...] | None = None) -> Asked:
        both = self._settings.directions == "both"
        columns = len(table.schema.columns)
        targets = Targets(columns, keys=False, ascending_pairs=True, descending_pairs=both, within=within)
        return Asked(targets, self._settings.max_level, self._settings.error)

    def _worth(self, table: Table) -> tuple[int, ...] | None:
        """The columns of which contexts with the score that is asked for can be made; None: all. A context with a
        column has at most the score of that column.
        """
        least, columns = self._settings.min_score, range(len(table.schema.columns))
        if least is None:
            return None
        words = bitsets.words_for(len(columns) + 1)
        sets = np.array([bitsets.of([c], words) for c in columns]).reshape(-1, words)
        scores = Scores(table).of(sets, np.zeros_like(sets))
        return None if (scores >= least).all() else tuple(np.flatnonzero(scores >= least).tolist())

    def _choice(self, asked: Asked, rows: int) -> Choice:
        if asked.error:
            return Choice(Approximate.name, f"as up to {asked.error:g} of them may go")
        return choose(self._settings.method, rows, asked.targets.columns, SIGNATURES)

    def _moment(self, state: State) -> Moment:
        within = state.asked.targets.free_columns
        return Moment(state.table.rows, within, dict(state.covers), dict(state.told), self._told(state), state.filled)

    def _told(self, state: State) -> dict[int, Part]:
        """The rules that are told: where pairs of rows test them, those whose score is as high as is asked for."""
        if state.table.rows < FEWEST_ROWS:
            return {target: part.some(np.zeros(len(part), np.bool_)) for target, part in state.told.items()}
        least = self._settings.min_score
        if least is None:
            return dict(state.told)
        listed = Listed.of(state.told, state.asked.targets.context_words)
        pairs = pairs_of_targets(state.asked.targets)
        state.scores.of(listed.contexts, pairs[listed.targets])  # contexts share work
        found = {}
        for target, part in state.told.items():
            compared = np.broadcast_to(pairs[target], part.sets.shape)
            found[target] = part.some(state.scores.of(part.sets, compared) >= least)
        return found


def _wording(state: State) -> Wording:
    schema = state.table.schema
    return Wording(schema.name, tuple(schema.names), state.asked.targets)
