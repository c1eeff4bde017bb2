"""What a batch changed in the rules, and which rows broke those that were lost.

A rule is lost for one of two reasons: a pair of rows breaks it now, and then that pair is its witness; or a rule with
a part of its left side holds now, so that it still holds and merely isn't minimal any more: then it has no witness. One
that was empty has none, either: nothing had tested it, so it did not break. A rule that stays, and becomes empty or is
no longer, has changed.

A batch can turn over a hundred thousand rules, so what is gained and lost comes as left sides. Why, and what the rules
are worth, is looked for afterwards, in the table as the batch left it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.borders import evidence as borders
from holdfast.borders.parts import Part
from holdfast.changes.diff import Cause, Diff, Finding, Witness
from holdfast.changes.names import quoted
from holdfast.engines.functional.result import Rules
from holdfast.engines.functional.witness import Pair, Witnesses
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.hitting import Mended
from holdfast.pairs.maximal import Shift
from holdfast.rules.dependency import fd_text, key_text
from holdfast.table.change import Change
from holdfast.table.naming import witnesses_of
from holdfast.table.table import Table


def exact_diff(before: Rules, after: Rules, changed: Mapping[int, Mended]) -> Diff:
    """The diff of exact rules, from what became of the targets that a batch touched."""
    lost = before.with_parts({target: Part(now.lost) for target, now in changed.items()})
    gained = after.with_parts({target: Part(now.gained) for target, now in changed.items()})
    return Diff(gained, lost, {} if before.filled is after.filled else _turned(before, after))


def _turned(before: Rules, after: Rules) -> dict[str, tuple[Finding, Finding]]:
    """The rules that stayed, and are empty now, or no longer."""
    stayed = _meet(before, after)
    marks = {t: before.filled.empty(part.sets) != after.filled.empty(part.sets) for t, part in stayed.items()}
    turned = before.with_parts(stayed).some(marks)
    pairs = zip(turned.items(), after.with_parts(turned.parts).values(), strict=True)
    return {text: (old, new) for (text, old), new in pairs}


class Implied(Mapping[str, Cause]):
    """The lost rules that hold still, each with the one of a shorter left side that it follows from: this one is new,
    as before the batch none was told that has a part of the left side of another. There may be a hundred thousand, so
    they are kept as left sides, and put into words when someone reads them.
    """

    def __init__(self, lost: Rules, gained: Rules) -> None:
        self._names, self._sides = lost.names, dict[int, tuple[Words, Words]]()
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
        written = [quoted(name) for name in self._names]
        found: dict[str, Cause] = {}
        for target, both in self._sides.items():
            texts, by = (_texts(written, target, sides) for sides in both)
            found |= {text: Cause("stronger", own) for text, own in zip(texts, by, strict=True)}
        return found


def witnesses_among(lost: Rules, kept: borders.Witnesses, table: Table) -> dict[str, Witness]:
    """For each lost rule one of the pairs that a border keeps: none breaks a rule that still holds."""
    written = [quoted(name) for name in lost.names]
    pairs: dict[str, Pair] = {}
    for target, part in lost.parts.items():
        breaking = kept.some(bitsets.has(kept.broken, target))
        places = bitsets.containers(part.sets, breaking.agree)
        for place in np.unique(places[places >= 0]).tolist():
            one, other = sorted(breaking.rows[place].tolist())
            pairs |= dict.fromkeys(_texts(written, target, part.sets[places == place]), (one, other))
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
    written = [quoted(name) for name in lost.names]
    sets = {agree.tobytes(): agree for _, agree, _ in why}
    found = finder.with_agree_sets(np.array(list(sets.values())))
    pairs = {
        text: found[agree.tobytes()]
        for target, agree, broken in why
        if agree.tobytes() in found
        for text in _texts(written, target, broken)
    }
    return witnesses_of(change.after, pairs)


def _broken_by(lost: Words, breaking: Words) -> Iterator[tuple[Words, Words]]:
    """Agree-sets that came with the batch, each with lost left sides inside it; a left side comes at most once."""
    places = bitsets.containers(lost, breaking)
    for place in np.unique(places[places >= 0]):
        yield breaking[place], lost[places == place]


def approximate_diff(before: Rules, after: Rules) -> Diff:
    """The diff of approximate rules: also those whose error changed."""
    targets = before.parts.keys() | after.parts.keys()
    lost, gained = _minus(before, after, targets), _minus(after, before, targets)
    stayed, now = before.with_parts(_meet(before, after)), after.with_parts(_meet(after, before))
    pairs = zip(stayed.items(), now.values(), strict=True)
    return Diff(gained, lost, {text: (old, new) for (text, old), new in pairs if old != new})


def witnesses_found(lost: Rules, after: Rules, change: Change) -> dict[str, Witness]:
    """A pair for each lost rule that has no part that holds now. One pair may break many rules."""
    finder = Witnesses(change.after, change.born, change.inserted)
    written = [quoted(name) for name in lost.names]
    pairs: dict[str, Pair] = {}
    agreed: dict[Pair, Words] = {}  # the agree-sets of pairs that were found
    for target, part in lost.parts.items():
        left = part.sets
        if target in after.parts:  # complements turn the question round: does one that holds lie within?
            left = left[bitsets.containers(~left, ~after.parts[target].sets) < 0]
        known = [pair for pair, agree in agreed.items() if not bitsets.has(agree[None], target)[0]]
        while len(left):
            pair = known.pop() if known else finder.any_pair(bitsets.elements(left[0]), _column(target, lost))
            if pair is None:
                left = left[1:]
                continue
            if pair not in agreed:
                agreed[pair] = finder.agree_set(pair, left.shape[1])
            within = ((left & ~agreed[pair]) == 0).all(axis=1)
            pairs.update(dict.fromkeys(_texts(written, target, left[within]), pair))
            left = left[~within]
    return witnesses_of(change.after, pairs)


def _column(target: int, rules: Rules) -> int | None:
    return target if target < len(rules.names) else None


def _texts(written: Sequence[str], target: int, sides: Words) -> list[str]:
    """The texts of rules with these left sides, from column names as rules write them."""
    chosen = [[written[c] for c in columns] for columns in bitsets.elements_of_each(sides)]
    return [fd_text(lhs, written[target]) if target < len(written) else key_text(lhs) for lhs in chosen]


def _minus(some: Rules, others: Rules, targets: Iterable[int]) -> Rules:
    return some.some({target: ~_among(some, others, target) for target in targets if target in some.parts})


def _meet(some: Rules, others: Rules) -> dict[int, Part]:
    return some.some({target: _among(some, others, target) for target in some.parts}).parts


def _among(some: Rules, others: Rules, target: int) -> NDArray[np.bool_]:
    """Which rules of a target have the left side of one of the others'."""
    mine = some.parts[target].sets
    theirs = others.parts[target].sets if target in others.parts else mine[:0]
    return bitsets.among(mine, theirs)
