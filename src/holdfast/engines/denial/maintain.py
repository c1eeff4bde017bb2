"""Keep the violations true under a batch (papers: weever, sections 5.4 to 5.6), for all constraints at once.

Pairs of rows that died are dropped, pairs of rows born are found by the pair search. An update is a death and a birth
in one batch. Where only a count is kept, the pairs of rows that die are counted before they leave.
"""

from __future__ import annotations

from holdfast.engines.denial.state import State
from holdfast.engines.denial.violations import Delta
from holdfast.search.found import Pairs, paired, sides
from holdfast.search.search import BatchPairs
from holdfast.table.change import Change
from holdfast.table.runner import Threads


def maintain(state: State, change: Change) -> list[Delta]:
    """Bring the violations up to date with a batch, and tell what it did to those of each constraint."""
    before = [violations.count for violations in state.violations]
    batch = state.search.follow(change)
    deltas = [_take_in(state, place, change, batch, before[place]) for place in range(len(before))]
    state.count_what_is_not_listed()
    return deltas


def _take_in(state: State, place: int, change: Change, batch: BatchPairs, before: int) -> Delta:
    """One constraint: what the batch added and resolved."""
    kept, number = state.violations[place], state.numbers[place]
    if not kept.listed:
        return _recount(state, place, before, before - batch.lost[number] + batch.count(number))
    resolved = kept.remove_rows(change.dead)
    added = batch.added(number, state.limit - kept.count)
    if added is None:
        kept.count_only(kept.count + batch.count(number))
        return Delta(kept.constraint, before, kept.count, None, None)
    kept.add(added)
    return Delta(kept.constraint, before, kept.count, added, _in_order(resolved))


def _in_order(pairs: Pairs) -> Pairs:
    return paired(*sides(pairs)) if len(pairs) > 1 else pairs


def _recount(state: State, place: int, before: int, now: int) -> Delta:
    """A constraint of which only the count is kept; its pairs are listed again once they are few enough."""
    kept = state.violations[place]
    kept.count_only(now)
    delta = Delta(kept.constraint, before, now, None, None)
    if now <= state.limit:
        found = state.search.pairs.pairs(state.numbers[place], state.limit, Threads())
        if found.pairs is None or found.count != now:
            raise AssertionError(f"{kept.constraint.text}: {found.count} violations were found, but {now} counted")
        kept.list_again(found.pairs)
    return delta
