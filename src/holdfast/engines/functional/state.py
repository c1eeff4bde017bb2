"""What the engines keep of a table: its counted agree-sets, and the rules that follow from them.

`Ground` holds what keys and FDs have in common: the counted agree-sets and the maximal ones. Watched together on one
table, both engines stand on one ground: the first to see a batch brings it up to date, the second finds it done.
Each state counts its steps, so that it notices if the ground went another way without it (that happens only where
someone keeps two engines' states of one table and feeds them different batches); it then makes its own ground anew.

Invariant: after `n` steps of a state its ground has made `n` steps, or `n + 1` until it sees the same batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.functional.result import Part
from holdfast.errors import BadInput
from holdfast.pairs import bitsets
from holdfast.pairs.maximal import Maximal, Shift
from holdfast.pairs.multiset import MOST_COLUMNS, Signatures
from holdfast.pairs.watch import PairWatch
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.table import Table


@dataclass(frozen=True, eq=False)
class Step:
    """What a batch did to the ground: the table after it, the maximal sets before it, and how they changed."""

    after: Table
    before: Maximal
    shift: Shift


class Ground:
    """The counted agree-sets of a table, and the maximal ones (only kept once asked for)."""

    def __init__(self, watch: PairWatch, columns: int, maximal: Maximal | None = None) -> None:
        self._watch, self._columns, self._maximal = watch, columns, maximal
        self.steps = 0
        self._last: Step | Table | None = None

    @staticmethod
    def of(table: Table, runner: Runner, tell: Callable[[float], None] | None = None) -> Ground:
        """From a table, by comparing all pairs; `tell` hears how far that is."""
        refuse_wide(table)
        return Ground(PairWatch.of(table, runner, tell), len(table.schema.columns))

    @property
    def sets(self) -> Signatures:
        """The multiset."""
        return self._watch.sets

    @property
    def maximal(self) -> Maximal:
        """The maximal agree-sets of every target."""
        if self._maximal is None:
            self._maximal = Maximal.of(self.sets.sets, self._columns)
        return self._maximal

    def follow(self, change: Change, runner: Runner) -> Step | None:
        """Take in a batch; tells how the maximal sets changed, if they are kept."""
        delta = self._watch.follow(change, runner)
        self.steps += 1
        self._last = change.after
        if self._maximal is not None:
            before = self._maximal
            self._maximal, shift = before.changed(delta.appeared, delta.vanished, lambda: self.sets.sets)
            self._last = Step(change.after, before, shift)
        return self.last_step(change)

    def last_step(self, change: Change) -> Step | None:
        """The last step, if it is this batch's and the maximal sets are kept."""
        return self._last if isinstance(self._last, Step) and self._last.after is change.after else None

    def has_seen(self, change: Change) -> bool:
        """Whether the last step was this batch's."""
        after = self._last.after if isinstance(self._last, Step) else self._last
        return after is change.after

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` makes the same."""
        arrays = {f"pairs/{name}": array for name, array in self._watch.dump().items()}
        if self._maximal is not None:
            arrays["maximal/sets"] = self._maximal.sets.reshape(-1)
            arrays["maximal/meets"] = self._maximal.intersections.reshape(-1)
        return arrays

    @staticmethod
    def load(table: Table, arrays: Mapping[str, NDArray[Any]]) -> Ground:
        """The ground that `dump` described."""
        columns = len(table.schema.columns)
        own = {name.removeprefix("pairs/"): array for name, array in arrays.items() if name.startswith("pairs/")}
        maximal = None
        if "maximal/sets" in arrays:
            maximal = Maximal(columns, *(_rows(arrays[f"maximal/{name}"], columns) for name in ("sets", "meets")))
        return Ground(PairWatch.load(table, own), columns, maximal)


class State:
    """The ground of one engine's state, and its rules: the left sides of each target."""

    def __init__(self, table: Table, ground: Ground, parts: Mapping[int, Part]) -> None:
        self.table, self.ground, self.parts = table, ground, dict(parts)
        self.steps = ground.steps

    def follow(self, change: Change, runner: Runner) -> Step | None:
        """Bring the ground up to date with a batch, unless another engine has."""
        ground = self.ground
        self.table = change.after
        if self.steps == ground.steps - 1 and ground.has_seen(change):
            self.steps += 1
            return ground.last_step(change)
        if self.steps != ground.steps:
            self.ground = Ground.of(change.before, runner)
            self.steps = self.ground.steps
        step = self.ground.follow(change, runner)
        self.steps += 1
        return step

    def dump(self) -> dict[str, NDArray[Any]]:
        """The ground and the rules as arrays."""
        targets = sorted(self.parts)
        arrays = self.ground.dump()
        arrays["rules/target"] = np.array(targets, np.int64)
        arrays["rules/count"] = np.array([len(self.parts[t]) for t in targets], np.int64)
        none = np.empty(0, np.uint64)
        arrays["rules/lhs"] = np.concatenate([none, *(self.parts[t].lhs.reshape(-1) for t in targets)])
        broken = [part.broken for _, part in sorted(self.parts.items()) if part.broken is not None]
        if broken:
            arrays["rules/broken"] = np.concatenate(broken)
        return arrays

    @staticmethod
    def load(table: Table, ground: Ground, arrays: Mapping[str, NDArray[Any]]) -> State:
        """The state on a ground, from what `dump` gave."""
        lhs = _rows(arrays["rules/lhs"], len(table.schema.columns))
        broken = np.array(arrays["rules/broken"]) if "rules/broken" in arrays else None
        ends = np.cumsum(arrays["rules/count"])
        parts = {}
        for target, count, end in zip(arrays["rules/target"], arrays["rules/count"], ends, strict=True):
            where = slice(int(end - count), int(end))
            parts[int(target)] = Part(lhs[where], None if broken is None else broken[where])
        return State(table, ground, parts)


def _rows(flat: NDArray[Any], columns: int) -> NDArray[np.uint64]:
    return np.array(flat, np.uint64).reshape(-1, bitsets.words_for(columns + 1))


def refuse_wide(table: Table) -> None:
    """Say so where a table has more columns than agree-sets span."""
    columns = len(table.schema.columns)
    if columns > MOST_COLUMNS:
        raise BadInput(
            f"the table {table.schema.name!r} has {columns} columns, and keys and FDs are found among up to "
            f"{MOST_COLUMNS}; choose some with --columns"
        )


# ---- two engines on one ground --------------------------------------------------------------------------------------

# A ground is offered at the table itself, beside its fields, and so lives no longer than the table does.
_OFFER = "_functional_ground"


def offer(name: str, table: Table, ground: Ground) -> None:
    """Let another engine stand on the ground that this one made."""
    vars(table)[_OFFER] = name, ground


def taken(name: str, table: Table) -> Ground | None:
    """The ground of this very table that another engine made and nobody else took yet, if it still is the table's.

    An engine never takes its own: what it finds anew, it finds from the rows.
    """
    maker, ground = vars(table).get(_OFFER, (name, None))
    if maker == name or ground is None:
        return None
    del vars(table)[_OFFER]
    assert isinstance(ground, Ground)
    return ground if ground.steps == 0 else None
