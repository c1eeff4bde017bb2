"""Keep the violations true under a batch (papers: weever, sections 5.4 to 5.6), for all rules at once.

Pairs of rows that died are dropped, pairs of rows born are found by the pair search. An update is a death and a birth
in one batch. Where only a count is kept, the pairs of rows that die are counted before they leave.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from holdfast.engines.violations.kept import Delta
from holdfast.engines.violations.state import State
from holdfast.search.found import Pairs, joined, paired, sides
from holdfast.search.search import BatchPairs
from holdfast.table.change import Change
from holdfast.table.runner import Threads


def maintain(state: State, change: Change) -> list[Delta]:
    """Bring the violations up to date with a batch, and tell what it did to those of each rule."""
    before = [violations.count for violations in state.violations]
    batch = state.search.follow(change)
    deltas = [_take_in(state, place, change, batch, before[place]) for place in range(len(before))]
    state.count_what_is_not_listed()
    return deltas


def _take_in(state: State, place: int, change: Change, batch: BatchPairs, before: int) -> Delta:
    """One rule: what the batch added and resolved."""
    kept, numbers = state.violations[place], state.numbers[place]
    if not kept.listed:
        lost, come = sum(batch.lost[number] for number in numbers), _count(batch, numbers)
        return _recount(state, place, Delta(kept.rule, before, before - lost + come, None, None, bool(lost or come)))
    resolved = kept.remove_rows(change.dead)
    added = _added(batch, numbers, state.limit - kept.count)
    if added is None:
        kept.count_only(kept.count + _count(batch, numbers))
        return Delta(kept.rule, before, kept.count, None, None, moved=True)
    kept.add(added)
    return Delta(kept.rule, before, kept.count, added, _in_order(resolved))


def _count(batch: BatchPairs, numbers: Iterable[int]) -> int:
    """How many violations the rows born are in."""
    return sum(batch.count(number) for number in numbers)


def _added(batch: BatchPairs, numbers: Iterable[int], room: int) -> Pairs | None:
    """The violations that rows born are in; None where they are more than there is room for."""
    parts: list[Pairs] = []
    for number in numbers:
        found = batch.added(number, room - sum(map(len, parts)))
        if found is None:
            return None
        parts.append(found)
    return parts[0] if len(parts) == 1 else _in_order(np.concatenate([np.empty((0, 2), np.int64), *parts]))


def _in_order(pairs: Pairs) -> Pairs:
    return paired(*sides(pairs)) if len(pairs) > 1 else pairs


def _recount(state: State, place: int, delta: Delta) -> Delta:
    """A rule of which only the count is kept; its pairs are listed again once they are few enough."""
    kept, now = state.violations[place], delta.after
    kept.count_only(now)
    if now <= state.limit:
        parts = [state.search.pairs.pairs(number, state.limit, Threads()) for number in state.numbers[place]]
        found = joined(parts, state.limit)
        if found.pairs is None or found.count != now:
            raise AssertionError(f"{kept.rule.text}: {found.count} violations were found, but {now} counted")
        kept.list_again(found.pairs)
    return delta
