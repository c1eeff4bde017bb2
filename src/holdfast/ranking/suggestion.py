"""Suggestions: likely rules of all classes in one order, with the rules that they follow from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.engines.contract import Suggestible
from holdfast.engines.registry import rule_class
from holdfast.engines.scored import Scored
from holdfast.ranking.expectation import Usual, said
from holdfast.rules.rule import Severity
from holdfast.rules.sentences import shown
from holdfast.visible import first_of

_UNKNOWN = Usual(0.0)


@dataclass(frozen=True)
class Suggestion:
    """A likely rule with its rank among all, and the rules that it follows from.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": [1] * 4 + [2] * 4 + [3] * 4, "city": ["Berlin"] * 4 + ["Bonn"] * 8})
    >>> best = hf.suggest(towns, "fd")[0]
    >>> print(best)
    zip -> city   0.92
    >>> best.rank, best.is_likely, best.severity
    (1, True, 'error')
    """

    scored: Scored
    rank: int  # from 1
    group: str  # the rules that it is shown with: for FDs the left side
    is_likely: bool  # its score is high enough to be shown
    implied_by: tuple[str, ...] = ()  # the shown rules that it follows from
    is_sure: bool = True  # nothing but wrong rows is likely to break it
    is_rare: bool = True  # chance breaks it no more often than an error may be
    expected_breaks: float | None = None  # by chance in the next 100 usual batches; None: nobody can say
    usual: Usual = _UNKNOWN

    def __str__(self) -> str:
        near = f", {self.scored.to_remove:,} rows to remove" if self.scored.to_remove else ""
        return f"{self.text}   {self.scored.score:.2f}{near}"

    @property
    def text(self) -> str:
        """The rule."""
        return self.scored.text

    @property
    def kind(self) -> str:
        """Its class."""
        return self.scored.rule.kind

    @property
    def table(self) -> str:
        """The table whose rows break it."""
        return self.scored.table

    @property
    def right(self) -> str:
        """The right side of an FD."""
        return str(self.scored.rule.to_json()["rhs"])

    @property
    def is_listed(self) -> bool:
        """Whether it is likely and does not follow from others."""
        return self.is_likely and not self.implied_by

    @property
    def chance(self) -> str:
        """How often chance breaks it, in a sentence; empty: nobody can say."""
        if self.expected_breaks is None:
            return ""
        times = said(self.expected_breaks).replace("<", "less than ")
        return f"chance breaks it {times} times in {self.usual}"

    @property
    def is_of_rows(self) -> bool:
        """Whether its class is about one row, and its rules count by themselves."""
        declared = rule_class(self.kind)
        return isinstance(declared, Suggestible) and declared.of_rows

    @property
    def severity(self) -> Severity:
        """The severity of its violations: those of an exact rule are errors, if that rule is sure."""
        return "error" if self.is_sure and self.is_rare and not self.scored.to_remove else "warn"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        place = {"rank": self.rank, "group": self.group, "implied_by": list(self.implied_by), "likely": self.is_likely}
        known = self.expected_breaks is not None
        expected = {"expected_breaks": float(f"{self.expected_breaks:.3g}")} if known else {}
        return {**self.scored.to_json(), **place, "severity": self.severity, **expected}


@dataclass(frozen=True)
class Same:
    """Columns of a table that determine each other; the first one represents them.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": [1] * 5 + [2] * 5, "city": ["Berlin"] * 5 + ["Bonn"] * 5})
    >>> print(hf.suggest(towns, "fd").same[0])
    zip = city
    """

    table: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return " = ".join(self.columns)

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": "same", "table": self.table, "columns": list(self.columns), "text": str(self)}


@dataclass(frozen=True)
class Doubt:
    """A row that breaks likely rules, its value that is probably wrong, and the rules that contradict it.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": [1] * 100 + [2] * 100, "city": ["Berlin"] * 100 + ["Bonn"] * 99 + ["Bnon"]})
    >>> print(hf.suggest(towns, "fd").doubts[0])
    row 199 (city Bnon, zip 2): city is 'Bnon', others have 'Bonn' (zip -> city)
    """

    table: str
    row: int
    named: str  # the name of the row
    column: str
    value: Any
    usual: Any  # what other rows have in its place
    rules: tuple[str, ...]  # that it breaks

    def __str__(self) -> str:
        values = f"{self.column} is {shown(self.value)}, others have {shown(self.usual)}"
        return f"{self.named}: {values} ({first_of(self.rules, 1)})"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        about = {"kind": "doubt", "table": self.table, "row": self.row, "column": self.column}
        return {**about, "value": self.value, "usual": self.usual, "rules": list(self.rules)}
