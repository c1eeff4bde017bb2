"""The counted signatures of order of a table, as a part that engines share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray

from holdfast.pairs.multiset import Delta, Signatures
from holdfast.pairs.signatures import ORDERED, Kind
from holdfast.pairs.watch import PairWatch
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class CountedSignatures:
    """The counted signatures of order of a table; `delta` tells which the last batch brought in and took out."""

    name: ClassVar[str] = "order-signatures"

    def __init__(self, watch: PairWatch) -> None:
        self._watch, self.delta = watch, Delta(watch.sets.sets[:0], watch.sets.sets[:0])

    @classmethod
    def of(cls, table: Table, runner: Runner, progress: Progress, kind: Kind = ORDERED) -> CountedSignatures:
        """From a table, by comparing all pairs. Engines share the kind `ORDERED`; another is its owner's alone."""
        return cls(PairWatch.of(table, runner, progress, kind))

    @property
    def sets(self) -> Signatures:
        """The multiset: each pair of rows from both of them."""
        return self._watch.sets

    def follow(self, change: Change, runner: Runner) -> None:
        """Take in a batch."""
        self.delta = self._watch.follow(change, runner)

    def rewritten(self, table: Table, kept: Kept) -> CountedSignatures:  # noqa: ARG002
        """Signatures know no codes; rows are read anew with the next batch."""
        return CountedSignatures.load(table, *self.dump(), self.sets.kind)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays from which `load` makes the same."""
        return self._watch.dump(), {}

    @classmethod
    def load(
        cls,
        table: Table,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],  # noqa: ARG003
        kind: Kind = ORDERED,
    ) -> CountedSignatures:
        """What `dump` described."""
        return cls(PairWatch.load(table, arrays, kind))
