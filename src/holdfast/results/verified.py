"""What a look at a state found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from holdfast.results.drawn import Printed


@dataclass(frozen=True, repr=False)
class Verified(Printed):
    """What a look at a state found: its files and bytes, what was compared with rediscovery, and what is wrong."""

    state: str
    files: int
    bytes: int
    compared: tuple[str, ...]
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": "verify", **asdict(self)}

    def lines(self) -> list[str]:
        """How large it is, what was found again, and what is wrong."""
        first = f"{self.state}: {self.files:,} files, {self.bytes:,} bytes"
        return [first, *(f"found again: {what}" for what in self.compared), *(self.problems or ["all is well"])]
