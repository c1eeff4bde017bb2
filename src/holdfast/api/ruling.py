"""Rules come and go while a state lives: given ones are added, removed and edited, found ones are promoted, ignored and
pinned, classes are watched and dropped.

Each change is one transaction with an id of its own, and stands in the history like a batch. What is known of rules
that stay is kept: one more costs one search for it.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdfast.api.kept import kept_rules, settings_text
from holdfast.api.rule_change import events, told
from holdfast.api.upkeep import Upkeep
from holdfast.engines.registry import (
    ALL_TABLES,
    given_class,
    make_engine,
    make_settings,
    names_in,
    refuse_given,
    refuse_unknown_settings,
)
from holdfast.errors import BadInput, clear_sentences
from holdfast.results.changed import Changed
from holdfast.results.marks import MARKS, Mark
from holdfast.rules.given import Given
from holdfast.rules.promotion import as_given
from holdfast.rules.registry import parse
from holdfast.rules.rule import Severity
from holdfast.store.records import RULES, BatchRecord
from holdfast.store.reshape import Reshaped
from holdfast.table.table import Schema

if TYPE_CHECKING:
    from holdfast.api.wanted import Wanted
    from holdfast.rules.file import RuleEntry, Rules

Subject = tuple[str, str]  # class of rules, and table ("*": all)


class Ruling(Upkeep):
    """A state whose rules can be changed."""

    # ---- rules that are given ---------------------------------------------------------------------------------------

    def add_rules(
        self,
        rules: str | Path | Sequence[str] | Rules,
        *,
        table: str | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Give more rules: a rule file, a text, or texts, which are about `table` where they name none. One that is
        there already takes the name, severity and note with which it is given now. A change id that was used before
        changes nothing.
        """
        return self._change(change_id, lambda wanted: wanted.with_rules(self._checked(rules, table)))

    def remove_rules(self, rules: str | Path | Sequence[str] | Rules, *, change_id: str | None = None) -> Changed:
        """Give up rules, by their names or texts, or those of a rule file. What the history tells of them stays."""
        return self._change(change_id, lambda wanted: wanted.without_rules(self._named(wanted, rules)))

    def replace_rules(self, rules: str | Path | Sequence[str] | Rules, *, change_id: str | None = None) -> Changed:
        """Have just the rules of a file, a text, or texts: others go, new ones come, those that stay are kept as they
        are known.
        """
        return self._change(change_id, lambda wanted: replace(wanted, rules=self._checked(rules)))

    def promote(
        self,
        rule: str,
        *,
        name: str | None = None,
        severity: Severity = "error",
        note: str = "",
        table: str | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Give a rule that was found: from now on its violations are counted and listed, and it stays when it breaks.

        An order dependency, also a pointwise one, is given as the denial constraint that says the same.
        """

        def promoted(wanted: Wanted) -> Wanted:
            from holdfast.rules.file import Rules, rules_of

            given_rule, compared = as_given(parse(rule))
            text = given_rule.text
            entry = rules_of([text]).entries[0]
            own = entry if name is None else replace(entry, name=name, numbered=False)
            about = "" if self._is_across(text) else self._table_name(table)
            ordered = _texts_among(compared, self._tables[about].schema) if about else ()
            given = replace(own, table=about, severity=severity, note=note, where="")
            checked = self._checked(Rules((given,), {about: ordered} if ordered else {}))
            marks = wanted.marks.without({each.text for each in checked.entries}, {about or ALL_TABLES})
            return replace(wanted.with_rules(checked), marks=marks)

        return self._change(change_id, promoted)

    # ---- rules that were found --------------------------------------------------------------------------------------

    def ignore(
        self, rule: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None
    ) -> Changed:
        """Hear no more of a found rule: it is no alarm, and a page tells it last. `undo` takes that back."""
        return self._mark(rule, table, None if undo else "ignored", change_id)

    def pin(self, rule: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None) -> Changed:
        """Have a found rule matter, whatever its score is: when it breaks, that is an alarm, and a page tells it first.
        `undo` takes that back.
        """
        return self._mark(rule, table, None if undo else "pinned", change_id)

    def watch(self, classes: str | Sequence[str], *, change_id: str | None = None, **settings: Any) -> Changed:
        """Find the rules of more classes, and keep them from now on. `settings` are those of the classes."""
        asked = names_in(classes)
        refuse_given(asked)
        refuse_unknown_settings(settings)
        return self._change(change_id, lambda wanted: wanted.with_classes(asked, settings))

    def unwatch(self, classes: str | Sequence[str], *, change_id: str | None = None) -> Changed:
        """Keep the rules of some classes no longer. What the history tells of them stays."""
        asked = names_in(classes)
        refuse_given(asked)
        return self._change(change_id, lambda wanted: wanted.without_classes(asked))

    def _mark(self, rule: str, table: str | None, mark: Mark | None, change_id: str | None) -> Changed:
        def marked(wanted: Wanted) -> Wanted:
            if known := self.given(rule, table=table):
                raise BadInput(f"{rule!r} is given: remove it, or give it with the severity warn ({known['text']})")
            about = self.explanation(rule, table=table).to_json()
            if about["kind"] not in wanted.classes:
                raise BadInput(f"rules of the class {about['kind']!r} are not watched here; watch them first")
            subject = ALL_TABLES if self._engines[about["kind"]].declared.across else self._table_name(table)
            name = (about["kind"], subject, about["text"])
            if mark == "pinned" and name not in wanted.marks.pinned and not self._is_found(*name):
                raise BadInput(
                    f"{about['text']!r} is not among the rules that are found now (it does not hold, or follows from a "
                    "shorter one), so it can't be told when it breaks; promote it, or pin one that is found"
                )
            return replace(wanted, marks=wanted.marks.with_mark(name, mark))

        return self._change(change_id, marked)

    def _is_found(self, kind: str, subject: str, text: str) -> bool:
        return text in self._engines[kind].result(self._states[kind, subject])

    # ---- a change ---------------------------------------------------------------------------------------------------

    def _change(self, change_id: str | None, make: Callable[[Wanted], Wanted]) -> Changed:
        """Change what is wanted, unless there is nothing to change."""

        def changed(own_id: str) -> Changed:
            started = time.perf_counter()
            before = self._wanted()
            wanted = make(before)
            given = self._bound(wanted.rules, tell=False)
            if (wanted, given) == (before, self._kept_given()) and change_id is None:
                return Changed(None)
            return self._reshape_rules(before, wanted, given, own_id, started)

        return self._made(change_id, changed)

    def _made(self, change_id: str | None, make: Callable[[str], Changed]) -> Changed:
        """Make one change, which gets an id, unless one with its id was made before. One that fails leaves no files."""
        self._refuse_closed()
        known = None if change_id is None else self._store.batch(change_id)
        if known is not None:
            described = next((each.about for each in self._store.reshaped() if each.seq == known.seq), {})
            return Changed(known, described, already_applied=True)
        self._refresh()
        with clear_sentences(self._store.path), self._leaving_no_files():
            return make(change_id or uuid.uuid4().hex)

    def _wanted(self) -> Wanted:
        from holdfast.api.wanted import Wanted

        return Wanted.of(self._kept_given(), self._store.watched, self.marks(), self._settings())

    def _kept_given(self) -> Given:
        return kept_rules(self._store)

    def _reshape_rules(self, before: Wanted, wanted: Wanted, given: Given, change_id: str, started: float) -> Changed:
        """Find what is new, and commit. Whatever happens, the state is read anew from disk before it is used again."""
        self._stale = True
        old, old_given, old_results = self._states, self._kept_given(), self._results()
        self._make_engines_for(wanted, given)
        new = {name for name in self._engines if _differs(name, before, wanted, old_given, given)}
        self._states = {at: self._state_of(at, old, at[0] in new) for at in self._subjects()}
        results = self._results()
        change = Reshaped(
            change_id,
            RULES,
            ALL_TABLES,
            time.perf_counter() - started,
            told(before, wanted, old_results, results),
            self._facts(wanted, given),
            {at: found for at, found in results.items() if at[0] in new},
            [at for at in old if at not in self._states],
            list(events(old_results, results)),
        )
        return Changed(self._commit(change, {at for at in self._states if at[0] not in new}), change.about)

    def _make_engines_for(self, wanted: Wanted, given: Given) -> None:
        """The engines of all classes that are wanted."""
        names = names_in([*wanted.classes, *given])
        self._engines = {name: make_engine(name, wanted.settings, given.get(name)) for name in names}

    def _facts(self, wanted: Wanted, given: Given) -> dict[str, str]:
        """What is wanted, as a state keeps it."""
        return {
            "watch": json.dumps(list(self._engines)),
            "settings": settings_text(wanted.settings, given),
            MARKS: wanted.marks.written(),
        }

    def _commit(self, change: Reshaped, unchanged: Collection[Subject]) -> BatchRecord:
        """Make a change durable, with the engines' states, of which some are those of before."""
        one_by_one = {at: found for at, found in change.results.items() if not self._engines[at[0]].declared.many}
        self._store.reshape(replace(change, results=one_by_one), self._dump_states(unchanged))
        record = self._store.batch(change.change_id)
        assert record is not None
        return record

    def _state_of(self, at: Subject, old: Mapping[Subject, Any], new: bool) -> Any:
        """The state of a class: the same, or with what is new found."""
        if not new:
            return old[at]
        engine, subject = self._engines[at[0]], self._subject(at[1])
        self._progress.step(f"Finding {engine.declared.title}")
        if engine.declared.given and at in old:
            return engine.with_rules(old[at], subject, self._runner, self._progress)
        return engine.discover(subject, self._runner, self._progress)

    # ---- what is meant ----------------------------------------------------------------------------------------------

    def _checked(self, rules: str | Path | Sequence[str] | Rules, table: str | None = None) -> Rules:
        """Rules as they are written for these tables: so the same rule has the same text."""
        from holdfast.api.checking import given_rules
        from holdfast.rules.file import Rules

        given = given_rules(rules)
        if table is not None:
            given = replace(given, entries=tuple(self._of_table(each, table) for each in given.entries))
        bound = {rule.name: rule for own in self._bound(given).values() for each in own.values() for rule in each.rules}
        entries = [replace(each, table=bound[each.name].table, text=bound[each.name].text) for each in given.entries]
        return Rules(tuple(entries), given.ordered, given.where)

    def _of_table(self, entry: RuleEntry, table: str) -> RuleEntry:
        """A rule that is about a table where it names none, and looks at none but its own."""
        return entry if entry.table or self._is_across(entry.text) else replace(entry, table=table)

    def _named(self, wanted: Wanted, rules: str | Path | Sequence[str] | Rules) -> list[str]:
        """The names of the rules of a file, each of its own table; or of those that names and texts mean."""
        from holdfast.api.checking import is_rule_file
        from holdfast.rules.file import Rules

        if isinstance(rules, Rules | Path) or (isinstance(rules, str) and is_rule_file(rules)):
            names = {(each.table, each.text): each.name for each in wanted.rules.entries}
            return [names.get((each.table, each.text), each.text) for each in self._checked(rules).entries]
        asked = [rules] if isinstance(rules, str) else list(rules)
        return [name for each in asked for name in self._meant(wanted, each)]

    def _meant(self, wanted: Wanted, asked: str) -> list[str]:
        """The names of the rules that have a name or a text. Unknown ones pass through; the caller raises."""
        entries = wanted.rules.entries
        same = [each.name for each in entries if asked == each.name] or [
            each.name for each in entries if self._written_for(asked, each.table) == each.text
        ]
        return same or [asked]

    def _written_for(self, text: str, table: str) -> str:
        """A rule as it is always written for a table; nothing where it is no rule of it."""
        with suppress(BadInput):
            return self._checked([text], table).entries[0].text if given_class(text) else ""
        return ""

    def _bound(self, given: Rules, *, tell: bool = True) -> Given:
        """Rules checked against the tables, by class and table; what is odd about some is told."""
        from holdfast.rules.bind import bind

        bound = bind(given, self._schemas())
        for note in bound.notes if tell else ():
            self._progress.note(note)
        return bound.given

    def _schemas(self) -> dict[str, Schema]:
        return {name: watched.table.schema for name, watched in self._watched.items()}

    def _is_across(self, text: str) -> bool:
        declared = given_class(text)
        return declared is not None and declared.across


def _texts_among(columns: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Those of some columns that hold text: their order has to be declared."""
    types = {column.name: column.type for column in schema.columns}
    return tuple(name for name in columns if name in types and pa.types.is_string(types[name]))


def _differs(name: str, before: Wanted, wanted: Wanted, old: Given, given: Given) -> bool:
    """Whether a class is new, or has other rules or settings."""
    known = name in before.classes or name in old
    settings = [make_settings(name, each.settings) for each in (before, wanted)]
    return not known or settings[0] != settings[1] or old.get(name) != given.get(name)
