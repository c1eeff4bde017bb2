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

from holdfast.changes.diff import Cause, CauseKind, Diff, Finding, Witness
from holdfast.engines.found.causes import Standing
from holdfast.engines.pointwise.boxes import EQUAL, LESS, excluded, mirrored
from holdfast.engines.pointwise.coverage import best_first
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.engines.pointwise.rules import PointwiseRules, PointwiseWording
from holdfast.engines.pointwise.state import PointwiseMoment, PointwiseState
from holdfast.pairs import bitsets
from holdfast.rules.sentences import explained
from holdfast.table.change import Change
from holdfast.table.row_names import witnesses_of

BELOW: CauseKind = "below --min-coverage"


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
    lost, gained = cast(PointwiseRules, diff.lost), cast(PointwiseRules, diff.gained)
    wording, counts = state.wording, state.strategy.pair_counts()
    went = _standing(lost.arrays, replace(state.now, seen=state.strategy.seen), wording)
    came = _standing(gained.arrays, before, wording)
    return replace(
        diff,
        gained=gained.with_order(best_first(gained.arrays, counts, wording.space)),
        lost=lost.with_order(best_first(lost.arrays, counts, wording.space)),
        witnesses=_witnesses(lost.arrays.some(went.broken), state, change),
        causes={**went.causes(lost, lambda _: None, BELOW), **came.causes(gained, lambda _: Cause("mended"), BELOW)},
    )


def _changed(before: RuleArrays, after: RuleArrays, wording: PointwiseWording) -> dict[str, tuple[Finding, Finding]]:
    """The rules that stayed, and are vacuous now, or no longer."""
    turned = before.vacuous != after.vacuous
    both = (PointwiseRules(wording, each.some(turned)).items() for each in (before, after))
    return {text: (was, now) for (text, was), (_, now) in zip(*both, strict=True)}


def _standing(some: RuleArrays, at: PointwiseMoment, wording: PointwiseWording) -> Standing:
    """How some rules, which are not reported at a moment, stand at it."""
    met, tested = (at.meets(boxes, wording.space) for boxes in (some.boxes(wording.space), some.left))

    def implied() -> dict[int, Cause]:
        by = np.where(tested, _implied(some, at.rules), -1)
        places = np.flatnonzero(by >= 0)
        texts = PointwiseRules(wording, at.rules.some(by[places]))
        return {place: Cause("stronger", text) for place, text in zip(places.tolist(), texts, strict=True)}

    return Standing(~met, implied, tested, at.has_pairs)


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


def _witnesses(broken: RuleArrays, state: PointwiseState, change: Change) -> dict[str, Witness]:
    """Two rows for each rule that rows broke."""
    if not len(broken):
        return {}
    rules, space, table = PointwiseRules(state.wording, broken), state.spec.space, change.after
    pairs = state.strategy.breaking(broken.boxes(space), space, change).tolist()
    made = witnesses_of(table, {text: (one, other) for text, (one, other) in zip(rules, pairs, strict=True)})
    return {text: explained(rule, made[text], table.schema, directed=True) for text, rule in rules.items()}
