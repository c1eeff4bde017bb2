"""Maintenance: move the values that a batch touches from cluster to cluster (papers: inclusion, sections 4.2 and 5).

The batch gives, for each column of its tables, the codes whose frequency changes. Their values are looked up in all
columns that compare (in dictionaries, by binary search), which gives each value's frequencies before and after; all
else is left alone. Where the paper caches values and counts to spare itself queries, there is nothing here to spare.
Cost: O(v k log d) for v values touched, k columns of their class and d values a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import Diff, Witness, between
from holdfast.engines.inclusion import derive, nary, several, values, witness
from holdfast.engines.inclusion.state import Attribute, INDState
from holdfast.rules.inclusion import IND
from holdfast.table import images
from holdfast.table.change import Batch
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Moved
from holdfast.table.images import Images
from holdfast.table.runner import Runner

_KEYS_AT_ONCE = 1 << 16
_WORTH_THREADS = 1 << 16
Changes = dict[Attribute, Moved]  # of each column of the changed tables the values that became more or less frequent


def follow(state: INDState, batch: Batch, runner: Runner) -> Diff:
    """Bring the state up to date with a batch that the frequencies have followed, and say what changed."""
    before = state.found
    state.tables |= {change.table: change.after for change in batch}
    changes = {a: _values_moved(state, a) for change in batch for a in state.of_table(change.table)}
    for kind in dict.fromkeys(attribute.kind for attribute in changes):
        _move_values(state, kind, changes, runner)
    several.follow(state, batch, runner)
    state.found = {**derive.unary(state), **several.holding(state)}
    return between(before, state.found)


def _values_moved(state: INDState, attribute: Attribute) -> Moved:
    """What the batch changed in the frequencies of a column; nulls don't count."""
    codes, steps = state.frequencies[attribute.table].moved[attribute.column]
    return Moved(codes[codes != NULL_CODE], steps[codes != NULL_CODE])


def _move_values(state: INDState, kind: str, changes: Changes, runner: Runner) -> None:
    columns = state.of_kind(kind)
    numbers = np.array([column.number for column in columns])
    for lane, keys in _touched(state, kind, changes):
        look = partial(_frequencies, state, changes, lane, keys)
        many = len(keys) * len(columns) > _WORTH_THREADS and runner.is_local
        found = runner.map(look, columns) if many else [look(column) for column in columns]
        before, after = (np.stack(each, axis=1) for each in zip(*found, strict=True))
        state.clusters.move(before, after, numbers)


def _frequencies(
    state: INDState, changes: Changes, lane: int, keys: Images, column: Attribute
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often a column holds each of some values, before the batch and after it."""
    codes = values.find(lane, keys, state.dictionary(column))
    after = state.counts(column).of(codes)
    return after - _step_of(codes, *changes[column]) if column in changes else after, after


def _touched(state: INDState, kind: str, changes: Changes) -> Iterator[tuple[int, Images]]:
    """The distinct values of a class that a batch touches: lane by lane, sorted, some at a time."""
    lanes: dict[int, list[Images]] = {}
    for attribute, (codes, _) in changes.items():
        if attribute.kind == kind and len(codes):
            own = state.dictionary(attribute)
            for lane, keys, _ in values.split(own.images(codes), own.kept):
                lanes.setdefault(lane, []).append(keys)
    for lane, parts in lanes.items():
        keys, _ = images.sorted_distinct(images.concat(parts))
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            yield lane, keys[start : start + _KEYS_AT_ONCE]


def _step_of(codes: NDArray[np.int64], changed: NDArray[np.int64], step: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how much the frequency of each code changes."""
    if not len(changed):
        return np.zeros(len(codes), np.int64)
    at = np.minimum(np.searchsorted(changed, codes), len(changed) - 1)
    return np.where(changed[at] == codes, step[at], 0)


def witnesses(state: INDState, lost: Mapping[str, IND], batch: Batch) -> dict[str, Witness]:
    """A witness for each dependency that the last batch broke; one of several columns may have been lost with a part of
    it. Where the left side had no values until now, nothing had tested the dependency, and it did not break.
    """
    found: dict[str, Witness] = {}
    touched = {a.number: _values_moved(state, a).codes for change in batch for a in state.of_table(change.table)}
    shared = derive.missing(state.clusters.values)
    for text, ind in lost.items():
        if ind.empty:
            continue
        if ind.arity > 1 and state.allows_partial:
            broken_by = several.what_broke(state, ind, touched)
            found |= {text: broken_by} if broken_by else {}
            continue
        pairs = witness.compared(state, ind)
        part = next((pair for pair in pairs if shared[pair[0].number, pair[1].number]), None)
        if part is not None:
            found[text] = witness.orphans(state, *part, touched)
        else:
            own = {(a.number, b.number) for a, b in pairs}
            rows = [row for broken, row in state.broken.items() if own.issuperset(broken)]
            if rows:
                found[text] = nary.orphan(state, ind, rows[0])
    return found
