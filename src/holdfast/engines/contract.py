"""What an engine is: three verbs on a state of its own, and three more to keep that state.

An engine serves one class of rules. It needs a folder that offers these verbs and one line in `registry.py`.
The law for all (tests/laws): after `maintain`, `result` equals that of `discover` on the changed table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from holdfast.changes.diff import Diff, Result
from holdfast.errors import BadInput, refuse_below
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.visible import shown_fields


@dataclass(frozen=True)
class Settings:
    """What the user asks of engines: plain values that a state keeps. Each engine takes what concerns it.

    >>> Settings(error=0.01, max_lhs=3)
    Settings(error=0.01, max_lhs=3)
    """

    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # constraints and ordered columns by table
    pair_limit: int | None = None  # violations of a rule that are kept as pairs; 0: their number alone
    error: float = 0.0  # the share (of pairs of rows, or of distinct values) by which a rule may fail to hold
    max_lhs: int | None = None  # columns of a left side, or of a key
    compare: str = "typed"  # how values of different columns compare: by type, or as text
    max_arity: int = 1  # columns on each side of an inclusion dependency

    def __post_init__(self) -> None:
        """Refuse what no engine can do."""
        refuse_below(0, self.pair_limit, "the number of violations to keep as pairs")
        refuse_below(0, self.max_lhs, "the number of columns of a left side")
        if self.max_arity < 1:
            raise BadInput(f"an inclusion dependency has at least one column on each side, not {self.max_arity}")
        if not 0.0 <= self.error < 1.0:
            raise BadInput(f"the error is a share, from 0 to below 1, not {self.error}; choose another")
        if self.compare not in ("typed", "text"):
            raise BadInput(f"values can't compare as {self.compare!r}; choose from: typed, text")

    def __repr__(self) -> str:
        return shown_fields(self, hidden=("rules",))  # these are prepared for engines, and of no use to people

    def to_json(self) -> dict[str, Any]:
        """Plain values that `from_json` reads back."""
        return asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Settings:
        """The settings that `to_json` described."""
        return Settings(**value)


class Engine(Protocol):
    """One class of rules. The state is the engine's own affair; `maintain` may change it in place.

    Most engines look at one table: their subject is a `Table`, and each table has a state. An engine with `across`
    looks at all tables together: its subject is a mapping of tables by name, and there is one state.
    """

    name: str
    title: str
    across: bool

    def discover(self, subject: Any, runner: Runner) -> Any:
        """The state for a subject, from scratch."""

    def maintain(self, state: Any, change: Change, runner: Runner) -> Diff:
        """Bring the state up to date with a batch, and tell what changed."""

    def result(self, state: Any) -> Result:
        """All that holds now, by text."""

    def dump(self, state: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Arrays and facts from which `load` makes the same state."""

    def load(self, subject: Any, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> Any:
        """The state of a subject that `dump` described."""

    def rewritten(self, state: Any, subject: Any, kept: Mapping[str, Kept]) -> Any:
        """The same state of a subject of which some tables were written anew: their rows and ids are what they were,
        their codes are not. `kept` tells the old codes of the new ones, by table (see `table.rewrite`).

        A state whose dump holds no codes is that which `load` makes of it; one that counts by code moves its counts.
        """


def hear(serving: Engine, progress: Progress) -> None:
    """Let an engine that tells how far it is tell it."""
    if hasattr(serving, "progress"):
        serving.progress = lambda words: progress.step(f"Finding {serving.title}: {words}")
    if hasattr(serving, "advise"):
        serving.advise = progress.note
