"""What the engine keeps of a table: the way in which evidence is found, and the rules that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise import PointwiseSettings
from holdfast.engines.pointwise.cells import Seen
from holdfast.engines.pointwise.covered import rules_covered
from holdfast.engines.pointwise.differ import Moment
from holdfast.engines.pointwise.marks import Boxes
from holdfast.engines.pointwise.readings import Search, derive, vacuous
from holdfast.engines.pointwise.result import KEPT, Listed, Wording
from holdfast.engines.pointwise.ways import Asked, Way
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.errors import BadInput
from holdfast.progress import Progress
from holdfast.table.table import Schema, Table
from holdfast.table.threads import SoFar
from holdfast.text.quotes import unquoted

WAY = "way/"  # before the names of its arrays


@dataclass
class State:
    """The rules that the settings ask to list, how many more are vacuous, and the minimal boxes that no pair of
    rows meets; where a coverage is asked for, vacuous rules are not counted, and of these boxes only those are sure to
    be here that the rules ask for (see `covered`). `table` is as of the last batch that was taken in, which the subject
    may be ahead of; `before` is how rules stood before this one, until it is explained.
    """

    subject: WatchedTable
    table: Table
    asked: Asked
    settings: PointwiseSettings
    way: Way
    rules: Listed
    vacuous: int
    never: Boxes
    why: str = ""  # this way
    before: Moment | None = None

    @staticmethod
    def of(
        subject: WatchedTable, asked: Asked, settings: PointwiseSettings, way: Way, why: str, progress: Progress
    ) -> State:
        """With what follows from the evidence of a way."""
        empty = Listed.none(asked.space.columns)
        state = State(subject, subject.table, asked, settings, way, empty, 0, empty.left, why)
        state.derive(progress)
        return state

    @property
    def wording(self) -> Wording:
        """How its rules are put into words."""
        schema = self.table.schema
        return Wording(schema.name, tuple(schema.names), self.asked.space, self.asked.max_lhs)

    def moment(self) -> Moment:
        """How rules stand now."""
        return Moment(self.table.rows, self.way.seen, self.rules, self.never)

    def derive(self, progress: Progress) -> None:
        """Find the rules that follow from the evidence. A table of fewer than two rows tests none, and none is told."""
        rhs = columns_named("rhs", self.settings.rhs, self.table.schema)
        self.rules, self.vacuous, self.never = Listed.none(self.asked.space.columns), 0, self.never[:0]
        if self.table.rows < FEWEST_ROWS:
            return
        asked = Search(Seen(self.way.seen, self.asked.space), self.asked.max_lhs, rhs, _saying(progress))
        if self.settings.min_coverage:
            some, self.never = rules_covered(self.way, asked, self.settings.min_coverage)
            self.rules = Listed.of(some).in_order()
            return
        found = derive(asked, self.way.never)
        rules, self.vacuous, self.never = Listed.of(found.rules), found.vacuous, found.never
        if self.settings.vacuous:
            rules, self.vacuous = rules.with_more(Listed.of(vacuous(found, asked), vacuous=True)), 0
        self.rules = rules.in_order()

    # ---- kept -------------------------------------------------------------------------------------------------------

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The rules and what the way keeps."""
        kept, facts = self.way.named_dump(WAY, self.why)
        arrays = {f"rules/{name}": getattr(self.rules, name).reshape(-1) for name in KEPT}
        arrays["never"] = self.never.reshape(-1)
        return arrays | kept, {"vacuous": self.vacuous, "max_lhs": self.asked.max_lhs, **facts}

    @staticmethod
    def load(
        subject: WatchedTable, asked: Asked, settings: PointwiseSettings, way: Way, arrays: Arrays, facts: Facts
    ) -> State:
        """What `dump` described, given the way that was made from its part."""
        columns = asked.space.columns
        left, *others = (np.array(arrays[f"rules/{name}"], kind) for name, kind in KEPT.items())
        rules = Listed(left.reshape(-1, columns), *others)
        never = np.array(arrays["never"], np.uint8).reshape(-1, columns)
        return State(subject, subject.table, asked, settings, way, rules, facts["vacuous"], never, facts["why"])


def _saying(progress: Progress) -> SoFar:
    """What is said while rules are derived."""

    def say(found: int) -> None:
        progress.step(f"Deriving pointwise order dependencies: {found:,} conjunctions that no two rows meet")

    return say


def columns_named(option: str, names: str | None, schema: Schema) -> tuple[int, ...] | None:
    """The columns of a table that a setting names; None where it is not given."""
    if names is None:
        return None
    asked = [unquoted(name.strip()) for name in names.split(",") if name.strip()]
    for name in asked:
        if name not in schema.names:
            known = ", ".join(schema.names)
            raise BadInput(f"--{option}: there is no column {name!r} in {schema.name}; choose from: {known}")
    return tuple(sorted({schema.names.index(name) for name in asked}))
