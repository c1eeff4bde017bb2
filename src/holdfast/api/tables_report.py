"""The page of tables that belong to no state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from holdfast.api.workspace import Workspace
from holdfast.engines.registry import ALL_TABLES, rule_class, table_of_rows
from holdfast.engines.thresholds import LIKELY
from holdfast.ranking.suggestion import Doubt, Same, Suggestion
from holdfast.report.bundle import html_page
from holdfast.report.document.build import document
from holdfast.report.document.content import Content, RuleContent
from holdfast.report.document.rules import HOLDS, VIOLATED, RuleLine, RuleSection, score_of
from holdfast.results.found import Found
from holdfast.results.outputs import PAGE, write_text
from holdfast.results.suggestions import Suggestions

BEST = 200  # rules of a class and table that a page shows in detail, the best ones


def write_document(path: Path, made: Mapping[str, Any]) -> int:
    """Write the page of a document; gives its size in bytes."""
    return write_text(path, html_page(made), PAGE)


def found_document(tables: Workspace, found: Found, *, redact: bool = False) -> dict[str, Any]:
    """The document of what was found in open tables."""
    sections, rules = [], []
    for result in found.ranked:
        for first in islice(result.values(), 1):
            declared = rule_class(first.kind)
            if declared.facts:
                continue
            subject = ALL_TABLES if declared.across else first.to_json()["table"]
            sections.append(RuleSection(declared, "" if declared.across else subject, declared.title, (), result))
            rules += [_found(declared.name, subject, rule) for rule in islice(result.values(), BEST)]
    return document(_look(tables, found.nulls, sections, rules), redact=redact)


def suggested_document(
    tables: Workspace, suggestions: Suggestions, nulls: str, *, redact: bool = False
) -> dict[str, Any]:
    """The document of the rules of open tables that the command line lists, and of rows that look wrong."""
    lines: dict[tuple[str, str], list[RuleLine]] = {}
    rules = []
    for each in suggestions.listed:
        subject = ALL_TABLES if rule_class(each.kind).across else each.table
        state = VIOLATED if each.scored.to_remove else HOLDS
        lines.setdefault((each.kind, subject), []).append(RuleLine(each.text, each.scored.score, state))
        rules.append(_suggested(each, subject))
    sections = []
    for (kind, subject), own in lines.items():
        declared = rule_class(kind)
        sections.append(RuleSection(declared, "" if declared.across else subject, f"likely {declared.title}", own))
    return document(_look(tables, nulls, sections, rules, suggestions.doubts, suggestions.same), redact=redact)


def left_out_notes(left_out: Mapping[str, Sequence[str]]) -> list[str]:
    """Which columns are not watched."""
    return [
        f"Columns of {table} that are not watched: {', '.join(names)}." for table, names in left_out.items() if names
    ]


def _look(
    tables: Workspace,
    nulls: str,
    sections: Sequence[RuleSection],
    rules: Sequence[RuleContent],
    doubts: Sequence[Doubt] = (),
    same: Sequence[Same] = (),
) -> Content:
    likely = (rule for rule in rules if rule_class(rule.engine).references and (rule.score or 0.0) >= LIKELY)
    return Content(
        title=", ".join(tables.tables),
        is_state=False,
        nulls=nulls,
        watched=tables.tables,
        left_out=tables.left_out,
        sections=sections,
        rules=rules,
        references={rule.key: rule.finding for rule in likely},
        doubts=doubts,
        same=same,
        notes=left_out_notes(tables.left_out),
    )


def _found(engine: str, subject: str, rule: Any) -> RuleContent:
    finding = rule.to_json()
    return RuleContent(engine, table_of_rows(engine, subject, rule.text), rule.text, subject, finding, score_of(rule))


def _suggested(each: Suggestion, subject: str) -> RuleContent:
    scored = each.scored
    return RuleContent(
        each.kind,
        each.table,
        each.text,
        subject,
        {**scored.rule.to_json(), "g3": scored.g3},
        scored.score,
        to_remove=scored.rows,
        more_to_remove=max(0, scored.to_remove - len(scored.rows)),
        evidence=[f"{scored.sentence[:1].upper()}{scored.sentence[1:]}."],
        implied_by=", ".join(each.implied_by),
    )
