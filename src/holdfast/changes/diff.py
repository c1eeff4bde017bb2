"""Diffs: what a batch changed in a result.

A result maps the text of each finding (a rule, or the facts of a column) to the finding. A diff tells what was
gained, lost and changed between two results; each lost rule may carry a **witness**, the rows that broke it, and each
rule that came or went a **cause**. A diff that an engine has explained is plain data: it holds no table alive, and
nothing of it is computed later but the words for rules.

Law (tests/changes): `between(a, b).patch(a) == b`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.lazy_rules import untested
from holdfast.text.row_names import Values, listed, named


class Finding(Protocol):
    """What an engine finds: frozen, comparable, with one text form that names it."""

    @property
    def kind(self) -> str:
        """The class of rule: `column`, `fd`, `od`, …"""

    @property
    def text(self) -> str:
        """The text form, unique within a table and kind."""

    def to_json(self) -> dict[str, Any]:
        """The JSON object that `--format json` prints."""


Result = Mapping[str, Finding]
V = TypeVar("V")
Pairs = NDArray[np.int64]

NOBODY = -1  # in a pair of rows, where a rule is about one row, or where no rows break it


@dataclass(frozen=True)
class Witness:
    """The rows that broke a rule: their ids, their values, and their keys where one is declared; and a sentence that
    says how, where that is not plain.
    """

    rows: tuple[int, ...]
    values: tuple[Values, ...] = ()
    keys: tuple[Values, ...] = ()
    sentence: str = field(default="", kw_only=True)

    def __str__(self) -> str:
        return self.named()

    def named(self, first: Sequence[str] = ()) -> str:
        """The rows in words; where there is no key, by their values, those of the columns that come first first."""
        return self.sentence or listed(named(self.rows, self.keys, self.values, first))

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON."""
        keys = {"keys": [dict(key) for key in self.keys]} if self.keys else {}
        said = {"sentence": self.sentence} if self.sentence else {}
        return {
            "rows": list(self.rows),
            **keys,
            "values": [None if v is None else dict(v) for v in self.values],
            **said,
        }


CauseKind = Literal[
    "split", "swap", "mended", "smaller context", "constant", "stronger", "score", "untested", "below --min-coverage"
]


@dataclass(frozen=True)
class Cause:
    """Why a rule is told no longer, or is told now; `by` is the rule that it follows from, or followed from.

    - `split`, `swap`: rows break it now; `mended`: none do any longer;
    - `smaller context`: it holds in a smaller context, too; or did;
    - `constant`: one of its columns is constant in its context; or was;
    - `stronger`: a rule that says more holds; or did;
    - `score`: its score fell below what is asked for; or rose;
    - `below --min-coverage`: too few pairs of rows test it; or did;
    - `untested`: no pair of rows is left that could test it; or was there.
    """

    kind: CauseKind
    by: str = ""

    def to_json(self) -> dict[str, Any]:
        """What an event says of its cause."""
        return {"cause": self.kind, **({"by": self.by} if self.by else {})}


@dataclass(frozen=True)
class Worth:
    """What speaks for a rule: its score, from 0 to 1, and the rows that could have broken it; and whether it may hold
    by chance all the same, as a key may whose values are drawn from many.
    """

    score: float
    support: int
    by_chance: bool = field(default=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """What a rule says of it."""
        return {"score": round(self.score, 6), "support": self.support}


@dataclass(frozen=True, eq=False)
class ViolationChange:
    """What a batch did to the violations of one rule: exact numbers, and the first of the rows, as pairs of row ids.

    Where a violation is one row, the other one is NOBODY. A violation may be there before and after the batch and yet
    be listed as other rows: a row that was updated has a new id, and which of equally many rows is one to remove may
    change. `retold` counts these, among those added and those resolved. The others are **new**, and **gone**; None
    where only the number of violations is kept. The engine of the rule can list all.
    """

    new: int | None
    gone: int | None
    added: NDArray[np.int64]
    resolved: NDArray[np.int64]
    retold: int = 0
    example: tuple[int, ...] | None = None  # the rows of one violation that is new

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ViolationChange)
            and (self.new, self.gone, self.retold) == (other.new, other.gone, other.retold)
            and all(_as_set(a) == _as_set(b) for a, b in ((self.added, other.added), (self.resolved, other.resolved)))
        )

    __hash__ = None  # type: ignore[assignment]  # equal changes may list their pairs in another order

    @staticmethod
    def counted() -> ViolationChange:
        """That of a rule of which only the number of violations is kept."""
        none = np.empty((0, 2), np.int64)
        return ViolationChange(None, None, none, none)


def _as_set(pairs: NDArray[np.int64]) -> set[tuple[int, ...]]:
    return {tuple(pair) for pair in pairs.tolist()}


@dataclass(frozen=True)
class Diff:
    """Findings gained, lost and changed, by their text; witnesses; and violations added to a rule, or resolved.

    A lost rule that has a witness is broken by it. One that has none is not: it still holds, and is no longer reported,
    as it follows from another that holds now, or nothing is left that could break it; or nothing was there before that
    could (it says so of itself: `empty`), so that it had never been tested: see `untested`.
    """

    gained: Result = field(default_factory=dict)
    lost: Result = field(default_factory=dict)
    changed: Mapping[str, tuple[Finding, Finding]] = field(default_factory=dict)
    witnesses: Mapping[str, Witness] = field(default_factory=dict)
    violations: Mapping[str, ViolationChange] = field(default_factory=dict)
    causes: Mapping[str, Cause] = field(default_factory=dict)  # of rules gained and lost, where the engine tells them
    # Findings as they are now, of which nothing is told, but figures moved that are kept with them, such as scores.
    figures: Result = field(default_factory=dict)
    # What rules were worth that rows broke, before the batch, and what those are worth that were gained. None: the
    # engine doesn't tell; where it does, a rule of which nothing is told is an accident.
    worth: Mapping[str, Worth] | None = None
    gained_worth: Mapping[str, Worth] | None = None

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.changed or self.violations)

    @cached_property
    def untested(self) -> Collection[str]:
        """The lost rules that hold no longer, and yet did not break: nothing had tested them."""
        return {text for text in untested(self.lost) if text not in self.witnesses and not self._holds_still(text)}

    def _holds_still(self, text: str) -> bool:
        cause = self.causes.get(text)
        return cause is not None and cause.kind not in ("split", "swap")

    def patch(self, result: Result) -> dict[str, Finding]:
        """The result after this diff."""
        after = {text: finding for text, finding in result.items() if text not in self.lost}
        after.update(self.gained)
        after.update({text: new for text, (_, new) in self.changed.items()})
        return after

    def without(self, texts: Collection[str]) -> Diff:
        """The same as if nobody had heard of some rules."""
        return self._of(lambda text: text not in texts)

    def only(self, texts: Collection[str]) -> Diff:
        """What it tells of some rules."""
        return self._of(lambda text: text in texts)

    def _of(self, told: Callable[[str], bool]) -> Diff:
        def some(part: Mapping[str, V]) -> dict[str, V]:
            return {text: each for text, each in part.items() if told(text)}

        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        kept: dict[str, Any] = {name: None if part is None else some(part) for name, part in parts.items()}
        return Diff(**kept)


def between(before: Result, after: Result, witnesses: Mapping[str, Witness] | None = None) -> Diff:
    """The diff that leads from one result to another; witnesses of rules that weren't lost are dropped."""
    lost = {text: finding for text, finding in before.items() if text not in after}
    return Diff(
        gained={text: finding for text, finding in after.items() if text not in before},
        lost=lost,
        changed={
            text: (before[text], finding)
            for text, finding in after.items()
            if text in before and before[text] != finding
        },
        witnesses={text: witness for text, witness in (witnesses or {}).items() if text in lost},
    )
