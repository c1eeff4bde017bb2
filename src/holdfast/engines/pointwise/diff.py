"""What a batch changed in pointwise rules, because of what, and which rows broke those that were lost.

A rule goes because two rows break it now, and they are its witness; or it still holds, and is no longer reported: a
rule that says more holds, or no pair of rows meets its left side any more, or too few do. The same reasons, seen from
before the batch, say why a rule comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast.borders.cover import Listed, Numbers
from holdfast.borders.rows import RankedColumns
from holdfast.changes.diff import Cause, Diff, Finding, Witness
from holdfast.engines.found.causes import Standing
from holdfast.engines.found.covers import among_new, within
from holdfast.engines.found.engine import Moment, Step
from holdfast.engines.found.witnesses import Broken, Compared, Pairs, pairs_at
from holdfast.engines.pointwise.boxes import EQUAL, Boxes, Mask, Values, excluded, marks_of, mirrored, places_met
from holdfast.engines.pointwise.marginals import values_within
from holdfast.engines.pointwise.rules import PointwiseRules
from holdfast.engines.pointwise.strategies import PointwiseStrategy
from holdfast.engines.pointwise.sweeps import first_pairs
from holdfast.rules.sentences import explained
from holdfast.table.change import Change


@dataclass(frozen=True, eq=False)
class PointwiseStep(Step[PointwiseRules]):
    """The rules before a batch and after it, the evidence before it, and the strategy that has taken it in."""

    before: Moment[PointwiseRules]
    after: Moment[PointwiseRules]
    seen: Values
    strategy: PointwiseStrategy

    def difference(self) -> Diff:
        """What it changed."""
        before, after = self.before.reported, self.after.reported
        places, came = among_new(before.listed.keys, after.listed.keys)
        changed = _changed(before.some(places >= 0), after.some(places[places >= 0]))
        return Diff(after.some(came), before.some(places < 0), changed)

    def of_lost(self, lost: PointwiseRules) -> Standing:
        """How rules that were lost stand after the batch."""
        return _standing(lost, self.after, self.strategy.seen)

    def of_gained(self, gained: PointwiseRules) -> Standing:
        """How rules that were gained stood before the batch."""
        return _standing(gained, self.before, self.seen)

    def broken(self, lost: PointwiseRules, which: Mask) -> BrokenBoxes:
        """Those of the lost rules that rows broke."""
        return BrokenBoxes(lost.some(which), self.strategy)


def _changed(before: PointwiseRules, after: PointwiseRules) -> dict[str, tuple[Finding, Finding]]:
    """The rules that stayed, and are vacuous now, or no longer."""
    turned = before.listed.vacuous != after.listed.vacuous
    both = zip(before.some(turned).items(), after.some(turned).values(), strict=True)
    return {text: (was, now) for (text, was), now in both}


def _standing(some: PointwiseRules, at: Moment[PointwiseRules], seen: Values) -> Standing:
    """How some rules, which are not reported at a moment, stand at it, given the evidence."""
    space = some.wording.space
    met, tested = (
        np.asarray(values_within(seen, space, boxes).any(axis=1)) for boxes in (some.boxes, some.listed.left)
    )

    def implied() -> dict[int, Cause]:
        by = np.where(tested, _implied(some, at.reported), -1)
        places = np.flatnonzero(by >= 0)
        texts = at.reported.wording.texts(at.reported.listed.some(by[places]))
        return {place: Cause("stronger", text) for place, text in zip(places.tolist(), texts, strict=True)}

    return Standing(~met, implied, tested, at.has_pairs)


def _implied(some: PointwiseRules, others: PointwiseRules) -> Numbers:
    """For each of some rules the place of one of others that says as much or more, -1 where none does. One with `=` on
    the right also says what its mirror image says.
    """
    equal = np.flatnonzero(others.listed.mark == EQUAL)
    places = np.concatenate([np.arange(len(others)), equal])
    boxes = np.concatenate([others.boxes, mirrored(others.boxes[equal])])
    order = np.argsort(others.listed.column[places], kind="stable")
    by = Listed(others.listed.column[places[order]], excluded(boxes[order]))
    found = within(excluded(some.boxes), some.listed.column, by)
    return np.append(places[order], -1)[found]


class BrokenBoxes(Broken):
    """The boxes of rules that rows broke."""

    def __init__(self, rules: PointwiseRules, strategy: PointwiseStrategy) -> None:
        super().__init__(list(rules))
        self._rules, self._boxes, self._strategy = rules, rules.boxes, strategy

    @property
    def sizes(self) -> Numbers:
        """The columns of each left side."""
        return marks_of(self._rules.listed.left)

    def known(self, born: range) -> Pairs:  # noqa: ARG002  # all were broken by new rows
        """A witness of the strategy. Where it has some, one lies in each box."""
        return _one_in_each(self._boxes, *self._strategy.witnesses())

    def hits(self, rules: Numbers, seen: Compared) -> Pairs:
        """A pair that lies in the box."""
        places, *signatures = seen.by_order
        return _one_in_each(self._boxes[rules], seen.pairs[places], self._rules.wording.space.values_of(*signatures))

    def first(self, number: int, change: Change) -> Pairs | None:
        """A pair with a new row, by a sweep."""
        rows = RankedColumns(change.after)
        fresh = int(rows.places(np.array(change.born.start)))
        (found,) = first_pairs(rows, self._rules.wording.space, self._boxes[[number]], fresh)
        return None if found[0] < 0 else rows.ids(found)

    def witnesses(self, change: Change) -> dict[str, Witness]:
        """Also with sentences: which row is which matters."""
        found, schema = super().witnesses(change), change.after.schema
        return {text: explained(rule, found[text], schema, directed=True) for text, rule in self._rules.items()}


def _one_in_each(boxes: Boxes, pairs: Pairs, values: Values) -> Pairs:
    """For each box a pair with values that lies in it, turned round where its mirror image does."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return pairs_at(both, places_met(boxes, np.concatenate([values, mirrored(values)])))
