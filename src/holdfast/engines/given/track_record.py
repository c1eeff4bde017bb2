"""The track record of a rule: how many new rows could have broken it since it is watched, and how many did."""

from __future__ import annotations

import math
from dataclasses import dataclass

PASSED = 100  # rows that pass to bring trust halfway to 1; for each row that broke the rule, as many more must pass
TESTS = 200  # a rule is noise only after as many rows could have broken it
_BROKE = 5  # and after as many did: a few errors in the data are no noise
_NEGLIGIBLE = 1e-12
_UNLIKELY = 0.01  # how unlikely the rows must be under the assumption that the rule means something


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

    def is_noise(self, exceptions: int, tested: int) -> bool:
        """Whether new rows break a rule as often as chance does, given how many rows broke it of those that could have
        when it was suggested.

        A suggestion has few exceptions in the rows that it was found in. If they are errors, they are rare in new rows.
        If the rule holds by accident, its exceptions come back by chance, as often as they came before: with the
        probability p = (exceptions + 1) / (tested + 2), the mean of the rates that these rows leave open (Laplace's
        rule of succession). A right side that is random is broken more often still.

        Assume that the rule means something, and that a new row breaks it with half of that probability, at most. Of n
        new rows then X break it, and X is binomial: P(X >= k) = sum over i >= k of C(n, i) q^i (1 - q)^(n - i), with
        q = p / 2. If k rows did and this is below 1 %, the assumption is given up, and the rule is noise. It takes 200
        tests at least, so that a bad start alone decides nothing, and 5 rows that broke it, as a few may be errors.

        >>> TrackRecord(tested=1000, broke=30).is_noise(exceptions=40, tested=2000)
        True
        >>> TrackRecord(tested=1000, broke=8).is_noise(exceptions=40, tested=2000)
        False
        """
        if self.tested < TESTS or self.broke < _BROKE:
            return False
        chance = (exceptions + 1) / (tested + 2)
        return at_least(self.broke, self.tested, min(chance, 1.0) / 2) < _UNLIKELY


def at_least(count: int, tests: int, probability: float) -> float:
    """The probability that of some independent tests, each with the same probability, at least `count` succeed. Up to
    the mean, where it is about a half or more, this says 1; above it the terms of the sum fall.

    >>> at_least(2, 2, 0.5), at_least(1, 2, 0.5)
    (0.25, 1.0)
    """
    if count <= tests * probability:
        return 1.0
    ways = math.lgamma(tests + 1) - math.lgamma(count + 1) - math.lgamma(tests - count + 1)
    term = math.exp(ways + count * math.log(probability) + (tests - count) * math.log1p(-probability))
    total, odds = term, probability / (1.0 - probability)
    for succeed in range(count, tests):
        term *= (tests - succeed) / (succeed + 1) * odds
        total += term
        if term <= total * _NEGLIGIBLE:
            break
    return min(total, 1.0)
