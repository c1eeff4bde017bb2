"""Rules with what speaks for them: how much the data look as if a rule were meant, and not an accident.

Each class of rules that can be suggested names a function (`RuleClass.likely`, see `declared`) that finds its likely
rules, exact ones and nearly exact ones alike, and gives each a score from 0 to 1. `holdfast.ranking` puts those of all
classes in one order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the command line reads the numbers below
    from holdfast.changes.diff import Finding
    from holdfast.progress import Progress
    from holdfast.table.runner import Runner

HALF = 0.1  # this share of rows, or of pairs, that could have broken a rule makes half of its score
LIKELY = 0.6  # rules of at least this score are told; others are ranked, for whoever asks for all
NEARLY = 0.2  # and of those with exceptions the ones for which at most this share of rows is in the way
LONGER = 0.6  # what a rule is worth with one more column on the left, or in a key
LONG = 0.8  # and as several columns hold more by chance, they must come nearer to what they can be worth
BROKEN = 0.5  # of rules that rows broke scores are told that reach this
ALARMING = 0.9  # one that was found, and that rows broke, is an alarm from this score on,
ENOUGH = 1000  # and if so many rows could have broken it before: what fewer tested may not be quite so
TOP = 1000  # so many rules of a class are ranked unless asked otherwise
MAX_LHS = 3  # columns of a left side, or of a key


def telling(share: float) -> float:
    """What a share of rows, or of pairs, that could have broken a rule is worth: it rises steeply at first.

    >>> telling(0.0), telling(1.0)
    (0.0, 1.0)
    """
    return share * (1.0 + HALF) / (share + HALF)


def least(columns: int) -> float:
    """The score from which on a rule with so many columns on the left, or a key of so many, is told.

    >>> least(1), round(least(2), 2)
    (0.6, 0.48)
    """
    return LONG * LONGER ** (columns - 1) if columns > 1 else LIKELY


@dataclass(frozen=True)
class Wanted:
    """Which likely rules are asked for: the best so many of a class, with left sides and keys up to some columns."""

    top: int = TOP
    max_lhs: int = MAX_LHS


@dataclass(frozen=True)
class Scored:
    """A rule with what speaks for it."""

    rule: Finding
    table: str  # whose rows break it
    score: float
    support: int  # rows that could have broken it
    sentence: str  # what the score is made of
    to_remove: int = 0  # so many rows are in the way of the rule; 0: it is exact
    g3: float = 0.0  # the share of rows that these are
    rows: tuple[int, ...] = ()  # the first of them, by id
    given: str = ""  # the rule as a rule file takes it, where that is not its own text

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
        """The rule as a rule file takes it."""
        return self.given or self.rule.text

    def to_json(self) -> dict[str, Any]:
        """The rule with its score, which other figures are told beside."""
        return {
            **self.rule.to_json(),
            "score": round(self.score, 6),
            "support": self.support,
            "violations": self.to_remove,
            "g3": self.g3,
            "rows": list(self.rows),
            "evidence": self.sentence,
        }


class Likely(Protocol):
    """What finds the likely rules of a class."""

    def __call__(self, subject: Any, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
        """The rules with the highest scores, in any order; the subject is that of the engine of the class."""
