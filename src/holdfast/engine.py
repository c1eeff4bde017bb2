"""What an engine is: three verbs on a state of its own, and two more to keep that state.

An engine serves one class of rules. It needs a folder that offers these verbs and one line in `registry.py`.
The law for all (tests/laws): after `maintain`, `result` equals that of `discover` on the changed table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from holdfast.changes.diff import Diff, Result
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.voice import Voice


@dataclass(frozen=True)
class Settings:
    """What the user asks of engines: plain values that a state keeps. Each engine takes what concerns it."""

    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # constraints and ordered columns by table
    pair_limit: int | None = None  # violations of a rule that are kept as pairs; 0: their number alone
    error: float = 0.0  # the share (of pairs, or of values) by which a rule may fail to hold
    max_lhs: int | None = None  # columns of a left side, or of a key
    compare: str = "typed"  # how values of different columns compare: by type, or as text
    max_arity: int = 1  # columns on each side of an inclusion dependency

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


def hear(serving: Engine, voice: Voice) -> None:
    """Let an engine that tells how far it is tell it."""
    if hasattr(serving, "progress"):
        serving.progress = lambda words: voice.step(f"Finding {serving.title}: {words}")
