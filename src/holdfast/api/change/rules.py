"""Changes of rules: given ones are added, removed and edited, found ones are promoted, ignored and pinned, classes are
watched and dropped. Each edit gives the new spec of what to watch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.api.change.renames import Renames
from holdfast.api.change.spec import WatchSpec, stored_spec
from holdfast.api.change.watch_change import Draft, make_change
from holdfast.api.checks import bound, given_rules, is_rule_file
from holdfast.api.open_state import OpenState
from holdfast.api.view import View
from holdfast.engines.registry import ALL_TABLES, given_class, rule_as_found
from holdfast.errors import BadInput, suggest
from holdfast.results.changed import Changed
from holdfast.results.marked_rules import Mark
from holdfast.rules.file import RuleEntry, Rules, rules_of
from holdfast.rules.promotion import as_given
from holdfast.rules.registry import of_table, split_table
from holdfast.rules.rule import Origin, Severity
from holdfast.store.records import RULES
from holdfast.store.watch_change import WatchChange
from holdfast.table.table import Schema

AnyRules = str | Path | Sequence[str] | Rules  # a rule file, a text, texts, or values


def change_rules(state: OpenState, change_id: str | None, edit: Callable[[RuleEdit], WatchSpec]) -> Changed:
    """Change what is watched, unless there is nothing to change."""

    def draft(own_id: str) -> Draft:
        change = WatchChange(own_id, RULES, ALL_TABLES, 0.0, {})
        return Draft(change, edit(RuleEdit(state)), state.workspace.tables, Renames("", {}))

    return make_change(state, change_id, draft)


def accept(state: OpenState, rule: str, table: str | None, undo: bool, change_id: str | None) -> Changed:
    """Accept the violations that a given rule has now, or no longer those that were accepted."""

    def draft(own_id: str) -> Draft:
        spec = stored_spec(state.store)
        known = View(state).given(rule, table=table)
        if known is None:
            names = [entry.name for entry in spec.rules.entries]
            hint = suggest(rule, names) if names else "give some first"
            raise BadInput(f"there is no given rule {rule!r} whose violations could be accepted; {hint}")
        declared = given_class(known["text"])
        assert declared is not None, "a rule that is given"
        at = declared.name, ALL_TABLES if declared.across else known["table"]
        is_changed = "accepted" in known if undo else known["violations"] > known.get("accepted", 0)
        change = WatchChange(own_id, RULES, ALL_TABLES, 0.0, {})
        accepted = {at: {known["text"]: not undo}} if is_changed else {}
        return Draft(change, spec, state.workspace.tables, Renames("", {}), accepted=accepted)

    return make_change(state, change_id, draft)


class RuleEdit:
    """What is watched now, and what it takes to change that for the tables of a state."""

    def __init__(self, state: OpenState) -> None:
        self._state, self.spec, self._view = state, stored_spec(state.store), View(state)

    def promote(
        self, rule: str, name: str | None, severity: Severity, note: str, table: str | None, origin: Origin = ""
    ) -> WatchSpec:
        """Give a rule that was found."""
        rule, table = of_table(rule, table)
        given_rule, compared = as_given(rule_as_found(rule, self._state.workspace.engines))
        text = given_rule.text
        entry = rules_of([text]).entries[0]
        own = entry if name is None else replace(entry, name=name, numbered=False)
        about = "" if _is_across(text) else self._state.table_name(table)
        ordered = _texts_among(compared, self._state.workspace.schemas[about]) if about else ()
        given = replace(own, table=about, severity=severity, note=note, origin=origin, where="")
        checked = self.checked(Rules((given,), {about: ordered} if ordered else {}))
        spec = self.spec.with_rules(checked)
        if origin == "alarm":  # what the user marked stays so
            return spec
        return replace(spec, marks=spec.marks.without({each.text for each in checked.entries}, {about or ALL_TABLES}))

    def mark(self, rule: str, table: str | None, mark: Mark | None) -> WatchSpec:
        """Ignore or pin a found rule, or neither."""
        known = self._view.given(rule, table=table)
        if known and not self._is_marked(known):
            instead = "it is watched anyway" if mark == "pinned" else "remove it, or give it the severity warn"
            raise BadInput(f"{rule!r} is a given rule: {instead} ({known['text']})")
        rule, table = of_table(rule, table)
        spec, watched = self.spec, self._state.workspace
        about = self._view.explanation(rule, table=table).to_json()
        kind, text = about["kind"], about["text"]
        if kind not in spec.classes:
            raise BadInput(f"rules of the class {kind!r} are not watched here; watch them first")
        subject = ALL_TABLES if watched.engines[kind].declared.across else self._state.table_name(table)
        pins = mark == "pinned" and (kind, subject, text) not in spec.marks.pinned
        if pins and text not in watched.engines[kind].result(watched.states[kind, subject]):
            raise BadInput(
                f"{text!r} is not among the rules that are found now (it does not hold, or follows from a "
                "shorter one), so nobody would notice when it breaks; promote it, or pin one that is found"
            )
        return replace(spec, marks=spec.marks.with_mark((kind, subject, text), mark))

    def _is_marked(self, given: Mapping[str, Any]) -> bool:
        """Whether a rule was marked before it raised an alarm and was given."""
        marks = self.spec.marks
        return any(given["text"] == text for _, _, text in marks.pinned | marks.ignored)

    # ---- which rules are meant --------------------------------------------------------------------------------------

    def checked(self, rules: AnyRules, table: str | None = None) -> Rules:
        """Rules in the text form that they have for these tables: the same rule gets the same text."""
        given = given_rules(rules)
        if table is not None:
            given = replace(given, entries=tuple(_of_table(each, table) for each in given.entries))
        by_class = bound(given, self._state.workspace.schemas, self._state.progress)
        known = {rule.name: rule for own in by_class.values() for each in own.values() for rule in each.rules}
        origins = {(each.table, each.text): each.origin for each in self.spec.rules.entries}
        entries = []
        for each in given.entries:
            table, text = known[each.name].table, known[each.name].text
            origin = each.origin or origins.get((table, text), "")  # files don't say it
            entries.append(replace(each, table=table, text=text, origin=origin))
        return Rules(tuple(entries), given.ordered, given.where)

    def named(self, rules: AnyRules) -> list[str]:
        """The names of the given rules that a rule file, names or texts mean."""
        if isinstance(rules, Rules | Path) or (isinstance(rules, str) and is_rule_file(rules)):
            names = {(each.table, each.text): each.name for each in self.spec.rules.entries}
            return [names.get((each.table, each.text), each.text) for each in self.checked(rules).entries]
        words = [rules] if isinstance(rules, str) else list(rules)
        return [name for each in words for name in self._meant(each)]

    def _meant(self, word: str) -> list[str]:
        """The names of the rules that have a name or a text. Unknown ones pass through; the caller raises."""
        entries = self.spec.rules.entries
        table, text = split_table(word)
        own = [each for each in entries if table in ("", each.table)]
        same = [each.name for each in entries if word == each.name] or [
            each.name for each in own if self._written_for(text, each.table) == each.text
        ]
        return same or [word]

    def _written_for(self, text: str, table: str) -> str:
        """The text form of a rule for a table; nothing where it is no rule of that table."""
        with suppress(BadInput):
            return self.checked([text], table).entries[0].text if given_class(text) else ""
        return ""


def _of_table(entry: RuleEntry, table: str) -> RuleEntry:
    """A rule about a table, unless it names its own or looks across tables."""
    return entry if entry.table or _is_across(entry.text) else replace(entry, table=table)


def _is_across(text: str) -> bool:
    declared = given_class(text)
    return declared is not None and declared.across


def _texts_among(columns: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """The text columns among some columns: their order has to be declared."""
    types = {column.name: column.type for column in schema.columns}
    return tuple(name for name in columns if name in types and pa.types.is_string(types[name]))
