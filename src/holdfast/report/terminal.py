"""Standard output and standard error: all that commands print goes through here.

Printed text is made visible (`visible`). In a pipe or a file nothing is cut. If the reader of a pipe has gone, as with
`… | head -1`, the rest is dropped and the command goes on: its exit code is that of its work.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from holdfast.errors import BadInput
from holdfast.progress import Progress, hide, show
from holdfast.visible import visible, visible_json, visible_lines

_ENDLESS = 1_000_000
_QUIET_SECONDS = 2.0
_SECONDS_BETWEEN_LINES = 5.0  # about the same step, in a pipe
_let_go: set[int] = set()  # the numbers of streams without a reader


def plain(text: str) -> str:
    """A text from outside, within rich's markup."""
    return escape(visible(text))


class Terminal(Console):
    """A console of rich for texts from outside: makes them visible, and leaves `:smile:` in a value as it is."""

    def __init__(self, stderr: bool = False) -> None:
        looked_at = _is_terminal(sys.stderr if stderr else sys.stdout)
        super().__init__(stderr=stderr, highlight=False, emoji=False, width=None if looked_at else _ENDLESS)

    def render_str(self, text: str, **how: Any) -> Text:
        """A text with markup, made visible."""
        return super().render_str(visible_lines(text), **how)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print, as long as there is a reader."""
        with heard(self.file):
            super().print(*objects, **how)

    def on_broken_pipe(self) -> None:
        """Go on without a reader."""
        let_go(self.file)


def say(text: str, err: bool = False) -> None:
    """Print a text of one or more lines."""
    stream = sys.stderr if err else sys.stdout
    with heard(stream):
        stream.write(visible_lines(text) + "\n")
        stream.flush()


def say_json(lines: Iterable[Mapping[str, Any]], err: bool = False) -> None:
    """Print one object a line, as long as there is a reader."""
    stream = sys.stderr if err else sys.stdout
    with heard(stream):
        for line in map(json_line, lines):
            stream.write(line if _speaks_unicode(stream) else json.dumps(json.loads(line)) + "\n")
        stream.flush()


def json_line(value: Mapping[str, Any]) -> str:
    """An object as a line of JSON. Values that JSON has no type for become text."""
    return visible_json(json.dumps(value, ensure_ascii=False, default=str)) + "\n"


@contextmanager
def heard(stream: IO[str]) -> Iterator[None]:
    """Write to a stream that may have lost its reader, or whose disk may be full."""
    try:
        yield
    except BrokenPipeError:
        let_go(stream)
    except OSError as error:
        let_go(stream)
        if stream is not sys.stderr:  # notes may get lost, results may not
            sentence = f"standard output can't be written: {error.strerror or error}; send it elsewhere"
            raise BadInput(sentence) from None


def let_go(stream: IO[str]) -> None:
    """Send the rest of a stream nowhere: otherwise Python would complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    _let_go.add(stream.fileno())


def somebody_reads() -> bool:
    """Whether standard output still has a reader, as far as known."""
    return not _let_go or sys.stdout.fileno() not in _let_go


def prepare_streams() -> None:
    """Make sure that standard output and standard error can be written.

    A closed one (`>&-`) is opened to nowhere: otherwise the next file, perhaps of a state, would get its number, and
    output would go into that file. Characters that the encoding lacks are spelled out.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and stream.isatty()


def _speaks_unicode(stream: IO[str]) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


# ---- progress, on standard error -------------------------------------------------------------------------------------


class TerminalProgress(Progress):
    """Shows the current step with a spinner and its time; in a pipe, only steps that come after two seconds."""

    def __init__(self) -> None:
        self._console = Terminal(stderr=True)
        self._status: Any = None
        self._started = self._printed = time.monotonic()
        self._step = ""

    def __enter__(self) -> TerminalProgress:
        show(self)
        return self

    def __exit__(self, *_: object) -> None:
        hide(self)
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
        """Whether a line is due in a pipe: a new step, or the progress of a long one."""
        now, step = time.monotonic(), text.partition(":")[0]
        due = now - self._started > _QUIET_SECONDS
        due &= step != self._step or now - self._printed > _SECONDS_BETWEEN_LINES
        if due:
            self._step, self._printed = step, now
        return due

    def note(self, text: str) -> None:
        """Something that the user should know."""
        self._console.print(plain(text), soft_wrap=True)
