"""What a class of rules declares of itself: all that the rest of the program must know of it.

Each folder of an engine declares its classes as `RULE_CLASSES` in its `__init__.py`, and that is light on purpose: the
command line reads it to print its help. What is heavy is named by its module, and imported when it is needed:

- `engine`: a module with `make(declared, settings, given)`, which gives an `Engine` (see `contract`);
- `texts`: a module that knows the texts of such rules (see `RuleTexts`);
- `picture`: a module that draws what was found (see `Pictures`);
- `meanings`: a module that knows what such rules say (see `meaning.Meanings`);
- `likely`: a module that finds the rules which the data look as if they were meant (see `scored.Likely`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from holdfast.visible import brief

if TYPE_CHECKING:
    from holdfast.engines.meaning import Meanings
    from holdfast.engines.scored import Likely
    from holdfast.table.table import Schema

Severity = Literal["error", "warn"]
Json = Mapping[str, Any]
ChangeLine = tuple[str, str, str, str]  # what changed: a column or a rule, the fact, before, after


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


@dataclass(frozen=True)
class GivenRule:
    """A rule as someone gave it: with a name, for a table ("": the only one), in the words of its class."""

    name: str
    table: str
    text: str
    severity: Severity = "error"
    note: str = ""


@dataclass(frozen=True)
class TableRules:
    """The rules of one class that were given for a table, and its text columns whose order means something."""

    rules: tuple[GivenRule, ...] = ()
    ordered: frozenset[str] = frozenset()


Given = Mapping[str, Mapping[str, TableRules]]  # the given rules of each class, table by table


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


def _violations_changed(before: Json, after: Json) -> list[ChangeLine]:
    return [(after["name"], "violations", f"{before['violations']:,}", f"{after['violations']:,}")]


class RuleTexts(Protocol):
    """A module that knows the texts of a class of rules: `prefix` and `bound` where these are given, `table` where they
    look across tables, and `bound_across` in place of `bound` where both is so.
    """

    EXAMPLES: Sequence[str]  # rules, such as `Zip -> City`
    DESCRIBED: Sequence[str]  # what they are, such as `a key, key(Zip)`

    def means(self, text: str) -> bool:
        """Whether a text means to be such a rule."""

    def canonical(self, text: str) -> str:
        """The same rule as it is always written; BadInput where it is none."""

    def prefix(self, text: str) -> str:
        """What a rule without a name is called, before a number."""

    def bound(self, rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> tuple[str, Sequence[str]]:
        """The canonical text of a rule of a table, checked against its columns, and what is odd about it."""

    def bound_across(self, rule: GivenRule, schemas: Mapping[str, Schema]) -> tuple[str, Sequence[str]]:
        """The same of a rule that looks across tables, checked against all of them."""

    def table(self, text: str) -> str:
        """The table whose rows break a rule."""

    def renamed(self, text: str, table: str, names: Mapping[str, str]) -> str:
        """The same rule where some columns of a table have other names now, given by their old ones."""


class Pictures(Protocol):
    """A module that draws what was found."""

    def refuse_undrawable(self, path: Path) -> None:
        """BadInput where a picture with this ending can't be drawn here."""

    def draw(self, path: Path, tables: Sequence[str], findings: Sequence[Any]) -> str:
        """The picture of some findings in the language that the ending of the path tells."""


@dataclass(frozen=True)
class RuleClass:
    """One class of rules."""

    name: str  # for --rules and --watch, and the `kind` of its findings
    title: str  # what its findings are called
    engine: str
    settings: type[Any] = NoSettings
    given: bool = False  # its rules are given by people, and not found
    many: bool = False  # there may be a million of them: they are kept in the engine's state, not one by one
    across: bool = False  # it looks at all tables together
    facts: bool = False  # its findings are facts that change, and not rules that break
    scored: bool = False  # its rules tell what they are worth, from 0 to 1, where they are ranked
    texts: str | None = None
    meanings: str | None = None
    picture: str | None = None
    likely: str | None = None
    table: FindingTable = GIVEN_TABLE
    heading: Callable[[Json], str] | None = None  # over the table of a watched table's findings, given the first
    # The share that findings tell how far they hold, by its name in their objects; and what of two objects about the
    # same thing differs, in words.
    measure: str | None = None
    changes: Callable[[Json, Json], list[ChangeLine]] | None = None
    # The columns that a finding speaks of, as table and name; None where finding all again is cheap.
    columns: Callable[[Json], set[tuple[str, str]]] | None = None

    def load_texts(self) -> RuleTexts | None:
        """What knows the texts of its rules, if they have any."""
        return cast(RuleTexts, import_module(self.texts)) if self.texts else None

    def load_meanings(self) -> Meanings | None:
        """What knows what its rules say, if they say anything."""
        return cast("Meanings", import_module(self.meanings)) if self.meanings else None

    def load_pictures(self) -> Pictures | None:
        """What draws its findings, if they can be drawn."""
        return cast(Pictures, import_module(self.picture)) if self.picture else None

    def load_likely(self) -> Likely | None:
        """What finds its likely rules, if there is such a thing."""
        return cast("Likely", import_module(self.likely)) if self.likely else None

    def change_lines(self, before: Json, after: Json) -> list[ChangeLine]:
        """What of two findings about the same thing differs."""
        if is_given(after):
            return _violations_changed(before, after)
        if self.changes is not None:
            return self.changes(before, after)
        if self.measure is None:
            return []
        old, new = (f"{one.get(self.measure, 0.0):.4%}" for one in (before, after))
        return [(after["text"], self.measure.replace("_", " "), old, new)]
