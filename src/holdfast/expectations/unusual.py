"""A figure of a batch that is far outside of what is usual, in words and as a plain object."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.expectations.figures import SHARES, Figure, Kind
from holdfast.expectations.judging import Outside
from holdfast.table.table import Schema
from holdfast.text.quotes import quoted
from holdfast.visible import counted

KIND = "expectation"
PLAIN = ("rows", "nulls", "others")  # figures that say nothing of values


@dataclass(frozen=True)
class Unusual:
    """A figure of a batch of a table that is far outside. Shares are between 0 and 1; of timestamps, numbers are days
    since 1970, and `median` is the newest one before.
    """

    table: str
    text: str  # the figure, as it is accepted or muted
    severity: Literal["error", "warn"]
    sentence: str
    value: float
    median: float
    low: float
    high: float
    batches: int
    rows: int
    figure: Kind
    column: str
    hidden: bool = False  # it has no values

    def __str__(self) -> str:
        return f"{self.table}: {self.text}"

    @property
    def kind(self) -> str:
        """What it is among findings."""
        return KIND

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": KIND, **{name: value for name, value in self.__dict__.items() if name != "hidden"}}

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> Unusual:
        """What `to_json` described."""
        return Unusual(**{name: value for name, value in plain.items() if name != "kind"})

    def without_values(self) -> Unusual:
        """The same for those who may not read the column: numbers of rows, also of nulls, say nothing of values."""
        if self.figure in PLAIN:
            return self
        about = f"{self.table}.{quoted(self.column)}"
        sentence = f"{about} is far outside of what is usual"
        return replace(self, text=quoted(self.column), sentence=sentence, hidden=True)


def unusual(schema: Schema, figure: Figure, found: Outside) -> Unusual:
    """A figure that is far outside, with a sentence that says so."""
    usual = found.usual
    return Unusual(
        schema.name, figure.text(schema), figure.level, _sentence(schema, figure, found),
        found.now, usual.median, usual.low, usual.high, usual.batches, found.rows, figure.kind, figure.column,
    )  # fmt: skip


def _sentence(schema: Schema, figure: Figure, found: Outside) -> str:
    usual, about = found.usual, f"{schema.name}.{quoted(figure.column)}"
    if figure.kind == "newest":
        newest, before = _moment(found.now), _moment(usual.median)
        return f"{about} is {newest} at the most; earlier batches had {before}"
    low, high, median = (in_words(figure.kind, each) for each in (usual.low, usual.high, usual.median))
    span = f"{low} is usual" if low == high else f"{low} to {high} are usual"
    of = f"{span} (median {median} of {usual.batches} batches)"
    if figure.kind == "rows":
        return f"{schema.name} has {counted(int(found.now), 'row')}; {of}"
    if figure.kind == "mean":
        return f"{about} is {number(found.now)} on average; {of}"
    what = {
        "nulls": "null", "others": "another value than the frequent ones", "value": figure.shown(schema),
        "below": f"below {figure.shown(schema)}", "above": f"above {figure.shown(schema)}",
    }[figure.kind]  # fmt: skip
    return f"{about} is {what} in {_percent(found.now)} of {counted(found.rows, 'row')}; {of}"


def in_words(kind: str, value: float) -> str:
    """The number of a figure as people write it.

    >>> in_words("nulls", 0.44), in_words("rows", 71.5), in_words("mean", 0.01234)
    ('44%', '72', '0.0123')
    """
    if kind == "newest":
        return _moment(value)
    return _percent(value) if kind in SHARES else number(round(value) if kind == "rows" else value)


def number(value: float) -> str:
    """A number with as many digits as say something.

    >>> number(72.0), number(4520.126), number(0.01234)
    ('72', '4,520', '0.0123')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def _percent(share: float) -> str:
    """A share in percent.

    >>> _percent(0.44), _percent(0.004), _percent(0.0)
    ('44%', '0.4%', '0%')
    """
    return f"{100 * share:.2g}%" if 0 < share < 0.0995 else f"{100 * share:.0f}%"


def _moment(days: float) -> str:
    """A moment as people write it; a date where it is one."""
    when = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(days=days)
    return f"{when:%Y-%m-%d}" if days == int(days) else f"{when:%Y-%m-%d %H:%M:%S}"
