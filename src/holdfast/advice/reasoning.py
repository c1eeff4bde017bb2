"""What follows from the rules that hold (papers: fastod, theorem 5 and figure 4), and from which of them.

`[X…] orders [Y…]` holds iff X determines every column of Y, and no column of X swaps with one of Y among rows that are
equal on the columns before both. The first is the closure of X under the constants. The second follows if one of the
two columns is constant there; if a rule says so for a context that is constant there; or through a third column M that
swaps with neither, if the two don't swap among rows equal on M (the axiom Chain).

If all minimal canonical rules are known, this decides every list order dependency. With fewer rules answers are true
but incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.advice.known import KnownRules, Names
from holdfast.rules.lists import SortColumn

Proof = tuple[str, ...]  # the texts of the rules that were used, without repetition


class Reasoner:
    """Answers questions from the known rules of one table."""

    def __init__(self, known: KnownRules) -> None:
        self.known = known
        self._closures: dict[Names, Mapping[str, Proof]] = {}

    def orders(self, by: Sequence[SortColumn], then: Sequence[SortColumn]) -> Proof | None:
        """Why rows sorted by one list are sorted by the other; None: that does not follow."""
        proofs: list[Proof] = []
        for proof in self._steps(by, then):
            if proof is None:
                return None
            proofs.append(proof)
        return joined(proofs)

    def _steps(self, by: Sequence[SortColumn], then: Sequence[SortColumn]) -> Iterator[Proof | None]:
        """Why each condition of theorem 5 holds; None: one does not follow."""
        left = self.determined(column.name for column in by)
        yield from (left.get(column.name) for column in then)
        for i, one in enumerate(by):
            for j, other in enumerate(then):
                yield self._compatible(frozenset(each.name for each in (*by[:i], *then[:j])), one, other)

    def determined(self, columns: Iterable[str]) -> Mapping[str, Proof]:
        """The columns that are constant among rows equal on some columns, and why."""
        context = frozenset(columns)
        if context not in self._closures:
            self._closures[context] = self._closure(context)
        return self._closures[context]

    def _closure(self, context: Names) -> Mapping[str, Proof]:
        """Round by round, so that each proof has as few steps as possible."""
        proofs: dict[str, Proof] = dict.fromkeys(context, ())
        while fresh := self._next_round(proofs):
            proofs |= fresh
        return proofs

    def _next_round(self, proofs: Mapping[str, Proof]) -> dict[str, Proof]:
        """The columns that follow directly from those with a proof."""
        fresh: dict[str, Proof] = {}
        for needed, column, text in self.known.constants:
            if column not in proofs and column not in fresh and needed <= proofs.keys():
                fresh[column] = _by(text, needed, proofs)
        for needed, text in self.known.keys:
            if len(proofs) + len(fresh) < len(self.known.names) and needed <= proofs.keys():
                proof = _by(text, needed, proofs)
                fresh |= {name: proof for name in self.known.names if name not in proofs and name not in fresh}
        return fresh

    def key_within(self, columns: Iterable[str]) -> Proof | None:
        """Why no two rows are equal on some columns; None: that does not follow."""
        proofs = self.determined(columns)
        return next((_by(text, needed, proofs) for needed, text in self.known.keys if needed <= proofs.keys()), None)

    def _compatible(self, context: Names, one: SortColumn, other: SortColumn) -> Proof | None:
        """Why no two rows that are equal on the context swap two columns; None: that does not follow."""
        direct = self._direct(context, one, other)
        if direct is not None or one.name == other.name:
            return direct
        return next(self._chains(context, one, other), None)

    def _direct(self, context: Names, one: SortColumn, other: SortColumn) -> Proof | None:
        proofs = self.determined(context)
        for column in (one, other):
            if column.name in proofs:
                return proofs[column.name]
        rising = one.descending == other.descending
        if one.name == other.name:
            return () if rising else None
        rules = self.known.pairs.get((frozenset([one.name, other.name]), rising), ())
        return next((_by(text, needed, proofs) for needed, text in rules if needed <= proofs.keys()), None)

    def _chains(self, context: Names, one: SortColumn, other: SortColumn) -> Iterator[Proof]:
        """Through a third column: rows that swap the two would have to be equal on it."""
        for name in self.known.names:
            for middle in (SortColumn(name), SortColumn(name, True)):
                parts = [
                    self._direct(context, one, middle),
                    self._direct(context, middle, other),
                    self._direct(context | {name}, one, other),
                ]
                if all(part is not None for part in parts):
                    yield joined(part for part in parts if part is not None)


def _by(text: str, needed: Iterable[str], proofs: Mapping[str, Proof]) -> Proof:
    """The proofs of a rule's context, and then the rule."""
    return joined([*(proofs[name] for name in sorted(needed)), (text,)])


def joined(proofs: Iterable[Proof]) -> Proof:
    """Several proofs as one."""
    return tuple(dict.fromkeys(text for proof in proofs for text in proof))
