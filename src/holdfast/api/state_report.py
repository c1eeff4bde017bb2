"""The page of a state: what it shows is gathered here, and written in `report/document`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from holdfast.api.open_state import OpenState
from holdfast.api.settings import stored_marks, stored_sensitive
from holdfast.api.tables_report import BEST, left_out_notes
from holdfast.api.workspace import Subject
from holdfast.changes.diff import Result
from holdfast.engines.listing import Listing
from holdfast.engines.registry import given_class, rule_class, table_of_rows
from holdfast.engines.thresholds import LIKELY
from holdfast.report.document.build import document
from holdfast.report.document.content import MOST_PAIRS, BreakingRows, ChangeContent, Content, RuleContent
from holdfast.report.document.context import MOST_EVENTS
from holdfast.report.document.rules import BROKE, HOLDS, IMPLIED, UNTESTED, VIOLATED, RuleLine, RuleSection, score_of
from holdfast.report.document.timeline import timeline_of, turn_of
from holdfast.results.changed import line, said
from holdfast.results.memory import Event, Memory, RuleKey
from holdfast.store.batch_numbers import BatchNumbers

_TURNED = 2000  # rules that batches broke, mended or implied are shown in detail, the latest ones
_STATES = {"broken": BROKE, "implied": IMPLIED, "untested": UNTESTED, "absent": UNTESTED}


def state_document(state: OpenState, *, redact: bool, live: bool, most: int | None) -> dict[str, Any]:
    """The document of a state, with as many rules as fit a page, or at most `most`."""
    return document(_StateContent(state).content(), redact=redact, live=live, most=most)


def columns_content(state: OpenState) -> Content:
    """What a page shows of columns: of rules only their texts, and how they stand."""
    content = _StateContent(state)
    return content.without_batches(list(content.rules(with_rows=False)))


class _StateContent:
    """What the page of a state shows."""

    def __init__(self, state: OpenState) -> None:
        self._store, self._workspace = state.store, state.now()
        self._memory = Memory(state.store, state.row_names())
        self._results: dict[Subject, Result] = self._workspace.ranked()
        self._events = self._memory.events(most=MOST_EVENTS)
        self._turns = _turns(event for event in self._events if self._is_watched(event))
        self._figures = self._memory.figures()
        self._scores = state.store.memory.lost_scores()
        marks = stored_marks(state.store)
        self._marks = {**dict.fromkeys(marks.pinned, "pinned"), **dict.fromkeys(marks.ignored, "ignored")}

    def _is_watched(self, event: Event) -> bool:
        """Whether the rule of an event is still watched, and if it is a given one, still given."""
        result = self._results.get((event.engine, event.table))
        return result is not None and (not rule_class(event.engine).given or event.text in result)

    def content(self) -> Content:
        """All of it."""
        rules, left_out = list(self.rules(with_rows=True)), self._workspace.left_out
        return replace(
            self.without_batches(rules),
            left_out=left_out,
            rules=rules,
            events=self._events,
            counts=self._memory.counts(),
            references=self._references(),
            sensitive=stored_sensitive(self._store),
            changes={seq: list(_changes(about)) for seq, about in self._store.changes().items()},
            unusual=self._store.expectations.by_batch(),
            notes=[
                *left_out_notes(left_out),
                *_left_out_values(self._memory, self._store.numbers()),
                *self._event_notes(),
            ],
        )

    def without_batches(self, rules: Sequence[RuleContent]) -> Content:
        """Tables, columns and the texts of rules, without what batches did."""
        columns = self._memory.columns().items()
        return Content(
            title=self._store.path.resolve().name,
            is_state=True,
            nulls=self._store.nulls,
            watched=self._workspace.tables,
            left_out={},
            sections=[*self._sections(rules)],
            batches=self._store.history(),
            nulls_over_time={at: [(each.batch, float(each.nulls)) for each in figures] for at, figures in columns},
        )

    def _event_notes(self) -> list[str]:
        """A note where there were more events than a page shows."""
        every = sum(sum(counts.values()) for counts in self._memory.counts().values())
        if every <= len(self._events):
            return []
        first = self._events[-1].batch
        return [
            f"Rules broke, were mended or came to follow from others {every:,} times. The page shows the last "
            f"{len(self._events):,}, since batch {first:,}."
        ]

    # ---- rules ------------------------------------------------------------------------------------------------------

    def rules(self, with_rows: bool) -> Iterator[RuleContent]:
        """The rules that are shown in detail: given ones, the best of the others, and those that turned; with the rows
        that break them or without.
        """
        shown: set[RuleKey] = set()
        for (engine, subject), result in self._results.items():
            declared = rule_class(engine)
            if declared.facts:
                continue
            best = result.values() if declared.given else islice(result.values(), BEST)
            marked = [result[text] for *at, text in self._marks if tuple(at) == (engine, subject) and text in result]
            for rule in {each.text: each for each in (*best, *marked)}.values():
                seen = self._rule((engine, subject, rule.text), rule, with_rows)
                shown.add(seen.key)
                yield seen
        for key in islice(self._turns, _TURNED):
            if key not in shown:
                yield self._rule(key, self._results.get(key[:2], {}).get(key[2]), with_rows)

    def _rule(self, key: RuleKey, rule: Any | None, with_rows: bool) -> RuleContent:
        """A rule that is given or holds, or one that was found before and that batches turned."""
        engine, subject, text = key
        given, turns, figures = rule_class(engine).given, self._turns.get(key, []), self._figures.get(key, ())
        finding = {} if rule is None else rule.to_json()
        start = bool(figures[0].violations) if figures and figures[0].seq == 0 else None
        if given and start is None and not turns:
            start = bool(finding["violations"])
        found_score = None if rule is None else score_of(rule)
        timeline = timeline_of([turn_of(each) for each in turns], given, start)
        implied = next((each.by for each in reversed(turns) if each.event == "implied"), "")
        return RuleContent(
            engine,
            table_of_rows(engine, subject, text),
            text,
            subject,
            finding,
            finding.get("score") if given else found_score,
            timeline,
            [(each.batch, each.violations) for each in figures],
            [_witness_of(each) for each in reversed(turns) if each.witness and with_rows],
            self._listing(finding) if given and with_rows else None,
            implied_by=implied if rule is None and timeline.state == "implied" else "",
            mark=self._marks.get(key, ""),
            score_then=self._scores[key].score if key in self._scores else None,
        )

    def _listing(self, finding: Mapping[str, Any]) -> Listing | None:
        """The violations of a given rule, cut to as many as a page may show."""
        found = self._workspace.listings(finding["text"]) if finding["violations"] else []
        own = (each for each in found if each.rule.table == finding["table"])
        return next((each.cut_to(MOST_PAIRS + 1) for each in own), None)

    def _sections(self, rules: Sequence[RuleContent]) -> Iterator[RuleSection]:
        """Given rules first; of each class that was found, those that broke before those that hold."""
        for (engine, subject), result in sorted(
            self._results.items(), key=lambda each: not rule_class(each[0][0]).given
        ):
            declared = rule_class(engine)
            if declared.facts:
                continue
            table = "" if declared.across else subject
            title = declared.yours or declared.title
            own = [rule for rule in rules if (rule.engine, rule.subject) == (engine, subject)]
            if declared.given:
                lines = [
                    RuleLine(r.text, r.score, VIOLATED if r.finding["violations"] else HOLDS)
                    for r in sorted(own, key=lambda each: each.rank)
                ]
                yield RuleSection(declared, table, title, lines)
            else:
                gone = sorted((rule for rule in own if rule.text not in result), key=lambda each: each.rank)
                states = [(rule, _STATES.get(rule.timeline.state)) for rule in gone if rule.timeline]
                lines = [RuleLine(rule.text, rule.score_then, state) for rule, state in states if state is not None]
                yield RuleSection(declared, table, title, lines, result)

    def _references(self) -> dict[RuleKey, dict[str, Any]]:
        """References: given ones, and found ones that look like foreign keys."""
        shown: dict[str, tuple[RuleKey, dict[str, Any]]] = {}
        for (engine, subject), result in self._results.items():
            declared = rule_class(engine)
            for rule in islice(result.values(), 40) if declared.references else ():
                finding = rule.to_json()
                if declared.given or finding.get("score", 0.0) >= LIKELY:
                    shown.setdefault(rule.text, ((engine, subject, rule.text), finding))
        return dict(shown.values())


def _changes(about: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[ChangeContent]:
    """What a change of rules or columns did."""
    for event, lines in about.items():
        for each in lines:
            if "text" in each:
                declared = rule_class(each["class"]) if "class" in each else given_class(each["text"])
                engine = declared.name if declared else ""
                yield ChangeContent(said(event, each), each["text"], engine, each.get("name", ""))
            elif event != "found":
                yield ChangeContent(line(event, each))


def _turns(events: Iterable[Event]) -> dict[RuleKey, list[Event]]:
    """The events of each rule that was not removed, the oldest first; the rule that turned last comes first."""
    found: dict[RuleKey, list[Event]] = {}
    for event in events:
        found.setdefault(event.rule, []).append(event)
    return {key: each[::-1] for key, each in found.items() if each[0].event != "removed"}


def _witness_of(event: Event) -> BreakingRows:
    witness = event.witness
    assert witness is not None
    return BreakingRows(event.batch, witness.rows, witness.values, witness.sentence)


def _left_out_values(memory: Memory, numbers: BatchNumbers) -> list[str]:
    """A note where values of rows are not stored, as they were too many."""
    left_out = memory.left_out()
    if not left_out:
        return []
    rows, batches = sum(left_out.values()), len(left_out)
    with_batches = f"batch {numbers.of(next(iter(left_out)))}" if batches == 1 else f"{batches:,} batches"
    return [f"The values of {rows:,} rows that broke rules with {with_batches} are not stored: they were too many."]
