"""What a notification says: the verdict with the terminal's sentences, without values unless they are asked for.

A redacted message names rules without their constants, and rows by their numbers. Values of sensitive columns are in no
message. Names of files and ids of batches stay; the reason why input was refused may have values of any column.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast.engines.registry import table_of_rows
from holdfast.errors import ExitCode
from holdfast.results.alarms import FailOn
from holdfast.results.outcome import Outcome
from holdfast.results.redaction import for_others
from holdfast.results.verdict import Verdict, Worse, explaining
from holdfast.store.database import fact
from holdfast.store.records import BatchRecord
from holdfast.text.quotes import command
from holdfast.visible import counted, visible

_MOST_RULES = 50
_MOST_LINES = 100


def of_outcome(outcome: Outcome, fail_on: FailOn, max_bad: float, values: bool) -> dict[str, Any]:
    """The message about a batch."""
    verdict = for_others(outcome.verdict(fail_on), values=values)
    bad, batch = outcome.why_bad(max_bad), outcome.batch
    code = ExitCode.RULE_BROKE if outcome.alarms(fail_on) or bad else ExitCode.ALL_WELL
    line = outcome.lines()[0] if outcome.is_nothing else verdict.line()
    blocks = [text for block in verdict.blocks() for text in (block.heading, *(f"  {row}" for row in block.rows))]
    lines = [*blocks, *verdict.last_lines(), *([bad] if bad else [])]
    about = {"batch": batch.number, "batch_id": batch.batch_id, "inserted": batch.inserted, "deleted": batch.deleted}
    about |= {"tables": list(batch.tables), "files": sorted({*verdict.around.files.values()})}
    return {
        **_message("verdict", verdict.around.state, code, line, lines),
        "id": _id(batch.batch_id, batch.at, str(batch.seq)),
        **about,
        "quarantined": outcome.quarantined.rows if outcome.quarantined else 0,
        "rules": [_rule(each, verdict) for each in verdict.worse[:_MOST_RULES]],
        "more_rules": max(len(verdict.worse) - _MOST_RULES, 0),
        "redacted": not values,
    }


def _rule(worse: Worse, verdict: Verdict) -> dict[str, Any]:
    """A rule that got worse."""
    finding, state = worse.finding.to_json(), verdict.around.state
    return {
        "rule": worse.called,
        "table": table_of_rows(*worse.key),
        "level": worse.level,
        "new": worse.new,
        "violations": finding.get("violations"),
        "rows": verdict.rows_of(worse),
        "explain": worse.see or explaining(state, worse.called),
    }


def of_refusal(state: str, files: Sequence[str], reason: str, code: int, values: bool) -> dict[str, Any]:
    """The message that something was not applied. The reason may have values of any column."""
    named = f" ({', '.join(Path(file).name for file in files)})" if files else ""
    is_bad = code == ExitCode.BAD_INPUT
    line = f"Not applied{named}: the input was refused." if is_bad else f"The command failed{named}: an error of ours."
    shown = values and fact(Path(state), "sensitive") in (None, "{}")
    lines = [reason] if shown else ["The reason stands in the log of the command."]
    return {
        **_message("refused", state, code, line, [*lines, f"See: {command('status', state)}"]),
        "files": list(files),
        "reason": reason if shown else None,
        "redacted": not shown,
    }


def of_lost_verdict(state: str, batch: BatchRecord) -> dict[str, Any]:
    """The message about a batch whose process ended before it sent its verdict."""
    broke = f"{counted(batch.lost, 'rule')} broke" if batch.lost else "no rule broke that held before"
    line = f"Batch {batch.number:,}: applied, but its process ended before the verdict was sent; {broke}."
    made = _message("lost verdict", state, ExitCode.RULE_BROKE, line, [f"See: {command('history', state, '--rules')}"])
    about = {"batch": batch.number, "batch_id": batch.batch_id, "redacted": True}
    return {**made, "id": _id(batch.batch_id, batch.at, str(batch.seq)), **about}


def _message(kind: str, state: str, code: int, line: str, lines: Sequence[str]) -> dict[str, Any]:
    """What all messages have."""
    more = [f"… and {len(lines) - _MOST_LINES:,} more lines"] if len(lines) > _MOST_LINES else []
    return {
        "id": uuid.uuid4().hex,
        "kind": kind,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "state": Path(state).resolve().name,
        "path": str(Path(state).resolve()),
        "exit_code": int(code),
        "verdict": visible(line),
        "text": "\n".join(map(visible, [line, *lines[:_MOST_LINES], *more])),
    }


def _id(*parts: str) -> str:
    """An id that is the same whenever the same is said."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
