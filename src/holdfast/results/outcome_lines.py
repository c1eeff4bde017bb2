"""The rules that a batch broke or gained, as lines for people: the important ones first, accidental ones as a number.

Rules that the same rows broke share a line. In a class with scores, rules below `LIKELY` look accidental: they come and
go by the hundred, so only a few are listed, and many are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from holdfast.changes.diff import Diff, Witness, Worth
from holdfast.engines.contract import ChangeLine, is_given
from holdfast.engines.registry import ALL_TABLES, rule_class, table_of_rows
from holdfast.engines.thresholds import LIKELY
from holdfast.lazy_rules import for_people, one_a_class
from holdfast.visible import first_of

_FEW = 3  # accidental rules that are listed, and rules that are named of those that the same rows broke
_GROUPED = 1000  # rules without scores that are grouped by the rows that broke them

_CAUSES = {
    "smaller context": "as {by} {holds}",
    "constant": "as {by} {holds}",
    "stronger": "as {by} {holds}",
    "mended": "as no rows break it any more",
    "score": "{below} below --min-score",
    "below --min-coverage": "{below} below --min-coverage",
}


@dataclass(frozen=True)
class TableDiff:
    """What a batch did to the rules of a class in a table, or across tables. If it changed `several` tables, lines name
    the table.
    """

    diff: Diff
    engine: str
    table: str
    several: bool = False

    def named(self, line: str) -> str:
        """A line about a rule, with its table if needed. Rules across tables name theirs."""
        return f"{self.table}: {line}" if self.several and self.table != ALL_TABLES else line

    def with_rows(self, text: str, line: str) -> str:
        """A line about the rows that broke a rule, with their table if needed."""
        return f"{self.rows_of(text)}: {line}" if self.several else line

    def rows_of(self, text: str) -> str:
        """The table whose rows break a rule."""
        return table_of_rows(self.engine, self.table, text)


@dataclass(frozen=True)
class _BrokenRule:
    """A rule that rows broke."""

    of: TableDiff
    text: str
    score: float | None

    @property
    def witness(self) -> Witness:
        return self.of.diff.witnesses[self.text]

    @property
    def named(self) -> str:
        return self.text if self.score is None else f"{self.text} ({self.score:.2f})"


def lost_lines(diffs: Iterable[TableDiff], most: int) -> list[str]:
    """A line for each pair of rows that broke rules, the highest score first; then how many accidental rules broke."""
    likely: list[_BrokenRule] = []
    others: list[_BrokenRule] = []
    first: list[_BrokenRule] = []  # of the accidental ones
    accidents = 0
    for each in diffs:
        diff = each.diff
        if diff.worth is None:
            others += islice(_broken(each, one_a_class(diff.lost), {}), _GROUPED)
            continue
        scores = _likely(diff.worth)
        known = list(_broken(each, scores, scores))
        likely += known
        accidents += len(diff.witnesses) - len(known)
        first += islice(_broken(each, (text for text in diff.lost if text not in scores), {}), _FEW + 1)
    likely.sort(key=lambda rule: -(rule.score or 0.0))
    lines = _by_cause([*likely, *others, *(first if accidents <= _FEW else ())])
    return [*_cut(lines, most), *_counted(accidents, "looked accidental broke")]


def _cut(lines: list[str], most: int) -> list[str]:
    """The first lines, and a line that there are more."""
    return lines if len(lines) <= most else [*lines[:most], "… JSON lists the others"]


def _counted(accidents: int, what: str) -> list[str]:
    """A line about accidental rules, if they are too many to list."""
    return [f"{accidents:,} rules that {what}; JSON lists them"] if accidents > _FEW else []


def _likely(worth: Mapping[str, Worth]) -> dict[str, float]:
    """The likely rules with their scores."""
    return {text: each.score for text, each in worth.items() if each.score >= LIKELY}


def _broken(of: TableDiff, texts: Iterable[str], scores: Mapping[str, float]) -> Iterator[_BrokenRule]:
    """Those of some rules that rows broke, with their scores."""
    return (_BrokenRule(of, text, scores.get(text)) for text in texts if text in of.diff.witnesses)


def _by_cause(rules: Iterable[_BrokenRule]) -> list[str]:
    """A line for the rules that the same rows broke."""
    causes: dict[tuple[str, tuple[int, ...], str], list[_BrokenRule]] = {}
    for rule in rules:
        rows = rule.of.rows_of(rule.text), rule.witness.rows, rule.witness.sentence
        causes.setdefault(rows, []).append(rule)
    return [_cause_line(together) for together in causes.values()]


def _cause_line(together: list[_BrokenRule]) -> str:
    first = together[0]
    rows = first.witness.named(getattr(first.of.diff.lost[first.text], "columns", ()))
    if len(together) == 1:
        return first.of.named(f"{first.named}   because of {rows}")
    named = first_of([rule.named for rule in together], _FEW)
    return first.of.with_rows(first.text, f"{rows} broke {len(together):,} rules: {named}")


def gained_lines(diffs: Iterable[TableDiff], most: int) -> tuple[list[str], str]:
    """The gained rules, the likely ones first, then how many accidental ones; and what is not shown, in words."""
    likely: list[tuple[float, str]] = []
    others: list[str] = []
    first: list[str] = []  # of the accidental ones
    hidden: list[str] = []
    accidents = 0
    for each in diffs:
        diff = each.diff
        if diff.gained_worth is None:
            some, left_out = for_people(diff.gained, ())
            others += [with_cause(each, text) for text in islice(some, most + 1)]
            hidden += [left_out] if left_out else []
            continue
        scores = _likely(diff.gained_worth)
        likely += [(score, each.named(text)) for text, score in scores.items()]
        accidents += len(diff.gained) - len(scores)
        first += islice((each.named(text) for text in diff.gained if text not in scores), _FEW + 1)
    lines = [f"{text} ({score:.2f})" for score, text in sorted(likely, key=lambda each: -each[0])] + others
    lines += first if accidents <= _FEW else []
    return [*_cut(lines, most), *_counted(accidents, "look accidental came")], ", ".join(hidden)


def with_cause(of: TableDiff, text: str) -> str:
    """A rule that was gained or is implied, with the reason, where that is known and not plain."""
    diff = of.diff
    cause = diff.causes.get(text)
    said = _CAUSES.get(cause.kind, "") if cause else ""
    holds, below = ("no longer holds", "no longer") if text in diff.gained else ("holds", "now")
    return of.named(f"{text}   {said.format(by=cause.by, holds=holds, below=below)}" if cause and said else text)


def implied_lines(diffs: Iterable[TableDiff], most: int) -> list[str]:
    """The first rules that still hold but are no longer reported, with the reason."""
    lines = (
        with_cause(each, text)
        for each in diffs
        if each.diff.causes
        for text in one_a_class(each.diff.lost)
        if each.diff.loss(text) == "implied"
    )
    return list(islice(lines, most))


# ---- what changed of a finding --------------------------------------------------------------------------------------


def change_lines(before: Mapping[str, Any], after: Mapping[str, Any], several: bool = False) -> list[ChangeLine]:
    """How two findings about the same thing differ, with their table if there are several."""
    lines = rule_class(after["kind"]).changes(before, after)
    return [(with_table(after, about, several), fact, old, new) for about, fact, old, new in lines]


def with_table(finding: Mapping[str, Any], line: str, several: bool) -> str:
    """A line about a finding, with its table if there are several; a given rule has a name instead."""
    if not several or "table" not in finding or is_given(finding):
        return line
    return f"{finding['table']}{'.' if 'column' in finding else ': '}{line}"


def below_coverage(diffs: Iterable[TableDiff]) -> str:
    """How many rules were lost because too few pairs of rows test them; also where none of these is listed."""
    causes = (each.diff.causes.get(text) for each in diffs if each.diff.causes for text in each.diff.lost)
    count = sum(cause is not None and cause.kind == "below --min-coverage" for cause in causes)
    return f"; {count:,} are below --min-coverage" if count else ""
