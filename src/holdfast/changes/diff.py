"""Diffs: what a batch changed in a result.

A result maps the text of each finding (a rule, or the facts of a column) to the finding. A diff tells what was
gained, lost and changed between two results; each lost rule may carry a **witness**, the rows that broke it, and each
rule that came or went a **cause**.

Laws (tests/changes): `between(a, b).patch(a) == b`; `then` composes; `undo` inverts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.asked import untested
from holdfast.changes.naming import Values, listed, named


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
class PairChange:
    """Violations of one rule added and resolved by a batch, as pairs of row ids; None where only counts are kept.

    Where a violation is one row, the other one is NOBODY. A violation may be there before and after the batch and yet
    be listed as other rows: a row that was updated has a new id, and which of equally many rows is one to remove may
    change. So many of those added are `retold`, and as many of those resolved; the others are **new**, and **gone**.
    """

    added: NDArray[np.int64] | None
    resolved: NDArray[np.int64] | None
    retold: int = 0
    # Tells one that is new, where it need not be the first of those added: some of them are retold.
    find_new: Callable[[], tuple[int, ...] | None] | None = None

    def one_new(self) -> tuple[int, ...] | None:
        """The rows of one violation that was not there before; None where none is, or only their number is kept."""
        if not self.new:
            return None
        if self.find_new is not None:
            return self.find_new()
        assert self.added is not None
        return tuple(row for row in self.added[0].tolist() if row != NOBODY)

    @property
    def new(self) -> int | None:
        """How many violations there are that were not there before; None where only their number is kept."""
        return None if self.added is None else len(self.added) - self.retold

    @property
    def gone(self) -> int | None:
        """How many violations were there before, and are no more."""
        return None if self.resolved is None else len(self.resolved) - self.retold

    def undo(self) -> PairChange:
        """The change that takes this one back."""
        return PairChange(self.resolved, self.added, self.retold)

    def then(self, later: PairChange) -> PairChange:
        """Both changes as one: what the first added and the second resolved was never there. Which violations are
        retold is known of each alone: of both, none is, unless one of them changes nothing.
        """
        if self.added is None or self.resolved is None or later.added is None or later.resolved is None:
            return PairChange(None, None)
        for one, other in ((self, later), (later, self)):
            if other.is_nothing:
                return one
        return PairChange(
            np.concatenate([_without(self.added, later.resolved), _without(later.added, self.resolved)]),
            np.concatenate([_without(self.resolved, later.added), _without(later.resolved, self.added)]),
        )

    @property
    def is_nothing(self) -> bool:
        """Whether no violation came or went."""
        return self.added is not None and self.resolved is not None and not len(self.added) and not len(self.resolved)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PairChange)
            and self.retold == other.retold
            and all(_as_set(a) == _as_set(b) for a, b in ((self.added, other.added), (self.resolved, other.resolved)))
        )

    __hash__ = None  # type: ignore[assignment]  # equal changes may list their pairs in another order


class PairsWhenAsked(PairChange):
    """The same, where it is known how many there are, and the pairs are looked for when someone asks."""

    def __init__(
        self,
        added: int,
        resolved: int,
        retold: int,
        find: Callable[[], tuple[Pairs, Pairs]],
        find_new: Callable[[], tuple[int, ...] | None],
    ) -> None:
        self.__dict__.update(retold=retold, find_new=find_new, _counts=(added, resolved), _find=find)

    @cached_property
    def _pairs(self) -> tuple[Pairs, Pairs]:
        pairs: tuple[Pairs, Pairs] = self.__dict__.pop("_find")()
        return pairs

    @property
    def added(self) -> Pairs:
        """Pairs that violate the rule now, and did not before."""
        return self._pairs[0]

    @property
    def resolved(self) -> Pairs:
        """Pairs that did before, and don't now."""
        return self._pairs[1]

    @property
    def new(self) -> int:
        """How many violations there are that were not there before."""
        return int(self.__dict__["_counts"][0]) - self.retold

    @property
    def gone(self) -> int:
        """How many violations were there before, and are no more."""
        return int(self.__dict__["_counts"][1]) - self.retold


def _as_set(pairs: NDArray[np.int64] | None) -> set[tuple[int, ...]] | None:
    return None if pairs is None else {tuple(pair) for pair in pairs.tolist()}


def _without(pairs: Pairs, gone: Pairs) -> Pairs:
    if not len(pairs) or not len(gone):
        return pairs
    first, second = (np.unique(rows, return_inverse=True)[1] for rows in np.concatenate([pairs, gone]).T)
    numbers = first * (second.max() + 1) + second  # equal where both rows are
    return np.asarray(pairs[~np.isin(numbers[: len(pairs)], numbers[len(pairs) :])])


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
    violations: Mapping[str, PairChange] = field(default_factory=dict)
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

    def with_violations(self, before: Result, after: Result, moved: Mapping[str, PairChange]) -> Diff:
        """The same with violations added and resolved, given both results. A rule whose violations are others now has
        changed, also where they are as many as before.
        """
        others = {text: (before[text], after[text]) for text, change in moved.items() if change.new or change.gone}
        return replace(self, changed={**others, **self.changed}, violations=moved)

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

    def undo(self) -> Diff:
        """The diff that takes this one back (witnesses and causes speak of one direction only and are dropped)."""
        return Diff(
            self.lost,
            self.gained,
            {text: (new, old) for text, (old, new) in self.changed.items()},
            {},
            {text: pairs.undo() for text, pairs in self.violations.items()},
        )

    def then(self, later: Diff) -> Diff:
        """Both diffs as one: what the first tells and the second takes back is not told at all. Rules that broke are
        worth what they were before both, and those gained what they are after both.
        """
        old = {**self.lost, **{t: a for t, (a, _) in self.changed.items()}}
        touched = old.keys() | self.gained.keys()
        met = {**later.lost, **{t: a for t, (a, _) in later.changed.items()}}
        before = old | {text: finding for text, finding in met.items() if text not in touched}
        after = later.patch(self.patch(before))
        after |= {text: finding for text, finding in later.figures.items() if text in after}
        net = between(before, after, {**self.witnesses, **later.witnesses})
        told = net.lost.keys() | net.gained.keys()
        moved = self._violations_then(later)
        known = {text: change for text, change in moved.items() if text in before and text in after}
        return replace(
            net.with_violations(before, after, known),
            violations=moved,
            causes=_only(told, self.causes, later.causes),
            figures=self._figures_then(later, after, told | net.changed.keys()),
            worth=_known(net.lost.keys(), later.worth, self.worth),
            gained_worth=_known(net.gained.keys(), self.gained_worth, later.gained_worth),
        )

    def _violations_then(self, later: Diff) -> dict[str, PairChange]:
        both = {**self.violations, **later.violations}
        for text in self.violations.keys() & later.violations.keys():
            both[text] = self.violations[text].then(later.violations[text])
        return {text: change for text, change in both.items() if not change.is_nothing}

    def _figures_then(self, later: Diff, after: Result, told: Collection[str]) -> dict[str, Finding]:
        """The findings whose figures moved, as they are in the end, of which nothing is told."""
        both = {**self.figures, **{text: after[text] for text in self.figures if text in after}, **later.figures}
        return {text: finding for text, finding in both.items() if text not in told and text not in later.lost}


def _only(texts: Collection[str], *parts: Mapping[str, V]) -> dict[str, V]:
    """What parts tell of some rules; of two that tell of the same one, the last."""
    return {text: value for part in parts for text, value in part.items() if text in texts}


def _known(texts: Collection[str], *parts: Mapping[str, V] | None) -> dict[str, V] | None:
    """The same, where some parts may tell of none; None where none does."""
    told = [part for part in parts if part is not None]
    return _only(texts, *told) if told else None


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
