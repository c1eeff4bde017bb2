"""Streaming DataFrames: each batch of a query of Spark is a batch of the state, applied exactly once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.api.apply_batch import Batches, BatchOptions, sources_by_table
from holdfast.api.folder import EVERY, PARTS
from holdfast.errors import BadInput
from holdfast.intake.tables import Sources
from holdfast.results.outcome import Outcome
from holdfast.spark.session import is_of_connect
from holdfast.store.layout import STREAMS
from holdfast.visible import counted

if TYPE_CHECKING:
    from holdfast.spark.stream import Stream


@dataclass(frozen=True)
class Streaming:
    """How a stream is applied, as `Monitor.stream` describes it."""

    how: str
    name: str | None = None
    checkpoint: str | None = None
    once: bool = False
    every: float = EVERY
    applied: Callable[[Outcome], None] = lambda _outcome: None


def start_stream(batches: Batches, frame: Any, streaming: Streaming, options: BatchOptions) -> Stream:
    """Start to apply the batches of a streaming DataFrame."""
    batches.state.refuse_closed()
    _refuse_other_frames(frame)
    part = PARTS.get(streaming.how, streaming.how)
    if part == "snapshot":
        raise BadInput("a batch of a stream is no snapshot of a table; stream inserts, upserts, deletes or changes")
    sources_by_table(Sources(**{part: frame}), options)
    table = options.table if options.table_column is not None else batches.state.table_name(options.table)

    def handle(batch: Any, batch_id: str) -> None:
        streaming.applied(_applied(batches, Sources(**{part: batch}), options, batch_id))

    from holdfast.spark.stream import Stream

    name = streaming.name or f"{table or f'by {options.table_column}'}\n{streaming.how}"
    folder = batches.state.store.path.resolve() / STREAMS / f"stream-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return Stream(frame, handle, streaming.checkpoint or str(folder), streaming.once, streaming.every)


def _refuse_other_frames(frame: Any) -> None:
    kind = type(frame).__module__
    if not kind.startswith("pyspark.sql.") or not hasattr(frame, "isStreaming"):
        raise BadInput(f"a stream is a streaming DataFrame of Spark, not a {type(frame).__name__}")
    if is_of_connect(frame):
        raise BadInput(
            "over Spark Connect a stream's batches are handled at the server, where this state is not open; use a "
            "classic session, or write the stream to a folder and watch that"
        )
    if not frame.isStreaming:
        raise BadInput("this DataFrame is not a stream; give it to apply()")


def _applied(batches: Batches, sources: Sources, options: BatchOptions, batch_id: str) -> Outcome:
    """Apply a batch, unless it was applied before. An older checkpoint may have made another batch of its number."""
    outcome = batches.apply(sources, options, batch_id)
    if outcome.already_applied:
        batches.state.progress.note(f"{batch_id}: applied before, as batch {outcome.batch.number}, and skipped")
        if sources.inserts is not None and options.quarantine is None:
            _refuse_other_rows(outcome.batch.inserted, sources.inserts.count(), batch_id)
    return outcome


def _refuse_other_rows(applied: int, given: int, batch_id: str) -> None:
    if applied != given:
        raise BadInput(
            f"{batch_id}: applied before with {counted(applied, 'row')}, and now it has {given:,}: the stream's "
            "checkpoint is older than the state; go on with the newer checkpoint, or give new rows alone another name"
        )
