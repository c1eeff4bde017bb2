"""The ways in which the minimal contexts of every target are found and kept, behind a few verbs; and the state and the
engine of classes whose rules are such contexts.

A way gives **covers**: for each target the minimal contexts in which it holds, or holds but for an error that is asked
for. All ways give the same covers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.borders import Borders
from holdfast.borders.method import Choice, way_in_words
from holdfast.borders.parts import Numbers, Part, dump_parts, load_parts
from holdfast.borders.rows import CodedColumns, RankedColumns
from holdfast.borders.targets import Targets
from holdfast.engines.contract import Engine, RuleClass
from holdfast.engines.watched import Arrays, Facts, WatchedTable, below, inside
from holdfast.pairs.bitsets import Words
from holdfast.pairs.filled import FilledColumns
from holdfast.pairs.hitting import Mended
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.table import Table

Covers = Mapping[int, Part]


@dataclass(frozen=True)
class Asked:
    """What is asked of a way: which targets, how many columns a context may have, and how far a rule may fail to hold,
    as a share.
    """

    targets: Targets
    max_size: int | None = None
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Followed:
    """What a batch did: the covers after it of those targets whose covers may have changed, and what came to these and
    went, where the way knows; and pairs of rows, by id, that it came across and that may have broken rules: who looks
    for witnesses tries them first.
    """

    covers: Covers
    mended: Mapping[int, Mended] | None = None
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))


A = TypeVar("A")


class Strategy(ABC, Generic[A]):
    """One way of several, with what it keeps of a table."""

    name: ClassVar[str]

    @abstractmethod
    def dump(self) -> tuple[Arrays, Facts]:
        """Arrays and facts from which `load` makes the same. Parts of the subject are kept beside them."""

    @classmethod
    @abstractmethod
    def load(cls, subject: WatchedTable, asked: A, arrays: Arrays, facts: Facts) -> Self:
        """What `dump` described."""

    def kept(self, folder: str, why: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, with a folder before their names, and facts that tell which way it is, too, and why this one."""
        arrays, facts = self.dump()
        return below(folder, arrays), {"way": self.name, "why": why, **facts}


class Way(Strategy[Asked]):
    """One way to find covers."""

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


def exact(covers: Mapping[int, Words]) -> dict[int, Part]:
    """Covers of rules that hold without an error."""
    return {target: Part(contexts) for target, contexts in covers.items()}


class Bordered(Way):
    """The way of borders: evidence with living witnesses, and proof of what it leaves (see `holdfast.borders`)."""

    name = "borders"

    def __init__(self, borders: Borders) -> None:
        self.borders = borders

    @classmethod
    def begin(cls, subject: WatchedTable, asked: Asked, runner: Runner, progress: Progress) -> tuple[Bordered, Covers]:
        """Compare some rows, and prove what they leave."""
        rows = subject.part(_rows_for(asked), runner, progress)
        borders = Borders.of(rows, asked.targets, asked.max_size, runner, progress)
        return cls(borders), exact(borders.covers)

    def follow(self, covers: Covers, change: Change, runner: Runner, progress: Progress) -> Followed:
        """Look at what the batch touches."""
        borders = self.borders
        borders.covers = {target: part.sets for target, part in covers.items()}
        changed = borders.follow(change.dead, runner, progress)
        now = exact({target: each.sets for target, each in changed.items()})
        return Followed(now, changed, borders.evidence.witnesses.rows)

    def reckoned(self) -> list[tuple[Words, Numbers]]:
        """The pairs of rows that each context puts together were counted when it was proved."""
        rounds, self.borders.rounds = self.borders.rounds, []
        return [(found.contexts, found.within) for found in rounds]

    def dump(self) -> tuple[Arrays, Facts]:
        """The witnesses."""
        return self.borders.dump(), {}

    @classmethod
    def load(cls, subject: WatchedTable, asked: Asked, arrays: Arrays, facts: Facts) -> Bordered:  # noqa: ARG003
        """What `dump` described."""
        return cls(Borders.load(subject.part(_rows_for(asked)), asked.targets, asked.max_size, {}, arrays))


def _rows_for(asked: Asked) -> type[RankedColumns]:
    """The order of values matters to pairs of columns alone."""
    return RankedColumns if asked.targets.ascending_pairs else CodedColumns


class State:
    """The covers of every target, and the way that keeps them. `table`, and `filled`, which tells the empty rules, are
    as of the last batch that was taken in, which the subject may be ahead of.
    """

    NAMES: ClassVar[tuple[str, str]]  # of the arrays of covers in a dump
    WAY: ClassVar[str] = ""  # the folder of the way's arrays there

    def __init__(self, subject: WatchedTable, asked: Asked, way: Way, covers: Covers, why: str) -> None:
        self.subject, self.asked, self.way, self.why = subject, asked, way, why
        self.covers: dict[int, Part] = {}
        self._columns = subject.part(FilledColumns)
        self.follow(subject.table, covers)

    def follow(self, after: Table, changed: Covers) -> Iterable[int]:
        """Take in the covers that a batch changed; tells the targets whose rules may have changed."""
        self.table, self.filled = after, self._columns.now
        self.covers |= changed
        return changed

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The covers and what the way keeps."""
        own, facts = self.way.kept(self.WAY, self.why)
        return dump_parts(self.covers, *self.NAMES) | own, facts


S = TypeVar("S", bound=State)


class WaysEngine(Engine[WatchedTable, S], Generic[S]):
    """What engines share whose rules are contexts of targets."""

    WAYS: ClassVar[tuple[type[Way], ...]]
    state: type[S]

    def __init__(self, declared: RuleClass[Any], settings: Any) -> None:
        self.declared, self._settings = declared, settings

    @abstractmethod
    def _asked(self, table: Table, within: tuple[int, ...] | None = None) -> Asked:
        """What is asked of a way; contexts are made of all columns, or `within` some."""

    def _begun(self, subject: WatchedTable, asked: Asked, choice: Choice, runner: Runner, progress: Progress) -> S:
        """The covers of all targets, found from scratch in a way."""
        way, covers = self._way(choice.name).begin(subject, asked, runner, progress)
        return self.state(subject, asked, way, covers, choice.why)

    def _way(self, name: str) -> type[Way]:
        return next(each for each in self.WAYS if each.name == name)

    def dump(self, state: S) -> tuple[Arrays, Facts]:
        """The covers, and what the way keeps."""
        return state.dump()

    def load(self, subject: WatchedTable, arrays: Arrays, facts: Facts) -> S:
        """The state from its arrays."""
        within = facts.get("within")
        asked = self._asked(subject.table, None if within is None else tuple(within))
        way = self._way(facts["way"]).load(subject, asked, inside(self.state.WAY, arrays), facts)
        covers = load_parts(arrays, *self.state.NAMES, asked.targets.context_words)
        return self.state(subject, asked, way, covers, facts["why"])

    def how(self, state: S) -> str:
        """By which way, and why."""
        return way_in_words(state.way.name, state.why)
