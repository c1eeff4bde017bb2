"""Strategies: how rules are found and kept, behind a few verbs.

A strategy for targets that hold in contexts gives **covers**: for each target the minimal contexts in which it holds,
or holds up to the error allowed. Exact ones come from counting pairs or from borders, approximate orders
from counting removals. All give the same covers; what several engines keep of a table is a part of the subject.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, Self, TypeVar

from holdfast.borders.borders import Borders
from holdfast.borders.cover import Numbers, Parts
from holdfast.borders.evidence import Witnesses
from holdfast.borders.rows import CodedColumns, RankedColumns
from holdfast.borders.targets import Targets
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.pairs.bitsets import Words
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner

S = TypeVar("S")


class Strategy(ABC, Generic[S]):
    """One strategy of several, with what it keeps of a table. `S` is the specification of what is looked for."""

    name: ClassVar[str]

    def dump(self) -> tuple[Arrays, Facts]:
        """Arrays and facts from which `load` makes the same. Parts of the subject are dumped by themselves."""
        return {}, {}

    @classmethod
    @abstractmethod
    def load(cls, subject: WatchedTable, spec: S, arrays: Arrays, facts: Facts) -> Self:
        """What `dump` described."""


@dataclass(frozen=True)
class Spec:
    """What is looked for: which targets, how many columns a context may have, and how far a rule may fail to hold, as a
    share.
    """

    targets: Targets
    max_size: int | None = None
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Followed:
    """What a batch did: the covers after it of those targets whose covers may have changed; the contexts that went and
    that came, where the strategy knows; and pairs of rows that it came across and that may have broken rules.
    """

    covers: Parts
    moved: tuple[Parts, Parts] | None = None
    pairs: Witnesses | None = None


class CoverStrategy(Strategy[Spec]):
    """A strategy that finds covers."""

    @classmethod
    @abstractmethod
    def begin(cls, subject: WatchedTable, spec: Spec, runner: Runner, progress: Progress) -> tuple[Self, Parts]:
        """Find the covers of all wanted targets, from scratch."""

    @abstractmethod
    def follow(self, covers: Parts, change: Change, runner: Runner, progress: Progress) -> Followed:
        """Take in a batch that the subject has followed, given the covers of all targets before it."""

    def counted(self) -> list[tuple[Words, Numbers]]:
        """Contexts for which the strategy has counted how many ordered pairs of rows they put together."""
        return []


class BorderStrategy(CoverStrategy):
    """Borders: evidence with living witnesses, and proof of what it leaves (see `holdfast.borders`)."""

    name = "borders"

    def __init__(self, borders: Borders) -> None:
        self.borders = borders

    @classmethod
    def begin(cls, subject: WatchedTable, spec: Spec, runner: Runner, progress: Progress) -> tuple[Self, Parts]:
        """Compare some rows, and prove what they leave."""
        rows = subject.part(_rows_for(spec), runner, progress)
        borders = Borders.of(rows, spec.targets, spec.max_size, runner, progress)
        return cls(borders), borders.covers

    def follow(self, covers: Parts, change: Change, runner: Runner, progress: Progress) -> Followed:
        """Look at what the batch touches."""
        self.borders.covers = dict(covers)
        changed = self.borders.follow(change, runner, progress)
        return Followed(changed, pairs=self.borders.evidence.witnesses)

    def counted(self) -> list[tuple[Words, Numbers]]:
        """The pairs of rows that each context puts together were counted when it was proved."""
        rounds, self.borders.rounds = self.borders.rounds, []
        return [(found.contexts, found.within) for found in rounds]

    def dump(self) -> tuple[Arrays, Facts]:
        """The witnesses."""
        return self.borders.dump(), {}

    @classmethod
    def load(cls, subject: WatchedTable, spec: Spec, arrays: Arrays, facts: Facts) -> Self:  # noqa: ARG003
        """What `dump` described."""
        return cls(Borders.load(subject.part(_rows_for(spec)), spec.targets, spec.max_size, {}, arrays))


def _rows_for(spec: Spec) -> type[RankedColumns]:
    """The order of values matters to pairs of columns alone."""
    return RankedColumns if spec.targets.ascending_pairs else CodedColumns
