"""Found rules that raised an alarm stay: each is given from then on, and raises one again with each new violation.

The commit of a batch stores which rules these are. The change that gives them follows at once and removes them from
there in its own transaction. If a crash comes between, the next process that opens the state to write makes up for it.
"""

from __future__ import annotations

import json
from contextlib import suppress

from holdfast.api.change.renames import Renames
from holdfast.api.change.rules import RuleEdit
from holdfast.api.change.spec import WatchSpec
from holdfast.api.change.watch_change import Draft, make_change
from holdfast.api.incidents import incidents_now
from holdfast.api.open_state import OpenState
from holdfast.engines.registry import ALL_TABLES, given_class, rule_as_found
from holdfast.errors import BadInput
from holdfast.results.changed import Changed
from holdfast.results.memory import RuleKey
from holdfast.rules.promotion import as_given
from holdfast.store.records import RULES, AlarmedRule
from holdfast.store.rule_events import MOST_INCIDENTS, LostScore
from holdfast.store.stored_rules import ALARMED
from holdfast.store.watch_change import WatchChange

_DONE = {ALARMED: json.dumps([])}


def give_alarmed(state: OpenState) -> Changed:
    """Give the found rules that raised an alarm and are not given yet."""
    waiting, numbers = state.store.rules.alarmed(), state.store.numbers()
    if not waiting:
        return Changed(None)

    def draft(own_id: str) -> Draft:
        edit = RuleEdit(state)
        scores = []
        for rule in waiting:
            with suppress(BadInput):  # one that can't be given stays found
                edit.spec = _with(edit, rule, numbers.of(rule.seq))
                scores += _scores(rule)
        change = WatchChange(own_id, RULES, ALL_TABLES, 0.0, {}, _DONE, scores=scores)
        return Draft(change, edit.spec, state.workspace.tables, Renames("", {}))

    changed = make_change(state, None, draft)
    if changed.batch is None:  # all were given already
        state.store.put_meta(*next(iter(_DONE.items())))
    for rule in waiting if changed.batch else ():
        with suppress(BadInput):
            _begin_incidents(state, rule)
    return changed


def _begin_incidents(state: OpenState, rule: AlarmedRule) -> None:
    """The values that broke the rule were reported. Were they lost in a crash, they would raise an alarm once more."""
    key = engine, table, text = _given_as(rule)
    now = state.now()
    own = now.states.get((engine, table))
    listings = () if own is None else now.engines[engine].listings(own, now.subject(table), text)
    for listing in listings:
        if listing.pairs is not None and len(listing.pairs) <= MOST_INCIDENTS:
            state.store.put_incidents(rule.seq, incidents_now(key, listing.pairs, listing.table))


def _with(edit: RuleEdit, rule: AlarmedRule, batch: int) -> WatchSpec:
    score = "" if rule.worth is None else f"{rule.worth[0]:.2f} when "
    note = f"found; {score}batch {batch} broke it"
    return edit.promote(rule.text, None, "error", note, None if rule.table == ALL_TABLES else rule.table, "alarm")


def _scores(rule: AlarmedRule) -> list[LostScore]:
    """The score that the rule had, for the given rule that it becomes."""
    return [] if rule.worth is None else [LostScore(rule.seq, *_given_as(rule), *rule.worth)]


def _given_as(rule: AlarmedRule) -> RuleKey:
    """The given rule that a found one becomes."""
    text = as_given(rule_as_found(rule.text, [rule.engine]))[0].text
    declared = given_class(text)
    if declared is None:
        raise BadInput(f"{text!r} can't be given")
    return declared.name, ALL_TABLES if declared.across else rule.table, text
