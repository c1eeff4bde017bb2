"""Changes of the alarm budget: which suggested rules are errors follows from it, and from how large batches were."""

from __future__ import annotations

from dataclasses import replace

from holdfast.api.change.renames import Renames
from holdfast.api.change.spec import stored_spec
from holdfast.api.change.watch_change import Draft, make_change
from holdfast.api.open_state import OpenState
from holdfast.api.settings import BUDGET, budget_of
from holdfast.api.view import View
from holdfast.engines.registry import ALL_TABLES
from holdfast.ranking.writing import given_rules, was_suggested
from holdfast.results.changed import Changed
from holdfast.rules.file import RuleEntry
from holdfast.store.records import RULES
from holdfast.store.watch_change import WatchChange


def change_budget(state: OpenState, budget: float, change_id: str | None) -> Changed:
    """Let suggested rules be errors as far as another budget allows. Those that rows break, or that nothing speaks for
    any more, stay as they are, and so do rules that a user gave. With more budget no error becomes a warning, and with
    less no warning an error, whatever the rows that came since speak for.
    """
    found = View(state).suggest(alarm_budget=budget)
    had = budget_of(state.store)
    stays = {"error"} if budget > had else {"warn"} if budget < had else set()

    def draft(own_id: str) -> Draft:
        spec = stored_spec(state.store)
        watched = {(each.table, each.text) for each in spec.rules.entries if _is_of_budget(each)}
        exact = [each for each in found if not each.scored.to_remove and (each.table, each.scored.as_given) in watched]
        new = {(each.table, each.text): each.severity for each in given_rules(exact, found.expectation)}
        entries = [
            replace(each, severity=new.get((each.table, each.text)) or new.get(("", each.text), each.severity))
            if _is_of_budget(each) and each.severity not in stays
            else each
            for each in spec.rules.entries
        ]
        wanted = replace(spec, rules=replace(spec.rules, entries=tuple(entries)))
        return Draft(WatchChange(own_id, RULES, ALL_TABLES, 0.0, {}), wanted, state.workspace.tables, Renames("", {}))

    changed = make_change(state, change_id, draft)
    state.store.put_meta(BUDGET, repr(float(budget)))  # after it, so that one that was killed is made again
    return changed


def _is_of_budget(entry: RuleEntry) -> bool:
    """Whether chance decided on the severity of a rule."""
    return entry.origin == "suggested" and was_suggested(entry.note)
