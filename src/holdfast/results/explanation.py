"""Why a rule holds or doesn't, and its history: which rows broke it, and since when it holds again.

Rows are shown with the values that they had when they broke the rule, also if they were deleted since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.engines import contract
from holdfast.engines.contract import Json, LinesTable
from holdfast.results.drawn import Drawn
from holdfast.results.memory import Event, StoredWitness
from holdfast.text.quotes import names_in
from holdfast.text.row_names import by_key, by_number, by_values, listed
from holdfast.visible import counted

_SHOWN = 3  # periods in which a rule was broken; the last ones


@dataclass(frozen=True)
class BrokenPeriod:
    """A period in which a rule did not hold: the event that broke it (None: it never held), those that made it worse,
    and the batch since which it held again.
    """

    by: Event | None
    worse: list[Event] = field(default_factory=list)
    until: int | None = None


@dataclass(frozen=True, repr=False)
class Explanation(Drawn, contract.CurrentExplanation):
    """Whether a rule holds, and what batches did to it, the oldest first.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> watch.explanation("zip -> city")
    zip -> city is broken by 1 pair of rows (33.3333% of all) in 1 cluster; without 1 row (33.3333%) it would hold
      zip = '10115': city is 'Berlin' x 1, 'Brelin' x 1; most say 'Berlin'; look at id 3
    It broke with batch 1 because of id 1 (zip 10115, city Berlin) and id 3 (zip 10115, city Brelin).
    """

    now: contract.CurrentExplanation
    events: tuple[Event, ...]
    last: int  # the number of the last batch
    note: str = ""  # why it is given, where no user gave it

    def lines(self) -> list[str]:
        """As text, a line each."""
        why = [f"It is given since it raised an alarm ({self.note})."] if self.note else []
        return [*self.now.lines(), *story(self.events), *why]

    def to_json(self) -> dict[str, Any]:
        """As a plain object; `history` is there if batches did anything to the rule."""
        history = {"history": [_plain(event) for event in self.events]} if self.events else {}
        return {**self.now.to_json(), **history}

    def table(self) -> LinesTable | None:
        """The table to show below the lines."""
        return self.now.table()


def story(events: Sequence[Event]) -> list[str]:
    """When a rule broke and held again, and because of which rows; and which rule it follows from."""
    periods = _periods(events)
    first = len(periods) - _SHOWN
    lines = [f"It broke {counted(first, 'time')} before."] if first > 0 else []
    lines += [_sentence(period, last=period is periods[-1]) for period in periods[-_SHOWN:]]
    if events and events[-1].event == "implied" and events[-1].by:
        lines.append(f"Since batch {events[-1].batch:,} it follows from {events[-1].by}.")
    return lines


def _periods(events: Sequence[Event]) -> list[BrokenPeriod]:
    """The periods in which a rule did not hold."""
    periods: list[BrokenPeriod] = []
    for event in events:
        is_open = bool(periods) and periods[-1].until is None
        if event.event == "lost":
            periods.append(BrokenPeriod(event))
        elif event.event == "worse":
            if not is_open:
                periods.append(BrokenPeriod(None))
            periods[-1].worse.append(event)
        elif event.event == "gained" and is_open:
            periods[-1] = replace(periods[-1], until=event.batch)
    return periods


def _sentence(period: BrokenPeriod, last: bool) -> str:
    parts = [f"broke with {_because(period.by)}"] if period.by else []
    if period.worse:
        before = len(period.worse) - 1
        also = f", and {counted(before, 'time')} before" if before else ""
        parts.append(f"got worse with {_because(period.worse[-1])}{also}")
    if period.until is not None:
        parts.append(f"holds again since batch {period.until:,}" if last else f"held again with batch {period.until:,}")
    *others, final = parts
    return f"It {', '.join(others)}, and {final}." if others else f"It {final}."


def _because(event: Event) -> str:
    with_batch = f"batch {event.batch:,}"
    return with_batch if event.witness is None else f"{with_batch} because of {_rows(event.witness, event.text)}"


def _rows(witness: StoredWitness, text: str) -> str:
    """The rows of a witness in words: their names, and their values in the columns that a rule names."""
    if witness.sentence:
        return witness.sentence
    keys: Sequence[Json] = witness.keys or [{}] * len(witness.rows)
    return listed([_row(*row, names_in(text)) for row in zip(witness.rows, keys, witness.values, strict=True)])


def _row(number: int, key: Json, values: Json | None, named: Sequence[str]) -> str:
    if not key:
        return by_values(number, values, named) if values else by_number(number)
    others = {name: values[name] for name in named if name in values and name not in key} if values else {}
    return f"{by_key(key)} ({by_key(others)})" if others else by_key(key)


def _plain(event: Event) -> dict[str, Any]:
    """An event of a rule, as JSON shows it."""
    by = {"by": event.by} if event.by else {}
    witness = {} if event.witness is None else {"witness": event.witness.to_json()}
    return {"batch": event.batch, "event": event.event, **by, **witness}
