"""Keepers: each keeps all given rules of one kind in a table true under batches.

A keeper is a frozen, picklable plan: the rules, their columns, what null means, and how its state can be cut. The state
that it plans for is a value of its own. The core verb is

    look(state, rows born, rows dead) -> (state', answer)

It sees no table, no other rules and no database: rows come as columns (`table/rows.py`), and the answer is an effect
for each rule; answers add up in any order (`merged`). So the state may lie in one piece or in many, and the same
function looks at a piece in a thread or in a task that dies or runs twice. What needs the table is done before, in
`ready`: opening what lies in files, giving other keys where the order of values changed, saying where older rows can be
found; or after, in `settle`: listing again what was only counted.

Laws (tests/engines/given): `begin` is `look` on the empty state and all rows; `merged` adds up in any order; `look` on
the pieces of a cut, merged, is `look` on the whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY, ChangedClusters
from holdfast.engines.contract import CurrentExplanation, Json
from holdfast.engines.listing import Listing
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named
from holdfast.table.change import Batch
from holdfast.table.rewrite import UsedCodes as KeptCodes
from holdfast.table.rows import Ids, Rows
from holdfast.table.runner import Runner

Pairs = NDArray[np.int64]  # [violation, row]: t and s, or one row and NOBODY
Arrays = Mapping[str, Any]
RowsOf = Mapping[str, Rows]  # by the name of their table
Subject = TypeVar("Subject", contravariant=True)
State = TypeVar("State")


@dataclass(frozen=True)
class Cut:
    """How the state of the rows of one table divides into pieces that need nothing of each other.

    - `key`: ranges of (the columns, the lead): rows that are equal in the columns meet, in the order of the lead;
    - `hash`: equal values of the columns lie in one piece;
    - `row`: each row is a matter of its own;
    - `whole`: not at all.
    """

    table: str
    by: Literal["key", "hash", "row", "whole"]
    columns: tuple[int, ...] = ()
    lead: int | None = None


class Effect(NamedTuple):
    """What rows that came and went did to the violations of one rule. Effects of pieces add up.

    Violations that are not `listed` are counted alone. `restated` of both those added and those resolved only took
    other rows' places. Of the rows that came, `tested` might have broken the rule, and `broke` did. `example` are the
    rows of one violation that is new, where the keeper knows it. Where violations are rows to remove from groups,
    which `is_grouped` says, `clusters` has these groups, unless they are many.
    """

    added: Pairs
    resolved: Pairs
    count_added: int
    count_resolved: int
    restated: int = 0
    tested: int = 0
    broke: int = 0
    listed: bool = True
    example: tuple[int, ...] = ()
    is_grouped: bool = False
    clusters: ChangedClusters | None = None


Answer = Sequence[Effect]  # rule by rule
NO_PAIRS: Pairs = np.empty((0, 2), np.int64)


def listed(added: Pairs, resolved: Pairs) -> Effect:
    """Violations that are all at hand."""
    return Effect(added, resolved, len(added), len(resolved))


def counted(added: int, resolved: int) -> Effect:
    """Violations of which the numbers alone are known."""
    return Effect(NO_PAIRS, NO_PAIRS, added, resolved, listed=False)


def merged(one: Answer, other: Answer) -> Answer:
    """What two answers say of the same rules."""
    return [_both(*effects) for effects in zip(one, other, strict=True)]


def _both(one: Effect, other: Effect) -> Effect:
    return Effect(
        _joined(one.added, other.added),
        _joined(one.resolved, other.resolved),
        one.count_added + other.count_added,
        one.count_resolved + other.count_resolved,
        one.restated + other.restated,
        one.tested + other.tested,
        one.broke + other.broke,
        one.listed and other.listed,
        min((each.example for each in (one, other) if each.example), default=()),
        one.is_grouped or other.is_grouped,
        _both_clusters(one.clusters, other.clusters),
    )


def _both_clusters(one: ChangedClusters | None, other: ChangedClusters | None) -> ChangedClusters | None:
    """Those of two pieces, which have none in common."""
    return None if one is None or other is None else one.with_others(other)


def _joined(one: Pairs, other: Pairs) -> Pairs:
    return np.concatenate([one, other]) if len(one) and len(other) else one if len(one) else other


def alone(rows: Ids) -> Pairs:
    """Violations that are single rows, as pairs with nobody."""
    pairs = np.full((len(rows), 2), NOBODY, np.int64)
    pairs[:, 0] = rows
    return pairs


@dataclass(frozen=True)
class Tally:
    """How a rule stands, as its keeper knows: its violations; facts, which are compared; and figures, which move with
    every row, and are not; and what its quantity is, where the number of violations says too little.
    """

    violations: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict, compare=False)
    said: str = field(default="", compare=False)


class Previous(NamedTuple):
    """What another plan of the same kind knows: the texts of its rules, in their order, and its state."""

    texts: list[str]
    state: Any


Old: TypeAlias = Previous | None


class Keeper(ABC, Generic[Subject, State]):
    """The plan for some rules of a subject: a `WatchedTable`, or all of them by name."""

    has_track: bool = False  # whether rows that came since count for or against a rule
    counts_restated: bool = False  # whether answers count `restated`; else updated rows say it
    is_sliced: bool = False  # whether it has a keeper for each slice of a table (see `slices`)
    shown: str = "violations of"  # between the number of a rule's violations and its text

    rules: Sequence[Named[Any]]

    @property
    def texts(self) -> list[str]:
        """The rules as they are written."""
        return [named.text for named in self.rules]

    @abstractmethod
    def cuts(self) -> Sequence[Sequence[Cut]]:
        """How the state of each rule can be cut: a cut for each table that it looks at."""

    @abstractmethod
    def begin(self, subject: Subject, runner: Runner, progress: Progress = SILENT, old: Old = None) -> State:
        """The state of all rows: what `look` makes of the empty state. What another plan knows of some of the rules is
        taken over: one more rule costs one look.
        """

    def ready(self, state: State, batch: Batch) -> State:  # noqa: ARG002
        """The state just before `look`: the step that sees the tables, before and after the batch."""
        return state

    @abstractmethod
    def look(self, state: State, born: RowsOf, dead: RowsOf) -> tuple[State, Answer]:
        """The state after a batch, and what the batch did. The state that is given may be used up."""

    def settle(self, state: State, batch: Batch) -> State:  # noqa: ARG002
        """The state after `look`, with what only the tables after the batch say; answers don't depend on it."""
        return state

    def recall(self, state: State, stored: Mapping[str, Json]) -> State:  # noqa: ARG002  # most states follow from the tables
        """The state with what the database has of its rules, by their texts, and neither tables nor dumps show: batches
        that are replayed are replayed together.
        """
        return state

    @abstractmethod
    def tallies(self, state: State) -> Sequence[Tally]:
        """How each rule stands."""

    def measured(self, state: State) -> Sequence[Tally]:
        """The same with what only a look at the tables shows, where batches don't need it."""
        return self.tallies(state)

    @abstractmethod
    def listing(self, state: State, subject: Subject, rule: int) -> Listing:
        """The violations of a rule, with the rows of the table as it is now."""

    @abstractmethod
    def explain(self, state: State, subject: Subject, rule: int, rows: Sequence[int]) -> CurrentExplanation:
        """Why a rule doesn't hold, or why just these rows break it."""

    @abstractmethod
    def dump(self, state: State) -> tuple[Arrays, Mapping[str, Any]]:
        """Arrays and facts from which `load` makes the same state."""

    @abstractmethod
    def load(self, subject: Subject, arrays: Arrays, facts: Mapping[str, Any]) -> State:
        """The state that `dump` described."""

    def rewritten(self, state: State, subject: Subject, kept: Mapping[str, KeptCodes]) -> State:  # noqa: ARG002
        """The same state of a subject of which some tables were rewritten, with other codes."""
        return self.load(subject, *self.dump(state))
