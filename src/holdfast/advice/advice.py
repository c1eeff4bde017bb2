"""Advice on a clause of a query: which columns are enough, why the others are redundant, and which other orders serve.

The advice is true for the table as it is now, by the rules that it names; it ends when a batch breaks one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from holdfast.advice.clauses import Clause
from holdfast.advice.reasoning import Proof, Reasoner
from holdfast.rules.lists import SortColumn, SortList, sort_text
from holdfast.visible import Printed

_MOST = 10  # other orders that are shown


@dataclass(frozen=True)
class Redundant:
    """A redundant column of a clause, and why it is redundant."""

    column: SortColumn
    because: str
    rules: Proof

    def __str__(self) -> str:
        return f"{self.column.text} is redundant: {self.because}{_by(self.rules)}"

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        return {"column": self.column.name, "because": self.because, "rules": list(self.rules)}


@dataclass(frozen=True)
class Serving:
    """An order, and the rules by which it serves the clause; None: that does not follow."""

    order: SortList
    rules: Proof | None
    backwards: bool = False  # it serves when it is read from its end

    def __str__(self) -> str:
        order = sort_text(self.order)
        if self.rules is None:
            return f"no known rule says that an order by {order} serves it"
        return f"an order by {order}{', read backwards,' if self.backwards else ''} serves it{_by(self.rules)}"

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        order = [column.to_json() for column in self.order]
        return {"order": order, "backwards": self.backwards, "rules": list(self.rules or ())}


@dataclass(frozen=True, repr=False)
class Advice(Printed):
    """Advice on a clause.

    With `watch` and `more` of the example of `Monitor`:

    >>> changed = watch.watch("fd")
    >>> watch.advise("GROUP BY id, zip")
    GROUP BY id, zip
      GROUP BY id is enough
      zip is redundant: the columns before it determine it, by id -> zip
    """

    table: str
    clause: Clause
    enough: SortList
    redundant: tuple[Redundant, ...]
    served_by: tuple[Serving, ...]  # other orders
    not_served_by: tuple[Serving, ...]  # requested orders
    single: Proof | None  # why no two rows are equal on the columns; None: some may be
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """As text, a line each."""
        lines = [self._summary(), *map(str, self.redundant), *self._alone()]
        lines += [*map(str, (*self.served_by, *self.not_served_by)), *self.notes]
        return [str(self.clause), *(f"  {line}" for line in lines)]

    def _summary(self) -> str:
        if not self.redundant:
            return "no column is redundant by the known rules"
        if not self.enough:
            return "any order will do" if self.clause.is_order else "all rows are equal on these columns"
        if self.clause.kind == "DISTINCT":
            return f"{sort_text(self.enough)} alone distinguishes the rows"
        return f"{self.clause.kind} {sort_text(self.enough)} is enough"

    def _alone(self) -> list[str]:
        """What follows if no two rows are equal; nothing for an order."""
        if self.single is None or self.clause.is_order:
            return []
        grouped = self.clause.kind == "GROUP BY"
        what = "each group is one row" if grouped else "DISTINCT is not needed: no two rows are equal"
        return [f"{what}{_by(self.single)}"]

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {
            "kind": "advice",
            "table": self.table,
            "clause": self.clause.kind,
            "columns": [column.to_json() for column in self.clause.columns],
            "enough": [column.to_json() for column in self.enough],
            "redundant": [each.to_json() for each in self.redundant],
            "served_by": [each.to_json() for each in self.served_by],
            "not_served_by": [[column.to_json() for column in each.order] for each in self.not_served_by],
            "single": None if self.single is None else list(self.single),
            "notes": list(self.notes),
            "text": str(self.clause),
        }


def _by(rules: Proof) -> str:
    return f", by {'; '.join(rules)}" if rules else ""


def advise(
    table: str, clause: Clause, reasoner: Reasoner, have: Sequence[SortList] = (), notes: Sequence[str] = ()
) -> Advice:
    """Advice on a clause. `have` are existing orders, such as those of indexes."""
    enough, redundant = _shortened(clause, reasoner)
    judged = [_serving(order, enough, reasoner) for order in have] if clause.is_order else []
    serving = [each for each in judged if each.rules is not None]
    shown = [enough, *(each.order for each in serving if not each.backwards)]
    others = islice(_others(enough, shown, reasoner), _MOST) if clause.is_order else ()
    lacking = tuple(each for each in judged if each.rules is None)
    single = reasoner.key_within(column.name for column in clause.columns)
    return Advice(table, clause, enough, tuple(redundant), (*serving, *others), lacking, single, tuple(notes))


def _shortened(clause: Clause, reasoner: Reasoner) -> tuple[SortList, list[Redundant]]:
    """The columns that remain, and the redundant ones, removed from the last to the first, with reasons."""
    left, gone = clause.columns, list[Redundant]()
    while True:
        tried = (_without(left, place, clause, reasoner) for place in reversed(range(len(left))))
        step = next((each for each in tried if each is not None), None)
        if step is None:
            return left, gone
        left, redundant = step
        gone.append(redundant)


def _without(columns: SortList, place: int, clause: Clause, reasoner: Reasoner) -> tuple[SortList, Redundant] | None:
    """The columns without one of them, if that one is redundant."""
    column, shorter = columns[place], (*columns[:place], *columns[place + 1 :])
    before = reasoner.determined(each.name for each in columns[:place])
    if column.name in before:
        twice = column.name in [each.name for each in columns[:place]]
        determined = "the columns before it determine it" if place else "it is constant"
        because = "it stands there before" if twice else determined
        return shorter, Redundant(column, because, before[column.name])
    if not clause.is_order:
        others = reasoner.determined(each.name for each in shorter)
        proof = others.get(column.name)
        return None if proof is None else (shorter, Redundant(column, "the other columns determine it", proof))
    proof = reasoner.orders(shorter, columns)
    return None if proof is None else (shorter, Redundant(column, "the other columns put rows in its order", proof))


def _serving(order: SortList, enough: SortList, reasoner: Reasoner) -> Serving:
    """Whether an existing order serves the columns that are enough."""
    proof = reasoner.orders(order, enough)
    if proof is not None:
        return Serving(order, proof)
    backwards = reasoner.orders([SortColumn(each.name, not each.descending) for each in order], enough)
    return Serving(order, backwards, backwards is not None)


def _others(enough: SortList, shown: Sequence[SortList], reasoner: Reasoner) -> Iterator[Serving]:
    """Other orders that serve: the left lists of rules, single columns, and the columns that are enough with one
    replaced by another. Orders that only add columns to a shown one are left out.
    """
    known = list(shown)
    for order in _candidates(enough, reasoner):
        if any(_is_within(one, order) for one in known):
            continue
        proof = reasoner.orders(order, enough)
        if proof is not None:
            known.append(order)
            yield Serving(order, proof)


def _candidates(enough: SortList, reasoner: Reasoner) -> Iterator[SortList]:
    yield from (rule.by for rule in reasoner.known.lists)
    used = {column.name for column in enough}
    others = [SortColumn(name, down) for down in (False, True) for name in reasoner.known.names if name not in used]
    if enough:
        yield from ((column,) for column in others)
    for place in range(len(enough)):
        yield from ((*enough[:place], column, *enough[place + 1 :]) for column in others)


def _is_within(shorter: SortList, longer: SortList) -> bool:
    """Whether a list is another one without some of its columns."""
    rest = iter(longer)
    return all(column in rest for column in shorter)
