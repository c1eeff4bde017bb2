"""The log of a long run, on standard error: a line for each event, for people or for machines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from holdfast.progress import Level, Progress
from holdfast.report.terminal import say, say_json

LogFormat = Literal["text", "json"]


class LogProgress(Progress):
    """Writes a line for each event, with its time and level; as JSON also with its facts. Steps are no events."""

    def __init__(self, form: LogFormat) -> None:
        self._form = form

    def note(self, text: str) -> None:
        """Something that the user should know."""
        self.event("info", "note", text)

    def event(self, level: Level, event: str, text: str, **facts: Any) -> None:
        """Something happened."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._form == "text":
            say(f"{at} {level.upper():7} {event}: {' '.join(text.split())}", err=True)
            return
        say_json([{"time": at, "level": level, "event": event, "message": text, **facts}], err=True)
