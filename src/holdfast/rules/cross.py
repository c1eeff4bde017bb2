"""Denial constraints across columns, as they are found (papers: weever, section 6.2, uses such constraints).

    not(t.Low > s.High)                                   no row's Low is above the High of another row
    not(t.Start < s.End and t.Room = s.Room)

Each comparison is between a column of row t and a column of row s. The text is that of a denial constraint, and so is
the meaning: a comparison with null is never true. So a text reads back as a denial constraint that can be given, and
promotion changes nothing.

`coverage` is the share of ordered pairs of rows that come near: they meet all comparisons but one, and have values for
that one (None: not computed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.rules.denial import DenialConstraint


@dataclass(frozen=True)
class CrossDenial(DenialConstraint):
    """A denial constraint that was found, not given."""

    coverage: float | None = None

    kind = prefix = "cross"
    given_as = ""
    example = "not(t.Low > s.High)"
    described = "a denial constraint across columns"

    @classmethod
    def means(cls, text: str) -> bool:
        """A denial constraint all of whose comparisons are between a column of t and a column of s."""
        return DenialConstraint.means(text) and is_across(DenialConstraint.parse(text))

    @property
    def about(self) -> dict[str, Any]:
        """Its comparisons: the column of t, the operator, and the column of s."""
        return {
            "comparisons": [[each.cells[0].column, each.operator, each.cells[1].column] for each in self.predicates]
        }

    @property
    def figures(self) -> dict[str, Any]:
        """The share of pairs of rows that come near."""
        return {} if self.coverage is None else {"coverage": self.coverage}


def is_across(rule: DenialConstraint) -> bool:
    """Whether each comparison is between a column of t and one of s, and one at least between two different columns."""
    rows = [tuple(cell.row for cell in each.cells) for each in rule.predicates]
    return set(rows) == {("t", "s")} and not all(each.is_same_column for each in rule.predicates)
