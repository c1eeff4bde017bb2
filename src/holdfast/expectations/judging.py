"""Whether the figures of a batch are far outside of those of the batches before it.

- A batch that is far outside does not count among past ones, unless three in a row are, on the same side: then these
  are what is usual, and older batches count no longer.
- Past batches that were cut from a first load may be of another kind than those that come: of other hours, or with
  values that are filled in later. So nothing is said of a figure while fewer batches agreed with them than did not.
- Nothing is said before 8 past batches; where several come a day, these must be of 8 days, as nights differ from days.

Cost: some passes over past figures, `[batch, figure]`: a fifth of a millisecond.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.expectations import chance
from holdfast.expectations.chance import FEWEST, Numbers, Usual
from holdfast.expectations.figures import NEWEST, ROWS, Fresh, Layout, Measured

WINDOW = 200  # past batches that are looked at, at most,
DAYS = 42  # and the days before the batch that they are of
_AGREE = 3  # batches in a row that are far outside are the new usual
_OFTEN = 0.8  # days between batches: where fewer, several come a day
_AT_ONCE = 5 / 1440  # days: batches that are applied faster are those of other days
_WEEK = 7


@dataclass(frozen=True, eq=False)
class Past:
    """The past batches of a table, the oldest first: those cut from the first load have a `seq` below 0. `days` says
    when each was, by its newest timestamp if it is `dated`, else by when it was applied.
    """

    seqs: NDArray[np.int64]
    days: Numbers
    dated: NDArray[np.bool_]
    values: Numbers  # [batch, figure]; NaN: it has none
    sides: NDArray[np.int8]  # [batch, figure]: where it was far outside

    def of_days_before(self, day: float) -> Past:
        """Those of the last weeks."""
        return self.some(self.days >= day - DAYS)

    def some(self, chosen: NDArray[np.bool_]) -> Past:
        """Those that are chosen."""
        if chosen.all():
            return self
        return Past(self.seqs[chosen], self.days[chosen], self.dated[chosen], self.values[chosen], self.sides[chosen])

    def counted(self, layout: Layout) -> NDArray[np.bool_]:
        """Which figures of which batches say what is usual."""
        there = np.asarray(~np.isnan(self.values))
        counted = np.asarray(there & (self.sides == 0))
        for place, (since, agreed) in layout.fresh.items():
            late = self.seqs >= since
            counted[:, place] = late & (counted[:, place] | (there[:, place] & (self.seqs <= agreed)))
        return counted

    @cached_property
    def come_often(self) -> bool:
        """Whether several batches come a day."""
        gaps = np.abs(np.diff(self.days))
        gap = chance.median_of(gaps) if len(gaps) else 1.0
        return gap < _OFTEN and (bool(self.dated.any()) or gap > _AT_ONCE)

    @property
    def is_long(self) -> bool:
        """Whether they are of enough days, if several come a day."""
        return not self.come_often or len(np.unique(np.floor(self.days))) >= FEWEST


class Outside(NamedTuple):
    """A figure that is far outside: its place, what it is, what is usual, and how likely chance brings that."""

    place: int
    now: float
    usual: Usual
    rows: int
    chance: float = 0.0


class Judgement(NamedTuple):
    """Where each figure of a batch is far outside, what is to be said, and the layout from now on."""

    sides: NDArray[np.int8]
    said: tuple[Outside, ...]
    layout: Layout


def judged(layout: Layout, past: Past, batch: Measured, day: float, dated: bool, figures: int) -> Judgement:
    """Judge the figures of a batch. `figures` is how many are judged in all: they share the false alarms."""
    judge = _Judge(layout, past.of_days_before(day), batch, day, dated, chance.FALSE_ALARMS / max(figures, 1))
    sides = np.zeros(len(layout.figures), np.int8)
    found = {each.place: each for each in judge.outside()}
    for place, each in found.items():
        sides[place] = each.usual.side
    fresh = judge.agreeing(sides)
    sides[list(fresh)] = 0  # what three batches agree on is usual
    said = [each for place, each in found.items() if judge.is_confirmed[place] and place not in layout.muted]
    after = replace(layout, fresh={**layout.fresh, **fresh}) if fresh else layout
    return Judgement(sides, tuple(_one_a_column(layout, said)), after)


class _Judge:
    """A batch beside those before it."""

    def __init__(self, layout: Layout, past: Past, batch: Measured, day: float, dated: bool, likely: float) -> None:
        self._layout, self._past, self._batch = layout, past, batch
        self._day, self._dated, self._likely = day, dated, likely
        self._counted = past.counted(layout)
        self._there = ~np.isnan(batch.values)
        real = past.seqs > 0
        came = past.some(real)
        several_a_day = len(came.days) >= _AGREE and came.come_often  # whatever the first load was cut into
        is_long = came.is_long if several_a_day else past.is_long
        self._ready = self._there & (self._counted.sum(axis=0) >= FEWEST) & is_long
        self._rows = int(batch.values[ROWS])
        agreed, others = self._counted[real].sum(axis=0), (past.sides[real] != 0) & ~self._counted[real]
        is_cut = self._counted[~real].any(axis=0)
        self.is_confirmed = np.asarray((agreed >= np.maximum(others.sum(axis=0), 1)) | ~is_cut)
        if (~real).any() and dated and (np.floor(past.days[real]) == np.floor(day)).any():
            self.is_confirmed[ROWS] = False  # one of several of this day, and not a whole day

    def outside(self) -> Iterator[Outside]:
        """The figures that are far outside."""
        usual = self._of_rows()
        if usual is not None and usual.side:
            yield Outside(ROWS, self._rows, usual, self._rows)
        if self._ready[NEWEST]:
            yield from self._newest()
        for place, error in self._batch.errors.items():
            if self._ready[place]:
                now = float(self._batch.values[place])
                usual = chance.of_mean(self._past.values[self._counted[:, place], place], now, error)
                if usual.side:
                    yield Outside(place, now, usual, self._rows)
        yield from self._shares()

    def _of_rows(self) -> Usual | None:
        if not self._ready[ROWS]:
            return None
        own = self._counted[:, ROWS]
        past, days = self._past.values[own, ROWS], np.floor(self._past.days[own]).astype(np.int64)
        weekdays = None if self._past.come_often else days % _WEEK
        today = int(self._day) % _WEEK
        usual = chance.of_count(past, self._rows, weekdays, today)
        gap = int(self._day) - int(self._past.days.max()) if self._dated else 1
        if usual.side > 0 and gap > 1 and chance.of_count(past, self._rows / gap, weekdays, today).side <= 0:
            self.is_confirmed[ROWS] = False  # it may hold the rows of several days
        return usual

    def _newest(self) -> Iterator[Outside]:
        own = self._counted[:, NEWEST]
        newest = self._past.values[own, NEWEST]
        before = np.maximum.accumulate(newest)
        now = float(self._batch.values[NEWEST])
        usual = chance.of_newest(newest[1:] - before[:-1], now - float(before[-1]))
        if usual.side:
            yield Outside(NEWEST, now, replace(usual, median=float(before[-1])), self._rows)

    def _shares(self) -> Iterator[Outside]:
        places = self._layout.shares
        places = places[self._ready[places]]
        if not len(places):
            return
        of = self._layout.nulls_before[places]
        counted, counts = self._counted[:, places], self._past.values[:, places]
        rows = self._past.values[:, [ROWS]] - np.where(of == places, 0.0, self._past.values[:, of])
        now = self._batch.values[places]
        now_rows = self._rows - np.where(of == places, 0.0, self._batch.values[of])
        known = chance.shares_of(counts, rows, counted)
        with np.errstate(all="ignore"):
            share, shares = now / now_rows, np.where(counted, counts / rows, np.nan)
            up, down = (shares >= share).sum(axis=0), (shares <= share).sum(axis=0)
        is_high = share > known.share
        is_new = np.where(is_high, up, down) < chance.ALIKE
        least, only_more = self._layout.least[places], self._layout.are_nulls[places]
        candidates = chance.materially_off(share, known.share, least) & is_new & (is_high | ~only_more)
        for at in np.flatnonzero(candidates & (now_rows >= chance.LEAST_ROWS)):
            odds = chance.chance_of(now[at], now_rows[at], known.share[at], known.alike[at])
            if odds <= self._likely:
                own = shares[counted[:, at], at]
                low, median, high = (float(each) for each in np.quantile(own, [0.05, 0.5, 0.95]))
                side: Literal[-1, 1] = 1 if is_high[at] else -1
                usual = Usual(side, median, low, high, len(own))
                yield Outside(int(places[at]), float(share[at]), usual, int(now_rows[at]), odds)

    def agreeing(self, sides: NDArray[np.int8]) -> Mapping[int, Fresh]:
        """The figures of which the last batches, and this one, are far outside on the same side."""
        found = {}
        for place in np.flatnonzero(sides):
            there = np.flatnonzero(~np.isnan(self._past.values[:, place]) & (self._past.seqs > 0))[1 - _AGREE :]
            same = (self._past.sides[there, place] == sides[place]) & ~self._counted[there, place]
            if len(there) == _AGREE - 1 and same.all():
                first, last = self._past.seqs[there[[0, -1]]].tolist()
                found[int(place)] = Fresh(first, last)
        return found


def usual_now(layout: Layout, past: Past) -> list[Numbers]:
    """The numbers of past batches that say what is usual, by figure: shares for counts of rows."""
    if len(past.days):
        past = past.of_days_before(float(past.days[-1]))
    counted, own = past.counted(layout), layout.nulls_before
    places = np.arange(len(layout.figures))
    rows = past.values[:, [ROWS]] - np.where(own == places, 0.0, past.values[:, own])
    with np.errstate(all="ignore"):
        values = np.where(np.isin(places, layout.shares), past.values / rows, past.values)
    return [values[counted[:, place] & np.isfinite(values[:, place]), place] for place in places]


def _one_a_column(layout: Layout, said: list[Outside]) -> list[Outside]:
    """Of each column one figure: its nulls, or else its mean, or the share that chance brings least."""
    best: dict[str | int, Outside] = {}
    for each in sorted(said, key=lambda each: (layout.figures[each.place].kind != "nulls", each.chance)):
        best.setdefault(layout.figures[each.place].column if each.place > NEWEST else each.place, each)
    return sorted(best.values(), key=lambda each: each.place)
