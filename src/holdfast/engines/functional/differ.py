"""What a batch changed in the rules, and which rows broke those that were lost.

A rule is lost for one of two reasons: a pair of rows breaks it now, and then that pair is its witness; or a rule with
a part of its left side holds now, so that it still holds and merely isn't minimal any more: then it has no witness. One
that was empty has none, either: nothing had tested it, so it did not break. A rule that stays, and becomes empty or is
no longer, has changed.

A batch can turn over a hundred thousand rules, so what is gained and lost comes as left sides. Why, and what the rules
are worth, is looked for afterwards, in the table as the batch left it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from holdfast.borders import evidence as borders
from holdfast.changes.diff import Cause, Witness
from holdfast.engines.functional.result import Rules
from holdfast.engines.functional.witness import Pair, Witnesses
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.maximal import Shift
from holdfast.table.change import Change
from holdfast.table.naming import witnesses_of
from holdfast.table.table import Table


class Implied(Mapping[str, Cause]):
    """The lost rules that hold still, each with the one of a shorter left side that it follows from: this one is new,
    as before the batch none was told that has a part of the left side of another. There may be a hundred thousand, so
    they are kept as left sides, and put into words when someone reads them.
    """

    def __init__(self, lost: Rules, gained: Rules) -> None:
        self._wording, self._sides = lost.wording, dict[int, tuple[Words, Words]]()
        for target, part in lost.parts.items():
            if target in gained.parts:  # complements turn the question round: does one that holds lie within?
                shorter = gained.parts[target].sets
                places = bitsets.containers(~part.sets, ~shorter)
                self._sides[target] = part.sets[places >= 0], shorter[places[places >= 0]]

    def __len__(self) -> int:
        return sum(len(held) for held, _ in self._sides.values())

    def __iter__(self) -> Iterator[str]:
        return iter(self._causes)

    def __getitem__(self, text: str) -> Cause:
        return self._causes[text]

    @cached_property
    def _causes(self) -> dict[str, Cause]:
        found: dict[str, Cause] = {}
        for target, both in self._sides.items():
            texts, by = (self._wording.texts_of(target, sides) for sides in both)
            found |= {text: Cause("stronger", own) for text, own in zip(texts, by, strict=True)}
        return found


def witnesses_among(lost: Rules, kept: borders.Witnesses, table: Table) -> dict[str, Witness]:
    """For each lost rule one of the pairs that a border keeps: none breaks a rule that still holds."""
    pairs: dict[str, Pair] = {}
    for target, part in lost.parts.items():
        breaking = kept.some(bitsets.has(kept.broken, target))
        places = bitsets.containers(part.sets, breaking.agree)
        for place in np.unique(places[places >= 0]).tolist():
            one, other = sorted(breaking.rows[place].tolist())
            pairs |= dict.fromkeys(lost.wording.texts_of(target, part.sets[places == place]), (one, other))
    return witnesses_of(table, pairs) if pairs else {}


def witnesses_in(lost: Rules, shift: Shift, change: Change) -> dict[str, Witness]:
    """A pair for each lost rule that an agree-set of the batch breaks."""
    why = [
        (target, agree, broken)
        for target, part in lost.parts.items()
        for agree, broken in _broken_by(part.sets, shift.of(target)[1])
    ]
    if not why:
        return {}
    finder = Witnesses(change.after, change.born, change.inserted)
    sets = {agree.tobytes(): agree for _, agree, _ in why}
    found = finder.with_agree_sets(np.array(list(sets.values())))
    pairs = {
        text: found[agree.tobytes()]
        for target, agree, broken in why
        if agree.tobytes() in found
        for text in lost.wording.texts_of(target, broken)
    }
    return witnesses_of(change.after, pairs)


def _broken_by(lost: Words, breaking: Words) -> Iterator[tuple[Words, Words]]:
    """Agree-sets that came with the batch, each with lost left sides inside it; a left side comes at most once."""
    places = bitsets.containers(lost, breaking)
    for place in np.unique(places[places >= 0]):
        yield breaking[place], lost[places == place]


def witnesses_found(lost: Rules, after: Rules, change: Change) -> dict[str, Witness]:
    """A pair for each lost rule that has no part that holds now. One pair may break many rules."""
    finder = Witnesses(change.after, change.born, change.inserted)
    pairs: dict[str, Pair] = {}
    agreed: dict[Pair, Words] = {}  # the agree-sets of pairs that were found
    for target, part in lost.parts.items():
        left = part.sets
        if target in after.parts:  # complements turn the question round: does one that holds lie within?
            left = left[bitsets.containers(~left, ~after.parts[target].sets) < 0]
        rhs = target if target < len(lost.wording.names) else None
        known = [pair for pair, agree in agreed.items() if not bitsets.has(agree[None], target)[0]]
        while len(left):
            pair = known.pop() if known else finder.any_pair(bitsets.elements(left[0]), rhs)
            if pair is None:
                left = left[1:]
                continue
            if pair not in agreed:
                agreed[pair] = finder.agree_set(pair, left.shape[1])
            within = ((left & ~agreed[pair]) == 0).all(axis=1)
            pairs.update(dict.fromkeys(lost.wording.texts_of(target, left[within]), pair))
            left = left[~within]
    return witnesses_of(change.after, pairs)
