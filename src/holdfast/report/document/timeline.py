"""The timeline of a rule over all batches, made from its events: a strip with one cell a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.report.pictures import Span
from holdfast.results.memory import Event

HELD, BROKEN, IMPLIED, UNTESTED, ABSENT = "held", "broken", "implied", "untested", "absent"

_AFTER = {
    "lost": BROKEN,
    "worse": BROKEN,
    "gained": HELD,
    "implied": IMPLIED,
    "untested": UNTESTED,
    "added": HELD,
    "added violated": BROKEN,
    "removed": ABSENT,
}


@dataclass(frozen=True)
class Turn:
    """What a batch did to a rule, and why: `lost`, `worse`, `gained`, `implied` or `untested`. Or what a user did:
    `added` (perhaps already violated) or `removed`. What a change did shows with the last batch before it (0: none).
    """

    batch: int
    event: str
    why: str = ""


@dataclass(frozen=True)
class Timeline:
    """The state of a rule at the start, and its turns, the oldest first."""

    start: str
    turns: Sequence[Turn] = ()

    @property
    def state(self) -> str:
        """Its state now."""
        return _AFTER[self.turns[-1].event] if self.turns else self.start

    @property
    def broke(self) -> int:
        """How often it broke."""
        return sum(turn.event == "lost" for turn in self.turns)

    @property
    def since(self) -> int:
        """The number of the batch since which it is in this state; 0: from the start."""
        batch = 0
        state = self.start
        for turn in self.turns:
            if _AFTER[turn.event] != state:
                batch, state = turn.batch, _AFTER[turn.event]
        return batch

    def spans(self, last: int) -> list[Span]:
        """The batches 1 to `last` in spans of one state; a batch that made the rule worse starts a new one."""
        turns = ((max(turn.batch, 1), _AFTER[turn.event], turn.why) for turn in self.turns)
        starts = [(1, self.start, ""), *turns]
        ends = [*(first - 1 for first, _, _ in starts[1:]), last]
        spans = (Span(first, end, state, why) for (first, state, why), end in zip(starts, ends, strict=True))
        return [span for span in spans if span.last >= span.first]


def timeline_of(turns: Sequence[Turn], given: bool, violated_at_start: bool | None = None) -> Timeline:
    """The timeline with some turns, the oldest first. The first turn implies the state at the start; a given rule
    without any turn is still in that state.
    """
    if violated_at_start is not None:
        return Timeline(BROKEN if violated_at_start else HELD, turns)
    if not turns:
        return Timeline(HELD)
    before = {"gained": BROKEN if given else ABSENT, "worse": BROKEN, "added": ABSENT, "added violated": ABSENT}
    return Timeline(before.get(turns[0].event, HELD), turns)


def turn_of(event: Event) -> Turn:
    """What an event did to its rule, and why."""
    why = event.by
    if event.witness is not None:
        known = event.witness if all(event.witness.values) else replace(event.witness, values=())
        why = str(known)
    violated = event.event == "added" and event.finding is not None and event.finding["violations"]
    return Turn(event.batch, "added violated" if violated else event.event, why)
