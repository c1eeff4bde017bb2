"""Which figures of a table's batches are watched, and the figures of a batch, from its own encoded rows.

A figure is about the rows, or about a column: nulls; the share of each value that is frequent, and of all others;
the mean of numbers, and the shares of those above the median, and beyond bounds that lie twice as far from it as the
twentieth at each end. So quantiles are watched as shares of rows, which chance moves in a known way, whatever the
distribution. The figures of a table are chosen once, from the rows that it
has then; later columns get theirs when they have rows. A figure keeps its place for ever, as stored numbers have it.

Cost: a pass over the codes of a batch for each figure of values, and one over the numbers of each column of numbers;
1,000 rows of 20 columns take about half a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.expectations.chance import LEAST_ROWS, Numbers, rank_correlation
from holdfast.table import images
from holdfast.table.dictionary import NULL_CODE, Dictionary
from holdfast.table.plain import plain_values
from holdfast.table.table import Schema
from holdfast.table.types import NUMBER, Column, family
from holdfast.text.quotes import quoted

Kind = Literal["rows", "newest", "nulls", "value", "others", "below", "above", "mean"]
Codes = Sequence[NDArray[Any]]  # of each column, by its place
Value = int | str | float | None  # the image of a value, or a bound

ROWS, NEWEST = 0, 1  # the places of the figures that each table has
SHARES = ("nulls", "value", "others", "below", "above")
LEAST_TO_CHOOSE = 100  # rows, or values of a column
_MOST_VALUES = 8  # of a column
_FREQUENT = 0.05  # of the rows
_MOSTLY = 0.5  # frequent values that have this share of the rows describe a column; else its quantiles do
_TAIL = 0.05
_NAMES = 0.1  # integers with more distinct values than this share of the rows are names of things
_GROWS, _SAMPLE = 0.5, 10_000  # the rank correlation of rows and values, in a sample: what grows is never usual
# Values come and go, and quantiles move with the season.
_LEAST = {"nulls": 0.05, "value": 0.1, "others": 0.1, "below": 0.4, "above": 0.4}
_FEW = 4_096  # codes: a count of all of them costs less than to look for some
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Figure:
    """One number that is watched of each batch of a table."""

    kind: Kind
    column: str = ""
    value: Value = None

    @property
    def is_watched(self) -> bool:
        """Whether there is what it is about: columns go, and a table may have none with the time of its rows."""
        return bool(self.column) or self.kind == "rows"

    @property
    def level(self) -> Literal["error", "warn"]:
        """Whether a batch is an alarm that is far outside."""
        return "error" if self.kind in ("rows", "newest", "nulls") else "warn"

    def text(self, schema: Schema, *, values: bool = True) -> str:
        """The name of the figure, in words of rules: `rows_in_batch`, `share(status = 'paid')`; or without values."""
        name = quoted(self.column)
        if self.kind == "rows":
            return "rows_in_batch"
        if self.kind == "others":
            return f"share(other {name})"
        if self.kind == "nulls":
            return f"share(null {name})"
        if self.kind in SHARES:
            sign = {"value": "=", "below": "<", "above": ">"}[self.kind]
            return f"share({name} {sign} {self.shown(schema) if values else '…'})"
        return f"{'avg' if self.kind == 'mean' else 'newest'}({name})"

    def shown(self, schema: Schema) -> str:
        """The value that it is about, as people write it."""
        if self.kind != "value":
            return f"{self.value:,.6g}" if isinstance(self.value, float) else str(self.value)
        kept = schema.named([self.column])[0].type
        if isinstance(self.value, str):
            if pa.types.is_string(kept):
                return repr(self.value)
            return str(plain_values(images.from_images(_wide([self.value]), kept))[0])
        (plain,) = plain_values(images.from_images(np.array([self.value], np.int64), kept))
        return repr(plain) if family(kept) != NUMBER and isinstance(plain, str) else str(plain)

    def to_json(self) -> list[Any]:
        """Plain values that `Figure(*…)` takes."""
        return [self.kind, self.column, self.value]


class Fresh(NamedTuple):
    """From which batch on a figure is compared, as later ones are of another kind; those up to `agreed` count although
    they were far outside then.
    """

    since: int
    agreed: int


@dataclass(frozen=True)
class Layout:
    """The figures of a table, by their places; which of them were given up and begin again with a batch, and which say
    nothing. `day` is the column with the time of each row, if there is one.
    """

    figures: tuple[Figure, ...]
    day: str = ""
    fresh: Mapping[int, Fresh] = field(default_factory=dict)
    muted: frozenset[int] = frozenset()
    complete: frozenset[str] = frozenset()  # columns whose figures are all chosen

    @staticmethod
    def starting(day: str = "") -> Layout:
        """The figures that each table has."""
        return Layout((Figure("rows"), Figure("newest", day)), day)

    @cached_property
    def by_column(self) -> dict[str, dict[Kind, list[int]]]:
        """The places of the figures of each column, by kind."""
        found: dict[str, dict[Kind, list[int]]] = {}
        for place, figure in enumerate(self.figures[NEWEST + 1 :], NEWEST + 1):
            if figure.column:
                found.setdefault(figure.column, {}).setdefault(figure.kind, []).append(place)
        return found

    @cached_property
    def shares(self) -> NDArray[np.int64]:
        """The places of shares."""
        return np.array([at for at, each in enumerate(self.figures) if each.kind in SHARES and each.column], np.int64)

    @cached_property
    def least(self) -> Numbers:
        """By how much of the rows each share must differ to be far outside."""
        return np.array([_LEAST.get(each.kind, 0.0) for each in self.figures])

    @cached_property
    def are_nulls(self) -> NDArray[np.bool_]:
        """Which figures are nulls: fewer than usual are no problem."""
        return np.array([each.kind == "nulls" for each in self.figures])

    @cached_property
    def nulls_before(self) -> NDArray[np.int64]:
        """For each figure the place of the nulls that it does not count as rows; its own place: it counts all rows."""
        own = list(range(len(self.figures)))
        for places in self.by_column.values():
            kinds: tuple[Kind, ...] = "below", "above"
            for kind in kinds:
                for place in places.get(kind, ()):
                    own[place] = places["nulls"][0]
        return np.array(own, np.int64)

    def completed(self, schema: Schema, dictionaries: Sequence[Dictionary], codes: Codes) -> Layout:
        """The same with figures of the columns that have none yet, as far as some rows show what is usual."""
        figures, complete = list(self.figures), set(self.complete)
        for place, column in enumerate(schema.columns):
            if column.name in complete or len(codes[place]) < LEAST_TO_CHOOSE:
                continue
            if column.name not in self.by_column:
                figures.append(Figure("nulls", column.name))
            if int(np.count_nonzero(codes[place])) >= LEAST_TO_CHOOSE:
                figures += _chosen(column, dictionaries[place], codes[place])
                complete.add(column.name)
        if len(figures) == len(self.figures) and complete == self.complete:
            return self
        return replace(self, figures=tuple(figures), complete=frozenset(complete))

    def with_columns(self, names: Mapping[str, str | None]) -> Layout:
        """The same where columns have new names, or none: these are gone, or of another type, and so are their
        figures, which leave their places empty.
        """
        named = {name: names.get(name, name) or "" for name in {each.column for each in self.figures}}
        figures = tuple(replace(each, column=named[each.column]) for each in self.figures)
        complete = frozenset(filter(None, (names.get(name, name) for name in self.complete)))
        return replace(self, figures=figures, day=named.get(self.day, self.day), complete=complete)

    def to_json(self) -> dict[str, Any]:
        """Plain values that `from_json` reads back."""
        return {
            "figures": [each.to_json() for each in self.figures],
            "day": self.day,
            "fresh": {str(at): list(each) for at, each in self.fresh.items()},
            "muted": sorted(self.muted),
            "complete": sorted(self.complete),
        }

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> Layout:
        """The layout that `to_json` described."""
        return Layout(
            tuple(Figure(*each) for each in plain["figures"]),
            plain["day"],
            {int(at): Fresh(*each) for at, each in plain["fresh"].items()},
            frozenset(plain["muted"]),
            frozenset(plain["complete"]),
        )


def _chosen(column: Column, dictionary: Dictionary, codes: NDArray[Any]) -> list[Figure]:
    """The figures of a column besides its nulls: of its frequent values, or of its quantiles; and the mean of numbers.
    Times have none.
    """
    if pa.types.is_temporal(column.type):
        return []
    found = [Figure("mean", column.name)] if family(column.type) == NUMBER else []
    known, counts = np.unique(codes, return_counts=True)
    known, counts = (each[known != NULL_CODE] for each in (known, counts))
    order = np.argsort(-counts, kind="stable")[:_MOST_VALUES]
    frequent = order[counts[order] >= _FREQUENT * len(codes)]
    if counts[frequent].sum() >= _MOSTLY * counts.sum():
        own = sorted(_plain_images(dictionary.images(known[frequent].astype(np.int64))))  # type: ignore[type-var]
        return [*found, *(Figure("value", column.name, each) for each in own), Figure("others", column.name)]
    values = numbers_of(dictionary, codes) if found else np.empty(0)
    values = values[np.isfinite(values)]
    names = pa.types.is_integer(column.type) and len(known) > _NAMES * len(codes)
    if not len(values) or names or abs(rank_correlation(values[:: max(len(values) // _SAMPLE, 1)])) > _GROWS:
        return []
    low, middle, high = np.quantile(values, [_TAIL, 0.5, 1 - _TAIL]).tolist()
    above = [Figure("above", column.name, each) for each in sorted({middle, 2 * high - middle})]
    return [*found, Figure("below", column.name, 2 * low - middle), *above]


def _plain_images(found: images.Images) -> list[Value]:
    """Images as JSON has them: numbers as they are, bytes as text."""
    if isinstance(found, np.ndarray):
        return list(found.tolist())
    return [each.decode("utf-8", "surrogateescape") for each in found.to_pylist()]


def _wide(values: Iterable[str]) -> images.Images:
    """Images that are bytes."""
    return pa.array([each.encode("utf-8", "surrogateescape") for each in values], pa.large_binary())


def numbers_of(dictionary: Dictionary, codes: NDArray[Any]) -> Numbers:
    """The numbers of some rows that have one."""
    own = codes[codes != NULL_CODE].astype(np.int64)
    return images.to_floats(dictionary.images(own), dictionary.kept)


class Measured(NamedTuple):
    """The figures of a batch: counts of rows for shares. NaN: it has none."""

    values: Numbers
    errors: Mapping[int, float]  # the standard errors of means, by place
    newest: float | None  # its newest timestamp, as days since 1970


class Meter:
    """Measures batches of tables. It remembers codes of values: a dictionary never changes them."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], tuple[Dictionary, tuple[Figure, ...], NDArray[np.int64]]] = {}

    def measured(
        self, layout: Layout, schema: Schema, dictionaries: Sequence[Dictionary], codes: Codes, rows: int
    ) -> Measured:
        """The figures of some rows. Of few rows there is only their number."""
        values, newest = np.full(len(layout.figures), np.nan), None
        errors: dict[int, float] = {}
        values[ROWS] = rows
        if layout.day in schema.names:
            place = schema.names.index(layout.day)
            newest = newest_of(dictionaries[place], codes[place])
        if rows < LEAST_ROWS:
            return Measured(values, {}, newest)
        values[NEWEST] = np.nan if newest is None else newest
        for place, (name, dictionary, own) in enumerate(zip(schema.names, dictionaries, codes, strict=True)):
            figures = layout.by_column.get(name)
            if figures is None:
                continue
            nulls = rows - int(np.count_nonzero(own))
            values[figures["nulls"]] = nulls
            if "value" in figures:
                wanted = self._codes_of(schema.name, schema.columns[place], layout, figures["value"], dictionary)
                counts = _counts(own, wanted, len(dictionary))
                values[figures["value"]] = counts
                values[figures["others"]] = rows - nulls - sum(counts)
            if "mean" in figures and rows - nulls >= LEAST_ROWS:
                errors |= self._of_numbers(layout, figures, numbers_of(dictionary, own), values)
        return Measured(values, errors, newest)

    def _of_numbers(
        self, layout: Layout, figures: Mapping[Kind, list[int]], numbers: Numbers, values: Numbers
    ) -> dict[int, float]:
        """Put the figures of numbers; gives the standard error of their mean."""
        for place in figures.get("below", ()):
            values[place] = np.count_nonzero(numbers < layout.figures[place].value)  # type: ignore[operator]
        for place in figures.get("above", ()):
            values[place] = np.count_nonzero(numbers > layout.figures[place].value)  # type: ignore[operator]
        (place,) = figures["mean"]
        with np.errstate(all="ignore"):
            mean = numbers.sum() / len(numbers)
            left = numbers - mean
            square = float(left @ left)
        if not math.isfinite(square):
            return {}
        values[place] = mean
        return {place: math.sqrt(square) / len(numbers)}

    def _codes_of(
        self, table: str, column: Column, layout: Layout, places: Sequence[int], dictionary: Dictionary
    ) -> NDArray[np.int64]:
        """The codes of frequent values; -1 of one that no row has."""
        figures = tuple(layout.figures[place] for place in places)
        known = self._codes.get((table, column.name))
        if known is None or known[0] is not dictionary or known[1] != figures:
            codes = _codes(layout, column, places, dictionary)
            known = self._codes[table, column.name] = dictionary, figures, codes
        return known[2]


def _counts(codes: NDArray[Any], wanted: NDArray[np.int64], known: int) -> list[int]:
    """How many rows have each of some codes; none have -1."""
    if known <= _FEW:
        counts = np.bincount(codes, minlength=known)
        return [int(counts[each]) if each > 0 else 0 for each in wanted.tolist()]
    return [int(np.count_nonzero(codes == each)) for each in wanted.tolist()]


def _codes(layout: Layout, column: Column, places: Sequence[int], dictionary: Dictionary) -> NDArray[np.int64]:
    """The codes of the values of some figures; -1 of one that the table does not hold."""
    values: list[Any] = [layout.figures[place].value for place in places]
    return dictionary.lookup(_wide(values) if images.is_wide(column.type) else np.array(values, np.int64))


def without_gone_values(layout: Layout, schema: Schema, dictionaries: Sequence[Dictionary]) -> Layout:
    """The same, without the watched values of columns that no longer hold one of them: others are chosen later."""
    held: dict[int, bool] = {}
    for place, column in enumerate(schema.columns):
        if own := layout.by_column.get(column.name, {}).get("value"):
            codes = _codes(layout, column, own, dictionaries[place])
            held |= dict(zip(own, (codes >= 0).tolist(), strict=True))
    gone = {layout.figures[place].column for place, there in held.items() if not there}
    kept = tuple(
        Figure(each.kind) if each.column in gone and each.kind in ("value", "others", "mean") else each
        for each in layout.figures
    )
    return replace(layout, figures=kept, complete=layout.complete - gone) if gone else layout


def newest_of(dictionary: Dictionary, codes: NDArray[Any]) -> float | None:
    """The newest timestamp of some rows, as days since 1970."""
    there = codes[codes != NULL_CODE]
    return float(days_of(dictionary, there).max()) if len(there) else None


def days_of(dictionary: Dictionary, codes: NDArray[Any]) -> Numbers:
    """Some timestamps or dates as days since 1970, with fractions."""
    found = np.asarray(dictionary.images(codes.astype(np.int64)), np.float64)
    return found if pa.types.is_date(dictionary.kept) else found / _DAY
