"""What long work says while it goes on. The base class is silent; the command line shows it on standard error."""

from __future__ import annotations


class Progress:
    """Listens to steps (what is being done now) and notes (what the user should know)."""

    def step(self, text: str) -> None:
        """A new step has begun, or is so far."""

    def note(self, text: str) -> None:
        """Something that was decided or noticed."""


SILENT = Progress()
