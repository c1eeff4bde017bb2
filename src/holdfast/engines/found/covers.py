"""Set operations on arrays of rules: membership and implication. A rule is a target that holds in a context.

A strategy gives **covers**: of each target the minimal contexts in which it holds. Of these some are **minimal** rules:
for a pair, contexts in which one of its columns is constant are dropped. A batch changes few of a million rules,
so all of this is done for many targets at once, and never rule by rule.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from holdfast.borders.cover import Cover, Listed, Mask, Numbers, Parts, implied_by_constants
from holdfast.borders.targets import Targets
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words


def chosen(parts: Parts, mask: Mask) -> dict[int, Cover]:
    """Of the rules of some parts, one part after the other, those of a mask."""
    found, end = {}, 0
    for target, part in parts.items():
        begin, end = end, end + len(part)
        found[target] = part.some(mask[begin:end])
    return found


def moved(before: Parts, after: Parts, targets: Iterable[int], words: int) -> tuple[dict[int, Cover], dict[int, Cover]]:
    """Of some targets the rules that are there no longer, and those that are new."""
    about = list(targets)
    old, new = ({t: parts[t] for t in about if t in parts and len(parts[t])} for parts in (before, after))
    places, came = among_new(Listed.joined(old, words).keys, Listed.joined(new, words).keys)
    went = chosen(old, places < 0), chosen(new, came)
    lost, gained = ({target: part for target, part in parts.items() if len(part)} for parts in went)
    return lost, gained


def among_new(before: Words, after: Words) -> tuple[Numbers, Mask]:
    """The place of each rule after a batch, given by keys, -1 where it went; and which of those after it came."""
    places = bitsets.places_among(before, after)
    came = np.ones(len(after), np.bool_)
    came[places[places >= 0]] = False
    return places, came


def minimal(covers: Parts, targets: Targets, chosen_ones: Iterable[int]) -> dict[int, Cover]:
    """The minimal rules of some targets. Those of a pair leave out the contexts in which one of the two is constant
    (papers: fastod, section 4.1). Such a context is minimal for the constant, too: with fewer columns the pair would
    hold, too.
    """
    rules = {target: covers[target] for target in chosen_ones}
    pairs = {target: part for target, part in rules.items() if target > targets.key and len(part)}
    implied = implied_by_constants(Listed.joined(pairs, targets.context_words), covers, targets)
    return {**rules, **chosen(pairs, ~implied)} if implied.any() else rules


def within(contexts: Words, targets: Numbers, others: Listed) -> Numbers:
    """For each context the place of the first of other rules, which come target by target, that is about the target
    given for it and holds in a part of it; -1 where none does.
    """
    begins, ends = (np.searchsorted(others.targets, targets, side) for side in ("left", "right"))
    return bitsets.containers(~contexts, ~others.contexts, begins, ends)  # complements turn the question round
