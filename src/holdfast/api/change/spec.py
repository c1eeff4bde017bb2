"""What a state is to watch, as a value: given rules, classes whose rules are found, marks of found rules, settings,
and which columns are sensitive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.api.checks import classes_of, rules_in
from holdfast.api.settings import stored_marks, stored_rules, stored_sensitive, stored_settings
from holdfast.engines.registry import make_settings, rule_class, settings_of
from holdfast.errors import BadInput, nearest_names, suggest
from holdfast.results.marked_rules import MarkedRules
from holdfast.rules.file import RuleEntry, Rules, free_name
from holdfast.rules.given import GivenRule
from holdfast.store.store import Store


@dataclass(frozen=True)
class WatchSpec:
    """Given rules, the names of watched classes whose rules are found, marks, settings of classes, and the sensitive
    columns of each table.
    """

    rules: Rules
    classes: tuple[str, ...]
    marks: MarkedRules
    settings: Mapping[str, Any] = field(default_factory=dict)
    sensitive: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def with_rules(self, added: Rules) -> WatchSpec:
        """More rules. One that is given already takes the new name, severity and note."""
        entries = list(self.rules.entries)
        for new in added.entries:
            place = _place(entries, new)
            taken = {each.name for at, each in enumerate(entries) if at != place}
            if new.name in taken and not new.numbered:
                where = f"{new.where}: " if new.where else ""
                raise BadInput(f"{where}there is a rule {new.name!r} already; choose another name, or remove it first")
            if place is not None and new.numbered:
                entries[place] = _own(entries[place])
                continue
            new = _own(new)
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

    def with_muted(self, named: Collection[str]) -> WatchSpec:
        """Some suggested rules are muted."""
        entries = [replace(each, origin="muted") if each.name in named else each for each in self.rules.entries]
        return replace(self, rules=replace(self.rules, entries=tuple(entries)))

    def with_own(self, named: Sequence[str]) -> WatchSpec:
        """Some muted rules are the user's own from now on, and never mute themselves again."""
        known = [each.name for each in self.rules.entries if each.origin == "muted"]
        for name in named:
            if name not in known:
                which = f"muted are: {', '.join(known)}" if known else "no rule is muted"
                raise BadInput(f"{name!r} is not muted; {which}")
        entries = [_own(each) if each.name in named else each for each in self.rules.entries]
        return replace(self, rules=replace(self.rules, entries=tuple(entries)))

    def without_rules(self, named: Sequence[str]) -> WatchSpec:
        """Fewer rules, by their names."""
        known = [each.name for each in self.rules.entries]
        for name in named:
            if name not in known:
                near = nearest_names(name, [*known, *(each.text for each in self.rules.entries)])
                raise BadInput(
                    f"there is no rule {name!r}; {f'did you mean {near}?' if near else suggest(name, known)}"
                )
        rest = tuple(each for each in self.rules.entries if each.name not in named)
        return replace(self, rules=replace(self.rules, entries=rest))

    def with_classes(self, names: Sequence[str], settings: Mapping[str, Any]) -> WatchSpec:
        """More classes whose rules are found. Their settings must not change those of other classes."""
        classes = tuple(dict.fromkeys([*self.classes, *names]))
        new = {**self.settings, **settings}
        for name in settings:
            if not any(name in settings_of(each) for each in names):
                raise BadInput(f"the setting {name!r} does not concern {', '.join(names)}; leave it out")
        for each in (*self.classes, *classes_of(self.rules)):
            if each not in names and make_settings(each, new) != make_settings(each, self.settings):
                changed = ", ".join(settings)
                raise BadInput(f"{changed}: rules of the class {each!r} would change as well; unwatch them first")
        return replace(self, classes=classes, settings=new)

    def without_classes(self, names: Sequence[str]) -> WatchSpec:
        """Fewer of them."""
        for name in names:
            if name not in self.classes:
                watched = ", ".join(self.classes) or "none"
                raise BadInput(f"rules of the class {name!r} are not watched here; watched are: {watched}")
        classes = tuple(name for name in self.classes if name not in names)
        needed = {name for each in (*classes, *classes_of(self.rules)) for name in settings_of(each)}
        settings = {name: value for name, value in self.settings.items() if name in needed}
        return replace(self, classes=classes, marks=self.marks.kept_in(classes), settings=settings)

    def with_sensitive(self, table: str, columns: Sequence[str], undo: bool) -> WatchSpec:
        """More columns of a table are sensitive, or fewer."""
        known = self.sensitive.get(table, ())
        left = [name for name in known if name not in columns] if undo else [*known, *columns]
        own = {**self.sensitive, table: tuple(dict.fromkeys(left))}
        return replace(self, sensitive={name: names for name, names in own.items() if names})


def _own(entry: RuleEntry) -> RuleEntry:
    """A rule that the user gives: it was perhaps suggested before."""
    return replace(entry, origin="") if entry.origin in ("suggested", "muted") else entry


def stored_spec(store: Store) -> WatchSpec:
    """What a state watches now."""
    found = tuple(name for name in store.watched if not rule_class(name).given)
    rules, sensitive = rules_in(stored_rules(store)), stored_sensitive(store)
    return WatchSpec(rules, found, stored_marks(store), stored_settings(store), sensitive)


def state_rules(path: str | Path) -> tuple[Rules, MarkedRules, list[str]]:
    """The given rules of a state, the marks of found ones, and the watched classes, without loading tables."""
    with closing(Store(path)) as store:
        spec = stored_spec(store)
        return spec.rules, spec.marks, list(spec.classes)


def _place(entries: Sequence[GivenRule], new: GivenRule) -> int | None:
    """Where the same rule stands already."""
    same = (at for at, each in enumerate(entries) if each.text == new.text and new.table in ("", each.table))
    return next(same, None)
