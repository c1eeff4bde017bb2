"""What the engine keeps of a table: the covers of every target, the rules among them, and their scores."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.parts import Part
from holdfast.borders.targets import Targets
from holdfast.engines import ways
from holdfast.engines.order.differ import Step
from holdfast.engines.order.result import columns_by_target
from holdfast.engines.order.scores import Scores
from holdfast.engines.ways import Covers
from holdfast.pairs import bitsets
from holdfast.table.table import Table


class State(ways.State):
    """The covers of every target, those of a pair of columns with the contexts in which one of the two is constant; and
    `told`, the rules among them. `scores` are as of the last batch that was taken in; `step` is what this one did,
    until it is explained.
    """

    NAMES = "rules/contexts", "rules/removed"
    WAY = "way/"
    step: Step | None = None

    def __init__(self, *given: Any) -> None:
        self.told: dict[int, Part] = {}
        super().__init__(*given)

    def replace(self, other: State) -> None:
        """Go on with another state of the same table."""
        self.__dict__.update(other.__dict__)

    def follow(self, after: Table, changed: Covers) -> list[int]:
        """Take in the covers that a batch changed; tells the targets whose rules may have changed."""
        super().follow(after, changed)
        touched, self.scores = touched_by(changed, self.asked.targets), Scores(after)
        self.told |= told(self.covers, self.asked.targets, touched)
        return touched

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The covers and what the way keeps; and of which columns contexts are made."""
        arrays, facts = super().dump()
        return arrays, {**facts, "within": self.asked.targets.within}


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
