"""The page of a state: what it tells is gathered here, and written in `report/document`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.api.tables_report import BEST, left_out_notes
from holdfast.changes.diff import Result
from holdfast.engines.listing import Listing
from holdfast.engines.registry import given_class, rule_class, table_of_rows
from holdfast.engines.thresholds import LIKELY
from holdfast.report.document.build import document
from holdfast.report.document.context import MOST_EVENTS
from holdfast.report.document.fates import fate_of, turn_of
from holdfast.report.document.rules import BROKE, HOLDS, IMPLIED, UNTESTED, VIOLATED, RuleLine, Section, score_of
from holdfast.report.document.seen import MOST_PAIRS, ChangeSeen, RuleSeen, Seen, Told
from holdfast.results.changed import line, said
from holdfast.results.memory import Event, Memory, RuleKey

if TYPE_CHECKING:
    from holdfast.api.view import View

_TURNED = 2000  # of so many rules that batches broke, mended or implied there is more to tell, the latest
_STATES = {"broken": BROKE, "implied": IMPLIED, "untested": UNTESTED, "absent": UNTESTED}


def state_document(view: View, *, redact: bool = False, live: bool = False, most: int | None = None) -> dict[str, Any]:
    """The document of a state; of the rules as many as fit a page, or at most so many."""
    return document(_State(view).seen(), redact=redact, live=live, most=most)


def columns_seen(view: View) -> Seen:
    """What a state tells of columns: of rules their texts, and how they stand."""
    return _State(view).seen_of_columns()


class _State:
    """What a state tells."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._memory: Memory = view.memory()
        self._results: dict[tuple[str, str], Result] = view.ranked_by_class()
        self._events = self._memory.events(most=MOST_EVENTS)
        self._turns = _turns(event for event in self._events if self._is_watched(event))
        self._figures = self._memory.figures()
        self._marks = {rule: mark for mark in ("pinned", "ignored") for rule in getattr(view.marks(), mark)}

    def _is_watched(self, event: Event) -> bool:
        """Whether an event tells of a rule that is watched still: of a given one, that it is given."""
        result = self._results.get((event.engine, event.table))
        return result is not None and (not rule_class(event.engine).given or event.text in result)

    def seen(self) -> Seen:
        """All of it."""
        rules, left_out = list(self._rules()), self._view.opened().left_out
        return replace(
            self._seen(rules),
            left_out=left_out,
            rules=rules,
            events=self._events,
            counts=self._memory.counts(),
            references=self._references(),
            changes={seq: list(_changes(about)) for seq, about in self._view.changes().items()},
            notes=[*left_out_notes(left_out), *_kept_notes(self._memory), *self._event_notes()],
        )

    def seen_of_columns(self) -> Seen:
        """That of columns alone: no rows of rules, and nothing that batches did."""
        return self._seen(list(self._rules(with_rows=False)))

    def _seen(self, rules: Sequence[RuleSeen]) -> Seen:
        view = self._view
        return Seen(
            title=view.path.resolve().name,
            is_state=True,
            nulls=view.nulls,
            watched=view.opened().tables,
            left_out={},
            sections=[*self._sections(rules)],
            batches=view.history(),
            nulls_over_time=self._nulls_over_time(),
        )

    def _nulls_over_time(self) -> dict[tuple[str, str], list[tuple[int, float | None]]]:
        """The nulls of each column after each batch."""
        return {
            at: [(each.seq, float(each.nulls)) for each in figures] for at, figures in self._memory.columns().items()
        }

    def _event_notes(self) -> list[str]:
        """That there were more events than a page tells of."""
        every = sum(sum(counts.values()) for counts in self._memory.counts().values())
        if every <= len(self._events):
            return []
        first = self._events[-1].seq
        return [
            f"Of {every:,} times that a rule broke, was mended or came to follow from others, the last "
            f"{len(self._events):,} are told, those since batch {first:,}."
        ]

    # ---- rules ------------------------------------------------------------------------------------------------------

    def _rules(self, with_rows: bool = True) -> Iterator[RuleSeen]:
        """The rules of which there is more to tell: given ones, the best of the others, and those that turned; with the
        rows that break them or without.
        """
        told: set[RuleKey] = set()
        for (engine, subject), result in self._results.items():
            declared = rule_class(engine)
            if declared.facts:
                continue
            best = result.values() if declared.given else islice(result.values(), BEST)
            marked = [result[text] for *at, text in self._marks if tuple(at) == (engine, subject) and text in result]
            for rule in {each.text: each for each in (*best, *marked)}.values():
                seen = self._rule((engine, subject, rule.text), rule, with_rows)
                told.add(seen.key)
                yield seen
        for key in islice(self._turns, _TURNED):
            if key not in told:
                yield self._rule(key, self._results.get(key[:2], {}).get(key[2]), with_rows)

    def _rule(self, key: RuleKey, rule: Any | None, with_rows: bool) -> RuleSeen:
        """A rule that is given or holds; or, where there is none now, one that was found, and that batches turned."""
        engine, subject, text = key
        given, turns, figures = rule_class(engine).given, self._turns.get(key, []), self._figures.get(key, ())
        finding = {} if rule is None else rule.to_json()
        start = bool(figures[0].violations) if figures and figures[0].seq == 0 else None
        if given and start is None and not turns:
            start = bool(finding["violations"])
        found_score = None if rule is None else score_of(rule)
        fate = fate_of([turn_of(each) for each in turns], given, start)
        implied = next((each.by for each in reversed(turns) if each.event == "implied"), "")
        return RuleSeen(
            engine,
            table_of_rows(engine, subject, text),
            text,
            subject,
            finding,
            finding.get("score") if given else found_score,
            fate,
            [(each.seq, each.violations) for each in figures],
            [_told(each) for each in reversed(turns) if each.witness and with_rows],
            self._listing(finding) if given and with_rows else None,
            implied_by=implied if rule is None and fate.state == "implied" else "",
            mark=self._marks.get(key, ""),
        )

    def _listing(self, finding: Mapping[str, Any]) -> Listing | None:
        """The violations of a given rule; of a million, only so many are held as are looked at."""
        found = self._view.listings(finding["text"]) if finding["violations"] else []
        own = (each for each in found if each.rule.table == finding["table"])
        return next((each.cut_to(MOST_PAIRS + 1) for each in own), None)

    def _sections(self, rules: Sequence[RuleSeen]) -> Iterator[Section]:
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
                lines = [RuleLine(r.text, r.score, VIOLATED if r.finding["violations"] else HOLDS) for r in own]
                worst_first = sorted(lines, key=lambda each: -each.state)
                yield Section(declared, table, title, worst_first)
            else:
                gone = [rule for rule in own if rule.text not in result]
                told = [(rule.text, _STATES.get(rule.fate.state)) for rule in gone if rule.fate]
                lines = [RuleLine(text, None, state) for text, state in told if state is not None]
                yield Section(declared, table, title, lines, result)

    def _references(self) -> dict[RuleKey, dict[str, Any]]:
        """References: those that were given, and of the others those that look like foreign keys."""
        told: dict[str, tuple[RuleKey, dict[str, Any]]] = {}
        for (engine, subject), result in self._results.items():
            declared = rule_class(engine)
            for rule in islice(result.values(), 40) if declared.references else ():
                finding = rule.to_json()
                if declared.given or finding.get("score", 0.0) >= LIKELY:
                    told.setdefault(rule.text, ((engine, subject, rule.text), finding))
        return dict(told.values())


def _changes(about: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[ChangeSeen]:
    """What a change of rules or columns did."""
    for event, lines in about.items():
        for each in lines:
            if "text" in each:
                declared = rule_class(each["class"]) if "class" in each else given_class(each["text"])
                engine = declared.name if declared else ""
                yield ChangeSeen(said(event, each), each["text"], engine, each.get("name", ""))
            elif event != "found":
                yield ChangeSeen(line(event, each))


def _turns(events: Iterable[Event]) -> dict[RuleKey, list[Event]]:
    """The events of each rule that is not gone, the oldest first; the rule that turned last comes first."""
    found: dict[RuleKey, list[Event]] = {}
    for event in events:
        found.setdefault(event.rule, []).append(event)
    return {key: each[::-1] for key, each in found.items() if each[0].event != "removed"}


def _told(event: Event) -> Told:
    witness = event.witness
    assert witness is not None
    return Told(event.seq, witness.rows, witness.values, witness.sentence)


def _kept_notes(memory: Memory) -> list[str]:
    """That values of rows are not kept, as they were too many."""
    left_out = memory.left_out()
    if not left_out:
        return []
    rows, batches = sum(left_out.values()), len(left_out)
    with_batches = f"batch {next(iter(left_out))}" if batches == 1 else f"{batches:,} batches"
    return [f"Of {rows:,} rows that broke rules with {with_batches} the values are not kept, as they were too many."]
