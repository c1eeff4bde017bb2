"""The results of `verify` and `vacuum`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from holdfast.visible import Printed, counted


@dataclass(frozen=True, repr=False)
class Verified(Printed):
    """What `verify` found: the state's files and bytes, what was compared with rediscovery, and the problems.

    With `watch` and `more` of the example of `Monitor`:

    >>> verified = hf.verify(watch.path)
    >>> verified.problems
    ()
    >>> print(verified.lines()[-1])
    all is well
    """

    state: str
    files: int
    bytes: int
    compared: tuple[str, ...]
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": "verify", **asdict(self)}

    def lines(self) -> list[str]:
        """The size, what was found again, and the problems."""
        first = f"{self.state}: {self.files:,} files, {self.bytes:,} bytes"
        return [first, *(f"found again: {what}" for what in self.compared), *(self.problems or ["all is well"])]


@dataclass(frozen=True)
class Vacuumed:
    """What a vacuum did: the bytes of the state before and after, the number of unused values that it dropped, of
    events that lost the values of deleted rows, and of events whose rows have expired.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(deletes=pa.table({"id": [1]}))
    >>> vacuumed = watch.vacuum()
    >>> vacuumed.values, vacuumed.bytes_after <= vacuumed.bytes_before
    (3, True)
    """

    bytes_before: int
    bytes_after: int
    values: int
    events: int
    expired: int = 0

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": "vacuum", **asdict(self)}

    def __str__(self) -> str:
        done = [f"{counted(self.values, 'unused value')} dropped"] if self.values else []
        done += [f"values of deleted rows removed from {counted(self.events, 'event')}"] if self.events else []
        done += [f"values of rows in {counted(self.expired, 'event')} expired"] if self.expired else []
        what = " and ".join(done) or "no deleted data was left"
        if self.bytes_after < self.bytes_before:
            return f"{self.bytes_before:,} bytes before, {self.bytes_after:,} after; {what}"
        return f"files rewritten, and not smaller than before ({self.bytes_after:,} bytes); {what}"
