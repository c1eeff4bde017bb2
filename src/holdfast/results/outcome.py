"""What a batch did."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from holdfast.changes.diff import Diff, Finding, ViolationChange, Witness
from holdfast.engines.given.status import Status
from holdfast.engines.registry import rule_class
from holdfast.engines.thresholds import MAX_BAD
from holdfast.expectations.unusual import Unusual
from holdfast.intake.quarantine import Quarantined
from holdfast.results import outcome_lines
from holdfast.results.alarms import Alarming, FailOn, alarming, lasting
from holdfast.results.drawn import Drawn
from holdfast.results.marked_diffs import MarkedDiffs
from holdfast.results.marked_rules import MarkedRules
from holdfast.results.memory import RuleKey
from holdfast.results.outcome_json import change_objects, table_of
from holdfast.results.outcome_lines import TableDiff
from holdfast.results.verdict import Around, Examples, Level, Repeat, Verdict, Worse, failed_words
from holdfast.rules.names import called, titled
from holdfast.rules.promotion import as_given
from holdfast.rules.registry import parse
from holdfast.store.records import AlarmedRule, BatchRecord
from holdfast.store.rule_events import given_changes
from holdfast.visible import Printed, counted

_MOST_ALARMED = 50  # found rules that one batch makes given ones
_NAMED = 3  # rules that are an alarm, by name
_COUNTED = ViolationChange.counted()


@dataclass(frozen=True, repr=False)
class Outcome(Printed, Drawn):
    """What a batch did: its record, what changed for each engine and table (`*`: across tables), and the quarantined
    rows.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> outcome  # doctest: +ELLIPSIS
    Batch 1: 1 row. 1 rule failed.
    Failed: zip -> city has 1 new violation
      id 3: zip 10115, city Brelin (Berlin in 1 of 2)
      See: holdfast explain ... "zip -> city"
    >>> outcome.broken, outcome.why()
    (True, '1 rule failed: zip -> city')
    >>> outcome.to_json()[1]["violations"]
    1
    """

    batch: BatchRecord
    diffs: Mapping[tuple[str, str], Diff] = field(default_factory=dict)
    already_applied: bool = False
    quarantined: Quarantined | None = None  # None: no quarantine folder was given
    marks: MarkedRules = field(default=MarkedRules())  # the ignored and the pinned rules
    now_given: Sequence[Mapping[str, Any]] = ()  # found rules that raised an alarm, and are given from now on
    now_muted: Sequence[Mapping[str, Any]] = ()  # suggested rules that are muted from now on
    repeats: Mapping[RuleKey, Repeat] = field(default_factory=dict)  # rules whose new violations copy reported ones
    examples: Mapping[RuleKey, Examples] = field(default_factory=dict)  # new violations, in words
    around: Around = field(default=Around())  # the state
    unusual: Sequence[Unusual] = ()  # figures of the batch that are far outside of those before it
    commit_seconds: float = 0.0  # not in `seconds` of the batch: the commit writes that to the history

    @property
    def lost(self) -> list[Finding]:
        """Rules that no longer hold."""
        return [rule for diff in self.diffs.values() for text, rule in diff.lost.items() if text in diff.witnesses]

    @property
    def implied(self) -> list[Finding]:
        """Rules that still hold but are no longer reported: they follow from others that hold now, or too few rows
        are left that could break them.
        """
        diffs = self.diffs.values()
        return [rule for diff in diffs for text, rule in diff.lost.items() if diff.loss(text) == "implied"]

    @property
    def untested(self) -> list[Finding]:
        """Rules that don't hold and did not break either: until now no rows had tested them, for lack of values."""
        return [diff.lost[text] for diff in self.diffs.values() for text in diff.untested]

    def witness(self, rule: Finding) -> Witness | None:
        """The rows that broke a rule, where they are known."""
        found = (diff.witnesses.get(rule.text) for diff in self._marked.about(table_of(rule)))
        return next((witness for witness in found if witness is not None), None)

    # ---- marked rules -----------------------------------------------------------------------------------------------

    @cached_property
    def _marked(self) -> MarkedDiffs:
        return MarkedDiffs(self.diffs, self.marks)

    @property
    def listed(self) -> dict[tuple[str, str], Diff]:
        """The diffs as people see them: without ignored rules, and without broken pinned ones, which come first."""
        return self._marked.listed

    @property
    def pinned(self) -> dict[tuple[str, str], Diff]:
        """What the batch did to the pinned rules that it broke."""
        return self._marked.pinned

    @property
    def ignored(self) -> int:
        """How many ignored rules broke."""
        return self._marked.ignored

    # ---- what changed -----------------------------------------------------------------------------------------------

    @property
    def gained(self) -> list[Finding]:
        """Rules that hold now and did not before."""
        return [finding for diff in self.diffs.values() for finding in diff.gained.values()]

    @property
    def changed(self) -> list[tuple[Finding, Finding]]:
        """Findings that changed, before and after."""
        return [pair for diff in self.diffs.values() for pair in diff.changed.values()]

    @property
    def violations(self) -> dict[str, ViolationChange]:
        """The violations that were added and resolved, by the text of the rule (`diffs` has them by table)."""
        return {text: change for diff in self.diffs.values() for text, change in diff.violations.items()}

    @property
    def broken(self) -> bool:
        """Whether the batch is an alarm: a given rule of severity error has new violations, or a pinned rule broke, or
        a found rule broke that had a score of at least 0.9 and was tested by 1,000 rows, or the rows, nulls or
        timestamps of the batch are far outside of what is usual. Ignored rules don't count.
        """
        return bool(self.alarms())

    def alarms(self, fail_on: FailOn = "likely") -> list[Finding]:
        """The rules that make the batch an alarm: given ones, then pinned ones, then found ones by score, then what is
        expected of batches.

        `fail_on` chooses them: only `given` ones, also `likely` ones, `any`, `never` any; or found ones with at least
        some score. A given rule is none whose new violations all copy wrong values that raised an alarm before, but
        with `any`.
        """
        condition = alarming(fail_on)
        again = [each.finding for each in self._given_worse if each.level == "known"] if condition.all else []
        found = [self.diffs[at].lost[text] for at, text in self._alarming(condition)]
        pinned = [rule for diff in self.pinned.values() for rule in diff.lost.values()] if condition.given else []
        unusual = [each for each in self.unusual if each.severity == "error"] if condition.given else []
        return [*(self._worse() if condition.given else ()), *again, *pinned, *found, *unusual]

    def alarmed(self, fail_on: FailOn) -> list[AlarmedRule]:
        """The found rules that make the batch an alarm, and are to be watched as given ones from then on: the best, if
        they are many.
        """
        condition = lasting(fail_on)
        pinned = [(at, text) for at, diff in self.pinned.items() for text in diff.lost] if condition.given else []
        found = [*pinned, *self._alarming(condition)][:_MOST_ALARMED]
        scores = {rule: (self.diffs[rule[0]].worth or {}).get(rule[1]) for rule in found}
        return [
            AlarmedRule(*at, text, (worth.score, worth.support) if worth else None)
            for (at, text), worth in scores.items()
        ]

    def why(self, fail_on: FailOn = "likely") -> str:
        """Why the batch is an alarm, or why it is none although rules broke; empty if no rule broke."""
        condition, alarms = alarming(fail_on), self.alarms(fail_on)
        lost = sum(len(diff.witnesses) for diff in self.listed.values())
        if alarms:
            names = [_called(rule) for rule in alarms[:_NAMED]]
            more = f" and {len(alarms) - _NAMED:,} more" if len(alarms) > _NAMED else ""
            return f"{failed_words(alarms)} failed: {', '.join(names)}{more}"
        if not lost:
            return "" if condition.given or not any(self._worse()) else f"No alarm: --fail-on {fail_on}"
        rules = "the rule that broke" if lost == 1 else f"the {lost:,} rules that broke"
        if condition.score > 1:
            return f"No alarm: --fail-on {fail_on} leaves out {rules}"
        if condition.support and (high := len(self.alarms(condition.score))):
            some = f"{high:,} with a score of at least {condition.score:g} may have held by chance"
            return f"No alarm: of {rules}, {some} (--fail-on {condition.score:g} counts them)"
        untested = f", or tested by fewer than {condition.support:,} rows" if condition.support else ""
        were = "was" if lost == 1 else "were"
        return f"No alarm: {rules} {were} weak (score under {condition.score:g}{untested})"

    def why_bad(self, most: float = MAX_BAD) -> str:
        """Why too many rows are in quarantine; empty if these are at most a share of the batch."""
        found = self.quarantined
        if found is None or found.share <= most:
            return ""
        return f"{found.rows:,} of {counted(found.of, 'row')} were set aside, more than {100 * most:g}% (--max-bad)"

    @property
    def noise(self) -> set[str]:
        """The names of the suggested rules that new rows break as often as chance does, and that are to be muted."""
        moved = (new for diff in self.diffs.values() for _, new in diff.changed.values())
        return {new.named.name for new in moved if isinstance(new, Status) and new.is_noise}

    def _worse(self) -> Iterator[Finding]:
        """The given rules of severity error that have new violations."""
        return (each.finding for each in self._given_worse if each.level == "failed")

    @cached_property
    def _given_worse(self) -> list[Worse]:
        """The given rules that have new violations."""
        return [
            Worse(key, new, level, new.tally.figures.get("score", 0.0), change, old.violations, repeat=repeat)
            for at, diff in self.diffs.items()
            for text, (old, new) in diff.changed.items()
            if isinstance(old, Status) and isinstance(new, Status) and new.named.origin != "muted"
            for change in (diff.violations.get(text, _COUNTED),)
            if _grew(old, new, change)
            for key in ((*at, text),)
            for repeat in (self.repeats.get(key),)
            for level in (_level(new, repeat),)
        ]

    def worse(self, fail_on: FailOn = "likely") -> list[Worse]:
        """The rules that got worse, the most important first: given ones that have new violations, and found ones that
        broke and are an alarm; of those that are one only where any is, the likely ones.
        """
        every = alarming(fail_on).all
        condition = alarming("likely" if every else fail_on)
        pinned = [(at, text) for at, diff in self.pinned.items() for text in diff.lost] if condition.given else []
        found = [
            Worse((*at, text), diff.lost[text], "failed", diff.score(text), witness=diff.witnesses[text])
            for at, text in (*pinned, *self._alarming(condition))
            for diff in (self.diffs[at],)
        ]
        given = (replace(e, level="failed") if every and e.level == "known" else e for e in self._given_worse)
        unusual = [
            Worse((each.kind, each.table, each.text), each, "failed" if each.severity == "error" else "warning", 1.0)
            for each in self.unusual
        ]
        return sorted([*given, *found, *unusual], key=lambda each: each.place)

    def verdict(self, fail_on: FailOn = "likely", *, verbose: bool = False) -> Verdict:
        """The verdict for people; `verbose` shows also what it otherwise counts."""
        worse = self.worse(fail_on)
        return Verdict(
            self.batch, worse, self.mended, self.examples, self.around, verbose, self.now_muted, self.waiting
        )

    @property
    def waiting(self) -> list[str]:
        """Which rows wait for a partner, or have found one with this batch, in words: of references with a grace."""
        moved = [each for diff in self.diffs.values() for each in diff.figures.values()]
        return [each.waiting for each in moved if isinstance(each, Status) and each.waiting]

    @property
    def mended(self) -> list[Finding]:
        """The given rules that hold again."""
        return [rule for diff in self.diffs.values() for rule in given_changes(diff).mended.values()]

    def _alarming(self, condition: Alarming) -> list[tuple[tuple[str, str], str]]:
        """The broken rules that meet a condition, by class and table and text: the best first."""
        found = [
            (at, text)
            for at, diff in self.listed.items()
            for text in (diff.lost if condition.all else diff.worth or ())
            if condition.found((diff.worth or {}).get(text))
            and text in diff.witnesses
            and (condition.all or not self._is_given(at[1], text))
        ]
        return sorted(found, key=lambda rule: -self.diffs[rule[0]].score(rule[1]))

    def _is_given(self, table: str, text: str) -> bool:
        """Whether a found rule that broke is a given one that changed, too, which then says whether it is an alarm."""
        given = self._given_texts.get(table)
        if not given or text in given:
            return bool(given)
        rule = parse(text)
        return not rule.given_as and as_given(rule)[0].text in given

    @cached_property
    def _given_texts(self) -> dict[str, set[str]]:
        """The given rules whose violations changed, by table (`*`: across tables)."""
        found: dict[str, set[str]] = {}
        for (engine, table), diff in self.diffs.items():
            if rule_class(engine).given and diff.violations:
                found.setdefault(table, set()).update(diff.violations)
        return found

    def moved(self, text: str, table: str | None = None) -> tuple[int | None, int | None]:
        """How many violations of a given rule are new, and how many are gone; None: only their number is stored."""
        return self._marked.moved(text, table)

    def to_json(self) -> list[dict[str, Any]]:
        """One object for the batch, then one for each change: first given rules that got worse, then broken and gained
        rules by score, then the others.
        """
        quarantined = {} if self.quarantined is None else {"quarantined": self.quarantined.to_json()}
        given = {"now_given": [dict(rule) for rule in self.now_given]} if self.now_given else {}
        muted = {"now_muted": [dict(rule) for rule in self.now_muted]} if self.now_muted else {}
        first = {**self.batch.to_json(), "already_applied": self.already_applied, **quarantined, **given, **muted}
        worse = list(self._worse())
        return [first, *change_objects(self._marked, worse, self.repeats, self.unusual)]

    # ---- for people -------------------------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        """The verdict, the quarantined rows, the rules that got worse with their rows, and the rules that came and
        went.
        """
        if self.already_applied:
            return [f"Nothing to do: batch {self.batch.batch_id} was applied before, at {self.batch.when}."]
        if self.is_nothing:
            unchanged = f"Batch {self.batch.number:,}: no change in {', '.join(self.batch.tables)}"
            return [unchanged, *_flat(self.quarantine_lines())]
        verdict = self.verdict()
        blocks = ((block.heading, block.rows) for block in verdict.blocks())
        said = frozenset(each.key for each in verdict.worse)
        start = [verdict.line(), *_flat(self.quarantine_lines()), *_flat(blocks), *verdict.last_lines()]
        return [*start, *_flat(self.rule_lines(said=said)), *_flat(self.given_lines())]

    @property
    def is_nothing(self) -> bool:
        """Whether it changed nothing, and nothing is to be said of that."""
        return not (self.batch.inserted or self.batch.deleted or self.unusual)

    @property
    def of_several(self) -> bool:
        """Whether it changed more than one table, so that lines name the table."""
        return len(self.batch.tables) > 1

    def quarantine_lines(self) -> Iterator[tuple[str, list[str]]]:
        """How many rows of the batch are in quarantine, and where: a heading, if there are any, and the first
        reasons.
        """
        found = self.quarantined
        if found is not None and found.rows:
            more = found.rows - len(found.reasons)
            reasons = [*found.reasons, *([f"… and {more:,} more"] if more else [])]
            yield f"quarantined: {found.rows:,} of {counted(found.of, 'row')} in {' and '.join(found.files)}", reasons

    def given_lines(self) -> Iterator[tuple[str, list[str]]]:
        """The found rules that are given from now on: a heading, if there are any, and each with its name."""
        if self.now_given:
            raised = "it raised an alarm" if len(self.now_given) == 1 else "they raised alarms"
            heading = f"given from now on: {counted(len(self.now_given), 'rule')}, as {raised}"
            yield heading, [titled(rule["name"], rule["text"]) for rule in self.now_given]

    def rule_lines(self, most: int = 10, said: Collection[RuleKey] = ()) -> Iterator[tuple[str, list[str]]]:
        """The broken rules with the rows that broke them, and the rules that hold now: headings and first lines. Of
        those in `said` all is said.
        """
        listed = {
            at: _without(diff, {text for *own, text in said if tuple(own) == at}) for at, diff in self.listed.items()
        }
        diffs = listed.values()
        others = self._of_tables(listed)
        lost, gained = (sum(len(getattr(diff, part)) for diff in diffs) for part in ("witnesses", "gained"))
        if lost:
            yield f"lost: {counted(lost, 'rule')}", outcome_lines.lost_lines(others, most)
        if gained:
            lines, hidden = outcome_lines.gained_lines(others, most)
            yield f"gained: {counted(gained, 'rule')}{f'; not shown: {hidden}' if hidden else ''}", lines
        if self.ignored:
            yield f"ignored: {counted(self.ignored, 'rule')} that you ignore broke", []
        if untested := len(self.untested):
            them = "it" if untested == 1 else "them"
            yield f"untested: {counted(untested, 'rule')} failed once rows tested {them}", []
        if implied := sum(len(diff.lost) for diff in diffs) - lost - untested:
            why = f"follow from others, or too few rows are left to test them{outcome_lines.below_coverage(others)}"
            yield f"implied: {implied:,} rules still hold, but {why}", outcome_lines.implied_lines(others, most)

    def _of_tables(self, diffs: Mapping[tuple[str, str], Diff]) -> list[TableDiff]:
        return [TableDiff(diff, *subject, self.of_several) for subject, diff in diffs.items()]


def _flat(headed: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Headings, each followed by its lines."""
    return [each for heading, lines in headed for each in (heading, *(f"  {line}" for line in lines))]


def _without(diff: Diff, texts: Collection[str]) -> Diff:
    return diff.without(texts) if texts else diff


def _called(rule: Finding) -> str:
    """A rule by its name, or its text."""
    return str(rule) if isinstance(rule, Unusual) else called(rule.to_json().get("name", ""), rule.text)


def _level(rule: Status, repeat: Repeat | None) -> Level:
    """How bad new violations of a rule are; `repeat` says that all copy values that raised an alarm before."""
    return "warning" if rule.named.severity != "error" else "known" if repeat else "failed"


def _grew(old: Status, new: Status, change: ViolationChange) -> bool:
    """Whether a rule has new violations, or more that are not accepted."""
    if change.new:
        return True
    if new.baseline is not None and new.open > old.open:
        return True
    return change.new is None and new.violations > old.violations
