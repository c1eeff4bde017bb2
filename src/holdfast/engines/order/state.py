"""What the engine keeps of a table: the way in which covers are found, the covers, and the rules to tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.parts import Part, dump_parts, load_parts
from holdfast.borders.targets import Targets
from holdfast.engines.order.differ import Step
from holdfast.engines.order.result import columns_by_target
from holdfast.engines.order.scores import Scores
from holdfast.engines.order.ways import Asked, Covers, Way
from holdfast.engines.watched import WatchedTable
from holdfast.pairs import bitsets
from holdfast.pairs.filled import Filled, FilledColumns
from holdfast.table.table import Table

_WAY = "way/"  # before the names of its arrays
_NAMES = ("rules/contexts", "rules/removed")  # of arrays of a dump


@dataclass
class State:
    """The covers of every target, and `told`, the rules among them; `table`, `scores` and `filled`, which tells the
    empty rules, are as of the last batch that was taken in, which the subject may be ahead of; `step` is what this one
    did, until it is explained.
    """

    subject: WatchedTable
    table: Table
    asked: Asked
    way: Way
    covers: dict[int, Part]
    told: dict[int, Part]
    why: str = ""  # this way
    scores: Scores = field(init=False)
    filled: Filled = field(init=False)
    step: Step | None = None

    def __post_init__(self) -> None:
        self.scores, self.filled = Scores(self.table), self.subject.part(FilledColumns).now

    @staticmethod
    def of(subject: WatchedTable, asked: Asked, way: Way, covers: Covers, why: str) -> State:
        """From the covers of all targets."""
        return State(subject, subject.table, asked, way, dict(covers), told(covers, asked.targets, covers), why)

    def replace(self, other: State) -> None:
        """Go on with another state of the same table."""
        self.__dict__.update(other.__dict__)

    def follow(self, after: Table, changed: Covers) -> list[int]:
        """Take in the covers that a batch changed; tells the targets whose rules may have changed."""
        self.table, self.scores, self.filled = after, Scores(after), self.subject.part(FilledColumns).now
        self.covers |= changed
        touched = touched_by(changed, self.asked.targets)
        self.told |= told(self.covers, self.asked.targets, touched)
        return touched

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The covers and what the way keeps."""
        arrays = dump_parts(self.covers, *_NAMES)
        own, facts = self.way.dump()
        return {**arrays, **{_WAY + name: array for name, array in own.items()}}, {
            "way": self.way.name,
            "why": self.why,
            "within": self.asked.targets.within,
            **facts,
        }


def way_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Of a dump, the arrays that are the way's own."""
    return {name.removeprefix(_WAY): array for name, array in arrays.items() if name.startswith(_WAY)}


def covers_in(arrays: Mapping[str, NDArray[Any]], targets: Targets) -> Covers:
    """Of a dump, the covers."""
    return load_parts(arrays, *_NAMES, targets.context_words)


def told(covers: Covers, targets: Targets, chosen: Iterable[int]) -> dict[int, Part]:
    """The rules of some targets. Those of a pair leave out the contexts in which one of the two is constant (papers:
    fastod, section 4.1). Such a context is minimal for the constant, too: with fewer columns the pair would hold, too.
    """
    rules, columns_of = {}, columns_by_target(targets)
    for target in chosen:
        part, columns = covers[target], columns_of[target]
        if len(columns) > 1 and len(part) and any(len(covers[column]) for column in columns):
            constant = np.concatenate([covers[column].sets for column in columns])
            part = part.some(~bitsets.among(part.sets, constant))
        rules[target] = part
    return rules


def touched_by(changed: Iterable[int], targets: Targets) -> list[int]:
    """The targets whose rules may change with the covers of some: these, and the pairs of changed constants."""
    found = set(changed)
    constants = {target for target in found if target < targets.columns}
    for one, other in combinations(range(targets.columns), 2) if constants else ():
        if one in constants or other in constants:
            found |= {targets.ascending(one, other)} if targets.ascending_pairs else set()
            found |= {targets.descending(one, other)} if targets.descending_pairs else set()
    return sorted(found)
