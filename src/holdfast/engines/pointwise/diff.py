"""What a batch changed in pointwise rules, because of what, and which rows broke those that were lost.

A rule goes because two rows break it now, and they are its witness; or it still holds, and is no longer reported: a
rule that says more holds, or no pair of rows meets its left side any more, or too few do. The same reasons, seen from
before the batch, say why a rule comes. A batch can turn over ten thousand rules, so causes and witnesses are looked for
afterwards, and not at all where batches are replayed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import Cause, Diff, Finding, Witness
from holdfast.engines.pointwise.boxes import EQUAL, LESS, excluded, mirrored
from holdfast.engines.pointwise.coverage import best_first
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.engines.pointwise.rules import PointwiseRules, PointwiseWording
from holdfast.engines.pointwise.state import PointwiseMoment, PointwiseState
from holdfast.pairs import bitsets
from holdfast.rules.sentences import explained
from holdfast.table.change import Change
from holdfast.table.naming import witnesses_of
from holdfast.table.table import Table


def difference(before: PointwiseMoment, after: PointwiseMoment, wording: PointwiseWording) -> Diff:
    """What a batch changed."""
    old, new = before.rules, after.rules
    places = bitsets.places_among(old.keys, new.keys)
    came = np.ones(len(new), np.bool_)
    came[places[places >= 0]] = False
    return Diff(
        PointwiseRules(wording, new.some(came), never=after.never),
        PointwiseRules(wording, old.some(places < 0), never=before.never),
        _changed(old.some(places >= 0), new.some(places[places >= 0]), wording),
    )


def with_causes(diff: Diff, before: PointwiseMoment, state: PointwiseState, change: Change) -> Diff:
    """With causes of all that came and went, witnesses of what rows broke, and the order in which people see rules."""
    went, came = cast(PointwiseRules, diff.lost), cast(PointwiseRules, diff.gained)
    lost, gained, strategy, wording = went.arrays, came.arrays, state.strategy, state.wording
    space, counts, after = wording.space, strategy.pair_counts(), replace(state.now, seen=strategy.seen)
    boxes = lost.boxes(space)
    broken = after.meets(boxes, space)
    witnesses = {}
    if broken.any():
        pairs = strategy.breaking(boxes[broken], space, change)
        witnesses = _witnesses(lost.some(broken), pairs, wording, change.after)
    return replace(
        diff,
        gained=came.with_order(best_first(gained, counts, space)),
        lost=went.with_order(best_first(lost, counts, space)),
        witnesses=witnesses,
        causes={**_causes(lost.some(~broken), after, wording), **_causes(gained, before, wording)},
    )


def _changed(before: RuleArrays, after: RuleArrays, wording: PointwiseWording) -> dict[str, tuple[Finding, Finding]]:
    """The rules that stayed, and are vacuous now, or no longer."""
    turned = before.vacuous != after.vacuous
    both = (PointwiseRules(wording, each.some(turned)).items() for each in (before, after))
    return {text: (was, now) for (text, was), (_, now) in zip(*both, strict=True)}


def _causes(some: RuleArrays, other: PointwiseMoment, wording: PointwiseWording) -> dict[str, Cause]:
    """Why some rules are not reported at another moment: those that went after the batch, those that came before it."""
    broken, tested = (other.meets(boxes, wording.space) for boxes in (some.boxes(wording.space), some.left))
    implied = _implied(some, other.rules)
    places = np.unique(implied[implied >= 0])
    named = dict(zip(places.tolist(), PointwiseRules(wording, other.rules.some(places)), strict=True))
    found = {}
    for text, breaks, tests, by in zip(PointwiseRules(wording, some), broken, tested, implied.tolist(), strict=True):
        if breaks:
            found[text] = Cause("mended")
        elif not tests:
            found[text] = Cause("untested")
        else:
            found[text] = Cause("stronger", named[by]) if by >= 0 else Cause("below --min-coverage")
    return found


def _implied(some: RuleArrays, others: RuleArrays) -> NDArray[np.int64]:
    """For each of some rules the place of one of others that says as much or more, -1 where none does. One with `=` on
    the right also says what its mirror image says.
    """
    found = np.full(len(some), -1, np.int64)
    equal = np.flatnonzero(others.mark == EQUAL)
    places = np.concatenate([np.arange(len(others)), equal])
    own, other = excluded(some.left), excluded(np.concatenate([others.left, mirrored(others.left[equal])]))
    column_of, mark_of = others.column[places], others.mark[places]
    for column in np.unique(some.column).tolist():
        for mark in (LESS, EQUAL, LESS | EQUAL):
            mine = np.flatnonzero((some.column == column) & (some.mark == mark))
            theirs = np.flatnonzero((column_of == column) & (mark_of & ~np.uint8(mark) == 0))
            if len(mine) and len(theirs):
                at = bitsets.containers(~own[mine], ~other[theirs])  # complements turn the question round
                found[mine[at >= 0]] = places[theirs[at[at >= 0]]]
    return found


def _witnesses(
    broken: RuleArrays, pairs: NDArray[np.int64], wording: PointwiseWording, table: Table
) -> dict[str, Witness]:
    rules = PointwiseRules(wording, broken)
    found = {text: (one, other) for text, (one, other) in zip(rules, pairs.tolist(), strict=True)}
    made = witnesses_of(table, found)
    return {text: explained(rule, made[text], table.schema, directed=True) for text, rule in rules.items()}
