"""What batches are expected to look like: the figures that are watched of each table, with what is usual now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.expectations.chance import FEWEST
from holdfast.expectations.unusual import KIND, in_words
from holdfast.text.quotes import command
from holdfast.visible import Printed, visible


@dataclass(frozen=True)
class Expectation:
    """A figure that is watched of the batches of a table, with the median of past batches and the range in which nine
    of ten are. Nothing is said of it before 8 batches, or where it is muted.
    """

    table: str
    text: str
    severity: str
    figure: str
    median: float | None
    low: float | None
    high: float | None
    batches: int
    muted: bool

    def __str__(self) -> str:
        usual = "no batch yet"
        if self.median is not None and self.low is not None and self.high is not None:
            low, high, median = (in_words(self.figure, each) for each in (self.low, self.high, self.median))
            span = f"{low} to {high}, median {median}" if low != high else high
            usual = f"{span}, of {self.batches} batches"
        few = "; nothing is said before 8" if self.batches < FEWEST else ""
        return visible(f"{self.text}: {usual}{few}{' (muted)' if self.muted else ''}")

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": KIND, **self.__dict__}


@dataclass(frozen=True, repr=False)
class Expectations(Printed, Sequence[Expectation]):
    """The figures that are watched, table by table.

    With `watch` of the example of `Monitor`:

    >>> watch.expectations()  # doctest: +ELLIPSIS
    Batches have no expectations here; switch them on with: holdfast expect ... on
    """

    are_on: bool
    state: str  # the folder
    listed: tuple[Expectation, ...] = ()

    def __len__(self) -> int:
        return len(self.listed)

    def __getitem__(self, place: Any) -> Any:
        return self.listed[place]

    def __iter__(self) -> Iterator[Expectation]:
        return iter(self.listed)

    def to_json(self) -> list[dict[str, Any]]:
        """One object for each."""
        return [each.to_json() for each in self.listed]

    def lines(self) -> list[str]:
        """The figures of each table."""
        if not self.are_on:
            return [f"Batches have no expectations here; switch them on with: {command('expect', self.state, 'on')}"]
        lines = []
        for table in dict.fromkeys(each.table for each in self.listed):
            own = [each for each in self.listed if each.table == table]
            lines += [f"{visible(table)}:", *(f"  {each}" for each in own)]
        return lines
