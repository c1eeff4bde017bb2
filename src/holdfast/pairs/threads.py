"""Long work in pieces, in threads: one sees how far it is, and can end it within a fraction of a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

Made = TypeVar("Made")
Told = Callable[[int], None]  # what a piece calls between stretches, with how much it did so far; may raise, to end it
Tell = Callable[[int, int], None]  # hears how many pieces are done, and how much all of them did so far

_SECONDS_BETWEEN_WORDS = 0.2


class _Stopped(Exception):
    """Raised within threads that are to end."""


class _Tally:
    """How far the pieces are; tells when to stop."""

    def __init__(self, tell: Tell | None) -> None:
        self._tell = tell
        self.done, self.stop = 0, False
        self._so_far: dict[int, int] = {}

    def note(self, piece: int, so_far: int) -> None:
        self._so_far[piece] = so_far
        if self.stop:
            raise _Stopped

    def tell(self) -> None:
        if self._tell is not None:
            self._tell(self.done, sum(list(self._so_far.values())))


def each(
    pieces: Sequence[int], one: Callable[[int, Told], Made], in_threads: bool = True, tell: Tell | None = None
) -> dict[int, Made]:
    """What `one` makes of each piece. What one of them raises ends them all, and so does Ctrl-C."""
    tally = _Tally(tell)

    def work(piece: int) -> Made:
        made = one(piece, lambda so_far: tally.note(piece, so_far))
        tally.done += 1
        return made

    if not in_threads:
        return {piece: work(piece) for piece in pieces}
    with ThreadPoolExecutor(thread_name_prefix="pairs") as pool:
        running = {piece: pool.submit(work, piece) for piece in pieces}
        try:
            while (known := wait(running.values(), _SECONDS_BETWEEN_WORDS, FIRST_EXCEPTION)).not_done:
                for done in known.done:
                    done.result()
                tally.tell()
        except BaseException:
            tally.stop = True
            pool.shutdown(cancel_futures=True)
            raise
    return {piece: future.result() for piece, future in running.items()}
