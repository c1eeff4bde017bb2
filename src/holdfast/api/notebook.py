"""What notebooks show of a state: its tables, its rules with their strips, violations and explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from sqlite3 import ProgrammingError
from typing import TYPE_CHECKING, Any

from holdfast.api.memory import Event
from holdfast.engines.contract import Explanation
from holdfast.engines.listing import Listing
from holdfast.engines.registry import rule_class
from holdfast.engines.thresholds import SHOWN

if TYPE_CHECKING:
    from holdfast.api.view import View

RuleKey = tuple[str, str, str]  # engine, table ("*": all) and text


class Listings(list[Listing]):
    """The violations of some rules; in a notebook, the first of each with their rows side by side."""

    def _repr_html_(self) -> str:
        from holdfast.report.notebook import listings_html

        return listings_html(self)


class Strips:
    """Draws how rules fared, with a cell for each batch."""

    def __init__(self, view: View) -> None:
        batches = view.history(1)
        self._memory, self._last = view.memory(), batches[-1].seq if batches else 0

    def of(self, rule: RuleKey, violated: bool) -> str:
        """The strip of a rule that is violated now, or not; nothing where no batch has come, or the state is closed."""
        try:
            return self.drawn(self._memory.events_of(*rule), rule, violated)
        except ProgrammingError:  # the database is closed
            return ""

    def drawn(self, events: Sequence[Event], rule: RuleKey, violated: bool = False) -> str:
        """The strip of a rule, from what batches did to it, the oldest first."""
        from holdfast.api.state_report import turn_of
        from holdfast.report.document.fates import fate_of
        from holdfast.report.pictures import strip

        turns, given = [turn_of(event) for event in events], rule_class(rule[0]).given
        fate = fate_of(turns, given, violated if given and not turns else None)
        return strip(fate.runs(self._last), f"how {rule[2]} fared with each batch", links=False)


def history_html(count: int, lines: Iterator[tuple[RuleKey, dict[str, Any]]], strips: Strips | None) -> str:
    """How rules fared: the first ones, with their strips."""
    from holdfast.report.notebook import framed, strips_html

    rows = []
    for rule, line in islice(lines, SHOWN):
        violated = line["holds_since"] is None
        named = f"{line['name']}: {line['text']}" if "name" in line else line["text"]
        rows.append((named, strips.of(rule, violated) if strips else "", _words(line)))
    return framed(strips_html(f"{count:,} rules", rows, count - len(rows)))


def _words(line: dict[str, Any]) -> str:
    since = line["holds_since"]
    now = "broken now" if since is None else f"holds since batch {since:,}" if since else "holds since the start"
    return f"{now}, broke {line['broke']:,} times" if line["broke"] else now


def view_html(view: View) -> str:
    """A state: its tables, and the rules that broke most often."""
    from holdfast.report.notebook import framed, heading
    from holdfast.report.pages import html_table

    headings = ("table", "rows", "columns", "key")
    rows = []
    for name, table in view.tables.items():
        schema = table.schema
        key = ", ".join(schema.names[place] for place in schema.key)
        rows.append((name, f"{table.rows:,}", f"{len(schema.columns):,}", key))
    batches = view.history(1)
    title = f"{view.path}: {batches[-1].seq if batches else 0:,} batches applied"
    fared = view.rule_history()
    return framed(heading(title), html_table(headings, rows, headings[1:3])) + (
        fared._repr_html_() if len(fared) else ""
    )


def explanation_html(explained: Explanation, events: Sequence[Event], strips: Strips) -> str:
    """Why a rule holds or doesn't: its strip, its lines, the table below them, and the rows that broke it last."""
    from holdfast.changes.diff import Witness
    from holdfast.report.notebook import framed, lines, pair_html, witness_pair
    from holdfast.report.pages import html_table

    parts = []
    if events:
        first = events[0]
        parts.append(strips.drawn(events, (first.engine, first.table, first.text)))
    parts.append(lines(explained.lines()))
    if table := explained.table():
        parts.append(html_table(table.headings, table.rows, table.numbers))
    for event in reversed(events):
        kept = event.witness
        if kept is not None and all(kept.values):
            rows = Witness(
                kept.rows, tuple(own for own in kept.values if own), tuple(kept.keys), sentence=kept.sentence
            )
            if pair := witness_pair(event.engine, event.text, rows):
                parts.append(pair_html(pair))
                break
    return framed(*parts)
