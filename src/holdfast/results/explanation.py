"""Why a rule holds or doesn't, with what the state remembers of it: which rows broke it, and since when it holds again.

Rows are told with the values that they had when they broke the rule, also where they have died since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.engines import contract
from holdfast.engines.contract import Json, LinesTable
from holdfast.results.drawn import Drawn
from holdfast.results.memory import Event, KeptWitness
from holdfast.text.quotes import names_in
from holdfast.text.row_names import by_key, by_number, by_values, listed

_SHOWN = 3  # of the times that a rule broke, the last ones are told


@dataclass(frozen=True)
class Broken:
    """A time in which a rule did not hold: the event that broke it (None: it never held), those that made it worse, and
    the batch since which it held again.
    """

    by: Event | None
    worse: list[Event] = field(default_factory=list)
    until: int | None = None


@dataclass(frozen=True, repr=False)
class Explanation(Drawn, contract.Explanation):
    """How a rule stands, and what batches did to it, the oldest first.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> watch.explanation("zip -> city")
    zip -> city is broken by 1 pairs of rows (33.3333% of all) in 1 clusters; without 1 rows (33.3333%) it would hold
      zip = '10115': city is 'Berlin' x 1, 'Brelin' x 1; most say 'Berlin'; look at id 3
    It broke with batch 1 because of id 1 (zip 10115, city Berlin) and id 3 (zip 10115, city Brelin).
    """

    now: contract.Explanation
    events: tuple[Event, ...]
    last: int  # the number of the last batch

    def lines(self) -> list[str]:
        """As text, a line each."""
        return [*self.now.lines(), *story(self.events)]

    def to_json(self) -> dict[str, Any]:
        """As a plain object: that of the rule now, with `history` where batches did anything to it."""
        history = {"history": [_plain(event) for event in self.events]} if self.events else {}
        return {**self.now.to_json(), **history}

    def table(self) -> LinesTable | None:
        """What is better seen in a table below the lines."""
        return self.now.table()


def story(events: Sequence[Event]) -> list[str]:
    """When a rule broke and held again, and because of which rows; and which one it follows from."""
    times = _times(events)
    first = len(times) - _SHOWN
    lines = [f"It broke {first:,} time{'s' * (first != 1)} before."] if first > 0 else []
    lines += [_sentence(time, last=time is times[-1]) for time in times[-_SHOWN:]]
    if events and events[-1].event == "implied" and events[-1].by:
        lines.append(f"Since batch {events[-1].seq:,} it follows from {events[-1].by}.")
    return lines


def _times(events: Sequence[Event]) -> list[Broken]:
    """The times in which a rule did not hold."""
    times: list[Broken] = []
    for event in events:
        is_open = bool(times) and times[-1].until is None
        if event.event == "lost":
            times.append(Broken(event))
        elif event.event == "worse":
            if not is_open:
                times.append(Broken(None))
            times[-1].worse.append(event)
        elif event.event == "gained" and is_open:
            times[-1] = Broken(times[-1].by, times[-1].worse, event.seq)
    return times


def _sentence(time: Broken, last: bool) -> str:
    parts = [f"broke with {_because(time.by)}"] if time.by else []
    if time.worse:
        before = len(time.worse) - 1
        also = f", and {before:,} time{'s' * (before != 1)} before" if before else ""
        parts.append(f"got worse with {_because(time.worse[-1])}{also}")
    if time.until is not None:
        parts.append(f"holds again since batch {time.until:,}" if last else f"held again with batch {time.until:,}")
    *others, final = parts
    return f"It {', '.join(others)}, and {final}." if others else f"It {final}."


def _because(event: Event) -> str:
    with_batch = f"batch {event.seq:,}"
    return with_batch if event.witness is None else f"{with_batch} because of {rows_told(event.witness, event.text)}"


def rows_told(witness: KeptWitness, text: str) -> str:
    """The rows of a witness in words: their names, and the values that they had in the columns that a rule names."""
    if witness.sentence:
        return witness.sentence
    keys: Sequence[Json] = witness.keys or [{}] * len(witness.rows)
    return listed([_row_told(*row, names_in(text)) for row in zip(witness.rows, keys, witness.values, strict=True)])


def _row_told(number: int, key: Json, values: Json | None, named: Sequence[str]) -> str:
    if not key:
        return by_values(number, values, named) if values else by_number(number)
    others = {name: values[name] for name in named if name in values and name not in key} if values else {}
    return f"{by_key(key)} ({by_key(others)})" if others else by_key(key)


def _plain(event: Event) -> dict[str, Any]:
    """What JSON tells of an event of a rule."""
    plain: dict[str, Any] = {"batch": event.seq, "event": event.event}
    if event.by:
        plain["by"] = event.by
    if event.witness is not None:
        plain["witness"] = event.witness.to_json()
    return plain
