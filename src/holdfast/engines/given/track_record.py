"""The track record of a rule: how many new rows could have broken it since it is watched, and how many did."""

from __future__ import annotations

from dataclasses import dataclass

PASSED = 100  # rows that pass to bring trust halfway to 1; for each row that broke the rule, as many more must pass


@dataclass(frozen=True)
class TrackRecord:
    """How many rows came since a rule is watched that might have broken it, and how many of them did.

    What one file happens to satisfy may be an accident. Rows that came later had every chance to break the rule: the
    more of them didn't, the more it is trusted. This is history, and no fact of the table: the database keeps it.
    """

    tested: int = 0
    broke: int = 0

    def then(self, tested: int, broke: int) -> TrackRecord:
        """The same after some more rows."""
        return TrackRecord(self.tested + tested, self.broke + broke) if tested or broke else self

    def trust(self, score: float) -> float:
        """The score of the table alone, raised towards 1 by the rows that passed since."""
        passed = max(self.tested - self.broke, 0)
        return score + (1.0 - score) * passed / (passed + PASSED * (1 + self.broke))
