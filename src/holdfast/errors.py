"""The errors that people see: one clear sentence each, with the exit code of the command line."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum

from holdfast.visible import visible_lines


class ExitCode(IntEnum):
    """How a command ends; help says it in these words."""

    ALL_WELL = 0
    RULE_BROKE = 1
    BAD_INPUT = 2
    OUR_ERROR = 3


EXIT_CODES = "0 all is well, 1 a rule broke or too many rows are bad, 2 wrong usage or bad input, 3 our error"


class HoldfastError(Exception):
    """An error of ours: exit code 3.

    >>> import holdfast as hf
    >>> issubclass(hf.BadInput, hf.HoldfastError), int(hf.HoldfastError.exit_code)
    (True, 3)
    """

    exit_code = ExitCode.OUR_ERROR

    def __str__(self) -> str:
        return visible_lines(super().__str__())


class BadInput(HoldfastError):
    """A problem with the input, the usage or the environment that the user can fix: exit code 2.

    >>> import holdfast as hf
    >>> hf.discover("none.csv")
    Traceback (most recent call last):
    holdfast.errors.BadInput: none.csv: there is no such file; check the path
    """

    exit_code = ExitCode.BAD_INPUT


class BadSurroundings(BadInput):
    """A problem with a disk, a folder or a database, not with the input."""


class Missing(BadInput):
    """A file of a state is missing."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: this file of the state is missing; restore it, or the whole state, from a backup"


class Damaged(BadInput):
    """A file of a state does not hold what was written."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, what)
        self.path, self.what = path, what

    def __str__(self) -> str:
        return f"{self.path}: damaged ({self.what}); restore it, or the whole state, from a backup"


_FULL = ("No space left on device", "database or disk is full", "Disk quota exceeded")
_WHAT_TO_DO = {
    errno.EACCES: "permission denied; choose another place, or ask for access",
    errno.EPERM: "permission denied; choose another place, or ask for access",
    errno.EROFS: "the disk is read-only; choose another place, or make it writable",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.EIO: "the disk can't be read or written; look at it before anything else",
}
_DATABASE = {  # what SQLite says, and our sentence
    "readonly": _WHAT_TO_DO[errno.EROFS],
    "unable to open": "the database can't be opened; look at who may write to its folder",
    "disk I/O error": _WHAT_TO_DO[errno.EIO],
    "locked": "another process holds the database; try again when it has ended",
    "malformed": "the database is damaged; restore it, or the whole state, from a backup",
    "not a database": "the database is damaged; restore it, or the whole state, from a backup",
}


@contextmanager
def clear_sentences(where: object) -> Iterator[None]:
    """Turn errors of the environment (a full disk, a forbidden folder) into one clear sentence."""
    try:
        yield
    except (HoldfastError, ConnectionError, TimeoutError):
        raise
    except Exception as error:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        if full or any(words in str(error) for words in _FULL):
            raise no_space(where) from None
        if sentence := _sentence(error):
            raise BadSurroundings(f"{getattr(error, 'filename', None) or where}: {sentence}") from None
        raise


def _sentence(error: Exception) -> str | None:
    """What is wrong with a disk or a database, and what to do; None for other errors."""
    import sqlite3  # only when something is wrong: help must answer quickly

    text = str(error)
    if isinstance(error, sqlite3.DatabaseError):
        return next((sentence for words, sentence in _DATABASE.items() if words in text), None)
    if not isinstance(error, OSError):
        return None
    if error.errno in _WHAT_TO_DO:
        return _WHAT_TO_DO[error.errno]
    said = os.strerror(error.errno) if error.errno else text.partition("\n")[0]
    return f"{said[:1].lower()}{said[1:]}; choose another place"


def no_space(where: object) -> BadInput:
    """The sentence about a full disk."""
    return BadSurroundings(f"{where}: no space left on the disk; free some and try again, nothing was changed")


def refuse_below(least: int, given: int | None, what: str) -> None:
    """Refuse a number that is too small."""
    if given is not None and given < least:
        raise BadInput(f"{what} can't be {given}; give {least} or more")


def refuse_no_error(given: float) -> None:
    """Refuse a number that is no error of a rule."""
    if not 0.0 <= given < 1.0:
        raise BadInput(f"the error is a share, from 0 to below 1, not {given}; choose another")


def refuse_not_utf8(text: str) -> None:
    """Refuse a text with bytes that are no characters, as Python reads arguments and names of files."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{text!r} is not UTF-8; write it in UTF-8, or rename the file") from None


def nearest_names(name: str, known: Iterable[str]) -> str:
    """The nearest of some names, two at most: `'Salary' or 'Celery'`; empty if none is near."""
    import difflib

    folded = {each.casefold(): each for each in reversed(list(known))}
    near = difflib.get_close_matches(name.casefold(), folded, n=2)
    return " or ".join(repr(folded[each]) for each in near)


def refuse_none_of(names: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse the first name that is not known; `what` says what it is then, such as `no column of orders`."""
    all_known = list(known)
    for name in names:
        if name not in all_known:
            raise BadInput(f"{name!r} is {what}; {suggest(name, all_known)}")


def suggest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'Salary'?` for an unknown name, or the known names."""
    names = list(known)
    if near := nearest_names(name, names):
        return f"did you mean {near}?"
    shown = ", ".join(names[:10])
    return f"there are {shown}, …" if len(names) > 10 else f"there are {shown}" if names else "there are none"
