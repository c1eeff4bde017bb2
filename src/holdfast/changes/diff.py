"""Diffs: what a batch changed in a result.

A result maps the text of each finding (a rule, or the facts of a column) to the finding. A diff has what was gained,
lost and changed between two results; a lost rule may have a **witness**, the rows that broke it, and a rule that was
gained or lost a **cause**. A diff that an engine has explained is plain data: it holds no table, and later only the
texts of rules are made.

Law (tests/changes): `between(a, b).patch(a) == b`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, Protocol

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
Pairs = NDArray[np.int64]

NOBODY = -1  # in a pair of rows: the rule is about one row, or no rows break it


@dataclass(frozen=True)
class Witness:
    """The rows that broke a rule: their ids, their values, and their keys where the table has one; and a sentence that
    says how they break it, where that is not obvious.
    """

    rows: tuple[int, ...]
    values: tuple[Values, ...] = ()
    keys: tuple[Values, ...] = ()
    sentence: str = field(default="", kw_only=True)

    def __str__(self) -> str:
        return self.named()

    def named(self, first: Sequence[str] = ()) -> str:
        """The rows in words; without a key by their values, those of the columns `first` first."""
        return self.sentence or listed(named(self.rows, self.keys, self.values, first))

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON."""
        keys = {"keys": [dict(key) for key in self.keys]} if self.keys else {}
        values = [None if row is None else dict(row) for row in self.values]
        sentence = {"sentence": self.sentence} if self.sentence else {}
        return {"rows": list(self.rows), **keys, "values": values, **sentence}


CauseKind = Literal[
    "split", "swap", "mended", "smaller context", "constant", "stronger", "score", "untested", "below --min-coverage"
]


LossKind = Literal["lost", "untested", "implied"]


@dataclass(frozen=True)
class Cause:
    """Why a rule is no longer reported, or is reported now; `by` is the rule that it follows or followed from.

    - `split`, `swap`: rows break it now; `mended`: no rows break it any more;
    - `smaller context`: it also holds in a smaller context, or did;
    - `constant`: one of its columns is constant in its context, or was;
    - `stronger`: a stronger rule holds, or did;
    - `score`: its score fell below the threshold, or rose above it;
    - `below --min-coverage`: too few pairs of rows test it, or did;
    - `untested`: no pair of rows tests it any more, or did before.
    """

    kind: CauseKind
    by: str = ""

    def to_json(self) -> dict[str, Any]:
        """What an event says of its cause."""
        return {"cause": self.kind, **({"by": self.by} if self.by else {})}


@dataclass(frozen=True)
class Worth:
    """The evidence for a rule: its score, from 0 to 1, and the rows that could have broken it; and whether it may hold
    by chance, as a key may whose values are random.
    """

    score: float
    support: int
    by_chance: bool = field(default=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON."""
        return {"score": round(self.score, 6), "support": self.support}


@dataclass(frozen=True, eq=False)
class ChangedClusters:
    """The left sides of a key or an FD that have more rows to remove since a batch, or fewer: their codes
    `[column, left side]` in some columns; how many rows to remove there were and are, and how many rows there are; and
    of an FD the code that most of these have on the right, and how many have it.
    """

    columns: Sequence[int]
    codes: NDArray[Any]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    sizes: NDArray[np.int64]
    usual: NDArray[np.int64]
    usual_counts: NDArray[np.int64]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChangedClusters) and self._each() == other._each()

    __hash__ = None  # type: ignore[assignment]  # equal ones may be in another order

    def _numbers(self) -> list[NDArray[np.int64]]:
        return [self.before, self.after, self.sizes, self.usual, self.usual_counts]

    def _each(self) -> list[list[int]]:
        return sorted(np.vstack([self.codes.astype(np.int64), *self._numbers()]).T.tolist())

    def with_others(self, others: ChangedClusters) -> ChangedClusters:
        """These and others, which have none in common."""
        codes = np.concatenate([self.codes, others.codes], axis=1)
        numbers = zip(self._numbers(), others._numbers(), strict=True)
        return ChangedClusters(self.columns, codes, *map(np.concatenate, numbers))

    def place_of(self, codes: NDArray[Any]) -> int | None:
        """The place of the left side that has some codes; None: it is not among these."""
        found = np.flatnonzero((self.codes == codes[:, None]).all(axis=0))
        return int(found[0]) if len(found) else None


@dataclass(frozen=True, eq=False)
class ViolationChange:
    """What a batch did to the violations of one rule: exact numbers, and the first violations, as pairs of row ids.

    Where a violation is one row, the other id is NOBODY. A violation that exists before and after the batch may be
    listed with other rows: an updated row has a new id, and another of equally good rows may be the one to remove.
    `restated` counts these, among those added and those resolved. The others are **new** and **gone**; None where only
    the number of violations is known. The engine of the rule can list all.
    """

    new: int | None
    gone: int | None
    added: NDArray[np.int64]
    resolved: NDArray[np.int64]
    restated: int = 0
    example: tuple[int, ...] | None = None  # the rows of one violation that is new
    clusters: ChangedClusters | None = None  # where violations are rows to remove from groups that are not too many

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ViolationChange)
            and (self.new, self.gone, self.restated) == (other.new, other.gone, other.restated)
            and all(_as_set(a) == _as_set(b) for a, b in ((self.added, other.added), (self.resolved, other.resolved)))
        )

    __hash__ = None  # type: ignore[assignment]  # equal changes may have their pairs in another order

    @staticmethod
    def counted() -> ViolationChange:
        """The change of a rule of which only the number of violations is known."""
        none = np.empty((0, 2), np.int64)
        return ViolationChange(None, None, none, none)


def _as_set(pairs: NDArray[np.int64]) -> set[tuple[int, ...]]:
    return {tuple(pair) for pair in pairs.tolist()}


@dataclass(frozen=True)
class Diff:
    """Findings gained, lost and changed, by their text; witnesses; and violations added to a rule, or resolved.

    A lost rule with a witness is broken by it. A lost rule without one still holds, but is no longer reported: it
    follows from another rule that holds now, or too few rows are left that could break it. Or no rows could break it
    before (the finding says so: `empty`), so that it had never been tested. `loss` says which.
    """

    gained: Result = field(default_factory=dict)
    lost: Result = field(default_factory=dict)
    changed: Mapping[str, tuple[Finding, Finding]] = field(default_factory=dict)
    witnesses: Mapping[str, Witness] = field(default_factory=dict)
    violations: Mapping[str, ViolationChange] = field(default_factory=dict)
    causes: Mapping[str, Cause] = field(default_factory=dict)  # of rules gained and lost, where the engine has them
    # Findings that are not reported as changed, but whose stored figures, such as scores, moved.
    figures: Result = field(default_factory=dict)
    # The worth of rules before rows broke them, and of rules that were gained. None: the engine has none; otherwise a
    # rule without worth holds by accident.
    worth: Mapping[str, Worth] | None = None
    gained_worth: Mapping[str, Worth] | None = None
    # What is stored of given rules with accepted violations: which came since.
    baselines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.changed or self.violations)

    @cached_property
    def untested(self) -> Collection[str]:
        """The lost rules that no longer hold but did not break: nothing had tested them."""
        return {text for text in untested(self.lost) if text not in self.witnesses and not self._still_holds(text)}

    def loss(self, text: str) -> LossKind:
        """What became of a lost rule. `lost`: rows broke it; `untested`: it does not hold, and nothing had tested it;
        `implied`: it still holds, but follows from another rule, or too few rows are left to test it (the cause says
        which: `score`, `untested` or `below --min-coverage`).
        """
        if text in self.witnesses:
            return "lost"
        return "untested" if text in self.untested else "implied"

    def score(self, text: str) -> float:
        """The score of a lost rule; 0: not known, or it held by accident."""
        return self.worth[text].score if self.worth and text in self.worth else 0.0

    def _still_holds(self, text: str) -> bool:
        cause = self.causes.get(text)
        return cause is not None and cause.kind not in ("split", "swap")

    def patch(self, result: Result) -> dict[str, Finding]:
        """The result after this diff."""
        left = {text: finding for text, finding in result.items() if text not in self.lost}
        return {**left, **self.gained, **{text: new for text, (_, new) in self.changed.items()}}

    def without(self, texts: Collection[str]) -> Diff:
        """The diff without some rules."""
        return self._of(lambda text: text not in texts)

    def only(self, texts: Collection[str]) -> Diff:
        """The diff of some rules only."""
        return self._of(lambda text: text in texts)

    def _of(self, wanted: Callable[[str], bool]) -> Diff:
        def some(part: Mapping[str, Any] | None) -> Any:
            return None if part is None else {text: each for text, each in part.items() if wanted(text)}

        return Diff(**{each.name: some(getattr(self, each.name)) for each in fields(self)})


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
