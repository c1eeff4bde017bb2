"""The document: all that a page shows, as one JSON object."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version

from holdfast.report.document.batches import batches
from holdfast.report.document.content import Content
from holdfast.report.document.context import Context, Json
from holdfast.report.document.details import DetailWriter
from holdfast.report.document.overview import overview
from holdfast.report.document.tables import columns_of, picture_of, references_of, tables_of
from holdfast.report.document.timeline import HELD, Timeline
from holdfast.report.pictures import Span, strip
from holdfast.results.redaction import shown_values
from holdfast.visible import visible

BUDGET = 2_400_000  # bytes of rules, deflated: with all else, and as text, the page stays below 5 MB


def document(
    content: Content, *, redact: bool = False, live: bool = False, budget: int = BUDGET, most: int | None = None
) -> Json:
    """The document of some content; of the rules as many as fit the budget, or at most `most`."""
    of = Context(content, shown_values(redact, content.sensitive), budget, most)
    strips = _Strips(content.last, of.shown.shows_all)
    return {
        "title": visible(content.title),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version("holdfast"),
        "live": live,
        "state": content.is_state,
        "redacted": of.shown.redacted,
        "nulls": content.nulls,
        "notes": [*map(visible, content.notes), *filter(None, [_hashed_columns(content), of.block.left_out])],
        "overview": overview(of),
        "tables": tables_of(of),
        "columns": columns_of(of),
        "picture": picture_of(of),
        "references": references_of(of),
        "batches": batches(of),
        "rules": of.block.to_json(_details(of, strips, live)),
        "strips": strips.drawn(),
    }


def _hashed_columns(content: Content) -> str:
    """Which columns are hashed; empty where none is declared sensitive."""
    several = len(content.watched) > 1
    names = [f"{table}.{name}" if several else name for table, own in content.sensitive.items() for name in own]
    return f"Sensitive values are shown as hashes: {', '.join(map(visible, names))}." if names else ""


def _details(of: Context, strips: _Strips, live: bool) -> dict[int, Json]:
    """The details of rules by their numbers."""
    writer = DetailWriter(of.schemas, of.rows, of.shown, of.content.last, live)
    placed = ((of.place(rule.key), rule) for rule in of.content.rules)
    return {place: writer.of(rule, strips.of) for place, rule in placed if place is not None}


class _Strips:
    """The strips of rules; rules with equal timelines share one."""

    def __init__(self, last: int, names_rows: bool) -> None:
        self._last, self._names_rows = last, names_rows
        self._numbers: dict[tuple[Span, ...], int] = {}
        self.of(Timeline(HELD))  # the first is that of all rules that never changed

    def drawn(self) -> list[str]:
        """All of them."""
        return [strip(spans, "the rule, batch by batch") for spans in self._numbers]

    def of(self, timeline: Timeline) -> int:
        """The number of the strip of a timeline; a redacted one doesn't name rows."""
        spans = timeline.spans(self._last)
        shown = tuple(span if self._names_rows else replace(span, why="") for span in spans)
        return self._numbers.setdefault(shown, len(self._numbers))
