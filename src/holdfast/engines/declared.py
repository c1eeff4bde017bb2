"""What a class of rules declares of itself: all that the rest of the program must know of it.

Each folder of an engine declares its classes as `RULE_CLASSES` in its `__init__.py`, and that is light on purpose: the
command line reads it to print its help. What is heavy is imported by the methods that need it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from holdfast.rules.rule import Rule
from holdfast.visible import brief

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.engines.contract import Engine
    from holdfast.engines.scored import Likely
    from holdfast.rules.given import TableRules

Json = Mapping[str, Any]
ChangeLine = tuple[str, str, str, str]  # what changed: a column or a rule, the fact, before, after
Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Option:
    """How the command line offers a setting: stands in `Annotated` at a field of a class's settings.

    Classes that have a setting of the same name have it of the same type and with the same bounds.
    """

    help: str
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class NoSettings:
    """The settings of a class that has none."""


@dataclass(frozen=True)
class FindingTable:
    """Findings as a table for people: its headings, which of them stand over numbers, and the cells of a finding."""

    headings: tuple[str, ...]
    cells: Callable[[Json], list[str]]
    numbers: tuple[str, ...] = ()


# What objects tell of a rule that was given, and no table tells: rows that came since and might have broken it.
HISTORY = ("tested_since", "broke_since", "trust")


def is_given(finding: Json) -> bool:
    """Whether an object tells of a rule that was given: it has a name, a severity, and a number of violations."""
    return "severity" in finding


def _rule_cells(rule: Json) -> list[str]:
    score = score_cell(rule)
    return [rule["name"], rule["severity"], score, brief(rule["violations"]), rule["counted"], rule["text"]]


def score_cell(rule: Json) -> str:
    """The score of a rule in a table, where it has one; of one that nothing tests, that it is empty."""
    if rule.get("empty"):
        return "empty"
    return f"{rule['score']:.2f}" if "score" in rule else "–"


GIVEN_TABLE = FindingTable(
    ("rule", "severity", "score", "violations", "counted", "text"), _rule_cells, ("score", "violations")
)


class Pictures(Protocol):
    """A module that draws what was found."""

    def refuse_undrawable(self, path: Path) -> None:
        """BadInput where a picture with this ending can't be drawn here."""

    def draw(self, path: Path, tables: Sequence[str], findings: Sequence[Any]) -> str:
        """The picture of some findings in the language that the ending of the path tells."""


class RuleClass(ABC, Generic[Settings]):
    """One class of rules."""

    name: ClassVar[str]  # for --rules and --watch, and the `kind` of its findings
    title: ClassVar[str]  # what its findings are called
    rules: ClassVar[tuple[type[Rule], ...]] = ()  # its rules as values
    settings: type[Settings]
    given: ClassVar[bool] = False  # its rules are given by people, and not found
    many: ClassVar[bool] = False  # there may be a million of them: they are kept in the engine's state, not one by one
    across: ClassVar[bool] = False  # it looks at all tables together
    facts: ClassVar[bool] = False  # its findings are facts that change, and not rules that break
    scored: ClassVar[bool] = False  # its rules say what they are worth, from 0 to 1, where they are ranked
    table: ClassVar[FindingTable] = GIVEN_TABLE
    suggested: ClassVar[str] = ""  # the heading over its suggestions; "": its rules are not suggested
    by_left_side: ClassVar[bool] = False  # suggestions with the same left side are one line
    drawn: ClassVar[bool] = False  # its findings can be drawn
    measure: ClassVar[str] = ""  # the share by which findings say how far they hold, by its name in their objects

    @abstractmethod
    def engine(self, settings: Settings, given: Mapping[str, TableRules]) -> Engine[Any, Any]:
        """The engine with some settings, and the rules that were given, by table."""

    def likely(self) -> Likely:
        """What finds the rules of the class that the data seem to follow, where it is `suggested`."""
        raise NotImplementedError(self.name)

    def pictures(self) -> Pictures:
        """What draws its findings, where they can be `drawn`."""
        raise NotImplementedError(self.name)

    @property
    def is_searched(self) -> bool:
        """Whether its rules are found by a search among all columns."""
        return not self.given and bool(self.rules)

    def heading(self, finding: Json) -> str:  # noqa: ARG002
        """Over the table of a watched table's findings, given the first; nothing where the title is enough."""
        return ""

    def changes(self, before: Json, after: Json) -> list[ChangeLine]:
        """What of two findings about the same thing differs."""
        if is_given(after):
            return [(after["name"], "violations", f"{before['violations']:,}", f"{after['violations']:,}")]
        if not self.measure:
            return []
        old, new = (f"{one.get(self.measure, 0.0):.4%}" for one in (before, after))
        return [(after["text"], self.measure.replace("_", " "), old, new)]
