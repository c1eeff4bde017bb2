"""What speaks for an FD, straight from the definition (see holdfast.engines.functional.fd_score)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from holdfast.engines.functional.fd_score import UNIT, FDEvidence


def evidence(left: Sequence[tuple[Hashable, ...]], right: Sequence[Hashable], nulls: str = "equal") -> FDEvidence:
    """The evidence for rows given by their left sides and their right sides; None is null."""
    values = [("null", at) if value is None and nulls == "distinct" else value for at, value in enumerate(right)]
    groups = defaultdict(list)
    for names, value in zip(left, values, strict=True):
        if None not in names:
            groups[names].append(value)
    usual = {
        value
        for group in groups.values()
        for value, count in Counter(group).items()
        if count >= 2 and 2 * count > len(group)
    }
    tested = [group for group in groups.values() if len(group) >= 2]
    kept = [[value for value in group if value in usual] for group in groups.values()]
    paired = [group for group in kept if len(group) >= 2]
    known = Counter(value for group in kept for value in group)
    return FDEvidence(
        rows=len(values),
        tested=sum(map(len, tested)),
        usual=sum(value in usual for group in tested for value in group),
        groups=len(paired),
        paired=sum(map(len, paired)),
        agreement=sum(
            UNIT * sum(count * (count - 1) for count in Counter(group).values()) // (len(group) - 1) for group in paired
        ),
        known=sum(known.values()),
        same=sum(count * (count - 1) for count in known.values()),
        outside=_outside(left, values, nulls),
    )


def _outside(left: Sequence[tuple[Hashable, ...]], values: Sequence[Hashable], nulls: str) -> int:
    """The rows to remove: where nulls are equal, null is a value on the left, too."""
    groups = defaultdict(list)
    for names, value in zip(left, values, strict=True):
        if nulls == "equal" or None not in names:
            groups[names].append(value)
    return sum(len(group) - max(Counter(group).values()) for group in groups.values())
