"""Why rules came and went. Rules pass four tests in turn; the first that a rule fails is its cause.

    covers        no pair of rows breaks the rule              else it is broken, and rows are its witness
    minimal       no rule that says more is reported           else it is implied by that one
    tested        some pair of rows could break it             else it is untested; in a table of one row all rules are
    above         its score reaches the threshold              else it is below the threshold
    = reported

An engine gives how rules stand at a moment (`Standing`): after a batch, for the rules that were lost, or before it, for
those that came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from holdfast.borders.cover import Mask
from holdfast.changes.diff import Cause, CauseKind

UNTESTED = Cause("untested")


@dataclass(frozen=True, eq=False)
class Standing:
    """How some rules stand at a moment: which ones no pair of rows breaks, which of these follow from another rule, by
    place, with why, and which ones a pair of rows could break (None: all). `has_pairs`: two rows are there.
    """

    covered: Mask
    implied: Callable[[], Mapping[int, Cause]] = field(default=dict)
    tested: Mask | None = None
    has_pairs: bool = True

    @property
    def broken(self) -> Mask:
        """Which rules rows break."""
        return ~self.covered if self.has_pairs else np.zeros(len(self.covered), np.bool_)

    def causes(
        self, texts: Iterable[str], broken: Callable[[int], Cause | None], below: CauseKind = "score"
    ) -> dict[str, Cause]:
        """The causes of rules, given their texts, why one is broken, by place, and what is said of those below the
        threshold.
        """
        if not self.has_pairs:
            return dict.fromkeys(texts, UNTESTED)
        implied, tested, too_low = self.implied(), self.tested, Cause(below)
        found = {}
        for place, (text, is_covered) in enumerate(zip(texts, self.covered.tolist(), strict=True)):
            if not is_covered:
                why = broken(place)
            elif place in implied:
                why = implied[place]
            else:
                why = too_low if tested is None or tested[place] else UNTESTED
            if why is not None:
                found[text] = why
        return found


class Causes(Mapping[str, Cause]):
    """Causes by the texts of rules, put into words when someone reads them: there may be a hundred thousand."""

    def __init__(self, make: Callable[[], dict[str, Cause]]) -> None:
        self._make = make

    def __len__(self) -> int:
        return len(self._made)

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __getitem__(self, text: str) -> Cause:
        return self._made[text]

    @cached_property
    def _made(self) -> dict[str, Cause]:
        return self._make()
