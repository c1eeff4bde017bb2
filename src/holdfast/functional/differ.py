"""What a batch changed in the rules, and which rows broke those that were lost.

A rule is lost for one of two reasons: a pair of rows breaks it now, and then that pair is its witness; or a rule with
a part of its left side holds now, so that it still holds and merely isn't minimal any more: then it has no witness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import Diff, Finding, Witness
from holdfast.engine import Change
from holdfast.functional.model import fd_text, key_text, quoted
from holdfast.functional.result import Part, Rules
from holdfast.functional.witness import Pair, Witnesses
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.hitting import Mended
from holdfast.pairs.maximal import Shift


def exact_diff(before: Rules, changed: Mapping[int, Mended], shift: Shift, change: Change) -> Diff:
    """The diff of exact rules, from what became of the targets that a batch touched."""
    lost = Rules(before.table, before.names, {target: Part(now.lost) for target, now in changed.items()})
    gained = Rules(before.table, before.names, {target: Part(now.gained) for target, now in changed.items()})
    if not lost:
        return Diff(gained, lost)
    finder = Witnesses(change.after, change.born, change.inserted)
    why = [
        (target, agree, broken)
        for target, part in lost.parts.items()
        for agree, broken in _broken_by(part.lhs, shift.of(target)[1])
    ]
    sets = {agree.tobytes(): agree for _, agree, _ in why}
    found = finder.with_agree_sets(np.array(list(sets.values()))) if sets else {}
    pairs = {
        _text(before, target, lhs): found[agree.tobytes()]
        for target, agree, broken in why
        if agree.tobytes() in found
        for lhs in broken
    }
    return Diff(gained, lost, witnesses=finder.told(pairs))


def _broken_by(lost: Words, breaking: Words) -> Iterator[tuple[Words, Words]]:
    """Agree-sets that came with the batch, each with lost left sides inside it; a left side comes at most once."""
    places = bitsets.containers(lost, breaking)
    for place in np.unique(places[places >= 0]):
        yield breaking[place], lost[places == place]


def approximate_diff(before: Rules, after: Rules, change: Change) -> Diff:
    """The diff of approximate rules: also those whose error changed."""
    targets = before.parts.keys() | after.parts.keys()
    lost, gained = _minus(before, after, targets), _minus(after, before, targets)
    stayed = Rules(before.table, before.names, _meet(before, after), before.pairs)
    now = Rules(after.table, after.names, _meet(after, before), after.pairs)
    changed: dict[str, tuple[Finding, Finding]] = {}
    for (text, old), new in zip(stayed.items(), now.values(), strict=True):
        if old != new:
            changed[text] = old, new
    return Diff(gained, lost, changed, _approximate_witnesses(lost, after, change) if lost else {})


def _approximate_witnesses(lost: Rules, after: Rules, change: Change) -> dict[str, Witness]:
    finder = Witnesses(change.after, change.born, change.inserted)
    pairs: dict[str, Pair] = {}
    for target, part in lost.parts.items():
        holding = after.parts[target].lhs if target in after.parts else part.lhs[:0]
        for lhs in part.lhs:
            if ((holding & ~lhs) == 0).all(axis=1).any():
                continue  # a part of it holds now
            pair = finder.any_pair(bitsets.elements(lhs), target if target < len(after.names) else None)
            if pair is not None:
                pairs[_text(after, target, lhs)] = pair
    return finder.told(pairs)


def _text(rules: Rules, target: int, lhs: Words) -> str:
    chosen = [quoted(rules.names[c]) for c in bitsets.elements(lhs)]
    return fd_text(chosen, quoted(rules.names[target])) if target < len(rules.names) else key_text(chosen)


def _minus(some: Rules, others: Rules, targets: Iterable[int]) -> Rules:
    return _chosen(some, {target: ~_among(some, others, target) for target in targets if target in some.parts})


def _meet(some: Rules, others: Rules) -> dict[int, Part]:
    return _chosen(some, {target: _among(some, others, target) for target in some.parts}).parts


def _among(some: Rules, others: Rules, target: int) -> NDArray[np.bool_]:
    """Which rules of a target have the left side of one of the others'."""
    mine = some.parts[target].lhs
    theirs = others.parts[target].lhs if target in others.parts else mine[:0]
    return bitsets.among(mine, theirs)


def _chosen(rules: Rules, marks: dict[int, NDArray[np.bool_]]) -> Rules:
    parts = {target: rules.parts[target].some(chosen) for target, chosen in marks.items()}
    return Rules(rules.table, rules.names, parts, rules.pairs)
