"""Sends notifications in threads of their own, one for each target: none waits for another, and no batch waits.

An attempt that takes too long is given up; the next follows after a pause that doubles. `close` waits a bounded time
for what is left; what was not delivered by then stays in the outbox for the next process.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.alerts.outbox import MOST, Outbox, read, remove
from holdfast.alerts.targets import Message, Target, UndeliveredError

PATIENCE = 10.0  # seconds that the end waits for what is left
_ATTEMPT = 5.0  # seconds
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 300.0  # seconds between two attempts
_TO_NOTICE = 0.2  # seconds for a thread to notice that its time is over


@dataclass(frozen=True)
class _Item:
    """A message that waits: in the outbox, or in memory where that can't be written. `is_old`: an earlier process left
    it.
    """

    path: Path | None
    message: Message | None = None
    is_old: bool = False

    def load(self) -> Message | None:
        """The message; None: another process delivered it."""
        return self.message if self.path is None else read(self.path)

    def delivered(self) -> None:
        """It need not be kept any longer."""
        if self.path is not None:
            remove(self.path)


class Sender:
    """Delivers to one target, in a thread that begins with the first message."""

    def __init__(self, target: Target, outbox: Outbox | None) -> None:
        self.target, self._outbox = target, outbox
        old = [] if outbox is None else outbox.waiting(target.fingerprint)
        self._items = deque(_Item(path, is_old=True) for path in old)
        self._changed = threading.Condition()
        self._ends = float("inf")
        self._thread: threading.Thread | None = None
        self._is_final = False  # the last attempt showed that the next ones are in vain
        self.trouble = ""  # why the last attempt failed; empty after one that didn't

    def post(self, message: Message) -> None:
        """Send a message as soon as possible. It is kept in the outbox first."""
        path = None
        if self._outbox is not None:
            with suppress(OSError):  # on a full disk it is sent all the same
                path = self._outbox.put(self.target.fingerprint, message)
        with self._changed:
            self._items.append(_Item(path, None if path else message))
            while len(self._items) > MOST:
                self._items.popleft()
            self._changed.notify()
        self.start()

    def start(self) -> None:
        """Begin to deliver what waits, if anything does."""
        if self._items and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="notify", daemon=True)
            self._thread.start()

    def close(self, until: float) -> int:
        """Deliver what is left, until a moment; gives how many messages were not delivered."""
        self.start()
        with self._changed:
            self._ends = until
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(max(until - time.monotonic(), 0.0) + _TO_NOTICE)
        return len(self._items)

    def _run(self) -> None:
        if self._outbox is None:
            self._deliver()
            return
        with self._outbox.delivering(self.target.fingerprint, lambda: self._ends) as is_ours:
            if is_ours:
                self._deliver()
            else:
                self.trouble = "another process is delivering to it"

    def _deliver(self) -> None:
        """Deliver until the end is near, or all is delivered and the end was asked for."""
        pause = _FIRST_PAUSE
        while (item := self._next()) is not None:
            if self._attempt(item):
                pause = _FIRST_PAUSE
                with self._changed:
                    if self._items and self._items[0] is item:
                        self._items.popleft()
                continue
            if self._ends < float("inf") and (self._is_final or all(each.is_old for each in self._items)):
                return  # they wait for another process
            self._wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _next(self) -> _Item | None:
        """The oldest message, once there is one; None: it is time to end."""
        with self._changed:
            while not self._items and self._ends == float("inf"):
                self._changed.wait()
            return self._items[0] if self._items and time.monotonic() < self._ends else None

    def _wait(self, seconds: float) -> None:
        """Wait before the next attempt; the end may be asked for meanwhile."""
        with self._changed:
            until = time.monotonic() + seconds
            while (left := min(until, self._ends) - time.monotonic()) > 0:
                was = self._ends
                self._changed.wait(left)
                if self._ends != was:  # the last attempts follow at once
                    return

    def _attempt(self, item: _Item) -> bool:
        """Try once to deliver a message; gives whether it is done."""
        message = item.load()
        if message is None:
            return True
        failed = _within(min(_ATTEMPT, max(self._ends - time.monotonic(), 0.1)), self.target, message)
        self.trouble = "" if failed is None else str(failed)
        self._is_final = failed is not None and failed.is_final
        if failed is None:
            item.delivered()
        return failed is None


def _within(seconds: float, target: Target, message: Message) -> UndeliveredError | None:
    """Send a message; None, or why that failed. What hangs where no time limit reaches (looking up a host, a pipe that
    nobody reads) is left behind.
    """
    found: list[UndeliveredError | None] = []

    def send() -> None:
        try:
            target.send(message, seconds)
            found.append(None)
        except UndeliveredError as error:
            found.append(error)
        except Exception as error:
            found.append(UndeliveredError(type(error).__name__))  # its text may have the address

    thread = threading.Thread(target=send, name="notify-once", daemon=True)
    thread.start()
    thread.join(seconds + 2 * _TO_NOTICE)
    return found[0] if found else UndeliveredError(f"no answer within {seconds:.0f} s")


def close_all(senders: Sequence[Sender], seconds: float | None) -> list[str]:
    """Let all deliver what is left, at once; gives a sentence for each that could not."""
    for sender in senders:
        sender.start()
    until = time.monotonic() + (PATIENCE if seconds is None else seconds)
    left = [(sender, sender.close(until)) for sender in senders]
    return [_kept(sender, messages) for sender, messages in left if messages]


def _kept(sender: Sender, messages: int) -> str:
    """What could not be delivered, why, and what becomes of it."""
    why = sender.trouble or "it takes too long"
    are, them = ("message is", "it") if messages == 1 else ("messages are", "them")
    return (
        f"--notify {sender.target.shown}: {why}; {messages:,} {are} kept in the state, and the next command with this "
        f"target sends {them}"
    )
