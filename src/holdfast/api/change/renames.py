"""Rules where columns of a table have other names, other types, or are no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from holdfast.api.change.effects import Results, is_found
from holdfast.api.change.spec import Wanted
from holdfast.engines.registry import ALL_TABLES, given_class, rule_class
from holdfast.errors import BadInput
from holdfast.results.marks import Marks, RuleName
from holdfast.rules.bind import bind
from holdfast.rules.file import RuleEntry, Rules
from holdfast.rules.registry import parse
from holdfast.store.events import Event
from holdfast.table.table import Schema

Schemas = Mapping[str, Schema]


@dataclass(frozen=True)
class Renaming:
    """New names of some columns of a table, by old ones; perhaps of none."""

    table: str
    names: Mapping[str, str]

    def text(self, at: tuple[str, str], text: str) -> str:
        """A rule of a class and a table, or the name of a column, as it is called now."""
        name, subject = at
        if not self.names or subject not in (self.table, ALL_TABLES):
            return text
        if rule_class(name).facts:
            return self.names.get(text, text)
        return parse(text).renamed(self.table, self.names).text

    def texts(self, known: Iterable[RuleName]) -> dict[tuple[str, str], dict[str, str]]:
        """Those of some rules that are called otherwise now, old texts to new ones, by class and table."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        for name, subject, text in known:
            new = self.text((name, subject), text)
            if new != text:
                found.setdefault((name, subject), {})[text] = new
        return found

    def gone(self, known: Iterable[RuleName], schemas: Schemas) -> list[tuple[str, str, Event]]:
        """Those of some rules that were found once and speak of columns that are no more, as events."""
        own = [rule for rule in known if rule[1] in (self.table, ALL_TABLES) and is_found(rule[0])]
        now = [(name, subject, self.text((name, subject), text)) for name, subject, text in own]
        return [(*rule[:2], Event("removed", rule[2], "")) for rule in now if not _names_columns(rule, schemas)]

    def results(self, results: Results) -> Results:
        """Findings by the texts that they have now; those that are found alone stay as they are."""
        return {
            at: {self.text(at, text): finding for text, finding in found.items()} if rule_class(at[0]).given else found
            for at, found in results.items()
        }

    def wanted(self, before: Wanted, schemas: Schemas) -> Wanted:
        """What is wanted still: rules and marks as they are called now, but for those that have no meaning any more."""
        ordered = {
            table: self._columns(table, names, schemas)
            for table, names in before.rules.ordered.items()
            if table in schemas
        }
        rules = Rules((), {table: names for table, names in ordered.items() if names})
        entries = [self._entry(entry) for entry in before.rules.entries]
        kept = tuple(entry for entry in entries if _has_meaning(entry, rules, schemas))
        return replace(before, rules=replace(rules, entries=kept), marks=self._marks(before.marks, schemas))

    def _columns(self, table: str, names: Iterable[str], schemas: Schemas) -> tuple[str, ...]:
        own = [self.names.get(name, name) if table == self.table else name for name in names]
        return tuple(name for name in own if name in schemas[table].names)

    def _entry(self, entry: RuleEntry) -> RuleEntry:
        declared = given_class(entry.text)
        assert declared is not None, "a rule that is given"
        subject = ALL_TABLES if declared.across else entry.table
        return replace(entry, text=self.text((declared.name, subject), entry.text))

    def _marks(self, marks: Marks, schemas: Schemas) -> Marks:
        def called(rules: Iterable[RuleName]) -> frozenset[RuleName]:
            now = [(name, subject, self.text((name, subject), text)) for name, subject, text in rules]
            return frozenset(rule for rule in now if _names_columns(rule, schemas))

        return Marks(called(marks.ignored), called(marks.pinned))


def _has_meaning(entry: RuleEntry, rules: Rules, schemas: Schemas) -> bool:
    """Whether the columns of a rule are there, with types that it can speak of."""
    try:
        bind(replace(rules, entries=(entry,)), schemas)
    except BadInput:
        return False
    return True


def _names_columns(rule: RuleName, schemas: Schemas) -> bool:
    """Whether the columns of a found rule are there."""
    _, subject, text = rule
    mentions = ((table or subject, columns) for table, columns in parse(text).mentions())
    return all(table in schemas and set(columns) <= {*schemas[table].names} for table, columns in mentions)
