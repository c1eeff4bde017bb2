"""Column facts from their definition: plain Python over plain rows."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

Facts = tuple[int, int, int, Any, Any, list[tuple[Any, int]]]


def facts(values: list[Any], most: int = 5) -> Facts:
    """Rows, nulls, distinct values, minimum, maximum, and the most frequent values with ties in value order."""
    present = [_tidy(value) for value in values if value is not None]
    counts = Counter(present)
    ordered = sorted(counts, key=_order)
    frequent = sorted(ordered, key=lambda value: -counts[value])[:most]
    low, high = (ordered[0], ordered[-1]) if ordered else (None, None)
    return len(values), len(values) - len(present), len(counts), low, high, [(v, counts[v]) for v in frequent]


_NAN = float("nan")  # one object, so that it equals itself as a key


def _tidy(value: Any) -> Any:
    if isinstance(value, float):
        return _NAN if math.isnan(value) else value + 0.0
    return value


def _order(value: Any) -> Any:
    if isinstance(value, float):
        return (math.isnan(value), value)
    return value
