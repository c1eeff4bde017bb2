"""How a given rule has fared since it is watched: rows that came and might have broken it, and those that did.

What one file happens to satisfy may be an accident. Rows that came later had every chance to break the rule: the more
of them didn't, the more it is trusted. This is history, and no fact of the table: two states of the same rows may tell
it differently.
"""

from __future__ import annotations

from dataclasses import dataclass

PASSED = 100  # rows that passed and bring trust half way to 1; each row that broke the rule asks for as many more


@dataclass(frozen=True)
class Fared:
    """How many rows came since that might have broken a rule, and how many of them did."""

    tested: int = 0
    broke: int = 0

    def then(self, tested: int, broke: int) -> Fared:
        """The same after some more rows."""
        return Fared(self.tested + tested, self.broke + broke)


def trusted(score: float, fared: Fared) -> float:
    """The score of the table alone, raised towards 1 by the rows that passed since."""
    passed = max(fared.tested - fared.broke, 0)
    return score + (1.0 - score) * passed / (passed + PASSED * (1 + fared.broke))
