"""Progress on standard error: a moving line where someone looks at it, plain lines where nobody does."""

from __future__ import annotations

import time
from typing import Any

from rich.text import Text

from holdfast.progress import Progress
from holdfast.report.terminal import Terminal, plain
from holdfast.visible import visible

_QUIET_SECONDS = 2.0
_SECONDS_BETWEEN_LINES = 5.0  # about one and the same step, into a pipe


class TerminalProgress(Progress):
    """Shows the current step with a spinner and its time; into a pipe, only steps that come after two seconds."""

    def __init__(self) -> None:
        self._console = Terminal(stderr=True)
        self._status: Any = None
        self._started = self._told = time.monotonic()
        self._step = ""

    def __enter__(self) -> TerminalProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def step(self, text: str) -> None:
        """A new step has begun."""
        if self._console.is_terminal:
            if self._status is None:
                self._status = self._console.status("")
                self._status.start()
            self._status.update(Text(f"{visible(text)} …"))
        elif self._is_due(text):
            self._console.print(f"{plain(text)} …", soft_wrap=True)

    def _is_due(self, text: str) -> bool:
        """Whether a line is due in a pipe: a step that is new, or how far one is that takes long."""
        now, step = time.monotonic(), text.partition(":")[0]
        due = now - self._started > _QUIET_SECONDS
        due &= step != self._step or now - self._told > _SECONDS_BETWEEN_LINES
        if due:
            self._step, self._told = step, now
        return due

    def note(self, text: str) -> None:
        """Something that was decided or noticed."""
        self._console.print(plain(text), soft_wrap=True)
