"""Suggestions: rules that the data seem to follow, the most important first, each thing once."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from holdfast.engines.chance import ASSUMED, BATCHES
from holdfast.engines.registry import suggestible
from holdfast.errors import refuse_below
from holdfast.ranking.choice import best_of_each
from holdfast.ranking.expectation import Expectation, said
from holdfast.ranking.suggestion import Doubt, Same, Suggestion
from holdfast.ranking.writing import HEADING, given_rules, rules_text
from holdfast.results.drawn import Drawn, Shapes, shape_lines
from holdfast.results.found import arrow_table
from holdfast.results.outputs import FileKind, contains
from holdfast.results.row_lines import row_lines
from holdfast.rules.dependency import FD
from holdfast.rules.file import Rules
from holdfast.table.frames import Framed
from holdfast.visible import Printed, counted

TOP = 20  # lines of a section
RULES = FileKind("a rule file", contains(HEADING.encode()), (".yaml", ".yml"))


@dataclass(frozen=True)
class Line:
    """A line of a section: a text, perhaps with a score, a number of rows to remove, and breaks to expect by chance."""

    text: str
    score: float | None = None
    to_remove: int = 0
    breaks: float | None = None

    @staticmethod
    def about(text: str, rules: Sequence[Suggestion]) -> Line:
        """A line about rules: the best score, the most rows to remove, and the most breaks."""
        breaks = [each.expected_breaks for each in rules if each.expected_breaks is not None]
        to_remove = max(each.scored.to_remove for each in rules)
        return Line(text, max(each.scored.score for each in rules), to_remove, max(breaks, default=None))

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Score, rows to remove, breaks to expect by chance, and text."""
        score = "" if self.score is None else f"{self.score:.2f}"
        return score, f"{self.to_remove:,}" if self.to_remove else "", said(self.breaks), self.text

    def __str__(self) -> str:
        score, to_remove, breaks, text = self.cells
        return f"  {score}  {to_remove:>6}  {breaks:>6}  {text}" if score else f"  {text}"


@dataclass(frozen=True)
class Section:
    """A heading and the lines below it; `more` are left out."""

    heading: str
    lines: Sequence[Line]
    more: int = 0


@dataclass(frozen=True, repr=False)
class Suggestions(Printed, Drawn, Framed, Sequence[Suggestion]):
    """Likely rules, the best first; columns that determine each other; and rows that look wrong.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": [1, 1, 2, 2, 3, 3], "city": ["Berlin", "Berlin", "Bonn", "Bonn", "Bonn", "Bonn"]})
    >>> found = hf.suggest(towns, "fd")
    >>> found
    table: 6 rows, 2 columns
    what determines what
      0.93          0.0012  zip determines city
    breaks: by chance in 100 batches of 0.2 rows (1/30 of the table, assumed)
    >>> [(rule.name, rule.text) for rule in found.rules().entries]
    [('zip-city', 'zip -> city')]
    """

    ranked: tuple[Suggestion, ...]
    same: tuple[Same, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    shapes: Shapes = field(default_factory=dict)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seconds: float = 0.0
    expectation: Expectation = field(default_factory=Expectation)

    def __getitem__(self, at: Any) -> Any:
        return self.ranked[at]

    def __len__(self) -> int:
        return len(self.ranked)

    @property
    def listed(self) -> tuple[Suggestion, ...]:
        """The likely rules that do not follow from others."""
        return tuple(each for each in self.ranked if each.is_listed)

    def best(self, top: int | None = None) -> tuple[Suggestion, ...]:
        """The listed rules; at most `top` of each table, with those that only follow from rules that this leaves out,
        and twice as many about one row.

        >>> import holdfast as hf, pyarrow as pa
        >>> towns = pa.table({"zip": [1, 1, 2, 2, 3, 3], "city": ["Berlin"] * 4 + ["Bonn"] * 2, "id": range(6)})
        >>> [rule.text for rule in hf.suggest(towns).best(1)]
        ['zip -> city']
        """
        refuse_below(1, top, "the number of rules")
        return self.listed if top is None else best_of_each(self.ranked, top)

    def rules(self, top: int | None = None, as_exact: Container[Suggestion] = ()) -> Rules:
        """The best rules, at most `top` of each table, for `check` or `Monitor.create`. Rules with exceptions warn, but
        for those that are `as_exact`.
        """
        return Rules(tuple(given_rules(self.best(top), self.expectation, as_exact)))

    def rules_text(self, top: int | None = None) -> str:
        """The same as a rule file, with the evidence for each rule as a comment."""
        return rules_text(self.best(top), self.expectation)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a rule in the order of their ranks, then columns that determine each other, and rows that look
        wrong.
        """
        parts: tuple[Suggestion | Same | Doubt, ...] = (*self.ranked, *self.same, *self.doubts)
        return [each.to_json() for each in parts]

    def to_arrow(self) -> pa.Table:
        """The rules as an Arrow table in the order of their ranks."""
        return arrow_table([each.to_json() for each in self.ranked])

    def sections(self, top: int = TOP) -> Iterator[Section]:
        """Keys, columns that determine each other, what determines what, and the other classes, at most `top` lines of
        each; then the rows that look wrong.
        """
        several = len(self.shapes) > 1
        for declared in sorted(suggestible(), key=lambda each: each.of_rows):
            own = [each for each in self.listed if each.kind == declared.name]
            if own and declared.by_left_side:
                if self.same:
                    same = [Line(f"{each.table}: {each}" if several else str(each)) for each in self.same[:top]]
                    yield Section("the same in other words", same, max(0, len(self.same) - top))
                lines = _determining(self, several)
            elif declared.of_rows:
                lines = list(self._row_lines(own, several))
            else:
                lines = [_line(each, several and not declared.across) for each in own]
            if lines:
                yield Section(declared.suggested, lines[:top], max(0, len(lines) - top))
        if self.doubts:
            doubts = [f"{each.table}: {each}" if several else str(each) for each in self.doubts]
            yield Section("rows that look wrong", [Line(text) for text in doubts])

    def _row_lines(self, own: Sequence[Suggestion], several: bool) -> Iterator[Line]:
        for table, (schema, _) in self.shapes.items():
            for text, rules in row_lines([each for each in own if each.table == table], schema):
                yield Line.about(f"{table}: {text}" if several else text, rules)

    def usual_lines(self) -> list[str]:
        """What usual batches are, by which breaks are expected."""
        usual = {each.table: each.usual for each in self.listed if each.expected_breaks is not None}
        if len(usual) > 1 and not any(each.batches for each in usual.values()):
            return [f"breaks: by chance in {BATCHES} batches of 1/{ASSUMED} of each table, assumed"]
        several = len(self.shapes) > 1
        return [
            f"breaks: by chance in {each}{f' of {table}' if several else ''} ({each.why})"
            for table, each in usual.items()
        ]

    def unlisted_line(self) -> str:
        """What the sections leave out, and how to see it."""
        implied = sum(bool(each.implied_by) for each in self)
        weak = sum(not each.is_likely for each in self)
        follow = f"{counted(implied, 'likely rule')} {'follows' if implied == 1 else 'follow'} from these"
        weaker = f"{counted(weak, 'other')} {'is' if weak == 1 else 'are'} weaker"
        parts = [*([follow] if implied else []), *([weaker] if weak else [])]
        return f"{' and '.join(parts)}: --all lists them" if parts else ""

    def lines(self) -> list[str]:
        """The tables, the sections, and what they leave out."""
        lines = shape_lines(self.shapes)
        for section in self.sections():
            more = [f"  … and {section.more:,} more"] if section.more else []
            lines += [section.heading, *map(str, section.lines), *more]
        return [*lines, *self.last_lines()]

    def last_lines(self) -> list[str]:
        """A line if there is nothing to show, and what is left out."""
        nothing = [] if self.listed else ["no likely rules found"]
        return [*nothing, *self.usual_lines(), *filter(None, [self.unlisted_line()])]


def _line(each: Suggestion, with_table: bool) -> Line:
    text = f"{each.table}: {each.text}" if with_table else each.text
    return Line.about(text, [each])


# ---- what determines what -------------------------------------------------------------------------------------------


def _determining(found: Suggestions, several: bool) -> list[Line]:
    """A line for each left side, or two if it determines some columns exactly and others nearly."""
    halves = [
        (table, [each for each in rules if bool(each.scored.to_remove) is near])
        for (table, _), rules in _groups(found).items()
        for near in (False, True)
    ]
    shown = [(table, rules) for table, rules in halves if any(each.is_listed for each in rules)]
    return [_group_line(f"{table}: " if several else "", rules) for table, rules in shown]


def _groups(found: Suggestions) -> dict[tuple[str, str], list[Suggestion]]:
    """The likely FDs by table and left side, shown or not. Of columns that determine each other only the first counts;
    FDs with the others are left out.
    """
    standing = {(each.table, column): each.columns[0] for each in found.same for column in each.columns}
    groups: dict[tuple[str, str], list[Suggestion]] = {}
    for each in found:
        if isinstance(each.scored.rule, FD) and each.is_likely:
            columns = [*each.scored.columns, each.right]
            stand = [standing.get((each.table, column), column) for column in columns]
            if stand == columns:
                groups.setdefault((each.table, each.group), []).append(each)
    return groups


def _group_line(before: str, rules: Sequence[Suggestion]) -> Line:
    direct, through = ([each.right for each in rules if each.is_listed is flag] for flag in (True, False))
    nearly = "nearly " if rules[0].scored.to_remove else ""
    verb = "determine" if len(rules[0].scored.columns) > 1 else "determines"
    listed = ", ".join(direct) + (f"; through them {', '.join(through)}" if through else "")
    what = f"{len(rules):,} columns: {listed}" if len(rules) > 1 else listed
    text = f"{before}{', '.join(rules[0].scored.columns)} {nearly}{verb} {what}"
    return Line.about(text, rules)
