"""The document, written from what was seen."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version

from holdfast.report.document.batches import batches
from holdfast.report.document.context import Context, Json
from holdfast.report.document.details import Details
from holdfast.report.document.fates import HELD, Fate
from holdfast.report.document.overview import Overview
from holdfast.report.document.seen import Seen
from holdfast.report.document.shown import Hashed, Shown
from holdfast.report.document.tables import Tables
from holdfast.report.pictures import Run, strip
from holdfast.visible import visible

BUDGET = 2_400_000  # bytes of rules, deflated: with all else, and as text, the page stays below 5 MB


def document(
    seen: Seen, *, redact: bool = False, live: bool = False, budget: int = BUDGET, most: int | None = None
) -> Json:
    """All that a page shows; of the rules as many as fit the budget, or at most so many."""
    of = Context(seen, Hashed() if redact else Shown(), budget, most)
    strips = _Strips(seen.last, of.shown.redacted)
    tables = Tables(of)
    return {
        "title": visible(seen.title),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version("holdfast"),
        "live": live,
        "state": seen.is_state,
        "redacted": of.shown.redacted,
        "nulls": seen.nulls,
        "notes": [*map(visible, seen.notes), *filter(None, [of.block.left_out])],
        "overview": Overview(of).to_json(),
        "tables": tables.tables(),
        "columns": tables.columns(),
        "picture": tables.picture(),
        "references": tables.references(),
        "batches": batches(of),
        "rules": of.block.to_json(_details(of, strips, live)),
        "strips": strips.drawn,
    }


def _details(of: Context, strips: _Strips, live: bool) -> dict[int, Json]:
    """The details of rules by their numbers."""
    writer = Details(of.schemas, of.rows, of.shown, of.seen.last, live)
    placed = ((of.place(rule.key), rule) for rule in of.seen.rules)
    return {place: writer.of(rule, strips.of) for place, rule in placed if place is not None}


class _Strips:
    """The strips of rules; those that fared alike share one."""

    def __init__(self, last: int, redacted: bool) -> None:
        self._last, self._redacted = last, redacted
        self._numbers: dict[tuple[Run, ...], int] = {}
        self.drawn: list[str] = []
        self.of(Fate(HELD))  # the first is that of all rules that never turned

    def of(self, fate: Fate) -> int:
        """The number of the strip of a fate; what rows a batch brought, a redacted one doesn't tell."""
        runs = fate.runs(self._last)
        shown = tuple(Run(run.first, run.last, run.state) for run in runs) if self._redacted else tuple(runs)
        if shown not in self._numbers:
            self._numbers[shown] = len(self.drawn)
            self.drawn.append(strip(shown, "how the rule fared, batch by batch"))
        return self._numbers[shown]
