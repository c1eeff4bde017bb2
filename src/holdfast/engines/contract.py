"""What an engine is: verbs on a state of its own.

An engine serves one class of rules. It needs a folder with these verbs and the declaration of its class (`declared`),
and one line in `registry.py`.
The law for all (tests/laws): after `maintain`, `result` equals that of `discover` on the changed table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Generic, TypeVar

from holdfast.changes.diff import Diff, Result, Witness
from holdfast.engines.declared import Json, RuleClass
from holdfast.engines.listing import Listing
from holdfast.errors import BadInput
from holdfast.progress import SILENT, Progress
from holdfast.rules.rule import Rule
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.visible import Printed


@dataclass(frozen=True)
class LinesTable:
    """A table of texts: its title, its headings and lines, and which headings stand over numbers."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()


class Explanation(Printed):
    """Whether a rule holds, how far, and which rows to look at."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """As a plain object."""

    def table(self) -> LinesTable | None:
        """What is better seen in a table below the lines."""
        return None


class RuleExplanation(Explanation):
    """Whether a rule holds, with figures, and with the rows that break it where two tell."""

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


Subject = TypeVar("Subject", contravariant=True)
State = TypeVar("State")


class Engine(ABC, Generic[Subject, State]):
    """One class of rules. The state is the engine's own affair; `maintain` may change it in place.

    Most engines look at one table: their subject is a `WatchedTable`, and each table has a state. An engine of a class
    that is `across` tables has a mapping of them by name as its subject, and one state.
    """

    declared: RuleClass[Any]

    @abstractmethod
    def discover(self, subject: Subject, runner: Runner, progress: Progress = SILENT) -> State:
        """The state for a subject, from scratch."""

    @abstractmethod
    def maintain(self, state: State, change: Change, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Bring the state up to date with a batch that the subject has followed, and tell what changed."""

    def merged(self, state: State, changes: Sequence[Change], diffs: Sequence[Diff]) -> Diff:  # noqa: ARG002
        """What a batch of several tables did, given the change of each, which were maintained one after the other, and
        what each of them did. Only engines that look across tables are asked.
        """
        return reduce(Diff.then, diffs)

    @abstractmethod
    def result(self, state: State) -> Result:
        """All that holds now, by text."""

    @abstractmethod
    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Arrays and facts from which `load` makes the same state. The parts of the subject are kept beside them.

        The fact `files` names other files that go with the state: an engine may write some to the folder of a table, so
        that a later process maps them instead of making anew what they hold.
        """

    @abstractmethod
    def load(self, subject: Subject, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state of a subject that `dump` described."""

    def with_rules(self, state: State, subject: Subject, runner: Runner, progress: Progress = SILENT) -> State:  # noqa: ARG002
        """The state of the rules that were given to this engine, from that of an engine of the same class to which
        others were given: what is known of a rule is taken over. Used where rules come and go; a class whose rules are
        given overrides this, so that one more costs one search.
        """
        return self.discover(subject, runner, progress)

    def as_asked_of(self, state: State) -> Engine[Subject, State]:  # noqa: ARG002
        """The engine that asks of any table what was asked of a state: what follows from the shape of its table, where
        nobody asks for it, is settled.
        """
        return self

    def rewritten(self, state: State, subject: Subject, kept: Mapping[str, Kept]) -> State:  # noqa: ARG002  # no codes, no use
        """The same state of a subject of which some tables were written anew: their rows and ids are what they were,
        their codes are not. `kept` tells the old codes of the new ones, by table (see `table.rewrite`).

        A state whose dump holds no codes is that which `load` makes of it.
        """
        return self.load(subject, *self.dump(state))

    def recall(self, state: State, told: Iterable[Json]) -> None:  # noqa: ARG002  # most results follow from the table alone
        """Take over what no table tells from the results that the database keeps, once a state is up to date."""
        return

    def ranked(self, state: State) -> Result:
        """The result as people want to read it: the best first, each with what only a look at all of them tells."""
        return self.result(state)

    def how(self, state: State) -> str:  # noqa: ARG002
        """In which way the rules are kept, and why; nothing where there is but one."""
        return ""

    def listings(self, state: State, subject: Subject, rule: str | None = None) -> Sequence[Listing]:  # noqa: ARG002
        """The violations of the rules that were given, rule by rule; or only of those with a name or text."""
        return ()

    def explain(self, state: State | None, subject: Subject, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """Why a rule holds or doesn't, and which rows to look at first, or why just these rows break it.

        The state is None, and the subject a table or all tables, where the class is not watched.
        """
        raise BadInput(f"can't explain {text!r}: nothing more is known of {self.declared.title}")

    def refuse_rows(self, rows: Sequence[int]) -> None:
        """Say so where rows are named that don't explain anything."""
        if rows:
            raise BadInput(f"--row: rows don't explain {self.declared.title} one by one; leave it out")
