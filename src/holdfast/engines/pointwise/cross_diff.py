"""What a batch changed in denial constraints across columns, because of what, and which rows broke those that went.

A rule goes because two rows meet all its comparisons now, and they are its witness; or it still holds, and is no longer
reported: it follows from another one, or no pair of rows comes near it any more, or too few do. The same reasons, seen
from before the batch, say why a rule comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from holdfast.changes.diff import NOBODY, Cause, Diff, Witness
from holdfast.engines.found.causes import Standing
from holdfast.engines.found.covers import among_new
from holdfast.engines.found.engine import Moment, Step
from holdfast.engines.found.witnesses import Broken, Compared, Pairs
from holdfast.engines.given.queries import queries_of
from holdfast.engines.pointwise.comparisons import OPERATORS, PER_LINE, Mask, Numbers
from holdfast.engines.pointwise.conjunctions import NONE, sizes_of
from holdfast.engines.pointwise.cross_rules import CrossRules
from holdfast.engines.pointwise.minimal_denials import MetConjunctions
from holdfast.rules.sentences import explained
from holdfast.search.constants import COMPARE
from holdfast.search.operands import Operands, Spaces
from holdfast.search.search import PairSearch
from holdfast.table.change import Change
from holdfast.table.images import NULL_KEY
from holdfast.table.rows import Rows


@dataclass(frozen=True, eq=False)
class CrossMoment(Moment[CrossRules]):
    """Also which conjunctions were met."""

    met: MetConjunctions


@dataclass(frozen=True, eq=False)
class CrossStep(Step[CrossRules]):
    """The rules before a batch and after it."""

    before: CrossMoment
    after: CrossMoment

    def difference(self) -> Diff:
        """What it changed."""
        before, after = self.before.reported, self.after.reported
        places, came = among_new(before.listed.keys, after.listed.keys)
        return Diff(after.some(came), before.some(places < 0))

    def of_lost(self, lost: CrossRules) -> Standing:
        """How rules that were lost stand after the batch."""
        return _standing(lost, self.after)

    def of_gained(self, gained: CrossRules) -> Standing:
        """How rules that were gained stood before the batch."""
        return _standing(gained, self.before)

    def broken(self, lost: CrossRules, which: Mask) -> BrokenDenials:
        """Those of the lost rules that rows broke."""
        return BrokenDenials(lost.some(which))


def _standing(some: CrossRules, at: CrossMoment) -> Standing:
    """How some rules, which are not reported at a moment, stand at it."""
    rows = some.listed.rows
    covered = at.met.never(rows)

    def implied() -> Mapping[int, Cause]:
        found = {}
        for place in np.flatnonzero(covered).tolist():
            by = at.met.stronger(rows[place])
            if by is not None:
                (text,) = some.wording.texts_of(by[None])
                found[place] = Cause("stronger", text)
        return found

    return Standing(covered, implied, at.met.near(rows) > 0, at.has_pairs)


class BrokenDenials(Broken):
    """Conjunctions that two rows meet now; a pair is row t and row s."""

    def __init__(self, rules: CrossRules) -> None:
        super().__init__(list(rules))
        self._rules = rules

    @property
    def sizes(self) -> Numbers:
        """How many comparisons each has."""
        return sizes_of(self._rules.listed.rows)

    def known(self, born: range) -> Pairs:  # noqa: ARG002  # no pairs are kept
        """Nobody: the counts don't say which rows they count."""
        return np.full((len(self.texts), 2), NOBODY)

    def hits(self, rules: Numbers, seen: Compared) -> Pairs:
        """The first pair that meets all comparisons, one row or the other being t."""
        compared = _ComparedPairs(self._rules, seen)
        return np.array([compared.first(row) for row in self._rules.listed.rows[rules].tolist()]).reshape(-1, 2)

    def first(self, number: int, change: Change) -> Pairs | None:
        """A pair with a new row, by the pair search: all were broken by new rows."""
        (rule,) = self._rules.some(np.array([number])).rules()
        search = PairSearch(change.after, queries_of(rule, change.after.schema))
        found = search.first(0, change.come)
        return None if found is None else np.array(found)

    def witnesses(self, change: Change) -> dict[str, Witness]:
        """Also with sentences: which row is which matters."""
        found, schema = super().witnesses(change), change.after.schema
        return {text: explained(rule, found[text], schema, directed=True) for text, rule in self._rules.items()}


class _ComparedPairs:
    """Pairs of rows, each in both orders, and which comparisons they meet."""

    def __init__(self, rules: CrossRules, seen: Compared) -> None:
        self._comparisons, self._met = rules.wording.comparisons, dict[int, Mask]()
        self._pairs = np.concatenate([seen.pairs, seen.pairs[:, ::-1]])
        ids, self._places = np.unique(self._pairs, return_inverse=True)
        self._places = self._places.reshape(-1, 2)
        spaces = Spaces(seen.table.schema, [self._comparisons.query])
        spaces.follow(seen.table)
        self._operands = Operands(spaces, Rows.at(seen.table, ids))

    def first(self, row: list[int]) -> tuple[int, int]:
        """The first pair that meets a conjunction; NOBODY twice where none does."""
        met = np.logical_and.reduce([self._meet(each) for each in row if each != NONE])
        place = int(np.argmax(met)) if len(met) else 0
        one, other = self._pairs[place].tolist() if len(met) and met[place] else (NOBODY, NOBODY)
        return one, other

    def _meet(self, comparison: int) -> Mask:
        if comparison not in self._met:
            line, operator = divmod(comparison, PER_LINE)
            sides = zip(self._comparisons.lines[line], self._places.T, strict=True)
            one, other = (self._operands.keys(column)[places] for column, places in sides)
            compare = COMPARE[OPERATORS[operator]]
            self._met[comparison] = compare(one, other) & (one != NULL_KEY) & (other != NULL_KEY)
        return self._met[comparison]
