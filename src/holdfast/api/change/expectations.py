"""Changes of what batches are expected to look like: switched on and off, accepted as they are now, muted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.api.change.renames import Renames
from holdfast.api.change.spec import stored_spec
from holdfast.api.change.watch_change import Draft, make_change
from holdfast.api.expectations import ROWS_COME, SNAPSHOT, History, first_expected
from holdfast.api.open_state import OpenState
from holdfast.engines.registry import ALL_TABLES
from holdfast.errors import BadInput, nearest_names
from holdfast.expectations.figures import Fresh, Layout
from holdfast.expectations.judging import Past
from holdfast.results.changed import Changed
from holdfast.store.expected import EXPECTATIONS
from holdfast.store.records import RULES, Expected
from holdfast.store.watch_change import WatchChange
from holdfast.text.quotes import command

Edit = Callable[[str, Layout, int], Layout]  # of a table, its layout, and the place of a figure


def switch(state: OpenState, on: bool, history: History, change_id: str | None) -> Changed:
    """Expect something of batches from now on, or no longer. What is known of batches stays."""

    def draft(own_id: str) -> Draft | None:
        if state.store.expectations.are_on == on:
            return None
        about = {"watched" if on else "unwatched": [{"class": EXPECTATIONS}]}
        known = state.store.expectations.layouts(also_off=True)
        new = {name: table for name, table in state.tables.items() if name not in known} if on else {}
        facts = {EXPECTATIONS: "on" if on else "off"}
        return _draft(state, own_id, about, first_expected(new, history, state.progress), facts)

    return make_change(state, change_id, draft)


def mute(state: OpenState, figure: str, table: str | None, undo: bool, change_id: str | None) -> Changed:
    """Say nothing of a figure from now on, or speak of it again."""

    def edited(_: str, layout: Layout, place: int) -> Layout:
        return replace(layout, muted=layout.muted - {place} if undo else layout.muted | {place})

    return _change(state, figure, table, change_id, "unsilenced" if undo else "silenced", edited)


def accept(state: OpenState, figure: str, table: str | None, change_id: str | None) -> Changed:
    """Take a figure of the last batches, which were far outside, for what is usual from now on."""

    def edited(name: str, layout: Layout, place: int) -> Layout:
        for lane in (ROWS_COME, SNAPSHOT):
            past = state.store.expectations.past(name, lane, -np.inf, len(layout.figures))
            if run := _last_run(past, layout, place):
                return replace(layout, fresh={**layout.fresh, place: run})
        raise BadInput(f"{figure}: the last batch of {name} was as usual; there is nothing to accept")

    return _change(state, figure, table, change_id, "accepted", edited)


def _last_run(past: Past, layout: Layout, place: int) -> Fresh | None:
    """The last batches of which a figure was far outside, on the same side."""
    there = np.flatnonzero(~np.isnan(past.values[:, place]))
    sides = np.where(past.counted(layout)[there, place], 0, past.sides[there, place])
    if not len(sides) or not sides[-1]:
        return None
    others = np.flatnonzero(sides != sides[-1])
    run = past.seqs[there[others[-1] + 1 if len(others) else 0 :]]
    return Fresh(int(run[0]), int(run[-1]))


def _change(state: OpenState, figure: str, table: str | None, change_id: str | None, event: str, edit: Edit) -> Changed:
    def draft(own_id: str) -> Draft | None:
        layouts = state.store.expectations.layouts()
        name, place = _meant(state, layouts, figure, table)
        after = edit(name, layouts[name], place)
        if after == layouts[name]:
            return None
        text = layouts[name].figures[place].text(state.tables[name].schema, values=False)  # the history may stay longer
        about = {event: [{"class": f"{name}: {text}"}]}
        return _draft(state, own_id, about, Expected(layouts={name: after}), {})

    return make_change(state, change_id, draft)


def _draft(
    state: OpenState, own_id: str, about: Mapping[str, Any], expected: Expected, facts: Mapping[str, str]
) -> Draft:
    change = WatchChange(own_id, RULES, ALL_TABLES, 0.0, about, facts, expected=expected)
    return Draft(change, stored_spec(state.store), state.workspace.tables, Renames("", {}))


def _meant(state: OpenState, layouts: Mapping[str, Layout], figure: str, table: str | None) -> tuple[str, int]:
    """The table and the place of a figure, which is called by its text, perhaps after its table."""
    if not layouts:
        switch_on = command("expect", state.store.path, "on")
        raise BadInput(f"batches have no expectations here; switch them on first: {switch_on}")
    names = {
        (name, each.text(state.tables[name].schema)): (name, place)
        for name, layout in layouts.items()
        for place, each in enumerate(layout.figures)
        if each.is_watched
    }
    found = [at for (name, text), at in names.items() if figure in (text, f"{name}: {text}") and table in (None, name)]
    if len(found) > 1:
        which = ", ".join(name for name, _ in found)
        raise BadInput(f"{figure!r} is watched of {which}; say which: --table, or {found[0][0]}: {figure}")
    if not found:
        texts = [f"{name}: {text}" for name, text in names]
        near = nearest_names(figure, texts)
        hint = f"did you mean {near}?" if near else "expect shows all of them"
        raise BadInput(f"there is no expectation {figure!r}; {hint}")
    return found[0]
