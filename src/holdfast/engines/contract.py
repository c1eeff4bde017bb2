"""What a class of rules is to the rest of the program: what it declares of itself, and the verbs of its engine.

A class of rules is a `RuleClass`; what looks at tables for it is an `Engine`: verbs on a state of its own. Each folder
below `engines/` declares its classes as `RULE_CLASSES` in its `__init__.py`. All of them are light, as this module is:
the command line reads them to print its help. What is heavy is imported by the methods that need it.

The law for all (tests/laws): after `follow`, `result` equals that of `discover` on the changed table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from holdfast.errors import BadInput
from holdfast.progress import SILENT, Progress
from holdfast.rules.names import titled
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule
from holdfast.visible import Printed, accepted_words, brief, counted

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.changes.diff import Diff, Finding, Result, Witness
    from holdfast.engines.listing import Listing
    from holdfast.engines.scored import Scored, Wanted
    from holdfast.rules.given import TableRules
    from holdfast.rules.inclusion import IND
    from holdfast.table.change import Batch
    from holdfast.table.rewrite import UsedCodes
    from holdfast.table.runner import Runner

Json = Mapping[str, Any]
ChangeLine = tuple[str, str, str, str]  # what changed: a column or a rule, the fact, before, after
Settings = TypeVar("Settings")
Subject = TypeVar("Subject", contravariant=True)
State = TypeVar("State")


@dataclass(frozen=True)
class Option:
    """How the command line offers a setting: stands in `Annotated` at a field of a class's settings.

    Classes that have a setting of the same name have it of the same type and with the same bounds.
    """

    help: str
    least: float | None = None
    most: float | None = None
    columns: bool = False  # its value names columns, with commas between


@dataclass(frozen=True)
class NoSettings:
    """The settings of a class that has none."""


@dataclass(frozen=True)
class LinesTable:
    """A table of texts: its title, its headings and lines, and which headings stand over numbers."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()


@dataclass(frozen=True)
class FindingTable:
    """Findings as a table for people: its headings, which of them stand over numbers, and the cells of a finding."""

    headings: tuple[str, ...]
    cells: Callable[[Json], list[str]]
    numbers: tuple[str, ...] = ()

    def of(self, title: str, findings: Iterable[Json]) -> LinesTable:
        """The table of some findings."""
        return LinesTable(title, self.headings, list(map(self.cells, findings)), self.numbers)


# What JSON says of a given rule that does not follow from the table: rows that came since and might have broken it, and
# how many of its violations are accepted, and how many rows have time left.
HISTORY = ("tested_since", "broke_since", "trust", "accepted", "pending")


BASELINE = "baseline"  # of a stored given rule: which of its violations are accepted


def is_given(finding: Json) -> bool:
    """Whether a JSON object is about a given rule: it has a name, a severity, and a number of violations."""
    return "severity" in finding


def _rule_cells(rule: Json) -> list[str]:
    score, to_remove = score_cell(rule), rule.get("to_remove")
    what = rule["counted"] + (f"; {counted(to_remove, 'row')} to remove" if to_remove else "")
    violations = brief(rule["violations"]) + accepted_words(rule["violations"], rule.get("accepted"))
    violations += f" ({rule['pending']:,} pending)" if rule.get("pending") else ""
    return [rule["severity"], violations, what, score, titled(rule["name"], rule["text"])]


def open_violations(rule: Json) -> int:
    """How many violations of a given rule are not accepted."""
    return int(rule["violations"]) - int(rule.get("accepted") or 0)


def score_cell(rule: Json) -> str:
    """The score of a rule in a table, where it has one; of one that nothing tests, that it is empty."""
    if rule.get("empty"):
        return "empty"
    return f"{rule['score']:.2f}" if "score" in rule else "–"


GIVEN_TABLE = FindingTable(("severity", "violations", "counted", "score", "rule"), _rule_cells, ("violations", "score"))


class Pictures(Protocol):
    """A module that draws what was found."""

    def refuse_undrawable(self, path: Path) -> None:
        """BadInput where the ending names no kind of picture."""

    def worth_drawing(self, findings: Sequence[Finding]) -> Sequence[IND]:
        """The references among some findings that are worth drawing."""

    def draw(self, path: Path, tables: Sequence[str], chosen: Sequence[IND]) -> str:
        """The picture of some references as text, in the language that the ending of the path names."""


class RuleClass(ABC, Generic[Settings]):
    """One class of rules."""

    name: ClassVar[str]  # for --rules and --watch, and the `kind` of its findings
    title: ClassVar[str]  # what its findings are called
    rules: ClassVar[tuple[type[Rule], ...]] = ()  # its rules as values
    settings: type[Settings]
    given: ClassVar[bool] = False  # its rules are given by people, and not found
    many: ClassVar[bool] = False  # there may be a million of them: they lie in the engine's state, not one by one
    across: ClassVar[bool] = False  # it looks at all tables together
    facts: ClassVar[bool] = False  # its findings are facts that change, and not rules that break
    scored: ClassVar[bool] = False  # its rules say what they are worth, from 0 to 1, where they are ranked
    references: ClassVar[bool] = False  # its rules tie tables: pages draw those that were given, or look like keys
    denials: ClassVar[bool] = False  # its rules can be written as denial constraints, one for all readings
    yours: ClassVar[str] = ""  # the heading over its rules on pages, where they are given; "": the title
    table: ClassVar[FindingTable] = GIVEN_TABLE
    measure: ClassVar[str] = ""  # the share by which findings say how far they hold, by its name in their objects

    @abstractmethod
    def engine(self, settings: Settings, given: Mapping[str, TableRules]) -> Engine[Any, Any]:
        """The engine with some settings, and the rules that were given, by table."""

    @property
    def lens(self) -> tuple[tuple[str, str], ...]:
        """The headings over its rules that name a column, each with the side that the column is on; "": any."""
        return (("Given rules" if self.given else self.title.capitalize(), ""),)

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


class Suggestible(RuleClass[Settings], Generic[Settings, Subject]):
    """One whose rules can be suggested; its subject is that of its engine."""

    suggested: ClassVar[str]  # the heading over its suggestions
    by_left_side: ClassVar[bool] = False  # suggestions with the same left side are one line
    of_rows: ClassVar[bool] = False  # its rules are about one row: they count by themselves, and show column by column

    @abstractmethod
    def likely(self, subject: Subject, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
        """The rules that the data seem to follow, those with the highest scores, in any order."""


class Drawable(RuleClass[Settings]):
    """One whose findings can be drawn."""

    @abstractmethod
    def pictures(self) -> Pictures:
        """What draws them."""


class CurrentExplanation(Printed):
    """Whether a rule holds, how far, and which rows to look at."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """As a plain object."""

    def table(self) -> LinesTable | None:
        """What is better seen in a table below the lines."""
        return None


@dataclass(frozen=True)
class RuleMeaning(CurrentExplanation):
    """What a rule says, and whether it is among those that hold; None: nobody looked."""

    rule: Rule
    holds: bool | None

    def lines(self) -> list[str]:
        """One line."""
        known = {True: " It holds.", False: " It doesn't hold, or follows from others.", None: ""}
        return [f"{self.rule.text}: {self.rule.meaning}{known[self.holds]}"]

    def to_json(self) -> dict[str, Any]:
        """The rule, and whether it holds."""
        return {**self.rule.to_json(), **({} if self.holds is None else {"holds": self.holds})}


class RuleExplanation(CurrentExplanation):
    """Whether a rule holds, with figures, and with the rows that break it where two show that."""

    FIGURES: ClassVar[tuple[str, ...]]  # fields that are numbers

    rule: Rule
    witness: Witness | None

    @property
    def holds(self) -> bool:
        """Whether nothing breaks it."""
        return self.witness is None

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        figures = {name: getattr(self, name) for name in self.FIGURES}
        witness = {"witness": self.witness.to_json()} if self.witness else {}
        return {**self.rule.to_json(), "holds": self.holds, **figures, **witness}


class Engine(ABC, Generic[Subject, State]):
    """One class of rules. The state is the engine's own affair; `follow` may change it in place.

    Most engines look at one table: their subject is a `WatchedTable`, and each table has a state. An engine of a class
    that is `across` tables has a mapping of them by name as its subject, and one state.
    """

    def __init__(self, declared: RuleClass[Any], settings: Any) -> None:
        self.declared, self._settings = declared, settings

    @abstractmethod
    def discover(self, subject: Subject, runner: Runner, progress: Progress = SILENT) -> State:
        """The state for a subject, from scratch."""

    def refuse_long(self, state: State, batch: Batch) -> None:  # noqa: ARG002  # most batches are quick
        """BadInput where it would take far too long to follow a batch. Called before `follow`, and not where batches
        are replayed, as these were applied.
        """
        return

    @abstractmethod
    def follow(self, state: State, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Bring the state up to date with a batch that the subject has followed, and say what changed. The batch is
        about the one table of the subject, or about some of all tables.
        """

    def explained(self, state: State, diff: Diff, batch: Batch) -> Diff:  # noqa: ARG002
        """The diff that `follow` gave of a batch, with what is stored and shown of it: which rows broke the rules that
        were lost, why rules came and went, and what they are worth. Called once, before the next batch, and not at all
        where batches are replayed. What it gives holds no table.
        """
        return diff

    @abstractmethod
    def result(self, state: State) -> Result:
        """All that holds now, by text."""

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:  # noqa: ARG002
        """Arrays and facts from which `load` makes the same state; none where it is quickly found again. The parts of
        the subject are dumped by themselves.

        The fact `files` names other files that go with the state: an engine may write some to the folder of a table, so
        that a later process maps them instead of making again what they hold.
        """
        return {}, {}

    def load(self, subject: Subject, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:  # noqa: ARG002
        """The state of a subject that `dump` described."""
        from holdfast.table.runner import Threads

        return self.discover(subject, Threads())

    def with_rules(self, state: State, subject: Subject, runner: Runner, progress: Progress = SILENT) -> State:  # noqa: ARG002
        """The state of the rules that were given to this engine, from that of an engine of the same class to which
        others were given: what is known of a rule is taken over. Used where rules come and go; a class whose rules are
        given overrides this, so that one more costs one search.
        """
        return self.discover(subject, runner, progress)

    def with_settings_of(self, state: State) -> Engine[Subject, State]:  # noqa: ARG002
        """The engine with the settings that a state was made with: those that nobody gave follow from the shape of its
        table, and are settled.
        """
        return self

    def rewritten(self, state: State, subject: Subject, kept: Mapping[str, UsedCodes]) -> State:  # noqa: ARG002  # no codes, no use
        """The same state of a subject of which some tables were rewritten: their rows and ids are what they were,
        their codes are not. `kept` has the old codes of the new ones, by table (see `table.rewrite`).

        A state whose dump holds no codes is that which `load` makes of it.
        """
        return self.load(subject, *self.dump(state))

    def recall(self, state: State, results: Iterable[Json]) -> None:  # noqa: ARG002  # most results follow from the table alone
        """Take over from the results in the database what does not follow from tables, when a state is up to date."""
        return

    def ranked(self, state: State) -> Result:
        """The result as people want to read it: the best first, each with what only a look at all of them shows."""
        return self.result(state)

    def how(self, state: State) -> str:  # noqa: ARG002
        """By which strategy the rules are kept true, and why; nothing where there is only one."""
        return ""

    def listings(self, state: State, subject: Subject, rule: str | None = None) -> Sequence[Listing]:  # noqa: ARG002
        """The violations of the rules that were given, rule by rule; or only of those with a name or text."""
        return ()

    def explain(self, state: State | None, subject: Subject, text: str, rows: Sequence[int] = ()) -> CurrentExplanation:  # noqa: ARG002
        """Why a rule holds or doesn't, and which rows to look at first, or why just these rows break it; or at least
        what it says.

        The state is None, and the subject a table or all tables, where the class is not watched.
        """
        self.refuse_rows(rows)
        return RuleMeaning(parse(text), None if state is None else text in self.result(state))

    def refuse_rows(self, rows: Sequence[int]) -> None:
        """Say so where rows are named that don't explain anything."""
        if rows:
            raise BadInput(f"--row: rows don't explain {self.declared.title} one by one; leave it out")
