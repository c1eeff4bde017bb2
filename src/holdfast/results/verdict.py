"""The verdict on a batch, for people: one line on a quiet day; otherwise what failed, with the rows, errors first.

    Batch 2: 205 rows. All 17 rules hold.

    Batch 3: 205 rows. 1 of 17 rules failed.
    Failed: sku -> vat_rate has 2 new violations (3.csv)
      order_id 63: sku S002, vat_rate 16 (19 in 41 of 42)
      order_id 70: sku S021, vat_rate 16 (7 in 30 of 31)
      See: holdfast explain state/ "sku -> vat_rate"

Rules that the same new rows break are one block, the most important of them first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from holdfast.engines.registry import table_of_rows
from holdfast.expectations.unusual import KIND, Unusual
from holdfast.results.memory import RuleKey
from holdfast.rules.names import called
from holdfast.text.quotes import command
from holdfast.visible import counted, first_of

if TYPE_CHECKING:
    from holdfast.changes.diff import Finding, ViolationChange, Witness
    from holdfast.store.records import BatchRecord

Level = Literal["failed", "warning", "known"]
_EVIDENCE = re.compile(r"\(score [01]\.\d\d\)\Z")  # in the note of a suggestion
_LEVELS: tuple[Level, ...] = ("failed", "known", "warning")
_NAMED = 3  # rules that the same rows broke, by name


class Examples(NamedTuple):
    """New violations of a rule in words, and the rows at fault as far as they are known. `whole`: the lines say it all,
    also of violations that have no line of their own. `columns`: those of the table whose values the lines may have.
    """

    lines: tuple[str, ...]
    rows: frozenset[int] = frozenset()
    whole: bool = False
    columns: frozenset[str] = frozenset()


class Repeat(NamedTuple):
    """The new violations of a rule copy values that raised an alarm before: the number of the batch that brought the
    first.
    """

    since: int


class Around(NamedTuple):
    """What a verdict says of the state around a batch."""

    state: str = ""  # the folder, as its user calls it
    files: Mapping[str, str] = {}  # that brought the rows, by table
    several: bool = False  # several tables are watched
    searched: bool = False  # found rules are watched
    broke: int = 0  # of these
    given: int = 0  # rules
    violated: int = 0  # of these, not counting accepted violations
    standing: str = ""  # how many of them hold, in a sentence
    sensitive: Mapping[str, Sequence[str]] = {}  # columns whose values others must not see, by table


@dataclass(frozen=True)
class Block:
    """What a batch did to a rule that got worse: a heading, and lines about the rows."""

    level: Level
    about: str
    rows: Sequence[str]

    @property
    def heading(self) -> str:
        """`Failed: sku -> vat_rate has 2 new violations`."""
        return f"{self.level.capitalize()}: {self.about}"


@dataclass(frozen=True)
class Worse:
    """A rule that got worse. `change` is None for a found rule: the rows `witness` broke it, perhaps with others."""

    key: RuleKey
    finding: Finding
    level: Level
    score: float
    change: ViolationChange | None = None
    before: int = 0
    witness: Witness | None = None
    repeat: Repeat | None = None
    see: str = ""  # the command that explains it, where what it is called doesn't lead to it

    @property
    def new(self) -> int:
        """How many violations are new, as far as known."""
        if self.change is None:
            return 1
        after = int(getattr(self.finding, "violations", 0))
        return after - self.before if self.change.new is None else self.change.new

    @property
    def place(self) -> tuple[Any, ...]:
        """Errors first, then what is known, then the largest change, then the best score, then the shorter rule."""
        return _LEVELS.index(self.level), -self.new, -self.score, len(self.key[2]), self.key

    @property
    def is_aside(self) -> bool:
        """Whether it is a suggestion that had exceptions from the start: new ones are expected, and only counted."""
        return self.level == "warning" and bool(evidence_in(self.finding.to_json().get("note", "")))

    @property
    def is_of_pairs(self) -> bool:
        """Whether its violations are pairs of rows."""
        return "pairs" in str(self.finding.to_json().get("counted", ""))

    @property
    def called(self) -> str:
        """The rule in a sentence."""
        return called(self.finding.to_json().get("name", ""), self.finding.text)

    @property
    def said(self) -> str:
        """What happened to it."""
        return self.says_of(self.called)

    def says_of(self, rule: str) -> str:
        """What happened to it, under another name."""
        if isinstance(self.finding, Unusual):
            return self.finding.sentence
        if self.change is None:
            return f"{rule} broke" + (f" (score {self.score:.2f})" if self.score else "")
        if self.finding.kind == "table":  # it holds or not
            return f"{rule} is violated"
        if self.change.new is None:
            after = int(getattr(self.finding, "violations", 0))
            return f"{rule} has {counted(after, 'violation')}, {self.before:,} before"
        if not self.change.new:  # of what was accepted, more is open
            return f"{rule} got worse"
        like = f" like those of batch {self.repeat.since:,}" if self.repeat else ""
        return f"{rule} has {counted(self.change.new, 'new violation')}{like}"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a batch: `worse` are the rules that got worse, the most important first, `mended` those that hold
    again. `verbose` shows what it otherwise counts.
    """

    batch: BatchRecord
    worse: Sequence[Worse]
    mended: Sequence[Finding] = ()
    examples: Mapping[RuleKey, Examples] = field(default_factory=dict)
    around: Around = field(default=Around())
    verbose: bool = False
    muted: Sequence[Mapping[str, Any]] = ()  # suggested rules, from now on
    waiting: Sequence[str] = ()  # sentences about rows that may wait for a partner

    @cached_property
    def _aside(self) -> list[Worse]:
        """What is only counted."""
        return [] if self.verbose else [each for each in self.worse if each.is_aside]

    @property
    def failed(self) -> list[Worse]:
        """The rules that failed."""
        return [each for each in self.worse if each.level == "failed"]

    def line(self, file: str = "") -> str:
        """The one line that says it all on a quiet day; with the file that brought the rows, if it is named."""
        on = f" on {', '.join(self.batch.tables)}" if len(self.batch.tables) > 1 else ""
        named = f" ({file})" if file else ""
        said = f"{self._sentence()}{self._muted()}{self._waiting()}"
        return f"Batch {self.batch.number:,}{named}{on}: {self._rows_moved()}. {said}"

    def _muted(self) -> str:
        """The suggested rules that are muted from now on."""
        names = [called(rule["name"], rule["text"]) for rule in self.muted]
        them = "it" if len(names) == 1 else "them"
        return f" Muted, as chance breaks {them}: {first_of(names, _NAMED)}." if names else ""

    def _waiting(self) -> str:
        """The rows that wait for a partner, or have found one."""
        return "".join(f" {sentence}" for sentence in self.waiting)

    def _rows_moved(self) -> str:
        """How many rows came and went."""
        came, went = self.batch.inserted, self.batch.deleted
        if not went:
            return counted(came, "row")
        return f"{counted(came, 'row')} inserted, {went:,} deleted" if came else f"{counted(went, 'row')} deleted"

    def _sentence(self) -> str:
        around, failed = self.around, len(self.failed)
        if failed:
            return f"{failed_words([each.finding for each in self.failed], self._among())} failed."
        if known := [each for each in self.worse if each.level == "known"]:
            new = sum(each.new for each in known)
            return f"No new errors; {counted(new, 'violation')} {'copy' if new > 1 else 'copies'} known wrong values."
        if warnings := [each for each in self.worse if each.level == "warning"]:
            return f"No errors; {_counted(warnings)}{' (-v shows them)' if len(self._aside) == len(warnings) else ''}."
        return _standing(around)

    def _among(self) -> str:
        """Of how many rules some failed, where all of these are given."""
        found = any(each.change is None and each.key[0] != KIND for each in self.failed)
        return f" of {self.around.given:,}" if not found and self.around.given > 1 else ""

    def last_lines(self) -> list[str]:
        """What is only counted, where anything else is shown; and the rules that hold again."""
        lines = []
        if self._aside and len(self._aside) < len(self.worse):
            lines.append(f"Also {_counted(self._aside)} of suggested rules (-v shows them).")
        if mended := [called(rule.to_json()["name"], rule.text) for rule in self.mended]:
            lines.append(f"Holds again: {first_of(mended, _NAMED)}")
        return lines

    def blocks(self) -> Iterator[Block]:
        """The rules that got worse, those that the same rows broke together."""
        for together in self._by_rows():
            yield self._block(together)

    def _by_rows(self) -> list[list[Worse]]:
        found: dict[Any, list[Worse]] = {}
        for each in (each for each in self.worse if each not in self._aside):
            examples = self.examples.get(each.key)
            rows: Any = (table_of_rows(*each.key), examples.rows) if examples and examples.rows else each.key
            if isinstance(each.finding, Unusual) and sum(key[1][0] == KIND for key in found) >= _NAMED:
                rows = KIND, ""  # the others of a batch in which much is unusual
            found.setdefault((each.level, rows), []).append(each)
        return list(found.values())

    def _block(self, together: Sequence[Worse]) -> Block:
        first, *others = together
        lines = self.rows_of(first)
        if others and isinstance(first.finding, Unusual):
            lines.append(f"Also far outside: {first_of([str(each.finding) for each in others], _NAMED)}")
        elif others:
            rules = counted(len(others), "more rule")
            lines.append(f"The same rows break {rules}: {first_of([each.called for each in others], _NAMED)}")
        if state := self.around.state:
            lines.append(_what_to_do(state, first))
        where = self._where(first)
        return Block(first.level, first.said + (f" ({where})" if where else ""), lines)

    def rows_of(self, worse: Worse) -> list[str]:
        """The rows that made a rule worse, and how many more there are."""
        examples = self.examples.get(worse.key)
        if examples is None:
            return [worse.witness.named(getattr(worse.finding, "columns", ()))] if worse.witness else []
        lines = list(examples.lines)
        more = worse.new - len(lines)
        return lines if examples.whole or more <= 0 else [*lines, f"… and {more:,} more"]

    def _where(self, worse: Worse) -> str:
        """The table, if several are watched, and the file that brought the rows."""
        table, around = table_of_rows(*worse.key), self.around
        file = around.files.get(table) or ", ".join(dict.fromkeys(around.files.values()))
        named = around.several and worse.key[0] != KIND  # whose sentence says it
        return ", ".join(filter(None, [table if named else "", file]))


def evidence_in(note: str) -> str:
    """The score in the note of a suggestion that had exceptions from the start; empty in other notes.

    >>> evidence_in("12 of 400 rows are exceptions (score 0.97)")
    '(score 0.97)'
    """
    found = _EVIDENCE.search(note)
    return found[0] if found else ""


def _what_to_do(state: str, worse: Worse) -> str:
    """The command that explains a rule, or accepts a figure."""
    if not isinstance(worse.finding, Unusual):
        return f"See: {worse.see or explaining(state, worse.called)}"
    if worse.finding.hidden:  # no command knows it by this text
        return f"See: {command('expect', state)}"
    return f"Usual from now on? {accepting(state, str(worse.finding))}"


def explaining(state: str, rule: str) -> str:
    """The command that explains a rule.

    >>> explaining("state/", "sku -> vat_rate")
    'holdfast explain state/ "sku -> vat_rate"'
    """
    return _in_double_quotes(command("explain", state, rule), rule)


def accepting(state: str, figure: str) -> str:
    """The command that accepts a figure.

    >>> accepting("state/", "orders: rows_in_batch")
    'holdfast expect state/ accept "orders: rows_in_batch"'
    """
    return _in_double_quotes(command("expect", state, "accept", figure), figure)


def _in_double_quotes(words: str, last: str) -> str:
    """A command with double quotes around its last word, where a shell reads that as it is."""
    return words if any(mark in last for mark in '"$`!\\') else words.replace(f"'{last}'", f'"{last}"')


def failed_words(failed: Sequence[Finding], among: str = "") -> str:
    """`2 of 17 rules and 1 expectation`."""
    expected = sum(isinstance(each, Unusual) for each in failed)
    rules = len(failed) - expected
    words = [f"{rules:,}{among} rule{'s' * (rules != 1 or bool(among))}"] if rules else []
    return " and ".join([*words, *([counted(expected, "expectation")] if expected else [])])


def _counted(warnings: Sequence[Worse]) -> str:
    """`2 warnings with 5 new violations`. What is expected of batches has none, and pairs of rows do not count: one
    wrong row makes thousands, and more with each new row.
    """
    new = sum(each.new for each in warnings if each.key[0] != KIND and not each.is_of_pairs)
    return counted(len(warnings), "warning") + (f" with {counted(new, 'new violation')}" if new else "")


def _standing(around: Around) -> str:
    """How the rules stand after a batch that made none of them worse."""
    if not around.given:
        found = f"{counted(around.broke, 'found rule')} broke." if around.broke else "No rule broke."
        return found if around.searched else "No rules are watched."
    return f"No new violations; {around.standing}" if around.violated else around.standing
