"""What the engines keep of a table: its counted agree-sets, which keys and FDs share, and the rules that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.borders import Borders
from holdfast.borders.parts import Part, dump_parts, load_parts
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.pairs import bitsets
from holdfast.pairs.filled import FilledColumns
from holdfast.pairs.maximal import Maximal, Shift
from holdfast.pairs.multiset import MOST_COLUMNS, Signatures
from holdfast.pairs.watch import PairWatch
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.table.table import Table

_NAMES = ("rules/lhs", "rules/broken")  # of arrays of a dump


@dataclass(frozen=True, eq=False)
class MaximalChange:
    """What a batch did to the maximal agree-sets: those before it, and how they changed."""

    before: Maximal
    shift: Shift


class CountedAgreeSets:
    """The counted agree-sets of a table, and the maximal ones (only kept once asked for).

    `changed` tells what the last batch did to the maximal ones, if they were kept then.
    """

    name: ClassVar[str] = "agree-sets"

    def __init__(self, watch: PairWatch, columns: int, maximal: Maximal | None = None) -> None:
        self._watch, self._columns, self._maximal = watch, columns, maximal
        self.changed: MaximalChange | None = None

    @classmethod
    def of(cls, table: Table, runner: Runner, progress: Progress) -> CountedAgreeSets:
        """From a table, by comparing all pairs."""
        refuse_wide(table)
        return cls(PairWatch.of(table, runner, progress), len(table.schema.columns))

    @property
    def sets(self) -> Signatures:
        """The multiset."""
        return self._watch.sets

    def maximal(self, progress: Progress) -> Maximal:
        """The maximal agree-sets of every target. To find them takes long where there are millions of agree-sets."""

        def say(done: int, every: int) -> None:
            progress.step(f"Finding maximal agree-sets: {done:,} of {every:,} looked at")

        if self._maximal is None:
            self._maximal = Maximal.of(self.sets.sets, self._columns, say)
        return self._maximal

    def follow(self, change: Change, runner: Runner) -> None:
        """Take in a batch."""
        delta = self._watch.follow(change, runner)
        self.changed = None
        if self._maximal is not None:
            before = self._maximal
            self._maximal, shift = before.changed(delta.appeared, delta.vanished, lambda: self.sets.sets)
            self.changed = MaximalChange(before, shift)

    def rewritten(self, table: Table, kept: Kept) -> CountedAgreeSets:  # noqa: ARG002
        """Agree-sets know no codes; rows are read anew with the next batch."""
        return CountedAgreeSets.load(table, *self.dump())

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays from which `load` makes the same."""
        arrays = {f"pairs/{name}": array for name, array in self._watch.sets.dump().items()}
        if self._maximal is not None:
            arrays["maximal/sets"] = self._maximal.sets.reshape(-1)
            arrays["maximal/meets"] = self._maximal.intersections.reshape(-1)
        return arrays, {}

    @classmethod
    def load(cls, table: Table, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> CountedAgreeSets:
        """What `dump` described."""
        columns = len(table.schema.columns)
        own = {name.removeprefix("pairs/"): array for name, array in arrays.items() if name.startswith("pairs/")}
        maximal = None
        if "maximal/sets" in arrays:
            maximal = Maximal(columns, *(_rows(arrays[f"maximal/{name}"], columns) for name in ("sets", "meets")))
        return cls(PairWatch.load(table, own, facts), columns, maximal)


class State:
    """The rules, the left sides of each target, and what they follow from: counted agree-sets, or borders. `table` and
    `filled`, which tells the empty rules, are as of the last batch that was taken in.
    """

    def __init__(
        self, subject: WatchedTable, basis: CountedAgreeSets | Borders, parts: Mapping[int, Part], why: str = ""
    ) -> None:
        self.basis, self.parts, self.why = basis, dict(parts), why
        self._columns = subject.part(FilledColumns)
        self.follow(subject.table)

    def follow(self, table: Table) -> None:
        """Go on with the table after a batch."""
        self.table, self.filled = table, self._columns.now

    def dump(self) -> dict[str, NDArray[Any]]:
        """The rules as arrays, and what borders keep; counted agree-sets are kept with the table."""
        arrays = dump_parts(self.parts, *_NAMES)
        return arrays | (self.basis.dump() if isinstance(self.basis, Borders) else {})


def parts_of(table: Table, arrays: Mapping[str, NDArray[Any]]) -> dict[int, Part]:
    """The rules from what `State.dump` gave."""
    return load_parts(arrays, *_NAMES, bitsets.words_for(len(table.schema.columns) + 1))


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
