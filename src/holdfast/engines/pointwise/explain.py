"""Whether a pointwise rule holds: how many pairs of rows test it and break it, and two rows that do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from holdfast.borders.rows import RankedColumns
from holdfast.changes.diff import Witness
from holdfast.engines import contract
from holdfast.engines.found.text_order import refuse_unordered
from holdfast.engines.pointwise.boxes import Space
from holdfast.engines.pointwise.rules import PointwiseWording
from holdfast.engines.pointwise.sweeps import count_pairs, first_pairs
from holdfast.rules.pointwise import Pointwise, parse
from holdfast.rules.sentences import explained
from holdfast.table.row_names import witnesses_of
from holdfast.table.table import Table


@dataclass(frozen=True)
class PointwiseExplanation(contract.RuleExplanation):
    """Whether a rule holds, and how many ordered pairs of rows meet its left side and break it."""

    rule: Pointwise
    rows: int
    tested: int
    broken: int
    witness: Witness | None

    FIGURES = ("rows", "tested", "broken")

    def lines(self) -> list[str]:
        """As text, a line each."""
        text, share = self.rule.text, f"{self.rule.coverage or 0.0:.4%}"
        if self.witness is not None:
            head = f"{text} does not hold: {self.broken:,} of the {self.tested:,} ordered pairs of rows that "
            return [f"{head}meet its left side ({share} of all) break it", f"  {self.witness.sentence}"]
        if not self.tested:
            return [f"{text} is vacuous: no two of {self.rows:,} rows meet its left side"]
        head = f"{text} holds in all {self.rows:,} rows: {self.tested:,} ordered pairs of them ({share}) meet "
        return [f"{head}its left side, and none breaks it", f"  as a denial constraint: {self.rule.denial}"]


def explain(table: Table, space: Space, text: str) -> PointwiseExplanation:
    """Explain a rule of a table."""
    names = tuple(table.schema.names)
    rule = parse(text, names, table.schema.name)
    compared = [name for name, operator in (*rule.left, rule.right) if operator != "="]
    refuse_unordered(text, compared, [name for name, ordered in zip(names, space.ordered, strict=True) if not ordered])
    wording, rows = PointwiseWording(table.schema.name, names, space), RankedColumns(table)
    listed = wording.alone(rule)
    (pair,) = first_pairs(rows, space, listed.boxes(space))
    meeting = listed.left.copy()
    meeting[0, listed.column] = listed.mark
    tested, unbroken = count_pairs(rows, space, np.concatenate([listed.left, meeting])).tolist()
    broken = 0 if pair[0] < 0 else tested - unbroken
    (denial,) = wording.denials(listed)
    found = replace(rule, denial=denial, coverage=tested / max(1, table.rows * (table.rows - 1)), vacuous=not tested)
    witness = None
    if broken:
        one, other = rows.ids(pair).tolist()
        witness = explained(rule, witnesses_of(table, {text: (one, other)})[text], table.schema)
    return PointwiseExplanation(found, table.rows, tested, broken, witness)
