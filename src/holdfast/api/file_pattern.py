"""Which files of a watched folder are data, and what their names say: the batch and the table of each.

A pattern is a regular expression for whole names, such as `(?P<batch>[0-9]+)-(?P<table>[a-z]+)[.]csv`. Files of the
same `batch` are one batch; without that group each file is one. `table` names the table of a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.errors import BadInput

_BATCH, _TABLE = "batch", "table"
_DIGITS = re.compile(r"(\d+)")


class Named(NamedTuple):
    """What a name says; None where it says nothing."""

    batch: str | None = None
    table: str | None = None


@dataclass(frozen=True)
class FilePattern:
    """A pattern of the names of files."""

    regex: re.Pattern[str]

    @staticmethod
    def of(text: str) -> FilePattern:
        """The pattern that a text means; any other group than `batch` and `table` must have no name."""
        try:
            found = FilePattern(re.compile(text))
        except (re.error, OverflowError) as error:
            raise BadInput(f"--files {text}: this is no regular expression ({error}); mend it") from None
        if unknown := sorted(set(found.regex.groupindex) - {_BATCH, _TABLE}):
            raise BadInput(f"--files {text}: the group {unknown[0]!r} means nothing; name groups batch and table only")
        return found

    @property
    def names_batches(self) -> bool:
        """Whether several files may be one batch."""
        return _BATCH in self.regex.groupindex

    @property
    def names_tables(self) -> bool:
        """Whether each file says which table it is for."""
        return _TABLE in self.regex.groupindex

    def read(self, name: str) -> Named | None:
        """What the name of a file says; None if it doesn't match."""
        found = self.regex.fullmatch(name)
        return None if found is None else Named(**found.groupdict())


ANY = FilePattern(re.compile(".*", re.DOTALL))


def batch_order(name: str) -> list[tuple[int, str]]:
    """A key that sorts names of batches; numbers in them count as numbers.

    >>> sorted(["run-10", "run-9", "run-09b"], key=batch_order)
    ['run-9', 'run-09b', 'run-10']
    """
    parts = _DIGITS.split(name)
    return [(int(part), "") if i % 2 else (-1, part) for i, part in enumerate(parts)] + [(-1, name)]
