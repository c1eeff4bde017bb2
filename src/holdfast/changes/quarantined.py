"""What a batch left out: rows that could not be read or applied, and were set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Quarantined:
    """How many rows were set aside, in which files they are, and the first reasons."""

    rows: int = 0
    files: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {"rows": self.rows, "files": list(self.files), "reasons": list(self.reasons)}
