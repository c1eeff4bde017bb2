"""The way of borders: evidence with living witnesses, and proof of what it leaves (see `holdfast.borders`)."""

from __future__ import annotations

from holdfast.borders.borders import Borders
from holdfast.borders.parts import Numbers, Part
from holdfast.borders.rows import RankedColumns
from holdfast.engines.order.ways import Arrays, Asked, Covers, Facts, Followed, Way
from holdfast.engines.watched import WatchedTable
from holdfast.pairs.bitsets import Words
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner


class Bordered(Way):
    """The way of borders."""

    name = "borders"

    def __init__(self, borders: Borders) -> None:
        self._borders = borders

    @classmethod
    def begin(cls, subject: WatchedTable, asked: Asked, runner: Runner, progress: Progress) -> tuple[Bordered, Covers]:
        """Compare some rows, and prove what they leave."""
        rows = subject.part(RankedColumns, runner, progress)
        borders = Borders.of(rows, asked.targets, asked.max_level, runner, progress)
        return cls(borders), {target: Part(contexts) for target, contexts in borders.covers.items()}

    def follow(self, covers: Covers, change: Change, runner: Runner, progress: Progress) -> Followed:
        """Look at what the batch touches."""
        borders = self._borders
        borders.covers = {target: part.sets for target, part in covers.items()}
        changed = borders.follow(change.dead, runner, progress)
        return Followed({target: Part(now.sets) for target, now in changed.items()}, borders.evidence.witnesses.rows)

    def reckoned(self) -> list[tuple[Words, Numbers]]:
        """The pairs of rows that each context puts together were counted when it was proved."""
        rounds, self._borders.rounds = self._borders.rounds, []
        return [(found.contexts, found.within) for found in rounds]

    def dump(self) -> tuple[Arrays, Facts]:
        """The witnesses."""
        return self._borders.dump(), {}

    @classmethod
    def load(cls, subject: WatchedTable, asked: Asked, arrays: Arrays, facts: Facts) -> Bordered:  # noqa: ARG003
        """What `dump` described."""
        return cls(Borders.load(subject.part(RankedColumns), asked.targets, asked.max_level, {}, arrays))
