"""What the keeping of violations must know of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from holdfast.engines.declared import Severity
from holdfast.engines.listing import ListedRule
from holdfast.search.queries import PairQuery


class PairRule(ListedRule, Protocol):
    """A rule that someone gave, and that pairs of rows violate (or single rows)."""

    @property
    def severity(self) -> Severity:
        """Whether a violation is an error."""

    @property
    def is_symmetric(self) -> bool:
        """Whether (s, t) violates it wherever (t, s) does: then each pair counts once, the smaller id first."""


R = TypeVar("R", bound=PairRule)
R_co = TypeVar("R_co", bound=PairRule, covariant=True)


@dataclass(frozen=True)
class AskedRule(Generic[R_co]):
    """A rule, and the pair queries whose pairs violate it. No pair meets two of them."""

    rule: R_co
    queries: Sequence[PairQuery]
