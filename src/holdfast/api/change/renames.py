"""Rules where columns of a table get other names or types, or leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.api.change.effects import Results, is_found
from holdfast.api.change.spec import WatchSpec
from holdfast.api.workspace import Subject
from holdfast.engines.found.text_order import ALL
from holdfast.engines.registry import ALL_TABLES, given_class, rule_class, settings_with_columns
from holdfast.errors import BadInput
from holdfast.results.marked_rules import MarkedRules, RuleName
from holdfast.rules.bind import bind
from holdfast.rules.file import RuleEntry, Rules
from holdfast.rules.registry import parse
from holdfast.store.rule_events import RuleEvent
from holdfast.table.table import Schema
from holdfast.text.quotes import listed_names, quoted

Schemas = Mapping[str, Schema]


@dataclass(frozen=True)
class Renames:
    """New names of columns of a table, by old ones; there may be none."""

    table: str
    names: Mapping[str, str]

    def text(self, at: Subject, text: str) -> str:
        """The new text of a rule of a class and a table, or the new name of a column."""
        name, subject = at
        if not self.names or subject not in (self.table, ALL_TABLES):
            return text
        if rule_class(name).facts:
            return self.names.get(text, text)
        return parse(text).renamed(self.table, self.names).text

    def texts(self, known: Iterable[RuleName]) -> dict[Subject, dict[str, str]]:
        """New texts by old ones of the rules whose text changes, by class and table."""
        found: dict[Subject, dict[str, str]] = {}
        for name, subject, text in known:
            new = self.text((name, subject), text)
            if new != text:
                found.setdefault((name, subject), {})[text] = new
        return found

    def gone(self, known: Iterable[RuleName], schemas: Schemas) -> list[tuple[str, str, RuleEvent]]:
        """Events for the rules that were found once and have a column that is gone."""
        own = [rule for rule in known if rule[1] in (self.table, ALL_TABLES) and is_found(rule[0])]
        now = [(name, subject, self.text((name, subject), text)) for name, subject, text in own]
        return [(*rule[:2], RuleEvent("removed", rule[2], "")) for rule in now if not _names_columns(rule, schemas)]

    def results(self, results: Results) -> Results:
        """Given rules under their new texts; those that are found stay as they are."""
        return {
            at: {self.text(at, text): finding for text, finding in found.items()} if rule_class(at[0]).given else found
            for at, found in results.items()
        }

    def spec(self, before: WatchSpec, schemas: Schemas) -> WatchSpec:
        """What is still to watch: rules and marks under their new texts, without those that lost their meaning."""
        ordered = {
            table: self._columns(table, names, schemas)
            for table, names in before.rules.ordered.items()
            if table in schemas
        }
        rules = Rules((), {table: names for table, names in ordered.items() if names})
        entries = [self._entry(entry) for entry in before.rules.entries]
        rest = tuple(entry for entry in entries if _has_meaning(entry, rules, schemas))
        marks, settings = self._marks(before.marks, schemas), self._settings(before.settings, schemas)
        sensitive = {
            table: tuple(self.names.get(name, name) for name in names) if table == self.table else names
            for table, names in before.sensitive.items()
            if table in schemas
        }
        rules = replace(rules, entries=rest)
        return replace(before, rules=rules, marks=marks, settings=settings, sensitive=sensitive)

    def _columns(self, table: str, names: Iterable[str], schemas: Schemas) -> tuple[str, ...]:
        own = [self.names.get(name, name) if table == self.table else name for name in names]
        return tuple(name for name in own if name in schemas[table].names)

    def _settings(self, before: Mapping[str, Any], schemas: Schemas) -> dict[str, Any]:
        """Settings that name columns, under the new names and without columns that are gone."""
        known = {name for schema in schemas.values() for name in schema.names}
        settings = dict(before)
        for setting in settings_with_columns() & {each for each, value in before.items() if value and value != ALL}:
            own = [self.names.get(name, name) for name in listed_names(before[setting])]
            settings[setting] = ",".join(quoted(name) for name in own if name in known)
        return settings

    def _entry(self, entry: RuleEntry) -> RuleEntry:
        declared = given_class(entry.text)
        assert declared is not None, "a rule that is given"
        subject = ALL_TABLES if declared.across else entry.table
        return replace(entry, text=self.text((declared.name, subject), entry.text))

    def _marks(self, marks: MarkedRules, schemas: Schemas) -> MarkedRules:
        def renamed(rules: Iterable[RuleName]) -> frozenset[RuleName]:
            now = [(name, subject, self.text((name, subject), text)) for name, subject, text in rules]
            return frozenset(rule for rule in now if _names_columns(rule, schemas))

        return MarkedRules(renamed(marks.ignored), renamed(marks.pinned))


def _has_meaning(entry: RuleEntry, rules: Rules, schemas: Schemas) -> bool:
    """Whether the columns of a rule exist, with types that the rule can compare."""
    try:
        bind(replace(rules, entries=(entry,)), schemas)
    except BadInput:
        return False
    return True


def _names_columns(rule: RuleName, schemas: Schemas) -> bool:
    """Whether the columns of a found rule exist."""
    _, subject, text = rule
    mentions = ((table or subject, columns) for table, columns in parse(text).mentions())
    return all(table in schemas and set(columns) <= {*schemas[table].names} for table, columns in mentions)
