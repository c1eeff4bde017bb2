"""Whether a denial constraint across columns holds: how many pairs of rows come near and break it, and two that do."""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.changes.diff import Witness
from holdfast.engines import contract
from holdfast.engines.given.queries import queries_of
from holdfast.engines.pointwise.cross_rules import CrossWording
from holdfast.rules.cross import CrossDenial
from holdfast.rules.sentences import explained
from holdfast.search.search import PairSearch
from holdfast.table.row_names import witnesses_of
from holdfast.table.table import Table
from holdfast.visible import counted


@dataclass(frozen=True)
class CrossExplanation(contract.RuleExplanation):
    """Whether a rule holds, and how many ordered pairs of rows come near it and break it."""

    rule: CrossDenial
    rows: int
    near: int
    broken: int
    witness: Witness | None

    FIGURES = ("rows", "near", "broken")

    def lines(self) -> list[str]:
        """As text, a line each."""
        share = f"{self.rule.coverage or 0.0:.4%} of all"
        if self.witness is None:
            near = f"{counted(self.near, 'ordered pair')} of them ({share}) come near"
            return [f"{self.rule.text} holds in all {self.rows:,} rows: {near}, and none breaks it"]
        broken, near = f"{counted(self.broken, 'ordered pair')} of rows", f"{self.near:,} more ({share})"
        return [
            f"{self.rule.text} does not hold: broken by {broken}; {near} come near",
            f"  {self.witness.sentence}",
        ]


def explain(table: Table, wording: CrossWording, text: str) -> CrossExplanation:
    """Explain a rule of a table."""
    rule = wording.rule(wording.alone(wording.parse(text)).rows[0])
    own = rule.predicates
    others = [(*own[:place], each.opposite, *own[place + 1 :]) for place, each in enumerate(own)]
    rules = [rule, *(replace(rule, predicates=other) for other in others)]
    search = PairSearch(table, [query for each in rules for query in queries_of(each, table.schema)])
    factors = [2 if query.symmetric else 1 for query in search.queries]  # of these each pair counts once
    broken, *near = (factor * search.count(number) for number, factor in enumerate(factors))
    found = search.first(0) if broken else None
    rule = replace(rule, coverage=sum(near) / max(1, table.rows * (table.rows - 1)))
    witness = None
    if found is not None:
        witness = explained(rule, witnesses_of(table, {text: found})[text], table.schema, directed=True)
    return CrossExplanation(rule, table.rows, sum(near), broken, witness)
