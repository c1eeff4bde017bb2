"""What is found of targets: the sets of columns that make rules, and how much breaks each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.targets import Targets
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.keys import KeyTable

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cover:
    """The rules of one target: their left sides or contexts; and how many pairs break each, or how many rows must go so
    that it holds (None: all are exact).
    """

    sets: Words
    broken: Numbers | None = None

    def __len__(self) -> int:
        return len(self.sets)

    def some(self, chosen: NDArray[np.bool_] | slice) -> Cover:
        """Those rules of the part."""
        return Cover(self.sets[chosen], None if self.broken is None else self.broken[chosen])


Parts = Mapping[int, Cover]  # rules by target


def exact(covers: Mapping[int, Words]) -> dict[int, Cover]:
    """Covers of rules that hold without an error."""
    return {target: Cover(contexts) for target, contexts in covers.items()}


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


def implied_by_constants(rules: Listed, covers: Parts, targets: Targets) -> Mask:
    """Which rules are about a pair of columns of which one is constant in their context: there the pair has an order
    (papers: fastod, section 4.1). The covers are those of constants, if any rule is about a pair.
    """
    implied = np.zeros(len(rules), np.bool_)
    if not len(pairs := np.flatnonzero(rules.targets > targets.key)):
        return implied
    constants = Listed.joined({c: covers[c] for c in range(targets.columns)}, targets.context_words)
    known = KeyTable(targets.context_words + 1, len(constants))
    known.entries(constants.keys)
    for columns in targets.columns_of_pairs(rules.targets[pairs]):
        implied[pairs] |= known.find(with_number(rules.contexts[pairs], columns)) >= 0
    return implied


def dump_parts(parts: Parts, sets: str, broken: str) -> dict[str, NDArray[Any]]:
    """The parts of targets as arrays, of which some have names that a class chooses."""
    listed = [parts[target] for target in sorted(parts)]
    arrays: dict[str, NDArray[Any]] = {"rules/target": np.array(sorted(parts), np.int64)}
    arrays["rules/count"] = np.array([len(part) for part in listed], np.int64)
    arrays[sets] = np.concatenate([np.empty(0, np.uint64), *(part.sets.reshape(-1) for part in listed)])
    counts = [part.broken for part in listed if part.broken is not None]
    return {**arrays, broken: np.concatenate(counts)} if counts else arrays


def load_parts(arrays: Mapping[str, NDArray[Any]], sets: str, broken: str, words: int) -> dict[int, Cover]:
    """The parts that `dump_parts` wrote; each set has `words` words."""
    every = Cover(
        np.array(arrays[sets], np.uint64).reshape(-1, words), np.array(arrays[broken]) if broken in arrays else None
    )
    ends = np.cumsum(arrays["rules/count"])
    listed = zip(arrays["rules/target"], arrays["rules/count"], ends, strict=True)
    return {int(target): every.some(slice(int(end - count), int(end))) for target, count, end in listed}
