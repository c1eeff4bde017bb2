"""What a state is to watch: rules that are given, classes whose rules are found, and marks on these. Values, and what
people do with them; nothing here touches a state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.api.checks import classes_of
from holdfast.api.stored import kept_marks, kept_rules, kept_settings
from holdfast.engines.registry import make_settings, rule_class, settings_of
from holdfast.errors import BadInput, suggest
from holdfast.results.marks import Marks
from holdfast.rules.file import RuleEntry, Rules, free_name
from holdfast.rules.given import Given, GivenRule
from holdfast.store.store import Store


@dataclass(frozen=True)
class Wanted:
    """Given rules, the names of watched classes whose rules are found, marks, and settings of classes."""

    rules: Rules
    classes: tuple[str, ...]
    marks: Marks
    settings: Mapping[str, Any] = field(default_factory=dict)

    def with_rules(self, added: Rules) -> Wanted:
        """More rules. One that is there takes the name, severity and note with which it is given now."""
        entries = list(self.rules.entries)
        for new in added.entries:
            place = _place(entries, new)
            taken = {each.name for at, each in enumerate(entries) if at != place}
            if new.name in taken and not new.numbered:
                where = f"{new.where}: " if new.where else ""
                raise BadInput(f"{where}there is a rule {new.name!r} already; choose another name, or remove it first")
            if place is not None and new.numbered:
                continue
            entry = replace(
                new, name=free_name(new.name, taken, new.name.rstrip("0123456789")) if new.numbered else new.name
            )
            if place is None:
                entries.append(entry)
            else:
                entries[place] = replace(entry, table=entries[place].table)
        return replace(self, rules=replace(self.rules, entries=tuple(entries), ordered=self._ordered(added)))

    def _ordered(self, added: Rules) -> dict[str, tuple[str, ...]]:
        both = [*self.rules.ordered.items(), *added.ordered.items()]
        return {
            table: tuple(dict.fromkeys(name for own, names in both if own == table for name in names))
            for table, _ in both
        }

    def without_rules(self, named: Sequence[str]) -> Wanted:
        """Fewer rules, by their names."""
        known = [each.name for each in self.rules.entries]
        for name in named:
            if name not in known:
                raise BadInput(f"there is no rule {name!r}; {suggest(name, known)}")
        stay = tuple(each for each in self.rules.entries if each.name not in named)
        return replace(self, rules=replace(self.rules, entries=stay))

    def with_classes(self, names: Sequence[str], settings: Mapping[str, Any]) -> Wanted:
        """More classes whose rules are found; their settings must leave those of others as they are."""
        classes = tuple(dict.fromkeys([*self.classes, *names]))
        new = {**self.settings, **settings}
        for name in settings:
            if not any(name in settings_of(each) for each in names):
                raise BadInput(f"the setting {name!r} does not concern {', '.join(names)}; leave it out")
        for each in (*self.classes, *classes_of(self.rules)):
            if each not in names and make_settings(each, new) != make_settings(each, self.settings):
                told = ", ".join(settings)
                raise BadInput(f"{told}: rules of the class {each!r} would change with it, too; unwatch them first")
        return replace(self, classes=classes, settings=new)

    def without_classes(self, names: Sequence[str]) -> Wanted:
        """Fewer of them."""
        for name in names:
            if name not in self.classes:
                watched = ", ".join(self.classes) or "none"
                raise BadInput(f"rules of the class {name!r} are not watched here; watched are: {watched}")
        classes = tuple(name for name in self.classes if name not in names)
        needed = {name for each in (*classes, *classes_of(self.rules)) for name in settings_of(each)}
        settings = {name: value for name, value in self.settings.items() if name in needed}
        return replace(self, classes=classes, marks=self.marks.kept_in(classes), settings=settings)


def kept_wanted(store: Store) -> Wanted:
    """What a state keeps."""
    found = tuple(name for name in store.watched if not rule_class(name).given)
    return Wanted(rules_in(kept_rules(store)), found, kept_marks(store), kept_settings(store))


def rules_in(given: Given) -> Rules:
    """Given rules as a rule file has them."""
    tables = [(table, own) for each in given.values() for table, own in each.items()]
    entries = [RuleEntry(r.name, r.table, r.text, r.severity, r.note) for _, own in tables for r in own.rules]
    ordered: dict[str, tuple[str, ...]] = {}
    for table, own in tables:
        ordered[table] = tuple(sorted({*ordered.get(table, ()), *own.ordered}))
    return Rules(tuple(entries), {table: names for table, names in ordered.items() if names})


def state_rules(path: str | Path) -> tuple[Rules, Marks, list[str]]:
    """The rules that a state is given, the marks on found ones, and the watched classes; no table is loaded."""
    with closing(Store(path)) as store:
        wanted = kept_wanted(store)
        return wanted.rules, wanted.marks, list(wanted.classes)


def _place(entries: Sequence[GivenRule], new: GivenRule) -> int | None:
    """Where the same rule stands already."""
    same = (at for at, each in enumerate(entries) if each.text == new.text and new.table in ("", each.table))
    return next(same, None)
