"""The errors that people see: one clear sentence each, with the exit code of the command line."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.visible import visible_lines


class HoldfastError(Exception):
    """An error of ours: exit code 3."""

    exit_code = 3

    def __str__(self) -> str:
        return visible_lines(super().__str__())


class BadInput(HoldfastError):
    """Something about the input, the usage or the surroundings that the user can mend: exit code 2."""

    exit_code = 2


_FULL = ("No space left on device", "database or disk is full", "Disk quota exceeded")


@contextmanager
def clear_sentences(where: object) -> Iterator[None]:
    """Turn what the surroundings do to us (a full disk, a forbidden folder) into one clear sentence."""
    try:
        yield
    except HoldfastError:
        raise
    except PermissionError as error:
        raise BadInput(
            f"{error.filename or where}: permission denied; choose another place, or ask for access"
        ) from None
    except Exception as error:
        if getattr(error, "errno", None) == errno.ENOSPC or any(words in str(error) for words in _FULL):
            raise no_space(where) from None
        raise


def no_space(where: object) -> BadInput:
    """The sentence about a full disk."""
    return BadInput(f"{where}: no space left on the disk; free some and try again, nothing was changed")


def refuse_below(least: int, given: int | None, what: str) -> None:
    """Say so where a number is less than it can be."""
    if given is not None and given < least:
        raise BadInput(f"{what} can't be {given}; give {least} or more")
