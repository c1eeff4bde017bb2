"""What a batch changed in the rules, because of what, and which rows broke those that were lost.

A rule goes because rows break it now, and two of them are its witness; or it still holds, and is told no longer: it
holds in a smaller context, or one of its columns is constant in its context now. The same reasons, seen from before the
batch, tell why a rule comes. A batch can turn over ten thousand rules, so causes and witnesses are looked for
afterwards, and only if someone wants to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.parts import Numbers, Part
from holdfast.changes.diff import NOBODY, Cause, Diff, Witness
from holdfast.engines import contexts
from holdfast.engines.contexts import Listed, minus
from holdfast.engines.order.breaks import breaking_pairs
from holdfast.engines.order.result import Rules, Wording, columns_by_target
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.pairs import bitsets
from holdfast.pairs.filled import Filled
from holdfast.table.change import Change
from holdfast.table.naming import witnesses_of


@dataclass(frozen=True, eq=False)
class Moment:
    """How rules stood at a moment: the columns of which contexts were made, the covers of each target, the rules that
    could be told, and those that were, as their score was as high as is asked for.
    """

    rows: int
    within: Sequence[int]
    covers: Mapping[int, Part]
    able: Mapping[int, Part]
    told: Mapping[int, Part]
    filled: Filled

    @property
    def is_tested(self) -> bool:
        """Whether a pair of rows could test a rule."""
        return self.rows >= FEWEST_ROWS

    def rules(self, wording: Wording) -> Rules:
        """The rules that were listed."""
        return Rules(wording, self.told, self.rows, self.filled)


@dataclass(frozen=True, eq=False)
class Step:
    """How rules stood before a batch and after it; `known` are pairs that may have broken some."""

    before: Moment
    after: Moment
    known: Numbers


def difference(step: Step, touched: Iterable[int], wording: Wording) -> Diff:
    """What a batch changed in the rules of the targets that it touched."""
    touched, before, after = list(touched), step.before, step.after
    lost, gained = minus(before.told, after.told, touched), minus(after.told, before.told, touched)
    return contexts.difference(before.rules(wording), after.rules(wording), lost, gained)


def with_causes(diff: Diff, step: Step, wording: Wording, change: Change) -> Diff:
    """With causes of all that came and went, and witnesses of what rows broke."""
    lost, gained = (cast(Rules, rules).listed for rules in (diff.lost, diff.gained))
    went, came = _causes(lost, step.after, wording, broken=True), _causes(gained, step.before, wording, broken=False)
    tested = cast(Rules, diff.lost).tested().listed  # what nothing tested did not break
    broken = tested.some(~_held(tested, step.after))
    return replace(diff, witnesses=_witnesses(broken, wording, change, step.known), causes={**went, **came})


def _held(some: Listed, other: Moment) -> NDArray[np.bool_]:
    """Which rules hold at a moment, or are tested by nothing then."""
    held = np.ones(len(some), np.bool_)
    for target, places in _by_target(some) if other.is_tested else ():
        held[places] = bitsets.containers(~some.contexts[places], ~other.covers[target].sets) >= 0
    return held


def _by_target(some: Listed) -> list[tuple[int, Numbers]]:
    """The places of the rules of each target."""
    targets, starts = np.unique(some.targets, return_index=True)
    ends = np.r_[starts[1:], len(some)]
    return [(t, np.arange(*stretch)) for t, *stretch in zip(targets.tolist(), starts, ends, strict=False)]


# ---- causes ---------------------------------------------------------------------------------------------------------


def _causes(some: Listed, other: Moment, wording: Wording, broken: bool) -> dict[str, Cause]:
    """Why rules are not told at another moment: after the batch, of those that went; before it, of those that came."""
    texts = wording.texts(some)
    found = {}
    for text, target, why in zip(texts, some.targets.tolist(), _implied(some, other, wording), strict=True):
        breaking = Cause("split" if target < wording.targets.columns else "swap") if broken else Cause("mended")
        found[text] = why or breaking
    return found


def _implied(some: Listed, other: Moment, wording: Wording) -> list[Cause | None]:
    """Why rules are not told at a moment at which they hold, or have too low a score; None of the others."""
    if not other.is_tested:
        return [Cause("untested")] * len(some)
    found: list[Cause | None] = [None] * len(some)
    sizes: list[int] = bitsets.sizes(some.contexts).tolist()
    unlooked = np.any(some.contexts & ~bitsets.of(other.within, some.contexts.shape[1]), axis=1)
    for target, places in _by_target(some):
        smaller = _within(some, places, other.able[target])
        constant = [(c, _within(some, places, other.covers[c])) for c in _pair(wording, target)]
        for number, place in enumerate(places.tolist()):
            below = smaller[number]
            known = [
                wording.text(c, own[number] or (), wording.written) for c, own in constant if own[number] is not None
            ]
            if below is not None and len(below) < sizes[place]:
                found[place] = Cause("smaller context", wording.text(target, below, wording.written))
            elif known and below is None:
                found[place] = Cause("constant", known[0])
            elif below is not None or unlooked[place]:
                found[place] = Cause("score")
    return found


def _pair(wording: Wording, target: int) -> tuple[int, ...]:
    """The columns of a pair; none of a constant."""
    columns = columns_by_target(wording.targets)[target]
    return columns if len(columns) > 1 else ()


def _within(some: Listed, places: Numbers, part: Part) -> list[list[int] | None]:
    """For each of some rules a context of a part, one of the smallest, that is within its own, where there is one."""
    contexts = part.sets[np.lexsort((*part.sets.T, bitsets.sizes(part.sets)))]
    found = bitsets.containers(~some.contexts[places], ~contexts)  # complements turn the question round
    columns = iter(bitsets.elements_of_each(contexts[found[found >= 0]]))
    return [next(columns) if at >= 0 else None for at in found.tolist()]


def _witnesses(broken: Listed, wording: Wording, change: Change, known: Numbers) -> dict[str, Witness]:
    pairs = breaking_pairs(broken, wording.targets, change, known).tolist() if len(broken) else []
    texts = wording.texts(broken)
    found = {text: (one, other) for text, (one, other) in zip(texts, pairs, strict=True) if one != NOBODY}
    return witnesses_of(change.after, found) if found else {}
