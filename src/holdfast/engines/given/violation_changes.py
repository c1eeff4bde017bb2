"""What an answer says to people: of each rule how many violations are new and gone, and the first rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast.changes.diff import NOBODY, ViolationChange
from holdfast.engines.given.keeper import Answer, Keeper, Pairs
from holdfast.rules.given import Named
from holdfast.search.found import paired, sides
from holdfast.table.change import Batch

MOST = 1_000  # rows or pairs of a rule that a diff holds; its keeper has all


def changes_of(keeper: Keeper[Any, Any], answer: Answer, batch: Batch) -> dict[str, ViolationChange]:
    """What a batch did to the violations of each rule that it touched."""
    moved = {}
    for named, effect in zip(keeper.rules, answer, strict=True):
        if not effect.count_added and not effect.count_resolved:
            continue
        if not effect.listed:
            moved[named.text] = ViolationChange.counted()
            continue
        added, resolved = effect.added, effect.resolved
        stayed = added[:0] if keeper.counts_restated else again(added, resolved, named, batch)
        restated = effect.restated if keeper.counts_restated else len(stayed)
        moved[named.text] = ViolationChange(
            effect.count_added - restated,
            effect.count_resolved - restated,
            _first(added),
            _first(resolved),
            restated,
            effect.example or _first_new(added, stayed),
            effect.clusters,
        )
    return moved


def _first(pairs: Pairs) -> Pairs:
    """The first of some pairs, without hold on the others."""
    return pairs if len(pairs) <= MOST else pairs[:MOST].copy()


def again(added: Pairs, resolved: Pairs, named: Named[Any], batch: Batch) -> Pairs:
    """Violations that were added and resolved only because their rows were updated, and have new ids."""
    change = batch.of(named.table)
    if change is None or not len(added) or not len(resolved) or not len(change.updated[0]):
        return added[:0]
    now = now_called(resolved, named, batch)
    together = paired(*(np.concatenate(each) for each in zip(sides(now), sides(added), strict=True)))
    return np.asarray(together[1:][(together[1:] == together[:-1]).all(axis=1)])


def now_called(violations: Pairs, named: Named[Any], batch: Batch) -> Pairs:
    """Violations with the new ids of rows that a batch updated."""
    change = batch.of(named.table)
    if change is None or not len(change.updated[0]):
        return violations
    old, new = change.updated
    at = np.minimum(np.searchsorted(old, violations), len(old) - 1)
    now = np.where(old[at] == violations, new[at], violations)
    if named.rule.is_symmetric:
        two = now[:, 1] != NOBODY
        now[two] = np.sort(now[two], axis=1)
    return now


def _first_new(added: Pairs, again: Pairs) -> tuple[int, ...] | None:
    """The rows of the first violation that was not there before the batch."""
    if len(added) <= len(again):
        return None
    if not len(again):
        return tuple(row for row in added[0].tolist() if row != NOBODY)
    both = np.concatenate([again, added])
    order = np.lexsort((both[:, 1], both[:, 0]))  # of two that are equal the first is one of the others
    equal = (both[order][1:] == both[order][:-1]).all(axis=1)
    fresh = np.ones(len(both), np.bool_)
    fresh[: len(again)] = fresh[order[1:][equal]] = False
    return tuple(row for row in both[np.argmax(fresh)].tolist() if row != NOBODY)
