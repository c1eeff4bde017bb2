"""Progress of long work. The base class is silent; the command line shows it on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

Level = Literal["info", "warning", "error"]

PATIENCE = 15.0  # seconds of a search after which a note says how to make it shorter


class Progress:
    """Listens to steps (what is being done now) and notes (what the user should know)."""

    def step(self, text: str) -> None:
        """A new step has begun, or has progressed."""

    def note(self, text: str) -> None:
        """Something that was decided or noticed."""

    def event(self, level: Level, event: str, text: str, **facts: Any) -> None:  # noqa: ARG002
        """Something happened in a long run: people read the text, and a log has the rest, too."""
        self.note(text)


SILENT = Progress()
_shown: list[Progress] = []


def show(progress: Progress) -> None:
    """From now on, show also what is noted of the process as a whole."""
    _shown.append(progress)


def hide(progress: Progress) -> None:
    """End that."""
    _shown.remove(progress)


def note_of_process(text: str) -> None:
    """Note what the lowest layers do, which are handed no progress: that they compile."""
    for each in tuple(_shown):
        each.note(text)


def search_progress(
    progress: Progress, rules: str, targets: str, many: int, shorter: str | None
) -> Callable[[int, int], None]:
    """Reports a search for rules, target by target: how far it is; and once, if it takes long, what makes it shorter
    (None: nothing does).
    """
    started, advice = time.monotonic(), shorter

    def say(done: int, found: int) -> None:
        nonlocal advice
        so_far = f"{done:,} of {many:,} {targets} done"
        progress.step(f"Finding {rules}: {so_far}, {found:,} found")
        if advice is not None and time.monotonic() - started > PATIENCE:
            progress.note(f"Finding {rules} takes long: {found:,} found so far, {so_far}. {advice}")
            advice = None

    return say
