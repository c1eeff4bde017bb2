"""What is found of one target: the sets of columns that make rules, and how much breaks each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.pairs.bitsets import Words

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cover:
    """The rules of one target: their left sides or contexts; and how many pairs break each, or how many rows must go so
    that it holds (None: all are exact).
    """

    sets: Words
    broken: Numbers | None = None

    def __len__(self) -> int:
        return len(self.sets)

    def some(self, chosen: NDArray[np.bool_] | slice) -> Cover:
        """Those rules of the part."""
        return Cover(self.sets[chosen], None if self.broken is None else self.broken[chosen])


def dump_parts(parts: Mapping[int, Cover], sets: str, broken: str) -> dict[str, NDArray[Any]]:
    """The parts of targets as arrays, of which some have names that a class chooses."""
    listed = [parts[target] for target in sorted(parts)]
    arrays: dict[str, NDArray[Any]] = {"rules/target": np.array(sorted(parts), np.int64)}
    arrays["rules/count"] = np.array([len(part) for part in listed], np.int64)
    arrays[sets] = np.concatenate([np.empty(0, np.uint64), *(part.sets.reshape(-1) for part in listed)])
    counts = [part.broken for part in listed if part.broken is not None]
    return {**arrays, broken: np.concatenate(counts)} if counts else arrays


def load_parts(arrays: Mapping[str, NDArray[Any]], sets: str, broken: str, words: int) -> dict[int, Cover]:
    """The parts that `dump_parts` wrote; each set has `words` words."""
    every = Cover(
        np.array(arrays[sets], np.uint64).reshape(-1, words), np.array(arrays[broken]) if broken in arrays else None
    )
    ends = np.cumsum(arrays["rules/count"])
    listed = zip(arrays["rules/target"], arrays["rules/count"], ends, strict=True)
    return {int(target): every.some(slice(int(end - count), int(end))) for target, count, end in listed}
