"""One procedure for all changes of what a state watches: of rules, of columns, and of tables.

A draft says what is to be watched afterwards. Engines then look at what is new to them and take over what they know of
the rest: one more rule costs one search for it. Each change is one transaction with an id of its own, and stands in the
history like a batch. After it the state is read again from disk before it is used.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.api.change.effects import effects, effects_of_accepting, effects_of_table, events
from holdfast.api.change.renames import Renames
from holdfast.api.change.spec import WatchSpec, stored_spec
from holdfast.api.open_state import OpenState
from holdfast.api.settings import SENSITIVE, settings_text, stored_rules
from holdfast.api.workspace import Subject, Workspace
from holdfast.engines.contract import Json
from holdfast.engines.registry import ALL_TABLES, make_engine, make_settings, names_in
from holdfast.engines.watched import WatchedTable
from holdfast.results.changed import Changed
from holdfast.results.marked_rules import MARKS
from holdfast.rules.bind import bind
from holdfast.rules.given import Given
from holdfast.store.watch_change import WatchChange


@dataclass(frozen=True)
class Draft:
    """A change before any engine has seen it: what to watch after it, and in which tables."""

    change: WatchChange  # what is known of it already
    spec: WatchSpec
    tables: dict[str, WatchedTable]  # one that is rewritten or renamed is another object than before
    renames: Renames
    only_names: bool = False  # only names of columns change
    # Given rules whose violations are accepted as they are (True), or no longer.
    accepted: Mapping[Subject, Mapping[str, bool]] = field(default_factory=dict)


def make_change(state: OpenState, change_id: str | None, draft: Callable[[str], Draft | None]) -> Changed:
    """Make one change, which gets an id, unless one with its id was made before. One that fails leaves no files."""
    state.refuse_closed()
    known = None if change_id is None else state.store.batch(change_id)
    if known is not None:
        return Changed(known, state.store.changes().get(known.seq, {}), already_applied=True)
    state.now()
    with state.writing():
        started = time.perf_counter()
        drafted = draft(change_id or uuid.uuid4().hex)
        if drafted is None:
            return Changed(None)
        transaction = _Transaction(state, drafted)
        if change_id is None and transaction.is_nothing:
            return Changed(None)
        state.stale = True
        return transaction.commit(started)


def table_draft(
    state: OpenState, change: WatchChange, tables: dict[str, WatchedTable], renamed: Mapping[str, str], **more: Any
) -> Draft:
    """The draft of a change in which a table comes, changes its columns, or goes."""
    renames = Renames(change.table, renamed)
    spec = renames.spec(stored_spec(state.store), Workspace(tables).schemas)
    return Draft(change, spec, tables, renames, **more)


class _Transaction:
    """The state before a change, and the state after it."""

    def __init__(self, state: OpenState, draft: Draft) -> None:
        self._open, self._draft, self._before = state, draft, state.workspace
        self._spec, self._given = stored_spec(state.store), stored_rules(state.store)
        spec, after = draft.spec, replace(self._before, tables=draft.tables, engines={}, states={})
        self._now_given: Given = bind(spec.rules, after.schemas).given
        names = names_in([*spec.classes, *self._now_given])
        after.engines = {name: make_engine(name, spec.settings, self._now_given.get(name)) for name in names}
        self._after = after
        every = {**self._before.tables, **draft.tables}
        self._touched = {name for name in every if self._before.tables.get(name) is not draft.tables.get(name)}

    @property
    def is_nothing(self) -> bool:
        """Whether nothing changes."""
        same = (self._spec, self._given) == (self._draft.spec, self._now_given)
        return same and not self._touched and not self._draft.accepted and not self._draft.change.about

    def commit(self, started: float) -> Changed:
        """Let the engines see what is new, compare what they find with what they found before, and make it durable."""
        store, draft, before, after = self._open.store, self._draft, self._before, self._after
        old = draft.renames.results(before.results())
        new = {at for at in after.subjects() if self._is_new(at)}
        after.states = {at: self._state(at) if at in new else before.states[at] for at in after.subjects()}
        for at, texts in draft.accepted.items():
            after.states[at] = after.states[at].accept(texts)
        results, known = after.results(), store.memory.texts() if self._touched else []
        about = effects(self._spec, draft.spec, old, results)
        about = effects_of_table(about, old, results) if self._touched else about
        about |= effects_of_accepting(draft.accepted, results)
        change = replace(
            draft.change,
            seconds=time.perf_counter() - started,
            about={**draft.change.about, **about},
            facts={**self._facts(), **draft.change.facts},
            results={at: each for at, each in results.items() if self._is_stored(at, new)},
            dropped=[at for at in before.states if at not in after.states],
            events=[*events(old, results), *draft.renames.gone(known, after.schemas)],
            renamed=draft.renames.texts(known),
            baselines={at: self._baselines(at) for at in after.states if self._has_baselines(at)},
        )
        files = store.bulk.states() if self._open.replay_batches == 0 else {}  # no batch came since
        unchanged = {at: files[at] for at in after.states if at not in new and at in files}
        store.commit_change(change, self._open.write_states(after, unchanged))
        self._open.workspace = after
        if not self._touched:
            self._open.go_on()
        return Changed(store.batch(change.change_id), change.about)

    def _is_stored(self, at: Subject, new: Collection[Subject]) -> bool:
        """Whether the findings of an engine are stored one by one, and may be others now."""
        return at in self._draft.accepted or (at in new and not self._after.engines[at[0]].declared.many)

    def _has_baselines(self, at: Subject) -> bool:
        """Whether baselines may be others now: violations are accepted, or rows and values may have other names."""
        declared = self._after.engines[at[0]].declared
        return declared.given and (at in self._draft.accepted or self._is_touched(at[1]))

    def _baselines(self, at: Subject) -> dict[str, Json | None]:
        """The baselines of given rules; None of those whose violations are no longer accepted."""
        gone = dict.fromkeys(self._draft.accepted.get(at, ()))
        known: dict[str, Json] = self._after.states[at].baselines
        return gone | known

    def _is_new(self, at: Subject) -> bool:
        """Whether an engine must look: at another table, for other rules, or with other settings."""
        name, table = at
        rules = [each.get(name, {}) for each in (self._given, self._now_given)]
        own = rules if table == ALL_TABLES else [each.get(table) for each in rules]
        known = at in self._before.states and not self._is_touched(table)
        return not known or self._has_new_settings(name) or own[0] != own[1]

    def _has_new_settings(self, name: str) -> bool:
        before, now = (make_settings(name, each.settings) for each in (self._spec, self._draft.spec))
        return bool(before != now)

    def _is_touched(self, table: str) -> bool:
        return bool(self._touched) if table == ALL_TABLES else table in self._touched

    def _state(self, at: Subject) -> Any:
        """The state of an engine after the change: taken over as far as possible, with the rest searched."""
        progress, before, after = self._open.progress, self._before, self._after
        engine, subject, known = after.engines[at[0]], after.subject(at[1]), before.states.get(at)
        if known is not None and self._draft.only_names and not engine.declared.given:
            return engine.load(subject, *before.engines[at[0]].dump(known))  # it knows columns by their numbers
        if known is not None and not self._is_touched(at[1]) and engine.declared.given:
            return engine.with_rules(known, subject, after.runner, progress)
        as_before = known is not None and not self._has_new_settings(at[0])
        state = after.discover(at, progress, engine.with_settings_of(known) if as_before else engine)
        if engine.declared.given:
            lines = self._open.store.rules.recalled(*at)
            engine.recall(state, [{**line, "text": self._draft.renames.text(at, line["text"])} for line in lines])
            if not self._draft.only_names:
                state.number_baselines()
        return state

    def _facts(self) -> dict[str, str]:
        """What to watch, as a state stores it."""
        spec = self._draft.spec
        return {
            "watch": json.dumps(list(self._after.engines)),
            "settings": settings_text(spec.settings, self._now_given),
            MARKS: spec.marks.written(),
            SENSITIVE: json.dumps(spec.sensitive),
        }
