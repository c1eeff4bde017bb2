"""What classes of given rules share: how a rule stands, what a batch did to its violations, and their listings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic

from holdfast.changes.diff import Diff, PairChange, between
from holdfast.engines.contract import Engine, State, Subject
from holdfast.engines.listing import Listing
from holdfast.errors import BadInput
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named, R
from holdfast.table.change import Change
from holdfast.table.runner import Runner


@dataclass(frozen=True)
class GivenStatus(Generic[R]):
    """How a rule stands: how many violations it has."""

    named: Named[R]
    violations: int

    shown: ClassVar[str] = "violations of"

    def __repr__(self) -> str:
        return f"{self.named.name}: {self.violations:,} {self.shown} {self.text}"

    @property
    def kind(self) -> str:
        """Its class."""
        return self.named.rule.kind

    @property
    def text(self) -> str:
        """The rule."""
        return self.named.text

    @abstractmethod
    def figures(self) -> Mapping[str, Any]:
        """What else there is to say of it, as JSON has it."""

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        rule = self.named.rule
        counts = {"violations": self.violations, "counted": rule.counted}
        return self.named.to_json({**rule.about, **counts, **self.figures()})


@dataclass(frozen=True, repr=False)
class ListedStatus(GivenStatus[R]):
    """How a rule stands whose violations are kept as pairs or rows: all of them, unless `pair_limit` is given. Then
    they are more, and their number alone is kept.
    """

    pair_limit: int | None = None

    def figures(self) -> Mapping[str, Any]:
        """Whether they are listed."""
        return {"listed": True} if self.pair_limit is None else {"listed": False, "pair_limit": self.pair_limit}


class GivenEngine(Engine[Subject, State]):
    """An engine whose rules are given: what is found is how each stands, and which rows violate it."""

    figures_move: ClassVar[bool] = False  # whether statuses have figures that are no violations, such as scores

    @abstractmethod
    def result(self, state: State) -> Mapping[str, GivenStatus[Any]]:
        """How each rule stands."""

    @abstractmethod
    def follow(self, state: State, change: Change) -> Mapping[str, PairChange]:
        """Take in a batch; tells the violations that it added and resolved, by the text of their rule."""

    @abstractmethod
    def rules(self, state: State) -> Iterable[Named[Any]]:
        """The rules."""

    @abstractmethod
    def listing(self, state: State, subject: Subject, named: Named[Any]) -> Listing:
        """The violations of a rule, with the rows of the table as it is now."""

    def maintain(self, state: State, change: Change, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Find what a batch violates, and what it resolves."""
        before = self.result(state)
        moved = self.follow(state, change)
        after = self.result(state)
        diff = between(before, after).with_violations(before, after, moved)
        return replace(diff, figures=after) if self.figures_move else diff

    def listings(self, state: State, subject: Subject, rule: str | None = None) -> Sequence[Listing]:
        """The violations of all rules, or of those with a name or text."""
        return [self.listing(state, subject, named) for named in self.rules(state) if named.is_asked(rule)]

    def watched(self, state: State | None, text: str) -> tuple[State, Named[Any]]:
        """The state, and its rule with a text; BadInput where it is not watched."""
        for named in () if state is None else self.rules(state):
            if state is not None and named.text == text:
                return state, named
        raise BadInput(f"can't explain {text!r}: it is not watched here; add it with: holdfast rules STATE add")
