"""What a CI host shows of a check, and of a batch: the summary from which `report/ci` makes its files.

The sentences are those of the terminal. Redacted, a summary has no values: rows are named by their numbers, and the
constants of rules are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.api.apply_batch import as_first_read
from holdfast.api.new_rows import Pair, first_of_batch, lines_of, new_pairs, plain_lines, plain_pairs, rule_of
from holdfast.api.open_state import OpenState
from holdfast.changes.diff import ChangedClusters
from holdfast.engines.given.status import Status
from holdfast.engines.listing import Listing
from holdfast.engines.registry import table_of_rows
from holdfast.expectations.unusual import Unusual
from holdfast.intake.originals import row_places
from holdfast.intake.source import ReadOptions
from holdfast.report.ci.summary import Place, RuleSummary, Standing, Summary, Violation
from holdfast.results.alarms import FailOn, alarming
from holdfast.results.checked import Checked
from holdfast.results.outcome import Outcome
from holdfast.results.redaction import HiddenValues, SensitiveValues, ShownValues, for_others
from holdfast.results.standing import standing
from holdfast.results.verdict import Block, Level, Verdict, Worse
from holdfast.rules.names import called
from holdfast.rules.rule import Rule
from holdfast.sources.dialect import CsvOptions
from holdfast.table.row_names import naming_key, some_values
from holdfast.table.table import Table
from holdfast.text.row_names import by_number
from holdfast.visible import counted

if TYPE_CHECKING:
    from holdfast.rules.file import Rules  # heavier than what a batch needs

_MOST = 100  # violations of a rule that are listed
_SHOWN = 3  # of these, as many as the terminal shows
_LEVELS: dict[str, Level] = {"failed": "failed", "known": "known", "warning": "warning"}


@dataclass(frozen=True)
class Origin:
    """The file that brought rows of a table, and the id of its first row."""

    source: str
    options: ReadOptions
    first: int = 0


Places = Mapping[str, Mapping[int, Place]]  # of rows, by table


@dataclass(frozen=True)
class _Writer:
    """Turns rows into sentences. `places` has where they stand."""

    shown: ShownValues
    places: Places

    def violations(
        self, rule: Rule, table: Table, pairs: Sequence[Pair], clusters: ChangedClusters | None = None
    ) -> list[Violation]:
        """The first violations of a rule. The very first say also what most other rows say, which takes a look at the
        table for each.
        """
        first, places = _listed(pairs), self.places.get(table.schema.name, {})
        if self.shown.redacted:
            said = list(map(_numbers, first))
        else:
            said = [*lines_of(rule, table, first[:_SHOWN], clusters), *plain_lines(rule, table, first[_SHOWN:])]
        return [
            Violation(line, identity, tuple(places[row] for row in pair if row in places))
            for line, identity, pair in zip(said, self._identities(rule, table, first), first, strict=True)
        ]

    def _identities(self, rule: Rule, table: Table, pairs: Sequence[Pair]) -> Iterator[str]:
        """What the rows of violations are called in every run: by their key, or by what the rule looks at."""
        names = table.schema.names
        columns = naming_key(table.schema) or [name for name in rule.columns if name in names]
        for pair in pairs:
            rows = [] if self.shown.redacted else some_values(table, np.array(pair, np.int64), columns)
            yield json.dumps([list(row.values()) for row in rows] or pair, default=str)

    def about(self, rule: Rule, name: str, table: Table | None) -> _Writer:
        """The writer of a rule of a table: without values where it, or what names the rows, is sensitive."""
        shown = self.shown.of_table(name)
        hidden = table is not None and any(map(shown.hides, naming_key(table.schema)))
        return replace(self, shown=HiddenValues() if hidden else shown.of_rule(rule))

    def name(self, name: str, text: str, rule: Rule) -> str:
        """A rule by its name or text."""
        return self.shown.rule(called(self.shown.rule_name(name, rule), text), rule)


def _listed(pairs: Iterable[Pair]) -> list[Pair]:
    """The violations of a rule that are listed."""
    return [pair for pair in islice(pairs, _MOST) if pair]


def _places(origins: Mapping[str, Origin], listed: Iterable[tuple[str, Sequence[Pair]]]) -> Places:
    """Where the rows of listed violations stand, given these by table. Each file is read once for all rules."""
    rows: dict[str, set[int]] = {}
    for table, pairs in listed:
        rows.setdefault(table, set()).update(row for pair in _listed(pairs) for row in pair)
    places = {}
    for table, origin in origins.items():
        numbers = sorted(row - origin.first for row in rows.get(table, ()) if row >= origin.first)
        found = row_places(origin.source, origin.options, numbers)
        places[table] = {number + origin.first: Place(*place) for number, place in found.items()}
    return places


def of_check(
    checked: Checked,
    rules: Rules,
    sources: Mapping[str, str],
    options: ReadOptions,
    *,
    redact: bool = False,
    seconds: float = 0.0,
) -> Summary:
    """The summary of a check of tables, given the rules with their places, and the sources of the tables where the
    lines of rows are wanted, too.
    """
    origins = {name: Origin(source, options) for name, source in sources.items()}
    listed = [(each.table.schema.name, _pairs_in(each)) for each in checked.listings]
    writer = _Writer(HiddenValues() if redact else ShownValues(), _places(origins, listed))
    listings = {(each.rule.table, each.rule.name): each for each in checked.listings}
    places = {entry.name: _place(entry.where) for entry in rules.entries}
    found = [
        _of_status(each, checked, listings[each.named.table, each.named.name], writer, places.get(each.named.name))
        for each in checked.findings
        if isinstance(each, Status)
    ]
    blocks = [
        Block(_LEVELS[rule.standing], rule.said, rule.rows)
        for level in _LEVELS
        for rule in found
        if rule.standing == level
    ]
    return Summary(_verdict(found), found, blocks, seconds=seconds)


def _of_status(status: Status, checked: Checked, listing: Listing, writer: _Writer, place: Place | None) -> RuleSummary:
    """How a rule of a check stands."""
    plain, name = status.to_json(), writer.name(status.named.name, status.text, status.named.rule)
    broken: Standing = "failed" if plain["severity"] == "error" else "warning"
    level: Standing = broken if checked.is_violated(plain) else "holds"
    text, note = writer.shown.rule(status.text, status.named.rule), "" if writer.shown.redacted else status.named.note
    rule = RuleSummary(status.named.table, name, text, level, note=note, place=place, count=status.violations)
    if level == "holds":
        return rule
    if status.kind == "table":  # it holds or not, and no rows are the violation
        hidden = writer.shown.redacted or not status.tally.said
        return replace(rule, said=f"{name} is violated", rows=[] if hidden else [status.tally.said])
    violations = writer.violations(listing.rule.rule, listing.table, _pairs_in(listing))
    said = f"{name} has {counted(status.violations, 'violation')}"
    return replace(rule, said=said, rows=_first(violations, status.violations), violations=violations)


def _pairs_in(listing: Listing) -> list[Pair]:
    """The rows of the violations that are listed."""
    return [] if listing.pairs is None or listing.rule.rule.kind == "table" else plain_pairs(listing.pairs[:_MOST])


def _place(where: str) -> Place | None:
    """The place of a rule in its file: `rules.yaml, line 3`."""
    file, _, line = where.rpartition(", line ")
    return Place(file, int(line)) if file else None


def _first(violations: Sequence[Violation], count: int) -> list[str]:
    """The first violations in words, and how many more there are."""
    lines = [each.said for each in violations[:_SHOWN]]
    return [*lines, *([f"… and {count - len(lines):,} more"] if lines and count > len(lines) else [])]


def _verdict(rules: Sequence[RuleSummary]) -> str:
    """How rules stand, in one line, after the tables that they are about."""
    failed, warned = (sum(rule.standing == level for rule in rules) for level in ("failed", "warning"))
    said = standing([{"violations": 0}] * len(rules))
    if failed:
        said = f"{failed:,} of {counted(len(rules), 'rule')} failed."
    elif warned:
        said = f"No errors; {counted(warned, 'warning')}."
    return f"{', '.join(dict.fromkeys(rule.table for rule in rules))}: {said}"


# ---- batches ---------------------------------------------------------------------------------------------------------


def of_batch(
    state: OpenState,
    outcome: Outcome,
    fail_on: FailOn,
    bad: str,
    inserted: Mapping[str | None, str],
    options: ReadOptions,
    redact: bool,
) -> Summary:
    """The summary of the last batch that was applied to a state. `bad` says why too many rows were set aside;
    `inserted` are the files whose rows it inserted, by table.
    """
    given = [each for own in state.now().given_results() for each in own.values() if isinstance(each, Status)]
    shown = HiddenValues() if redact else SensitiveValues(outcome.around.sensitive, hashed=HiddenValues())
    tables, verdict = state.tables, outcome.verdict(fail_on)
    public = for_others(verdict, values=True)
    seconds = outcome.batch.seconds + outcome.commit_seconds
    if outcome.already_applied:
        line = outcome.lines()[0]
        return Summary(line, _standing_rules(given, _Writer(shown, {}), ()), skipped=line)
    pairs = {each.key: _pairs_of(each, outcome, tables) for each in verdict.worse}
    listed = ((table_of_rows(*key), own) for key, own in pairs.items())
    writer = _Writer(shown, _places(_origins(state, outcome, inserted, options), listed))
    counts = alarming(fail_on).given
    worse = [_of_worse(each, verdict, pairs[each.key], tables, writer, counts) for each in verdict.worse]
    known = {(rule.table, each.finding.text) for rule, each in zip(worse, verdict.worse, strict=True)}
    known |= {(str(rule["table"]), str(rule["text"])) for rule in outcome.now_given}
    blocks = [Block(_LEVELS[each.standing], each.said, each.rows) for each in worse] if redact else public.blocks()
    more = public.last_lines() if not redact else []
    if redact:
        public = replace(public, muted=())
    return Summary(
        outcome.lines()[0] if outcome.is_nothing else public.line(),
        [*worse, *_standing_rules(given, writer, known)],
        list(blocks),
        [*more, *(heading for heading, _ in outcome.quarantine_lines())],
        [bad] if bad else [],
        counted="new violations",
        seconds=seconds,
    )


def _origins(
    state: OpenState, outcome: Outcome, inserted: Mapping[str | None, str], options: ReadOptions
) -> dict[str, Origin]:
    """The files whose rows a batch inserted, all of them and in their order."""
    if outcome.batch.kind != "inserts" or outcome.batch.ignored or (outcome.quarantined and outcome.quarantined.rows):
        return {}
    origins = {}
    for name, source in inserted.items():
        if name is None and len(state.tables) > 1:  # a column of the file names the table of each row
            continue
        table = state.table_name(name)
        read = as_first_read(options, CsvOptions.from_dict(state.records[table].options))
        origins[table] = Origin(source, read, first_of_batch(outcome, state.tables[table]))
    return origins


def _of_worse(
    worse: Worse, verdict: Verdict, pairs: list[Pair], tables: Mapping[str, Table], writer: _Writer, counts: bool
) -> RuleSummary:
    """A rule that a batch made worse, by some rows; `counts` says whether given rules count as failed."""
    level: Standing = "warning" if worse.level == "failed" and not counts else worse.level
    if isinstance(worse.finding, Unusual):
        return _of_unusual(worse.finding, level, writer.shown)
    table, rule = table_of_rows(*worse.key), rule_of(worse.finding)
    own = tables.get(table)
    writer = writer.about(rule, table, own)
    shown, name = writer.shown, writer.name(worse.finding.to_json().get("name", ""), worse.finding.text, rule)
    clusters = worse.change.clusters if worse.change is not None else None
    violations = writer.violations(rule, own, pairs, clusters) if own is not None else []
    rows = [each.said for each in violations[:_SHOWN]] if shown.redacted else verdict.rows_of(worse)
    return RuleSummary(
        table,
        name,
        shown.rule(worse.finding.text, rule),
        level,
        worse.says_of(name),
        rows,
        "" if shown.redacted else str(worse.finding.to_json().get("note", "")),
        count=worse.new,
        violations=violations,
    )


def _of_unusual(found: Unusual, level: Standing, shown: ShownValues) -> RuleSummary:
    """A figure of a batch that is far outside."""
    if shown.of_table(found.table).hides(found.column):
        found = found.without_values()
    return RuleSummary(found.table, found.text, found.text, level, found.sentence, count=1)


def _pairs_of(worse: Worse, outcome: Outcome, tables: Mapping[str, Table]) -> list[Pair]:
    """The rows of the new violations of a rule, or those that broke a found one."""
    if (table := tables.get(table_of_rows(*worse.key))) is None:
        return []
    if worse.change is not None:
        return [] if worse.finding.kind == "table" else new_pairs(worse.change, first_of_batch(outcome, table))
    return [tuple(sorted(worse.witness.rows, reverse=True))] if worse.witness else []


def _standing_rules(given: Iterable[Status], writer: _Writer, known: Any) -> list[RuleSummary]:
    """The given rules that a batch did not make worse."""
    return [
        RuleSummary(
            each.named.table,
            own.name(each.named.name, each.text, each.named.rule),
            own.shown.rule(each.text, each.named.rule),
            "holds",
        )
        for each in given
        for own in [writer.about(each.named.rule, each.named.table, None)]
        if (each.named.table, each.text) not in known
    ]


def _numbers(pair: Pair) -> str:
    """The rows of a violation without their values."""
    return " and ".join(map(by_number, pair))
