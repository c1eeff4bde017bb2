"""Work in pieces, in threads of this process: one sees how far it is, and can end it within a fraction of a second."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

Piece = TypeVar("Piece")
Answer = TypeVar("Answer")
SoFar = Callable[[int], None]  # called by long work between stretches, with how much it did so far; raises to end it
OnProgress = Callable[[int, int], None]  # gets how many pieces are done, and how much all of them did so far

_SECONDS_BETWEEN_LOOKS = 0.2


class _Stopped(Exception):
    """Raised within threads that are to end."""


def each(
    pieces: Sequence[Piece],
    work: Callable[[Piece, SoFar], Answer],
    workers: int | None = None,
    progress: OnProgress | None = None,
) -> list[Answer]:
    """What `work` makes of each piece, in the order of the pieces: in `workers` threads (None: one a core; 0: in none).

    All end when one raises an error, and on Ctrl-C; of several errors the first piece's is raised.
    """
    amounts: dict[int, int] = {}
    done: list[int] = []
    stopped = Event()

    def one(number: int, piece: Piece) -> Answer:
        def so_far(amount: int) -> None:
            amounts[number] = amount
            if stopped.is_set():
                raise _Stopped

        answer = work(piece, so_far)
        done.append(number)
        return answer

    if workers == 0 or (len(pieces) < 2 and progress is None):
        return [one(number, piece) for number, piece in enumerate(pieces)]
    with ThreadPoolExecutor(workers or os.cpu_count() or 1, thread_name_prefix="holdfast") as pool:
        running = [pool.submit(one, number, piece) for number, piece in enumerate(pieces)]
        try:
            while wait(running, _SECONDS_BETWEEN_LOOKS, FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in running):
                    break
                if progress is not None:
                    progress(len(done), sum(list(amounts.values())))
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)
    return _answers(running)


def _answers(done: Sequence[Future[Answer]]) -> list[Answer]:
    """The answers of all, or the first error that is not just the end of the others."""
    errors = [future.exception() for future in done if not future.cancelled()]
    for error in errors:
        if error is not None and not isinstance(error, _Stopped):
            raise error
    return [future.result() for future in done]
