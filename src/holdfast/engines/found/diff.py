"""What a batch changed in rules that hold in contexts, and why.

A batch can turn over a hundred thousand rules, so what came and went are arrays of contexts, compared for all targets
at once. What is looked for afterwards, causes and witnesses, needs only the covers that came and went: a rule that was
minimal, holds still, and is no longer minimal follows from a cover that is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic

import numpy as np

from holdfast.borders.cover import Listed, Mask, Numbers, Parts
from holdfast.borders.evidence import Witnesses
from holdfast.borders.targets import Targets
from holdfast.changes.diff import Cause, CauseKind, Diff, Finding
from holdfast.engines.found.causes import Standing
from holdfast.engines.found.covers import moved, within
from holdfast.engines.found.rules import FoundRules, R
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.pairs import bitsets


@dataclass(frozen=True, eq=False)
class Moment(Generic[R]):
    """The rules at a moment: covers, the minimal rules among them, and those that are reported, as two rows at least
    are there, and their score reaches the threshold.
    """

    rows: int
    targets: Targets
    covers: Parts
    minimal: Parts
    reported: FoundRules[R]

    @property
    def has_pairs(self) -> bool:
        """Whether a pair of rows could test a rule."""
        return self.rows >= FEWEST_ROWS


@dataclass(frozen=True, eq=False)
class Step(Generic[R]):
    """The rules before a batch and after it; pairs of rows that may have broken some; and the covers that went and
    came, where the strategy knows them and all covers are reported (None: they are looked for).
    """

    before: Moment[R]
    after: Moment[R]
    pairs: Witnesses | None = None
    moved: tuple[Parts, Parts] | None = None

    def difference(self, touched: Iterable[int]) -> Diff:
        """What it changed in the rules of some targets."""
        before, after = self.before.reported, self.after.reported
        if self.moved is not None and self.before.has_pairs and self.after.has_pairs:
            return difference(before, after, *self.moved)
        lost, gained = moved(before.parts, after.parts, touched, self.after.targets.context_words)
        return difference(before, after, lost, gained)

    def of_lost(self, lost: Listed, smaller: CauseKind) -> Standing:
        """How rules that were lost stand after the batch."""
        return _standing(lost, self.after, self.before, smaller, self.moved[1] if self.moved else None)

    def of_gained(self, gained: Listed, smaller: CauseKind) -> Standing:
        """How rules that were gained stood before the batch."""
        return _standing(gained, self.before, self.after, smaller, self.moved[0] if self.moved else None)


def difference(before: FoundRules[R], after: FoundRules[R], lost: Parts, gained: Parts) -> Diff:
    """The diff of two moments, given what was lost and gained: also rules that stayed, and whose error is another, or
    that are empty now, or no longer.
    """
    return Diff(after.with_parts(gained), before.with_parts(lost), _changed(before, after))


def _changed(before: FoundRules[R], after: FoundRules[R]) -> Mapping[str, tuple[Finding, Finding]]:
    is_exact = all(part.broken is None for rules in (before, after) for part in rules.parts.values())
    if is_exact and before.filled is after.filled:
        return {}
    both = before.joined.keys, after.joined.keys
    stayed, now = before.some(bitsets.among(*both)), after.some(bitsets.among(*both[::-1]))
    if is_exact:  # nothing but that they are empty may differ
        is_other = after.with_parts(stayed.parts).empty() != stayed.empty()
        stayed = stayed.some(is_other)
        now = after.with_parts(stayed.parts)
    pairs = zip(stayed.items(), now.values(), strict=True)
    return {text: (old, new) for (text, old), new in pairs if old != new}


def _standing(some: Listed, at: Moment[R], other: Moment[R], smaller: CauseKind, new: Parts | None) -> Standing:
    """How rules that are reported at another moment, and not at this one, stand at this one; given the covers that are
    there and not at the other moment, where they are known.
    """
    if not at.has_pairs or not len(some):
        return Standing(np.ones(len(some), np.bool_), has_pairs=at.has_pairs)
    targets, wording = at.targets, at.reported.wording
    one, two = _columns(some.targets, targets)
    about = np.unique(np.concatenate([some.targets, one, two])).tolist()
    new = moved(other.covers, at.minimal, about, targets.context_words)[1] if new is None else new
    fresh = Listed.of({target: new[target] for target in about if target in new}, targets.context_words)
    by = within(np.tile(some.contexts, (3, 1)), np.concatenate([some.targets, one, two]), fresh).reshape(3, -1)
    implied = by.max(axis=0, initial=-1) >= 0

    def causes() -> Mapping[int, Cause]:
        places = np.flatnonzero(implied)
        kinds = np.argmax(by[:, places] >= 0, axis=0)  # a smaller context first, then a constant
        texts = wording.texts(fresh.some(by[kinds, places]))
        names = [smaller if kind == 0 else "constant" for kind in kinds.tolist()]
        return {place: Cause(name, text) for place, name, text in zip(places.tolist(), names, texts, strict=True)}

    return Standing(implied | _is_below(some, at), causes)


def _is_below(some: Listed, at: Moment[R]) -> Mask:
    """Which rules are minimal, and only their score keeps them from being reported; or were not looked for, as a column
    in their context keeps it too low.
    """
    outside = ~bitsets.of(at.targets.free_columns, at.targets.context_words)
    unlooked = np.asarray((some.contexts & outside).any(axis=1))
    own = {target: at.minimal[target] for target in np.unique(some.targets).tolist()}
    if all(len(at.reported.parts.get(target, ())) == len(part) for target, part in own.items()):
        return unlooked  # all minimal rules are reported
    return unlooked | bitsets.among(some.keys, Listed.joined(own, at.targets.context_words).keys)


def _columns(numbers: Numbers, targets: Targets) -> tuple[Numbers, Numbers]:
    """The two columns of each target that is a pair, -1 for others."""
    if not targets.ascending_pairs or not targets.pairs:
        return np.full(len(numbers), -1), np.full(len(numbers), -1)
    is_pair = numbers > targets.key
    one, two = (np.where(is_pair, columns, -1) for columns in targets.columns_of_pairs(np.maximum(numbers, 0)))
    return one, two
