"""Rules come and go: given ones are added, removed and edited, found ones are promoted, ignored and pinned, classes are
watched and dropped. Each edit gives what is wanted after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from holdfast.api.change.renames import Renaming
from holdfast.api.change.spec import Wanted, kept_wanted
from holdfast.api.change.transaction import Draft, make_change
from holdfast.api.checks import bound, given_rules, is_rule_file
from holdfast.api.open_state import Loaded
from holdfast.api.view import View
from holdfast.engines.registry import ALL_TABLES, given_class
from holdfast.errors import BadInput
from holdfast.results.changed import Changed
from holdfast.results.marks import Mark
from holdfast.rules.file import RuleEntry, Rules, rules_of
from holdfast.rules.promotion import as_given
from holdfast.rules.registry import parse
from holdfast.rules.rule import Severity
from holdfast.store.records import RULES
from holdfast.store.state_change import Reshaped
from holdfast.table.table import Schema

AnyRules = str | Path | Sequence[str] | Rules  # a rule file, a text, texts, or values


def change_rules(loaded: Loaded, change_id: str | None, edit: Callable[[RuleEdit], Wanted]) -> Changed:
    """Change what is wanted, unless there is nothing to change."""

    def draft(own_id: str) -> Draft:
        change = Reshaped(own_id, RULES, ALL_TABLES, 0.0, {})
        return Draft(change, edit(RuleEdit(loaded)), loaded.watched.tables, Renaming("", {}))

    return make_change(loaded, change_id, draft)


class RuleEdit:
    """What is wanted, and what it takes to change that for the tables that are there."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded, self.wanted, self._view = loaded, kept_wanted(loaded.store), View(loaded)

    def promote(self, rule: str, name: str | None, severity: Severity, note: str, table: str | None) -> Wanted:
        """A rule that was found is given."""
        given_rule, compared = as_given(parse(rule))
        text = given_rule.text
        entry = rules_of([text]).entries[0]
        own = entry if name is None else replace(entry, name=name, numbered=False)
        about = "" if _is_across(text) else self._loaded.table_name(table)
        ordered = _texts_among(compared, self._loaded.watched.schemas[about]) if about else ()
        given = replace(own, table=about, severity=severity, note=note, where="")
        checked = self.checked(Rules((given,), {about: ordered} if ordered else {}))
        marks = self.wanted.marks.without({each.text for each in checked.entries}, {about or ALL_TABLES})
        return replace(self.wanted.with_rules(checked), marks=marks)

    def mark(self, rule: str, table: str | None, mark: Mark | None) -> Wanted:
        """A found rule is ignored or pinned, or neither any more."""
        if known := self._view.given(rule, table=table):
            raise BadInput(f"{rule!r} is given: remove it, or give it with the severity warn ({known['text']})")
        wanted, watched = self.wanted, self._loaded.watched
        about = self._view.explanation(rule, table=table).to_json()
        kind, text = about["kind"], about["text"]
        if kind not in wanted.classes:
            raise BadInput(f"rules of the class {kind!r} are not watched here; watch them first")
        subject = ALL_TABLES if watched.engines[kind].declared.across else self._loaded.table_name(table)
        pins = mark == "pinned" and (kind, subject, text) not in wanted.marks.pinned
        if pins and text not in watched.engines[kind].result(watched.states[kind, subject]):
            raise BadInput(
                f"{text!r} is not among the rules that are found now (it does not hold, or follows from a "
                "shorter one), so it can't be told when it breaks; promote it, or pin one that is found"
            )
        return replace(wanted, marks=wanted.marks.with_mark((kind, subject, text), mark))

    # ---- what is meant ----------------------------------------------------------------------------------------------

    def checked(self, rules: AnyRules, table: str | None = None) -> Rules:
        """Rules as they are written for these tables: so the same rule has the same text."""
        given = given_rules(rules)
        if table is not None:
            given = replace(given, entries=tuple(_of_table(each, table) for each in given.entries))
        by_class = bound(given, self._loaded.watched.schemas, self._loaded.progress)
        known = {rule.name: rule for own in by_class.values() for each in own.values() for rule in each.rules}
        entries = [replace(each, table=known[each.name].table, text=known[each.name].text) for each in given.entries]
        return Rules(tuple(entries), given.ordered, given.where)

    def named(self, rules: AnyRules) -> list[str]:
        """The names of the rules of a file, each of its own table; or of those that names and texts mean."""
        if isinstance(rules, Rules | Path) or (isinstance(rules, str) and is_rule_file(rules)):
            names = {(each.table, each.text): each.name for each in self.wanted.rules.entries}
            return [names.get((each.table, each.text), each.text) for each in self.checked(rules).entries]
        asked = [rules] if isinstance(rules, str) else list(rules)
        return [name for each in asked for name in self._meant(each)]

    def _meant(self, asked: str) -> list[str]:
        """The names of the rules that have a name or a text. Unknown ones pass through; the caller raises."""
        entries = self.wanted.rules.entries
        same = [each.name for each in entries if asked == each.name] or [
            each.name for each in entries if self._written_for(asked, each.table) == each.text
        ]
        return same or [asked]

    def _written_for(self, text: str, table: str) -> str:
        """A rule as it is always written for a table; nothing where it is no rule of it."""
        with suppress(BadInput):
            return self.checked([text], table).entries[0].text if given_class(text) else ""
        return ""


def _of_table(entry: RuleEntry, table: str) -> RuleEntry:
    """A rule that is about a table where it names none, and looks at none but its own."""
    return entry if entry.table or _is_across(entry.text) else replace(entry, table=table)


def _is_across(text: str) -> bool:
    declared = given_class(text)
    return declared is not None and declared.across


def _texts_among(columns: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Those of some columns that hold text: their order has to be declared."""
    types = {column.name: column.type for column in schema.columns}
    return tuple(name for name in columns if name in types and pa.types.is_string(types[name]))
