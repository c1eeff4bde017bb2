"""The ways in which the minimal contexts of every target are found and kept, behind a few verbs.

A way gives **covers**: for each target the minimal contexts in which it holds. Those of a pair of columns include the
contexts in which one of the two is constant; telling leaves them out (see `told`). All ways give the same covers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.parts import Numbers, Part
from holdfast.borders.targets import Targets
from holdfast.engines.watched import WatchedTable
from holdfast.pairs.bitsets import Words
from holdfast.progress import Progress, search_progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.threads import OnProgress

Covers = Mapping[int, Part]
Arrays = Mapping[str, NDArray[Any]]
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """What is asked of a way: which targets, how many columns a context may have, and how far a rule may fail to hold,
    as a share of the rows.
    """

    targets: Targets
    max_level: int | None = None
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Followed:
    """What a batch did: the covers after it of those targets whose covers may have changed; and pairs of rows, by id,
    that a way came across and that may have broken rules: who looks for witnesses tries them first.
    """

    covers: Covers
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))


class Way(ABC):
    """One way, with what it keeps of a table."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def begin(cls, subject: WatchedTable, asked: Asked, runner: Runner, progress: Progress) -> tuple[Self, Covers]:
        """Find the covers of all targets that are asked for, from scratch."""

    @abstractmethod
    def follow(self, covers: Covers, change: Change, runner: Runner, progress: Progress) -> Followed:
        """Take in a batch that the subject has followed, given the covers of all targets before it."""

    def reckoned(self) -> list[tuple[Words, Numbers]]:
        """Contexts of which the way has counted, from scratch, how many ordered pairs of rows they put together."""
        return []

    @abstractmethod
    def dump(self) -> tuple[Arrays, Facts]:
        """Arrays and facts from which `load` makes the same. Covers are kept beside them, and parts of the subject."""

    @classmethod
    @abstractmethod
    def load(cls, subject: WatchedTable, asked: Asked, arrays: Arrays, facts: Facts) -> Self:
        """What `dump` described."""


def saying(targets: int, max_level: int | None, progress: Progress) -> OnProgress:
    """What is said while so many targets are worked on."""
    bound = "Where small contexts are enough, stop and bound them: discover or init with --max-level 3."
    shorter = bound if max_level is None else None
    return search_progress(progress, "order dependencies", "columns and pairs", targets, shorter)
