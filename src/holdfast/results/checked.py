"""Which given rules hold, and what violates the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.changes.diff import Finding
from holdfast.engines.listing import Listing
from holdfast.results.drawn import Drawn, section
from holdfast.rules.lists import ListOD
from holdfast.visible import Printed


@dataclass(frozen=True, repr=False)
class Checked(Printed, Drawn):
    """Each rule with the number of its violations, and lists of these.

    >>> import holdfast as hf, pyarrow as pa
    >>> checked = hf.check(pa.table({"name": ["Ada", "Bob"], "age": [36, -1]}), "t.age >= 0")
    >>> checked
    rules: 1, 1 of them violated
      row1: 1 violation of t.age >= 0
    >>> checked.violated, checked.listings[0].count
    (True, 1)
    """

    findings: tuple[Finding, ...]
    listings: tuple[Listing, ...]
    error: float = 0.0  # list orders that hold but for this share of rows pass

    @property
    def violated(self) -> bool:
        """Whether a rule of severity error has violations, and does not pass as nearly holding."""
        return any(self.is_violated(rule) and rule["severity"] == "error" for rule in self.to_json())

    def is_violated(self, rule: Mapping[str, Any]) -> bool:
        """Whether a rule, as JSON, has violations, and does not pass as nearly holding."""
        nearly_holds = rule["kind"] == ListOD.kind and rule["error"] <= self.error
        return bool(rule["violations"]) and not nearly_holds

    def to_json(self) -> list[dict[str, Any]]:
        """One object a rule."""
        return [finding.to_json() for finding in self.findings]

    def lines(self) -> list[str]:
        """How many rules there are, how many are violated, and the first ones."""
        broken = sum(map(self.is_violated, self.to_json()))
        rules = len(self.findings)
        return section(f"rules: {rules:,}, {broken:,} of them violated", rules, map(str, self.findings))


class Listings(Drawn, list[Listing]):
    """The violations of some rules; in a notebook, the first of each with their rows side by side.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> [(listing.rule.name, listing.count) for listing in watch.violations()]
    [('fd1', 1)]
    """
