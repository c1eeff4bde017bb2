"""The rules that a batch broke and those that it brought, for people: what matters first, and accidents as a number.

Rules that the same rows broke are one line. Where a class of rules has scores, those below `LIKELY` are accidents,
which come and go by the hundred: a few are listed, many are counted.
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

_FEW = 3  # so many accidents are listed; of the rules that the same rows broke as many are named
_LOOKED_AT = 1000  # so many rules without scores are put together by the rows that broke them

_CAUSES = {
    "smaller context": "as {by} {holds}",
    "constant": "as {by} {holds}",
    "stronger": "as {by} {holds}",
    "mended": "as no rows break it any more",
    "below --min-coverage": "{below} below --min-coverage",
}


@dataclass(frozen=True)
class OfTable:
    """What a batch did to the rules of a class, of a table or across tables; `several` says that it changed more than
    one table, so that rules are told with theirs.
    """

    diff: Diff
    engine: str
    table: str
    several: bool = False

    def named(self, told: str) -> str:
        """What is told of a rule, with its table where that matters. Rules across tables name their own."""
        return f"{self.table}: {told}" if self.several and self.table != ALL_TABLES else told

    def with_rows(self, text: str, told: str) -> str:
        """What is told of the rows that broke a rule, with their table where that matters."""
        return f"{self.rows_of(text)}: {told}" if self.several else told

    def rows_of(self, text: str) -> str:
        """The table whose rows break a rule."""
        return table_of_rows(self.engine, self.table, text)


@dataclass(frozen=True)
class _Broken:
    """A rule that rows broke."""

    of: OfTable
    text: str
    score: float | None
    witness: Witness
    looked_at: tuple[str, ...]

    @property
    def named(self) -> str:
        return self.text if self.score is None else f"{self.text} ({self.score:.2f})"


def lost_lines(told: Iterable[OfTable], most: int) -> list[str]:
    """A line for each pair of rows that broke rules, the highest score first; then how many accidents broke."""
    likely: list[_Broken] = []
    others: list[_Broken] = []
    first: list[_Broken] = []  # of the accidents
    accidents = 0
    for each in told:
        diff = each.diff
        if diff.worth is None:
            others += islice(_broken(each, one_a_class(diff.lost), {}), _LOOKED_AT)
            continue
        scores = _likely(diff.worth)
        known = list(_broken(each, scores, scores))
        likely += known
        accidents += len(diff.witnesses) - len(known)
        first += islice(_broken(each, (text for text in diff.lost if text not in scores), {}), _FEW + 1)
    likely.sort(key=lambda rule: -(rule.score or 0.0))
    if accidents <= _FEW:
        return _cut(_by_cause([*likely, *others, *first]), most)
    counted = f"{accidents:,} rules that looked accidental broke; JSON lists them"
    return [*_cut(_by_cause([*likely, *others]), most), counted]


def _cut(lines: list[str], most: int) -> list[str]:
    """The first lines, and that there are more."""
    return lines if len(lines) <= most else [*lines[:most], "… JSON lists the others"]


def _likely(worth: Mapping[str, Worth]) -> dict[str, float]:
    """The rules that are likely, with their scores."""
    return {text: each.score for text, each in worth.items() if each.score >= LIKELY}


def _broken(of: OfTable, texts: Iterable[str], scores: Mapping[str, float]) -> Iterator[_Broken]:
    """Those of some rules that rows broke; scores are told of likely ones."""
    for text in texts:
        witness = of.diff.witnesses.get(text)
        if witness is not None:
            looked_at = tuple(getattr(of.diff.lost[text], "columns", ()))
            yield _Broken(of, text, scores.get(text), witness, looked_at)


def _by_cause(rules: Iterable[_Broken]) -> list[str]:
    """A line for the rules that the same rows broke."""
    causes: dict[tuple[str, tuple[int, ...], str], list[_Broken]] = {}
    for rule in rules:
        rows = rule.of.rows_of(rule.text), rule.witness.rows, rule.witness.sentence
        causes.setdefault(rows, []).append(rule)
    return [_cause_line(together) for together in causes.values()]


def _cause_line(together: list[_Broken]) -> str:
    first = together[0]
    rows = first.witness.named(first.looked_at)
    if len(together) == 1:
        return first.of.named(f"{first.named}   because of {rows}")
    named = ", ".join(rule.named for rule in together[:_FEW])
    more = f" and {len(together) - _FEW:,} more" if len(together) > _FEW else ""
    return first.of.with_rows(first.text, f"{rows} broke {len(together):,} rules: {named}{more}")


def gained_lines(told: Iterable[OfTable], most: int) -> tuple[list[str], str]:
    """The rules that were gained, the likely ones first, then how many accidents; and what is not shown, in words."""
    likely: list[tuple[float, str]] = []
    others: list[str] = []
    first: list[str] = []  # of the accidents
    hidden: list[str] = []
    accidents = 0
    for each in told:
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
    if accidents <= _FEW:
        return _cut([*lines, *first], most), ", ".join(hidden)
    return [*_cut(lines, most), f"{accidents:,} rules that look accidental came; JSON lists them"], ", ".join(hidden)


def with_cause(of: OfTable, text: str) -> str:
    """A rule that was gained or is implied, with why, where that is told and not plain."""
    diff = of.diff
    cause = diff.causes.get(text)
    said = _CAUSES.get(cause.kind, "") if cause else ""
    holds, below = ("no longer holds", "no longer") if text in diff.gained else ("holds", "now")
    return of.named(f"{text}   {said.format(by=cause.by, holds=holds, below=below)}" if cause and said else text)


def implied_lines(of: Iterable[OfTable], most: int) -> list[str]:
    """The first rules that are implied by others now, with those others."""
    lines = (
        with_cause(each, text)
        for each in of
        if each.diff.causes
        for text in one_a_class(each.diff.lost)
        if text not in each.diff.witnesses and text not in each.diff.untested
    )
    return list(islice(lines, most))


# ---- what changed of a finding --------------------------------------------------------------------------------------


def change_lines(before: Mapping[str, Any], after: Mapping[str, Any], several: bool = False) -> list[ChangeLine]:
    """What of two findings about the same thing differs; with its table, where there are several."""
    lines = rule_class(after["kind"]).changes(before, after)
    return [(with_table(after, about, several), fact, old, new) for about, fact, old, new in lines]


def with_table(finding: Mapping[str, Any], told: str, several: bool) -> str:
    """What is told of a finding, with its table where there are several; rules that were given have names."""
    if not several or "table" not in finding or is_given(finding):
        return told
    return f"{finding['table']}{'.' if 'column' in finding else ': '}{told}"


def below_coverage(told: Iterable[OfTable]) -> str:
    """How many rules left as too few pairs of rows test them: also where people are shown none of these."""
    causes = (each.diff.causes.get(text) for each in told if each.diff.causes for text in each.diff.lost)
    count = sum(cause is not None and cause.kind == "below --min-coverage" for cause in causes)
    return f"; {count:,} are below --min-coverage" if count else ""
