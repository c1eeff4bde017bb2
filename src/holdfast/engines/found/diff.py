"""What a batch changed in rules that hold in contexts, because of what, and which rows broke those that were lost.

A batch can turn over a hundred thousand rules, so what came and went are arrays of contexts, compared for all targets
at once. What is looked for afterwards, causes and witnesses, needs only the covers that came and went: a rule that was
minimal, holds still, and is no longer minimal follows from a cover that is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Generic

import numpy as np

from holdfast.borders.cover import Listed, Mask, Numbers, Parts
from holdfast.borders.evidence import Witnesses
from holdfast.borders.targets import Targets
from holdfast.changes.diff import NOBODY, Cause, CauseKind, Diff, Finding
from holdfast.engines.found.causes import Standing
from holdfast.engines.found.covers import moved, within
from holdfast.engines.found.engine import Moment, Step
from holdfast.engines.found.rules import FoundRules, R
from holdfast.engines.found.witnesses import Broken, Compared, Pairs, first_pair, pairs_at
from holdfast.kernels.evidence import first_breaking
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.table.change import Change


@dataclass(frozen=True, eq=False)
class ContextMoment(Moment[FoundRules[R]]):
    """Also the covers at a moment, and the minimal rules among them, of which those are reported whose score reaches
    the threshold.
    """

    targets: Targets
    covers: Parts
    minimal: Parts


@dataclass(frozen=True, eq=False)
class ContextStep(Step[FoundRules[R]]):
    """The rules before a batch and after it; what it is called that a rule follows from one with a smaller context;
    pairs of rows that may have broken some; and the covers that went and came, where the strategy knows them and all
    covers are reported (None: they are looked for).
    """

    before: ContextMoment[R]
    after: ContextMoment[R]
    smaller: CauseKind
    pairs: Witnesses | None = None
    moved: tuple[Parts, Parts] | None = None

    def difference(self, touched: Iterable[int]) -> Diff:
        """What it changed in the rules of some targets: also rules that stayed, and whose error is another, or that are
        empty now, or no longer.
        """
        before, after = self.before.reported, self.after.reported
        if self.moved is not None and self.before.has_pairs and self.after.has_pairs:
            lost, gained = self.moved
        else:
            lost, gained = moved(before.parts, after.parts, touched, self.after.targets.context_words)
        return Diff(after.with_parts(gained), before.with_parts(lost), _changed(before, after))

    def of_lost(self, lost: FoundRules[R]) -> Standing:
        """How rules that were lost stand after the batch."""
        return _standing(lost.listed, self.after, self.before, self.smaller, self.moved[1] if self.moved else None)

    def of_gained(self, gained: FoundRules[R]) -> Standing:
        """How rules that were gained stood before the batch."""
        return _standing(gained.listed, self.before, self.after, self.smaller, self.moved[0] if self.moved else None)

    def broken(self, lost: FoundRules[R], which: Mask) -> BrokenContexts[R]:
        """Those of the lost rules that something had tested, and that rows broke."""
        tested = ~lost.filled.empty(lost.wording.needed(lost.listed))
        return BrokenContexts(lost, which & tested, self.pairs)


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


def _standing(
    some: Listed, at: ContextMoment[R], other: ContextMoment[R], smaller: CauseKind, new: Parts | None
) -> Standing:
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


def _is_below(some: Listed, at: ContextMoment[R]) -> Mask:
    """Which rules are minimal, and only their score keeps them from being reported; or were not looked for, as a column
    in their context keeps it too low.
    """
    outside = ~at.targets.free_columns
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


class BrokenContexts(Broken, Generic[R]):
    """Targets in contexts that rows broke; pairs of rows have the lower id first."""

    def __init__(self, lost: FoundRules[R], which: Mask, pairs: Witnesses | None) -> None:
        """Some of the rules that were lost, and pairs of rows that the strategy came across."""
        self._listed, self._wording, self._pairs = lost.listed.some(which), lost.wording, pairs
        super().__init__(list(compress(lost.with_texts(), which.tolist())) if which.any() else [])

    @property
    def sizes(self) -> Numbers:
        """The columns of each context."""
        return bitsets.sizes(self._listed.contexts)

    def known(self, born: range) -> Pairs:
        """The first pair with a new row."""
        if self._pairs is None:
            return np.full((len(self._listed), 2), NOBODY)
        is_new = (self._pairs.rows >= born.start) & (self._pairs.rows < born.stop)
        new = self._pairs.some(np.flatnonzero(is_new.any(axis=1)))
        return pairs_at(np.sort(new.rows, axis=1), self._first(np.arange(len(self._listed)), new.agree, new.broken))

    def hits(self, rules: Numbers, seen: Compared) -> Pairs:
        """The first pair that agrees on the context and breaks the target."""
        targets = self._wording.targets
        places, *sets = seen.by_order if targets.ascending_pairs else seen.by_equality
        return pairs_at(seen.pairs[places], self._first(rules, sets[0], targets.broken_by(*sets)))

    def _first(self, rules: Numbers, agree: Words, broken: Words) -> Numbers:
        """For each of some rules the first pair that breaks it, given what pairs agree on and break."""
        found = np.empty(len(rules), np.int64)
        first_breaking(self._listed.contexts[rules], self._listed.targets[rules], agree, broken, found)
        return found

    def first(self, number: int, change: Change) -> Pairs | None:
        """The first pair that the pair search finds."""
        target, context = int(self._listed.targets[number]), bitsets.elements(self._listed.contexts[number])
        found = first_pair(self._wording.rule(target, context, 0.0, None, False), change.after, change.come)
        return None if found is None else np.array(found)
