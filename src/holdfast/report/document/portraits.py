"""What a column looks like: nulls, distinct values, the least, the greatest and the most frequent, and their spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.engines.watched import WatchedTable
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Frequencies
from holdfast.table.plain import plain_values

_FREQUENT, _BINS = 8, 30
_AT_ONCE = 100_000  # values that are read together


@dataclass(frozen=True)
class Portrait:
    """The facts of a column, and how its values spread: in bins where they are numbers or times."""

    rows: int
    nulls: int
    distinct: int
    least: Any
    greatest: Any
    frequent: Sequence[tuple[Any, int]]
    bins: Sequence[int] = ()


def portrait(watched: WatchedTable, column: int) -> Portrait:
    """The portrait of a column."""
    table, counts = watched.table, watched.part(Frequencies).columns[column].array
    codes = 1 + np.flatnonzero(counts[1:])  # null has code 0
    nulls = int(counts[NULL_CODE]) if len(counts) else 0
    if not len(codes):
        return Portrait(table.rows, nulls, 0, None, None, ())
    often, dictionary = counts[codes], table.dictionaries[column]
    first = _most_frequent(often)
    frequent = list(zip(plain_values(dictionary.values(codes[first])), often[first].tolist(), strict=True))
    ends, numbers = [], []
    for start in range(0, len(codes), _AT_ONCE):
        values = dictionary.values(codes[start : start + _AT_ONCE])
        ends += pc.min_max(values).values()
        numbers.append(_numbers(values))
    last = pc.min_max(pa.array(ends, dictionary.kept))
    least, greatest = plain_values(pa.array(last.values(), dictionary.kept))
    bins = _binned(numbers, often) if len(codes) > 2 * _FREQUENT else []
    return Portrait(table.rows, nulls, len(codes), least, greatest, frequent, bins)


def _most_frequent(often: NDArray[Any]) -> NDArray[np.int64]:
    """The places of the greatest counts, the greatest first, of equals the first."""
    most = min(_FREQUENT, len(often))
    least = np.partition(often, -most)[-most]
    places = np.concatenate([np.flatnonzero(often > least), np.flatnonzero(often == least)[:most]])
    return places[np.lexsort((places, -often[places].astype(np.int64)))][:most]


def _binned(pieces: Sequence[NDArray[np.float64] | None], often: NDArray[Any]) -> list[int]:
    """How many rows have values in each of some ranges of equal width; nothing where that means nothing."""
    known = [piece for piece in pieces if piece is not None]
    finite = [np.isfinite(piece) for piece in known]
    ends = [end for piece, fine in zip(known, finite, strict=True) if fine.any() for end in _ends(piece[fine])]
    if not ends:
        return []
    found = np.zeros(_BINS)
    for number, (piece, fine) in enumerate(zip(known, finite, strict=True)):
        own = often[number * _AT_ONCE :][: len(piece)][fine].astype(np.float64)
        found += np.histogram(piece[fine], _BINS, (min(ends), max(ends)), weights=own)[0]
    return [int(each) for each in found]


def _ends(numbers: NDArray[np.float64]) -> tuple[float, float]:
    return float(numbers.min()), float(numbers.max())


def _numbers(values: pa.Array) -> NDArray[np.float64] | None:
    kind = values.type
    if pa.types.is_temporal(kind):
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        return np.asarray(values.cast(width).cast(pa.float64()))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(values.cast(pa.float64(), safe=False))
    return None
