"""A table that engines watch, with the parts that several of them need: there is one of each kind.

Engines ask for a part when they discover or load a state. It is made when first asked for, from what a checkpoint
stored or from the rows; it follows each batch before the engines look at the batch; and is dumped with the table.
Invariant: every part is that of `table`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast, runtime_checkable

from numpy.typing import NDArray

from holdfast.progress import SILENT, Progress
from holdfast.table.change import Change
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Table

Arrays = Mapping[str, NDArray[Any]]
Facts = Mapping[str, Any]
FILES = "files"  # the fact of a dump that names other files that go with it


def below(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Arrays with a prefix before their names."""
    return {prefix + name: array for name, array in arrays.items()}


def inside(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Those arrays that have a prefix before their names, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


class SharedPart(Protocol):
    """What several engines need of a table."""

    name: ClassVar[str]

    @classmethod
    def of(cls, table: Table, runner: Runner, progress: Progress) -> Self:
        """From the rows."""

    @classmethod
    def load(cls, table: Table, arrays: Arrays, facts: Facts) -> Self:
        """The part that `dump` described."""

    def follow(self, change: Change, runner: Runner) -> Any:
        """Take in a batch."""

    def rewritten(self, table: Table, kept: UsedCodes) -> Self:
        """The same of a table that was rewritten, where some codes stayed and have new numbers."""

    def dump(self) -> tuple[Arrays, Facts]:
        """Arrays and facts from which `load` makes the same. The fact `files` names other files that go with them."""


@runtime_checkable
class Recorded(Protocol):
    """A part of which the history says what each batch changed in it."""

    def record(self) -> Facts:
        """What the last batch changed, as a plain object of bounded size."""


P = TypeVar("P", bound=SharedPart)


class WatchedTable:
    """A table and its parts."""

    def __init__(self, table: Table, arrays: Arrays | None = None, facts: Facts | None = None) -> None:
        self.table = table
        self._stored, self._facts = arrays or {}, facts or {}
        self._parts: dict[str, SharedPart] = {}
        self._making = threading.Lock()

    def part(self, kind: type[P], runner: Runner | None = None, progress: Progress = SILENT) -> P:
        """The part of a kind: one for all, also where threads ask at the same time, as only one follows the batches."""
        with self._making:
            if kind.name not in self._parts:
                self._parts[kind.name] = self._made(kind, runner or Threads(), progress)
            return cast(P, self._parts[kind.name])

    def known_part(self, kind: type[P]) -> P | None:
        """The part of a kind, if an engine has asked for it."""
        return cast(P | None, self._parts.get(kind.name))

    def records(self) -> dict[str, Facts]:
        """What the last batch changed in the parts of which the history says so, by their names."""
        return {name: part.record() for name, part in self._parts.items() if isinstance(part, Recorded)}

    def _made(self, kind: type[P], runner: Runner, progress: Progress) -> P:
        arrays, facts = inside(f"{kind.name}/", self._stored), self._facts.get(kind.name, {})
        return kind.load(self.table, arrays, facts) if arrays or facts else kind.of(self.table, runner, progress)

    def follow(self, change: Change, runner: Runner) -> None:
        """Take in a batch, part by part. What is stored of parts that nobody asked for is of no use any more."""
        self.table = change.after
        self._stored, self._facts = {}, {}
        for part in self._parts.values():
            part.follow(change, runner)

    def rewritten(self, table: Table, kept: UsedCodes) -> None:
        """Go on with the table rewritten."""
        self.table = table
        self._parts = {name: part.rewritten(table, kept) for name, part in self._parts.items()}

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The arrays and facts of all parts that engines asked for, and the other files that go with them."""
        arrays: dict[str, NDArray[Any]] = {}
        facts: dict[str, Any] = {}
        for name, part in self._parts.items():
            own, about = part.dump()
            arrays |= below(f"{name}/", own)
            facts |= {name: about} if about else {}
        others = [file for about in facts.values() for file in about.get(FILES, ()) if file is not None]
        return arrays, {**facts, **({FILES: others} if others else {})}
