"""The summary of a check or a batch: plain data from which all formats are made, with the terminal's sentences."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from holdfast.results.verdict import Block, Level

_LONGEST_ID = 200

Standing = Level | Literal["holds"]


class Place(NamedTuple):
    """A place in a file: a rule, or a row."""

    file: str
    line: int | None = None


class Violation(NamedTuple):
    """One violation in a sentence. `identity` is the same in every run, and `places` are those of its rows."""

    said: str
    identity: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class RuleSummary:
    """A rule, how it stands, and why. `rows` is what the terminal says of its violations; `violations` are the first
    ones, and `count` is the number of all: of a batch, of the new ones.
    """

    table: str
    rule: str  # its name, or its text
    text: str
    standing: Standing
    said: str = ""
    rows: Sequence[str] = ()
    note: str = ""
    place: Place | None = None
    count: int = 0
    violations: Sequence[Violation] = ()

    @property
    def heading(self) -> str:
        """`Failed: zip -> city has 2 new violations`."""
        return f"{self.standing.capitalize()}: {self.said}"

    @property
    def title(self) -> str:
        """Its name, if it has one, and its text."""
        return self.text if self.rule == self.text else f"{self.rule}: {self.text}"

    @property
    def id(self) -> str:
        """What it is called among the rules of all tables; a host refuses a longer one than this."""
        whole = f"{self.table}/{self.rule}"
        return whole if len(whole) <= _LONGEST_ID else f"{whole[: _LONGEST_ID - 13]}…{_hash(whole)[:12]}"

    def fingerprints(self) -> Iterator[str]:
        """A hash for each violation: that of the same violation in another run. Equal ones are numbered."""
        met = Counter[str]()
        for violation in self.violations:
            met[violation.identity] += 1
            parts = [self.table, self.text, violation.identity, str(met[violation.identity])]
            yield _hash("\0".join(parts))


@dataclass(frozen=True)
class Summary:
    """What a command found: the verdict, what got worse in the terminal's words, and every rule that it looked at.

    `errors` are reasons to fail that concern no rule. `refused` says why nothing was found out, `skipped` why there
    was nothing to do.
    """

    line: str
    rules: Sequence[RuleSummary] = ()
    blocks: Sequence[Block] = ()
    more: Sequence[str] = ()  # lines that follow the blocks
    errors: Sequence[str] = ()
    refused: str = ""
    skipped: str = ""
    counted: str = "violations"
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether the exit code is not 0."""
        return bool(self.refused or self.errors) or any(rule.standing == "failed" for rule in self.rules)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
