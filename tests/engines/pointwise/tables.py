"""Tables for tests: small ones at random, and the data sets; and the values that their pairs of rows have."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import Space
from tests.oracle import pointwise as oracle

BIT = {"<": 1, "=": 2, ">": 4, "!": 8, "?": 8}
OPERATOR = {15: "", 1: "<", 3: "<=", 2: "=", 6: ">=", 4: ">", 8: "!="}


@dataclass(frozen=True)
class Small:
    """A table of few rows and columns."""

    rows: list[tuple[Any, ...]]
    ordered: tuple[bool, ...]
    nulls: str

    @property
    def space(self) -> Space:
        return Space(self.ordered, self.nulls == "distinct")

    @property
    def values(self) -> NDArray[np.uint8]:
        """The values of all pairs of different rows."""
        signs = oracle.Pairs(self.rows, self.ordered, self.nulls).signs
        return np.array([[BIT[one] for one in row] for row in signs], np.uint8).reshape(-1, len(self.ordered))


@st.composite
def small(draw: st.DrawFn, nulls: Sequence[str] = ("equal", "distinct"), most: int = 5) -> Small:
    """Few different values, so that there are ties."""
    ordered = draw(st.lists(st.sampled_from([True, True, False]), min_size=1, max_size=most))
    cells = st.sampled_from([None, 0, 1, 2])
    rows = draw(st.lists(st.tuples(*[cells] * len(ordered)), max_size=8))
    return Small(rows, tuple(ordered), draw(st.sampled_from(nulls)))


def named(box: NDArray[np.uint8]) -> oracle.Conjunction:
    """A box as the oracle writes it."""
    return tuple(OPERATOR[mask] for mask in box.tolist())


def ranks(path: Path, columns: Sequence[int | str] | None = None, rows: int | None = None) -> NDArray[np.int32]:
    """A file's values as ranks, all columns ordered: numbers where a column has only such, else text by code point;
    null comes first.
    """
    with path.open(newline="") as lines:
        names, *body = csv.reader(lines)
    chosen = [names.index(c) if isinstance(c, str) else c for c in (range(len(names)) if columns is None else columns)]
    return np.array([_ranked([row[c] for row in body[:rows]]) for c in chosen], np.int32).T


def _ranked(texts: list[str]) -> list[int]:
    known = {text for text in texts if text not in ("", "?")}
    try:
        order: list[Any] = sorted(set(map(float, known)))
        rank = {text: 1 + order.index(float(text)) for text in known}
    except ValueError:
        rank = {text: 1 + place for place, text in enumerate(sorted(known))}
    return [rank.get(text, 0) for text in texts]


def values_of(ranked: NDArray[np.int32]) -> NDArray[np.uint8]:
    """The different values of all pairs of different rows."""
    weights = 3 ** np.arange(ranked.shape[1])
    seen = np.zeros(3 ** ranked.shape[1], np.bool_)
    for row in range(len(ranked) - 1):
        seen[(np.sign(ranked[row] - ranked[row + 1 :]) + 1) @ weights] = True
    places = np.flatnonzero(seen | seen[::-1])  # a mirrored pair has 2 - digit for each digit
    return (1 << places[:, None] // weights % 3).astype(np.uint8)
