"""Set operations on arrays of rules: membership and implication. A rule is a target that holds in a context.

A strategy gives **covers**: of each target the minimal contexts in which it holds. Of these some are **minimal** rules:
for a pair, contexts in which one of its columns is constant are dropped. A batch changes few of a million rules,
so all of this is done for many targets at once, and never rule by rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.cover import Cover, Numbers
from holdfast.borders.targets import Targets
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words

Mask = NDArray[np.bool_]
Parts = Mapping[int, Cover]  # rules by target


@dataclass(frozen=True, eq=False)
class Listed:
    """Rules in the order in which they are listed: target, context, what breaks them (None: nothing does), and figures
    of theirs by which they are ranked (None: not needed).
    """

    targets: Numbers
    contexts: Words
    broken: Numbers | None = None
    figures: Numbers | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def some(self, chosen: Mask | Numbers) -> Listed:
        """Some of them, or all in another order."""
        more = (None if each is None else each[chosen] for each in (self.broken, self.figures))
        return Listed(self.targets[chosen], self.contexts[chosen], *more)

    @staticmethod
    def joined(parts: Parts, words: int) -> Listed:
        """The rules of some parts, one part after the other; each context has `words` words."""
        targets = np.repeat(np.fromiter(parts, np.int64), [len(part) for part in parts.values()])
        contexts = np.concatenate([np.empty((0, words), np.uint64), *(part.sets for part in parts.values())])
        broken = [part.broken for part in parts.values() if part.broken is not None]
        return Listed(targets, contexts, np.concatenate(broken) if broken else None)

    @staticmethod
    def of(parts: Parts, words: int) -> Listed:
        """The same target by target, short contexts first."""
        listed = Listed.joined(parts, words)
        return listed.some(np.lexsort((*listed.contexts.T, bitsets.sizes(listed.contexts), listed.targets)))

    def shortest_first(self) -> Listed:
        """The same, the shortest of all first; those with equal contexts follow one another."""
        return self.some(np.lexsort((self.targets, *self.contexts.T, bitsets.sizes(self.contexts))))

    def best_first(self, figures: Numbers) -> Listed:
        """The same by a figure, the highest first; those of equal figures stay in their order."""
        return replace(self, figures=figures).some(np.argsort(-figures, kind="stable"))

    @property
    def keys(self) -> Words:
        """Rules as rows of words: two are equal iff the rules are."""
        return with_number(self.contexts, self.targets)


def with_number(contexts: Words, numbers: Numbers) -> Words:
    """Contexts, each with a number, as keys."""
    return np.concatenate([contexts, numbers.astype(np.uint64)[:, None]], axis=1)


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
    rules, others = Listed.joined(old, words), Listed.joined(new, words)
    places = bitsets.places_among(rules.keys, others.keys)
    came = np.ones(len(others), np.bool_)
    came[places[places >= 0]] = False
    went = chosen(old, places < 0), chosen(new, came)
    lost, gained = ({target: part for target, part in parts.items() if len(part)} for parts in went)
    return lost, gained


def minimal(covers: Parts, targets: Targets, chosen_ones: Iterable[int]) -> dict[int, Cover]:
    """The minimal rules of some targets. Those of a pair leave out the contexts in which one of the two is constant
    (papers: fastod, section 4.1). Such a context is minimal for the constant, too: with fewer columns the pair would
    hold, too.
    """
    rules = {target: covers[target] for target in chosen_ones}
    pairs = {target: part for target, part in rules.items() if target > targets.key and len(part)}
    constants = Listed.joined({c: covers[c] for c in range(targets.columns if pairs else 0)}, targets.context_words)
    if not len(constants):
        return rules
    listed = Listed.joined(pairs, targets.context_words)
    columns = np.concatenate(targets.columns_of_pairs(listed.targets))
    found = bitsets.among(with_number(np.tile(listed.contexts, (2, 1)), columns), constants.keys)
    implied: Mask = np.logical_or(*found.reshape(2, -1))
    return {**rules, **chosen(pairs, ~implied)} if implied.any() else rules


def within(contexts: Words, targets: Numbers, others: Listed) -> Numbers:
    """For each context the place of the first of other rules, which come target by target, that is about the target
    given for it and holds in a part of it; -1 where none does.
    """
    begins, ends = (np.searchsorted(others.targets, targets, side) for side in ("left", "right"))
    return bitsets.containers(~contexts, ~others.contexts, begins, ends)  # complements turn the question round
