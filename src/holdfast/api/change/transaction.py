"""One procedure for all changes of what a state watches: of rules, of columns, and of tables.

What is wanted afterwards is drafted first. Then engines look at what is new to them, and what they know of the rest is
taken over: one more rule costs one search for it. Each change is one transaction with an id of its own, and stands in
the history like a batch. After it the state is read again from disk before it is used.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.api.change.effects import Results, effects, effects_of_table, events
from holdfast.api.change.renames import Renaming
from holdfast.api.change.spec import Wanted, kept_wanted
from holdfast.api.open_state import Loaded
from holdfast.api.stored import kept_rules, settings_text, written_states
from holdfast.api.workspace import Subject, Watched
from holdfast.engines.registry import ALL_TABLES, make_engine, make_settings, names_in
from holdfast.engines.watched import WatchedTable
from holdfast.results.changed import Changed
from holdfast.results.marks import MARKS
from holdfast.rules.bind import bind
from holdfast.rules.given import Given
from holdfast.store.state_change import Reshaped


@dataclass(frozen=True)
class Draft:
    """A change before any engine has seen it: what is wanted after it, and in which tables."""

    change: Reshaped  # what is known of it already
    wanted: Wanted
    tables: dict[str, WatchedTable]  # one that is written or named otherwise is another object than before
    renaming: Renaming
    only_names: bool = False  # nothing but names of columns change


def make_change(loaded: Loaded, change_id: str | None, draft: Callable[[str], Draft | None]) -> Changed:
    """Make one change, which gets an id, unless one with its id was made before. One that fails leaves no files."""
    loaded.refuse_closed()
    known = None if change_id is None else loaded.store.batch(change_id)
    if known is not None:
        described = next((each.about for each in loaded.store.reshaped() if each.seq == known.seq), {})
        return Changed(known, described, already_applied=True)
    loaded.now()
    with loaded.writing():
        started = time.perf_counter()
        drafted = draft(change_id or uuid.uuid4().hex)
        if drafted is None:
            return Changed(None)
        reshaping = _Reshaping(loaded, drafted)
        if change_id is None and reshaping.is_nothing:
            return Changed(None)
        loaded.stale = True
        return reshaping.commit(started)


def table_draft(
    loaded: Loaded, change: Reshaped, tables: dict[str, WatchedTable], renamed: Mapping[str, str], **more: Any
) -> Draft:
    """The draft of a change of a table that comes, has other columns or goes: what is wanted still."""
    renaming = Renaming(change.table, renamed)
    wanted = renaming.wanted(kept_wanted(loaded.store), Watched(tables).schemas)
    return Draft(change, wanted, tables, renaming, **more)


class _Reshaping:
    """The state before a change, and the state after it."""

    def __init__(self, loaded: Loaded, draft: Draft) -> None:
        self._loaded, self._draft, self._before = loaded, draft, loaded.watched
        self._wanted, self._given = kept_wanted(loaded.store), kept_rules(loaded.store)
        wanted, after = draft.wanted, replace(self._before, tables=draft.tables, engines={}, states={})
        self._now_given: Given = bind(wanted.rules, after.schemas).given
        names = names_in([*wanted.classes, *self._now_given])
        after.engines = {name: make_engine(name, wanted.settings, self._now_given.get(name)) for name in names}
        self._after = after
        every = {**self._before.tables, **draft.tables}
        self._touched = {name for name in every if self._before.tables.get(name) is not draft.tables.get(name)}

    @property
    def is_nothing(self) -> bool:
        """Whether all is as it was."""
        same = (self._wanted, self._given) == (self._draft.wanted, self._now_given)
        return same and not self._touched

    def commit(self, started: float) -> Changed:
        """Let the engines see what is new, compare what they find with what they found before, and make it durable."""
        store, draft, before, after = self._loaded.store, self._draft, self._before, self._after
        old = draft.renaming.results(before.results())
        new = {at for at in after.subjects() if self._is_new(at)}
        after.states = {at: self._state(at) if at in new else before.states[at] for at in after.subjects()}
        results, known = after.results(), store.remembered.texts() if self._touched else []
        change = replace(
            draft.change,
            seconds=time.perf_counter() - started,
            about={**draft.change.about, **self._about(old, results)},
            facts={**self._facts(), **draft.change.facts},
            results={at: each for at, each in results.items() if at in new and not after.engines[at[0]].declared.many},
            dropped=[at for at in before.states if at not in after.states],
            events=[*events(old, results), *draft.renaming.gone(known, after.schemas)],
            renamed=draft.renaming.texts(known),
        )
        files = store.kept_states() if self._loaded.replay_batches == 0 else {}  # no batch came since
        unchanged = {at: files[at] for at in after.states if at not in new and at in files}
        store.reshape(change, written_states(store, after, unchanged))
        self._loaded.watched = after
        return Changed(store.batch(change.change_id), change.about)

    def _is_new(self, at: Subject) -> bool:
        """Whether an engine must look: at another table, for other rules, or with other settings."""
        name, table = at
        settings = [make_settings(name, each.settings) for each in (self._wanted, self._draft.wanted)]
        rules = [each.get(name, {}) for each in (self._given, self._now_given)]
        own = rules if table == ALL_TABLES else [each.get(table) for each in rules]
        known = at in self._before.states and not self._is_touched(table)
        return not known or settings[0] != settings[1] or own[0] != own[1]

    def _is_touched(self, table: str) -> bool:
        return bool(self._touched) if table == ALL_TABLES else table in self._touched

    def _state(self, at: Subject) -> Any:
        """What an engine knows now: taken over as far as it can be, with what is new found."""
        loaded, before, after = self._loaded, self._before, self._after
        engine, subject, known = after.engines[at[0]], after.subject(at[1]), before.states.get(at)
        if known is not None and self._draft.only_names and not engine.declared.given:
            return engine.load(subject, *before.engines[at[0]].dump(known))  # it knows columns by their numbers
        if known is not None and not self._is_touched(at[1]) and engine.declared.given:
            return engine.with_rules(known, subject, after.runner, loaded.progress)
        state = after.found(at, loaded.progress)
        if engine.declared.given:
            lines = loaded.store.results(*at)
            engine.recall(state, [{**line, "text": self._draft.renaming.text(at, line["text"])} for line in lines])
        return state

    def _about(self, old: Results, now: Results) -> dict[str, Any]:
        """What the change did to rules and classes."""
        about = effects(self._wanted, self._draft.wanted, old, now)
        return effects_of_table(about, old, now) if self._touched else about

    def _facts(self) -> dict[str, str]:
        """What is wanted, as a state keeps it."""
        wanted = self._draft.wanted
        return {
            "watch": json.dumps(list(self._after.engines)),
            "settings": settings_text(wanted.settings, self._now_given),
            MARKS: wanted.marks.written(),
        }
