"""Add and subtract the rows of a batch."""

from __future__ import annotations

from holdfast.changes.diff import Diff, between
from holdfast.engines.column.state import State
from holdfast.table.change import Change


def maintain(state: State, change: Change) -> Diff:
    """Bring the state up to date, and tell which facts changed."""
    before = state.facts
    for column, born, died in zip(state.columns, change.inserted, change.deleted, strict=True):
        column.update(change.after, born, died)
    state.facts = {facts.text: facts for facts in (column.facts() for column in state.columns)}
    return between(before, state.facts)
