"""What the engine keeps of a table: a strategy with its evidence, and the rules that follow from the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast.engines.pointwise import PointwiseSettings
from holdfast.engines.pointwise.boxes import Boxes, Mask, Space, Values
from holdfast.engines.pointwise.cells import PairValues
from holdfast.engines.pointwise.coverage import rules_covered
from holdfast.engines.pointwise.marginals import values_within
from holdfast.engines.pointwise.minimal_rules import WantedRules, derive, vacuous
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.engines.pointwise.rules import PointwiseWording
from holdfast.engines.pointwise.strategies import PointwiseSpec, PointwiseStrategy
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.progress import Progress
from holdfast.table.table import Schema, Table
from holdfast.table.threads import SoFar
from holdfast.text.quotes import unquoted


@dataclass(frozen=True, eq=False)
class PointwiseMoment:
    """The rules at a moment: how many rows there are, the rules that the settings ask for, how many more are vacuous,
    the minimal boxes that no pair of rows meets; and the evidence, while a batch is explained.

    With `--min-coverage`, vacuous rules are not counted, and only those boxes are sure to be here that the
    rules need (see `coverage`).
    """

    rows: int
    rules: RuleArrays
    vacuous: int
    never: Boxes
    seen: Values | None = None

    @property
    def has_pairs(self) -> bool:
        """Whether a pair of rows could test a rule."""
        return self.rows >= FEWEST_ROWS

    def meets(self, boxes: Boxes, space: Space) -> Mask:
        """Which boxes some pair of rows lies in."""
        if self.seen is None or not self.has_pairs or not len(boxes):
            return np.zeros(len(boxes), np.bool_)
        return np.asarray(values_within(self.seen, space, boxes).any(axis=1))


@dataclass
class PointwiseState:
    """The rules `now`, as of the last batch that was taken in, which the subject may be ahead of. `before` is how they
    stood before that batch, until it is explained. `why` says why this strategy was chosen.
    """

    subject: WatchedTable
    spec: PointwiseSpec
    strategy: PointwiseStrategy
    why: str
    now: PointwiseMoment
    before: PointwiseMoment | None = None

    @property
    def wording(self) -> PointwiseWording:
        """How its rules are put into words."""
        schema = self.subject.table.schema
        return PointwiseWording(schema.name, tuple(schema.names), self.spec.space, self.spec.max_lhs)


def moment_of(
    table: Table, spec: PointwiseSpec, strategy: PointwiseStrategy, settings: PointwiseSettings, progress: Progress
) -> PointwiseMoment:
    """Derive the rules from the evidence. A table of fewer than two rows tests none, and none is reported."""
    rhs = columns_named("rhs", settings.rhs, table.schema)
    if table.rows < FEWEST_ROWS:
        none = RuleArrays.joined(spec.space.columns, [])
        return PointwiseMoment(table.rows, none, 0, none.left)
    wanted = WantedRules(PairValues(strategy.seen, spec.space), spec.max_lhs, rhs, _saying(progress))
    if settings.min_coverage:
        rules, never = rules_covered(strategy, wanted, settings.min_coverage)
        return PointwiseMoment(table.rows, rules.in_order(), 0, never)
    found = derive(wanted, strategy.never)
    rules, unlisted = found.rules, found.vacuous
    if settings.vacuous:
        rules = RuleArrays.joined(spec.space.columns, [rules, vacuous(found, wanted).all_vacuous()])
        unlisted = 0
    return PointwiseMoment(table.rows, rules.in_order(), unlisted, found.never)


def _saying(progress: Progress) -> SoFar:
    """What is said while rules are derived."""

    def say(found: int) -> None:
        progress.step(f"Deriving pointwise order dependencies: {found:,} conjunctions that no two rows meet")

    return say


def columns_named(option: str, names: str | None, schema: Schema) -> tuple[int, ...] | None:
    """The columns of a table that a setting names; None where it is not given."""
    if names is None:
        return None
    named = [unquoted(name.strip()) for name in names.split(",") if name.strip()]
    for name in named:
        if name not in schema.names:
            known = ", ".join(schema.names)
            raise BadInput(f"--{option}: there is no column {name!r} in {schema.name}; choose from: {known}")
    return tuple(sorted({schema.names.index(name) for name in named}))
