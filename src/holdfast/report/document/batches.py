"""The batches of a document: what came, and what each did to rules."""

from __future__ import annotations

from typing import Any

from holdfast.expectations.unusual import Unusual
from holdfast.report.document.content import Content
from holdfast.report.document.context import MOST_EVENTS, Context, Json
from holdfast.visible import visible

_A_BATCH = 200  # events that are listed
_EVENT_KINDS = ("lost", "worse", "gained", "implied", "untested")


def batches(of: Context) -> list[Json]:
    """One object for each batch or change. Both are known by `seq`; `batch` is the number that people see."""
    content = of.content
    listed: dict[int, list[list[Any]]] = {}
    for event in (event for event in content.events[:MOST_EVENTS] if event.event in _EVENT_KINDS):
        own = listed.setdefault(event.seq, [])
        place = of.place(event.rule) if len(own) < _A_BATCH else None
        if place is not None:
            own.append([event.event, place, *([visible(event.by)] if event.by else [])])
    objects = []
    for batch, after in zip(content.batches, rows_after(content), strict=True):
        counts = {kind: content.counts.get(batch.seq, {}).get(kind, 0) for kind in _EVENT_KINDS}
        events = listed.get(batch.seq, [])
        objects.append(
            {
                "seq": batch.seq,
                "batch": batch.number,
                "id": visible(batch.batch_id),
                "table": visible(", ".join(batch.tables)),
                "at": batch.at,
                "how": batch.kind,
                "inserted": batch.inserted,
                "deleted": batch.deleted,
                "ignored": batch.ignored,
                "seconds": round(batch.seconds, 4),
                "rows": sum(after.values()),
                **counts,
                "events": sorted(events, key=lambda each: _EVENT_KINDS.index(each[0])),
                "more": sum(counts.values()) - len(events),
                **_changed(of, batch.seq),
                **_unusual(of, batch.seq),
            }
        )
    return objects


def _changed(of: Context, seq: int) -> Json:
    """What users changed, if it was not a batch of rows."""
    lines = [
        visible(f"{f'{name}: ' if name else ''}{of.text(each.engine, each.text)}: {each.said}")
        if each.text
        else visible(each.said)
        for each in of.content.changes.get(seq, ())[:_A_BATCH]
        for name in [of.name(each.engine, each.text, each.name) if each.text else ""]
    ]
    return {"changed": lines} if seq in of.content.changes else {}


def _unusual(of: Context, seq: int) -> Json:
    """What of a batch was far outside; of columns whose values are hashed, without any."""
    found = [Unusual.from_json(each) for each in of.content.unusual.get(seq, ())[:_A_BATCH]]
    hidden = [of.shown.of_table(each.table).hides(each.column) for each in found]
    lines = [(each.without_values() if hides else each).sentence for each, hides in zip(found, hidden, strict=True)]
    return {"unusual": list(map(visible, lines))} if lines else {}


def rows_after(content: Content) -> list[dict[str, int]]:
    """How many rows the tables of each batch had after it."""
    now = {name: each.table.rows for name, each in content.watched.items()}
    after = []
    for batch in reversed(content.batches):
        own = [part for part in batch.by_table if part.table in now]
        after.append({part.table: now[part.table] for part in own})
        for part in own:
            now[part.table] += part.deleted - part.inserted
    return after[::-1]
