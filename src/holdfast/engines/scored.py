"""Rules with what speaks for them: how much the data look as if a rule were meant, and not an accident.

Each class of rules that can be suggested (`contract.Suggestible`) finds its likely rules, exact ones and nearly exact
ones alike, and gives each a score from 0 to 1. `holdfast.ranking` puts those of all classes in one order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.engines.thresholds import MAX_LHS, TOP
from holdfast.errors import refuse_below
from holdfast.rules.promotion import denial_of
from holdfast.rules.registry import parse

if TYPE_CHECKING:
    from holdfast.changes.diff import Finding


@dataclass(frozen=True)
class Wanted:
    """Which likely rules are asked for: the best N of a class, with left sides and keys up to some columns."""

    top: int = TOP
    max_lhs: int = MAX_LHS

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        refuse_below(1, self.top, "the number of rules")
        refuse_below(1, self.max_lhs, "the number of columns of a left side")


@dataclass(frozen=True)
class Scored:
    """A rule with what speaks for it."""

    rule: Finding
    table: str  # whose rows break it
    score: float
    support: int  # rows that could have broken it
    sentence: str  # what the score is made of
    to_remove: int = 0  # rows in the way of the rule; 0: it is exact
    g3: float = 0.0  # the share of rows that these are
    rows: tuple[int, ...] = ()  # the first of them, by id
    given: str = ""  # the rule as a rule file takes it, where that is not its own text
    sure: bool = True  # nothing but wrong rows is likely to break it, as far as its class can see
    chance: float | None = None  # the breaks to expect a row (see `chance`); None: nobody can say

    @property
    def text(self) -> str:
        """The rule."""
        return self.rule.text

    @property
    def columns(self) -> list[str]:
        """The columns of its left side, with a context, or of a key; none where it has no such thing."""
        about = self.rule.to_json()
        listed = about.get("lhs") or about.get("columns") or [*about.get("context", ()), *about.get("pair", ())[:1]]
        return [each if isinstance(each, str) else each[0] for each in listed]

    @property
    def as_given(self) -> str:
        """The rule as a rule file takes it: itself, or the denial constraint that it is, if there is one."""
        rule = parse(self.text)
        return self.given or (rule if rule.given_as else denial_of(rule) or rule).text

    def to_json(self) -> dict[str, Any]:
        """The rule with its score and other figures."""
        return {
            **self.rule.to_json(),
            "score": round(self.score, 6),
            "support": self.support,
            "violations": self.to_remove,
            "g3": self.g3,
            "rows": list(self.rows),
            "evidence": self.sentence,
        }
