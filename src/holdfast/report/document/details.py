"""The details of one rule on a page: what it says, its timeline, and the rows that break it.

Also a part of a long list of violations: only its rows are read from the files of their table.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from holdfast.changes.diff import NOBODY
from holdfast.engines.contract import Json, is_given
from holdfast.engines.listing import Listing
from holdfast.engines.registry import given_class, rule_class
from holdfast.engines.watched import WatchedTable
from holdfast.report.document.content import BreakingRows, RowValues, RuleContent
from holdfast.report.document.shown_row import ShownRow
from holdfast.report.document.timeline import Timeline
from holdfast.report.pictures import line
from holdfast.results.redaction import ShownValues
from holdfast.rules.file import rule_entry
from holdfast.rules.given import GivenRule
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule
from holdfast.rules.sentences import why
from holdfast.rules.sql import query
from holdfast.table.nulls import Nulls
from holdfast.table.table import Schema
from holdfast.visible import counted, visible

_PAIRS = 3  # of rows that are shown for a rule
_COLUMNS = 60  # of a row
_COPIED = ("name", "severity", "note", "counted", "g3", "support")  # from the finding


def rule_of(engine: str, text: str) -> Rule | None:
    """The rule of a text; None if the class finds facts and not rules."""
    return parse(text) if rule_class(engine).rules else None


def side_by_side(
    rule: Rule,
    sides: Sequence[ShownRow],
    columns: Sequence[str],
    shown: ShownValues,
    sentence: str,
    nulls: Nulls = Nulls.EQUAL,
    numeric: Container[str] = (),
) -> Json:
    """Rows that break a rule, with the cells at fault marked; `sentence` is used if no breach says why."""
    names = [shown.name(each.row, each.key, {}, ()) for each in sides]
    spoken = shown.of_rule(rule)
    said = why(rule, [each.values for each in sides], names, nulls, spoken.value, numeric)
    return {
        "sentence": visible(spoken.rule(said.closed or sentence, rule)),  # it may name constants of the rule
        "columns": columns,
        "rule_columns": list(rule.columns),
        "marked": list(said.marked),
        "rows": [sides[place].to_json(shown, columns, rule) for place in said.order],
    }


def wanted_rows(rules: Sequence[RuleContent]) -> dict[str, set[int]]:
    """The rows that details need, by table."""
    wanted: dict[str, set[int]] = {}
    for rule in rules:
        own = wanted.setdefault(rule.table, set())
        for each in _rows_to_show(rule):
            own.update(each.rows)
        own.update(rule.work[0])
    return wanted


def _rows_to_show(rule: RuleContent) -> list[BreakingRows]:
    """The rows that break a rule now, then those that did."""
    pairs = None if rule.listing is None else rule.listing.pairs
    found = [] if pairs is None else [tuple(row for row in pair if row >= 0) for pair in pairs[:_PAIRS].tolist()]
    broke_with = {frozenset(each.rows): each.batch for each in reversed(rule.broke)}
    now = [BreakingRows(broke_with.get(frozenset(rows), 0), rows) for rows in found]
    by_rows = {frozenset(each.rows): each for each in reversed([*now, *rule.broke])}  # equal rows once
    return list(reversed(by_rows.values()))[:_PAIRS]


class DetailWriter:
    """Writes the details of rules."""

    def __init__(
        self, schemas: Mapping[str, Schema], rows: RowValues, shown: ShownValues, last: int, live: bool
    ) -> None:
        self._schemas, self._rows, self._shown, self._last, self._live = schemas, rows, shown, last, live

    def of(self, rule: RuleContent, strip: Callable[[Timeline], int]) -> dict[str, Any]:
        """The details of a rule; what is not known is left out."""
        value, finding = rule_of(rule.engine, rule.text), rule.finding
        shown = self._shown.of_table(rule.table)
        spoken = shown if value is None else shown.of_rule(value)
        about = {key: finding[key] for key in _COPIED if key in finding} | {"mark": rule.mark}
        if value is not None:
            about["says"] = visible(spoken.rule(value.meaning, value))
            about |= {"name": shown.rule_name(finding["name"], value)} if "name" in finding else {}
        measured = [f"Now it is {spoken.value(finding['value'])}."] if "value" in finding else []
        about["evidence"] = [visible(each) for each in (*measured, *_evidence(finding), *rule.evidence)]
        if rule.given:
            about |= {"violations": finding["violations"], "listed": self._live and finding.get("listed", True)}
            about |= {"accepted": finding["accepted"]} if "accepted" in finding else {}
        elif rule.to_remove:
            about |= {"violations": len(rule.to_remove) + rule.more_to_remove, "counted": "rows to remove"}
        if rule.timeline is not None:
            about |= {"strip": strip(rule.timeline), "broke": rule.timeline.broke, "since": rule.timeline.since}
            about |= {"since": None} if rule.timeline.state in ("broken", "absent") else {}
        named = rule.text if value is None else spoken.rule(rule.text, value)
        about["line"] = line(rule.violations, f"violations of {named}", last=self._last)
        about["implied_by"] = visible(rule.implied_by)
        if value is not None:
            about |= self._broken(rule, value)
            about["copy"] = self._copies(rule, value)
        return {key: value for key, value in about.items() if value not in ("", [], None) or key == "since"}

    # ---- rows -------------------------------------------------------------------------------------------------------

    def _broken(self, rule: RuleContent, value: Rule) -> dict[str, Any]:
        shown = _rows_to_show(rule)
        pairs = [pair for each in shown if (pair := self.pair(rule.table, value, each)) is not None]
        work, more = rule.work
        if not work:
            return {"pairs": pairs}
        columns, own = self._columns(rule.table, value), self._shown.of_table(rule.table)
        rows = [self._rows.side(rule.table, row).to_json(own, columns, value) for row in work]
        sentence = _work_sentence(len(work), more, value.across)
        return {"pairs": pairs, "worklist": {"sentence": sentence, "columns": columns, "rows": rows, "more": more or 0}}

    def pair(self, table: str, rule: Rule, each: BreakingRows) -> dict[str, Any] | None:
        """Rows side by side, with the cells at fault marked; None: no value is known."""
        known = each.values or (None,) * len(each.rows)
        sides = [self._rows.side(table, row, own) for row, own in zip(each.rows, known, strict=True)]
        if not any(side.values for side in sides):
            return None
        own_words = each.sentence if self._shown.shows_all else ""
        schema, columns = self._schemas[table], self._columns(table, rule)
        shown = self._shown.of_table(table)
        pair = side_by_side(rule, sides, columns, shown, own_words, schema.nulls, schema.numeric)
        return {"batch": each.batch, **pair}

    def _columns(self, table: str, rule: Rule) -> list[str]:
        """The columns of a row to show: those of the rule first, then the key."""
        first = [*rule.columns, *self._rows.key(table), *self._schemas[table].names]
        return list(dict.fromkeys(first))[:_COLUMNS]

    # ---- copies -----------------------------------------------------------------------------------------------------

    def _copies(self, rule: RuleContent, value: Rule) -> dict[str, str]:
        key = self._rows.key(rule.table)
        given = given_class(rule.text)
        shown = self._shown.of_table(rule.table)
        name = shown.rule_name(rule.finding.get("name", ""), value) or "rule"
        table = "" if given is None or given.across or len(self._schemas) == 1 else rule.table
        text = shown.rule(rule.text, value)  # YAML may write constants otherwise, so they are redacted before
        entry = rule_entry(GivenRule(name, table, text, rule.finding.get("severity", "error"))) if given else ""
        sql = query(value, rule.table, key, self._schemas[rule.table].nulls)
        copies = {"text": text, "sql": shown.rule(sql, value), "rule": entry}
        return {kind: copy for kind, copy in copies.items() if copy}


def _work_sentence(count: int, more: int | None, partner: bool) -> str:
    rows, are, them = ("this row", "is", "it") if count == 1 else (f"these {count:,} rows", "are", "them")
    if more is None:
        return f"{rows.capitalize()} {are} in the most violations: look at {them} first."
    if more:
        return f"Remove {count + more:,} rows, and it holds; these are the first {count:,}."
    partners = f", or add {'its partner' if count == 1 else 'their partners'}," if partner else ","
    return f"Remove {rows}{partners} and it holds."


def _evidence(finding: Mapping[str, Any]) -> Iterator[str]:
    """The evidence for a rule, in sentences."""
    if finding.get("support"):
        yield f"{finding['support']:,} rows could have broken it."
    if finding.get("tested_since") and (finding["broke_since"] or not finding.get("violations")):
        tested, broke = finding["tested_since"], finding["broke_since"]
        yield f"Since it is watched: {broke:,} of {tested:,} new rows broke it."
    if finding.get("error") and not is_given(finding):  # a given rule shows its rows to remove
        what = "pairs of rows" if finding.get("measure") == "share of pairs" else "rows"
        yield f"It holds except for {finding['error']:.4%} of {what}."
    if finding.get("to_remove"):
        rows = counted(finding["to_remove"], "row")
        yield f"It holds without {rows} ({finding['error']:.4%}), and not without fewer."
    if finding.get("value_coverage", 1.0) < 1.0:
        yield f"{finding['value_coverage']:.2%} of the values have a partner."


def violations_page(listing: Listing, first: int, count: int, shown: ShownValues) -> dict[str, Any]:
    """`count` violations from number `first` on, each as rows side by side with the reason in words."""
    about = {"rule": listing.rule.name, "total": listing.count, "from": first, "listed": listing.pairs is not None}
    if listing.pairs is None:
        return {**about, "violations": []}
    table = listing.rule.table
    pairs = [tuple(row for row in pair if row != NOBODY) for pair in listing.pairs[first : first + count].tolist()]
    rows = RowValues({table: WatchedTable(listing.table)}, {table: {row for pair in pairs for row in pair}})
    details = DetailWriter({table: listing.table.schema}, rows, shown, last=0, live=True)
    return {**about, "violations": [details.pair(table, listing.rule.rule, BreakingRows(0, pair)) for pair in pairs]}
