"""What a batch changed in the rules, because of what, and which rows broke those that were lost.

A rule goes because two rows break it now, and they are its witness; or it still holds, and is told no longer: a rule
that says more holds, or no pair of rows meets its left side any more, or too few do. The same reasons, seen from before
the batch, tell why a rule comes. A batch can turn over ten thousand rules, so causes and witnesses are looked for
afterwards, and only if someone wants to know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import Cause, Diff, Finding, Witness
from holdfast.engines.pointwise.boxes import excluded
from holdfast.engines.pointwise.covered import best_first
from holdfast.engines.pointwise.marginals import values_within
from holdfast.engines.pointwise.marks import EQUAL, LESS, Boxes, Space, Values, mirrored
from holdfast.engines.pointwise.result import Listed, Rules, Wording
from holdfast.engines.pointwise.ways import Way
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.pairs import bitsets
from holdfast.rules.sentences import explained
from holdfast.table.change import Change
from holdfast.table.naming import witnesses_of
from holdfast.table.table import Table

Marks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Moment:
    """How rules stood at a moment: how many rows there were, the evidence, the rules that were told, and the minimal
    boxes that no pair of rows met.
    """

    rows: int
    seen: Values
    told: Listed
    never: Boxes

    @property
    def is_tested(self) -> bool:
        """Whether a pair of rows could test a rule."""
        return self.rows >= FEWEST_ROWS

    def meets(self, boxes: Boxes, space: Space) -> Marks:
        """Which boxes some pair of rows lies in."""
        if not self.is_tested or not len(boxes):
            return np.zeros(len(boxes), np.bool_)
        return np.asarray(values_within(self.seen, space, boxes).any(axis=1))


def difference(before: Moment, after: Moment, wording: Wording) -> Diff:
    """What a batch changed."""
    places = bitsets.places_among(before.told.keys, after.told.keys)
    came = np.ones(len(after.told), np.bool_)
    came[places[places >= 0]] = False
    return Diff(
        Rules(wording, after.told.some(came), never=after.never),
        Rules(wording, before.told.some(places < 0), never=before.never),
        _changed(before.told.some(places >= 0), after.told.some(places[places >= 0]), wording),
    )


def with_causes(diff: Diff, before: Moment, after: Moment, wording: Wording, change: Change, way: Way) -> Diff:
    """With causes of all that came and went, witnesses of what rows broke, and the order in which people see rules."""
    went, came = cast(Rules, diff.lost), cast(Rules, diff.gained)
    lost, gained, tally = went.listed, came.listed, way.tallied()
    boxes = lost.boxes(wording.space)
    broken = after.meets(boxes, wording.space)
    pairs = way.breaking(boxes[broken], wording.space, change) if broken.any() else np.empty((0, 2), np.int64)
    return replace(
        diff,
        gained=came.with_order(best_first(gained, tally, wording.space)),
        lost=went.with_order(best_first(lost, tally, wording.space)),
        witnesses=_witnesses(lost.some(broken), pairs, wording, change.after) if broken.any() else {},
        causes={**_causes(lost.some(~broken), after, wording), **_causes(gained, before, wording)},
    )


def _changed(before: Listed, after: Listed, wording: Wording) -> dict[str, tuple[Finding, Finding]]:
    """The rules that stayed, and are vacuous now, or no longer."""
    turned = before.vacuous != after.vacuous
    both = (Rules(wording, some.some(turned)).items() for some in (before, after))
    return {text: (was, now) for (text, was), (_, now) in zip(*both, strict=True)}


def _causes(some: Listed, other: Moment, wording: Wording) -> dict[str, Cause]:
    """Why rules are not told at another moment: after the batch, of those that went; before it, of those that came."""
    broken, tested = (other.meets(boxes, wording.space) for boxes in (some.boxes(wording.space), some.left))
    implied = _implied(some, other.told)
    places = np.unique(implied[implied >= 0])
    named = dict(zip(places.tolist(), Rules(wording, other.told.some(places)), strict=True))
    found = {}
    for text, breaks, tests, by in zip(Rules(wording, some), broken, tested, implied.tolist(), strict=True):
        if breaks:
            found[text] = Cause("mended")
        elif not tests:
            found[text] = Cause("untested")
        else:
            found[text] = Cause("stronger", named[by]) if by >= 0 else Cause("below --min-coverage")
    return found


def _implied(some: Listed, others: Listed) -> NDArray[np.int64]:
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


def _witnesses(broken: Listed, pairs: NDArray[np.int64], wording: Wording, table: Table) -> dict[str, Witness]:
    rules = Rules(wording, broken)
    found = {text: (one, other) for text, (one, other) in zip(rules, pairs.tolist(), strict=True)}
    made = witnesses_of(table, found)
    return {text: explained(rule, made[text], table.schema, directed=True) for text, rule in rules.items()}
