"""Suggestions: which rules the data look as if they were meant, and which rows break them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.api.opening import Opened, opened
from holdfast.engines.registry import names_in, refuse_given, rule_class, rule_classes
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import MAX_LHS, TOP
from holdfast.errors import BadInput, refuse_below
from holdfast.intake.reading import ReadOptions
from holdfast.progress import SILENT, Progress
from holdfast.ranking.doubts import doubts
from holdfast.ranking.order import ranked
from holdfast.ranking.suggestion import Doubt, Same, Suggestion
from holdfast.ranking.writing import given_rules, rules_text
from holdfast.rules.file import RuleEntry, Rules
from holdfast.store.database import DATABASE
from holdfast.table.nulls import GivenNulls
from holdfast.table.table import Schema


@dataclass(frozen=True)
class Suggestions(Sequence[Suggestion]):
    """Likely rules, the best first; columns that say the same; and rows that look wrong."""

    ranked: tuple[Suggestion, ...]
    same: tuple[Same, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    shapes: Mapping[str, tuple[Schema, int]] = field(default_factory=dict)  # columns and number of rows of each table
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seconds: float = 0.0

    def __getitem__(self, at: Any) -> Any:
        return self.ranked[at]

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.ranked)

    def __len__(self) -> int:
        return len(self.ranked)

    @property
    def told(self) -> tuple[Suggestion, ...]:
        """The likely ones that say something that the others don't."""
        return tuple(each for each in self.ranked if each.is_told)

    def rules(self, top: int | None = None) -> Rules:
        """The first told ones as rules to be given, such as to `check` or `Monitor.create`."""
        refuse_below(1, top, "the number of rules")
        given = given_rules(self.told[:top])
        return Rules(tuple(RuleEntry(each.name, each.table, each.text, each.severity, each.note) for each in given))

    def rules_text(self, top: int | None = None) -> str:
        """The same as a rule file, which says beside each rule what speaks for it."""
        refuse_below(1, top, "the number of rules")
        return rules_text(self.told[:top])

    def to_json(self) -> list[dict[str, Any]]:
        """One object a rule in the order of their ranks, then columns that are the same, and rows that look wrong."""
        parts: tuple[Suggestion | Same | Doubt, ...] = (*self.ranked, *self.same, *self.doubts)
        return [each.to_json() for each in parts]

    def to_arrow(self) -> pa.Table:
        """The rules as an Arrow table in the order of their ranks."""
        from holdfast.report.tables import to_arrow

        return to_arrow([each.to_json() for each in self.ranked])

    def to_pandas(self) -> Any:
        """The rules as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """The rules as a Spark DataFrame."""
        return spark.createDataFrame(self.to_arrow())

    def __repr__(self) -> str:
        from holdfast.report.suggestions import suggestions_text

        return suggestions_text(self)

    def _repr_html_(self) -> str:
        from holdfast.report.notebook import framed
        from holdfast.report.suggestions import suggestions_html

        return framed(suggestions_html(self))


def suggest(
    source: Any,
    rules: str | Sequence[str] | None = None,
    *,
    top: int = TOP,
    max_lhs: int = MAX_LHS,
    columns: str | Sequence[str] | Mapping[str, Sequence[str]] = (),
    nulls: GivenNulls = "equal",
    options: ReadOptions | None = None,
    spark: Any = None,
    progress: Progress | None = None,
) -> Suggestions:
    """Which rules a table, or several given by name, look as if they were meant, exact ones and nearly exact ones.

    `rules` names the classes to look at; none means all that can be suggested. At most `top` rules of a class are
    ranked, with up to `max_lhs` columns in a left side or key.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": [10115, 10115, 20095, 20095, 80331, 80331], "city": ["Berlin"] * 2 + ["Hamburg"] * 4})
    >>> best = hf.suggest(towns, "fd")[0]
    >>> print(best.text, best.scored.sentence)
    zip -> city all 6 rows that share zip with another have its city
    """
    progress = progress or SILENT
    classes, asked = classes_of(rules), wanted(top, max_lhs)
    started = time.perf_counter()
    with opened(source, columns, nulls, options, spark, progress) as tables:
        found = suggestions_in(tables, progress, classes, asked)
    return replace(found, seconds=time.perf_counter() - started)


def suggestions_in(
    tables: Opened,
    progress: Progress,
    classes: Sequence[str] | None = None,
    asked: Wanted | None = None,
    given: Sequence[Mapping[str, Any]] = (),
) -> Suggestions:
    """The likely rules of tables that are open. What is given has been tested by batches, and its score shows it."""
    started = time.perf_counter()
    found: list[Scored] = []
    for name in likely_classes() if classes is None else classes:
        declared = rule_class(name)
        likely = declared.likely()
        for subject in tables.subjects(declared.across):
            progress.step(f"Finding likely {declared.title}")
            found += likely(subject, asked or Wanted(), tables.runner, progress)
    tested = {(rule["table"], rule["text"]): rule for rule in given if rule.get("tested_since")}
    order, same = ranked([_with_tests(each, tested.get((each.table, each.text))) for each in found], tables.shapes)
    progress.step("Looking for rows that look wrong")
    wrong = doubts(order, tables.watched, tables.runner)
    return Suggestions(order, same, wrong, tables.shapes, tables.left_out, time.perf_counter() - started)


def _with_tests(scored: Scored, given: Mapping[str, Any] | None) -> Scored:
    """A rule with what batches showed since it is watched."""
    if given is None:
        return scored
    said = f"; of {given['tested_since']:,} rows that came since and could have broken it {given['broke_since']:,} did"
    return replace(scored, score=max(scored.score, given["trust"]), sentence=scored.sentence + said)


def likely_classes() -> list[str]:
    """The classes whose rules can be suggested."""
    return [each.name for each in rule_classes().values() if each.suggested]


def classes_of(rules: str | Sequence[str] | None) -> list[str]:
    """The classes that are named, or all whose rules can be suggested."""
    if rules is None:
        return likely_classes()
    asked = names_in(rules)
    refuse_given(asked)
    for name in asked:
        if name not in likely_classes():
            raise BadInput(f"{rule_class(name).title} can't be suggested; choose from: {', '.join(likely_classes())}")
    return asked


def wanted(top: int, max_lhs: int) -> Wanted:
    """What is asked for, refused where it can't be."""
    refuse_below(1, top, "the number of rules")
    refuse_below(1, max_lhs, "the number of columns of a left side")
    return Wanted(top, max_lhs)


def is_state(source: Any) -> bool:
    """Whether a source is the folder of a state."""
    return isinstance(source, str | Path) and (Path(source) / DATABASE).is_file()
