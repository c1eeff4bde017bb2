"""Order dependencies: constants and pairs of columns that hold in contexts.

`settings.directions` says whether pairs of which one column falls are looked for, too, `max_level` bounds contexts,
`error` above 0 asks for approximate rules. `min_score` leaves out rules that fewer pairs of rows test. A column whose
contexts are all tested by fewer pairs is left out of the search; where a batch lifts such a column to `min_score`,
rules are found again. Text columns take part in contexts and as constants, which compare for equality alone; in pairs
only where they are `ordered` (see `text_order`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.borders.cover import Listed, Parts
from holdfast.borders.strategy_choice import SIGNATURES, StrategyChoice, choose
from holdfast.borders.targets import Targets
from holdfast.changes.diff import Cause
from holdfast.engines.contract import RuleClass, RuleExplanation
from holdfast.engines.found.contexts import ContextEngine, ContextState, stored_within
from holdfast.engines.found.covers import chosen
from holdfast.engines.found.strategies import BorderStrategy, Spec
from holdfast.engines.found.text_order import ALL, TextOrder, refuse_unordered
from holdfast.engines.order import OrderSettings
from holdfast.engines.order.explain import explain
from holdfast.engines.order.removal_strategy import RemovalStrategy
from holdfast.engines.order.signatures import SignatureStrategy
from holdfast.engines.order.tested_pairs import TestedPairs
from holdfast.engines.order.wording import OrderRules, OrderWording
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.pairs import bitsets
from holdfast.progress import SILENT, Progress
from holdfast.rules.order import Canonical, Compatible, parse
from holdfast.table.runner import Runner
from holdfast.table.table import Table
from holdfast.text.quotes import quoted

SPLIT, SWAP = Cause("split"), Cause("swap")


class OrderState(ContextState[Canonical]):
    """Also how many pairs of rows test the rules, as of the last batch that was taken in."""

    def follow(self, after: Table, changed: Parts) -> list[int]:
        """Take in the covers that a batch changed."""
        self.tested = TestedPairs(after)
        return super().follow(after, changed)


class OrderEngine(ContextEngine[Canonical, OrderState]):
    """Minimal canonical order dependencies (`od`)."""

    strategies = SignatureStrategy, BorderStrategy, RemovalStrategy
    stored_as = "rules/contexts", "rules/removed"
    error = "g3"
    smaller = "smaller context"
    state = OrderState
    wording = OrderWording
    explanation = staticmethod(explain)
    _settings: OrderSettings

    def __init__(self, declared: RuleClass[Any], settings: OrderSettings, text: TextOrder | None = None) -> None:
        super().__init__(declared, settings)
        self._text = text or TextOrder(settings.ordered)

    def _spec(self, table: Table, within: tuple[int, ...] | None = None) -> Spec:
        both, unordered = self._settings.directions == "both", self._text.without(table.schema)
        columns = len(table.schema.columns)
        targets = Targets(
            columns, keys=False, ascending_pairs=True, descending_pairs=both, within=within, unordered=unordered
        )
        return Spec(targets, self._settings.max_level, self._settings.error)

    def _stored_spec(self, table: Table, facts: Facts) -> Spec:
        """A state that was made when all text had an order keeps it."""
        text = TextOrder.of_state(table.schema, facts.get("unordered", ()))
        return self._with(text)._spec(table, stored_within(facts))

    def _dumped(self, state: OrderState) -> tuple[Arrays, Facts]:
        """Also which text columns have no order."""
        arrays, facts = super()._dumped(state)
        return arrays, {**facts, "unordered": state.spec.targets.unordered}

    def with_settings_of(self, state: OrderState) -> OrderEngine:
        """With the order of text of a state, unless all text has one."""
        if self._text.named == ALL:
            return self
        return self._with(TextOrder.of_state(state.table.schema, state.spec.targets.unordered))

    def _with(self, text: TextOrder) -> OrderEngine:
        return OrderEngine(self.declared, self._settings, text)

    def explain(
        self, state: OrderState | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()
    ) -> RuleExplanation:
        """How far a rule holds, watched or not; one about a pair needs columns that have an order."""
        schema = subject.table.schema
        rule = parse(text, schema.names, schema.name)
        unordered = state.spec.targets.unordered if state else self._text.without(schema)
        if isinstance(rule, Compatible):
            instead = f"; or explain [{quoted(rule.pair[0])}] orders [{quoted(rule.pair[1])}], which sorts text, too"
            refuse_unordered(text, rule.pair, [schema.names[c] for c in unordered], instead)
        return super().explain(state, subject, text, rows)

    def how(self, state: OrderState) -> str:
        """Also whether text takes part."""
        unordered = state.spec.targets.unordered
        return f"{super().how(state)}{'; text has no order (--ordered)' if unordered else ''}"

    def _choice(self, spec: Spec, table: Table, progress: Progress) -> StrategyChoice:  # noqa: ARG002
        if spec.error:
            return StrategyChoice(RemovalStrategy.name, f"as up to {spec.error:g} of them may go")
        return choose(self._settings.method, table.rows, spec.targets.columns, SIGNATURES)

    def _broken_as(self, lost: OrderRules) -> Callable[[int], Cause]:
        is_constant = (lost.listed.targets < lost.wording.targets.key).tolist()
        return lambda place: SPLIT if is_constant[place] else SWAP

    # ---- tested pairs -----------------------------------------------------------------------------------------------

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> OrderState:
        """Find the covers of all targets, without columns that keep the tested pairs too low."""
        return self._found(subject, self._spec(subject.table, self._worth(subject.table)), runner, progress)

    def _found(self, subject: WatchedTable, spec: Spec, runner: Runner, progress: Progress) -> OrderState:
        state = super()._found(subject, spec, runner, progress)
        for contexts, together in state.strategy.counted():
            state.tested.know(contexts, together)
        return state

    def _renewed(self, state: OrderState, after: Table, runner: Runner, progress: Progress) -> bool:
        if self._settings.min_score is None:
            return False
        worth, within = self._worth(after), state.spec.targets.within
        if within is not None and (worth is None or not set(worth) <= set(within)):
            wider = None if worth is None else tuple(sorted({*within, *worth}))
            spec = replace(state.spec, targets=replace(state.spec.targets, within=wider))
            state.replace(self._found(state.subject, spec, runner, progress))
        return True

    def _worth(self, table: Table) -> tuple[int, ...] | None:
        """The columns that may be in a context with at least `min_score` tested pairs; None: all. A context has at most
        as many as each of its columns.
        """
        least, columns = self._settings.min_score, range(len(table.schema.columns))
        if least is None:
            return None
        words = bitsets.words_for(len(columns) + 1)
        sets = np.array([bitsets.of([c], words) for c in columns]).reshape(-1, words)
        enough = TestedPairs(table).of(sets, np.zeros_like(sets)) >= least
        return None if enough.all() else tuple(np.flatnonzero(enough).tolist())

    def _above(self, state: OrderState) -> Parts:
        least, targets = self._settings.min_score, state.spec.targets
        if least is None:
            return state.minimal
        listed = Listed.joined(state.minimal, targets.context_words)
        return chosen(state.minimal, state.tested.of(listed.contexts, targets.sets_of_pairs[listed.targets]) >= least)

    def ranked(self, state: OrderState) -> OrderRules:
        """The rules with their tested pairs, those with the most first."""
        rules, targets = self.result(state), state.spec.targets
        tested = state.tested.of(rules.listed.contexts, targets.sets_of_pairs[rules.listed.targets])
        return rules.in_order(rules.listed.best_first(tested))
