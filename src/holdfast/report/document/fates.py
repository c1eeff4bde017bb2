"""How a rule fared over all batches, from the events that tell of it: a strip with one cell a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.report.pictures import Run
from holdfast.results.memory import Event
from holdfast.text.row_names import listed, named

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
    """What a batch did to a rule: `lost`, `worse`, `gained`, `implied` or `untested`, and because of what. Or what
    people did: `added` it, also where it was violated then, or `removed` it.
    """

    seq: int
    event: str
    why: str = ""


@dataclass(frozen=True)
class Fate:
    """How a rule fared: the turns that it took, oldest first, and how it stood at the start."""

    start: str
    turns: Sequence[Turn] = ()

    @property
    def state(self) -> str:
        """How it stands now."""
        return _AFTER[self.turns[-1].event] if self.turns else self.start

    @property
    def broke(self) -> int:
        """How often it broke."""
        return sum(turn.event == "lost" for turn in self.turns)

    @property
    def since(self) -> int:
        """The batch since which it stands so; 0: from the start."""
        seq = 0
        state = self.start
        for turn in self.turns:
            if _AFTER[turn.event] != state:
                seq, state = turn.seq, _AFTER[turn.event]
        return seq

    def runs(self, last: int) -> list[Run]:
        """The batches 1 to `last` in runs after which it stood alike; one that made it worse starts another."""
        marks = [Run(1, 0, self.start)]
        marks += [Run(turn.seq, 0, _AFTER[turn.event], turn.why) for turn in self.turns if turn.seq]
        ends = [*(mark.first - 1 for mark in marks[1:]), last]
        return [
            Run(mark.first, end, mark.state, mark.why)
            for mark, end in zip(marks, ends, strict=True)
            if end >= mark.first
        ]


def fate_of(turns: Sequence[Turn], given: bool, violated_at_start: bool | None = None) -> Fate:
    """The fate that some turns tell, oldest first. How a rule stood before the first of them, that one tells; a given
    rule without any stands as at the start.
    """
    if violated_at_start is not None:
        return Fate(BROKEN if violated_at_start else HELD, turns)
    if not turns:
        return Fate(HELD)
    before = {"gained": BROKEN if given else ABSENT, "worse": BROKEN, "added": ABSENT, "added violated": ABSENT}
    return Fate(before.get(turns[0].event, HELD), turns)


def turn_of(event: Event) -> Turn:
    """What an event did to its rule, and because of what."""
    why = event.by
    if event.witness is not None:
        witness = event.witness
        values = [own or {} for own in witness.values]
        why = witness.sentence or listed(named(witness.rows, witness.keys, values if all(values) else [], ()))
    violated = event.event == "added" and event.finding is not None and event.finding["violations"]
    return Turn(event.seq, "added violated" if violated else event.event, why)
