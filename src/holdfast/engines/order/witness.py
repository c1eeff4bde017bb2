"""Witnesses: for each rule that a batch broke, two rows that break it, one of them new where that can be.

A rule that held before a batch is broken by a pair with a new row. One pair may break many rules: the signature of each
pair that is found is tried on all rules that are left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.targets import Targets
from holdfast.engines.order.breaks import LivingRows, Numbers
from holdfast.engines.order.result import Listed, columns_by_target
from holdfast.pairs import bitsets
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

NOBODY = -1


def breaking_pairs(broken: Listed, targets: Targets, change: Change, known: Numbers) -> Numbers:
    """For each rule two row ids, NOBODY where no rows break it; `known` are pairs that are tried first."""
    rules = _Open(broken, targets)
    for pair in known:
        rules.try_pair(pair, change.after)
    rows = LivingRows(change.after)
    new = np.isin(rows.ids, np.asarray(change.born, np.int64))
    while len(rules.left):
        target, context = rules.first
        found = rows.broken(targets, target, context, new) or rows.broken(targets, target, context)
        if found is not None:
            rules.try_pair(rows.ids[list(found.rows)], change.after)
        rules.leave(target, context)
    return rules.pairs


class _Open:
    """Rules that are broken, of which some are `left` without a pair; large contexts first: who agrees on much breaks
    more.
    """

    def __init__(self, broken: Listed, targets: Targets) -> None:
        self._broken = broken
        columns = columns_by_target(targets)
        self._columns = np.array([(columns[t][0], columns[t][-1]) for t in broken.targets.tolist()]).reshape(-1, 2)
        self._sign = np.where(broken.targets > targets.columns + targets.pairs, 1, -1)  # of a pair that breaks a pair
        self.pairs = np.full((len(broken), 2), NOBODY)
        self.left = np.argsort(-bitsets.sizes(broken.contexts), kind="stable")

    @property
    def first(self) -> tuple[int, list[int]]:
        """The target and the context of a rule that is left."""
        place = self.left[0]
        return int(self._broken.targets[place]), bitsets.elements(self._broken.contexts[place])

    def leave(self, target: int, context: list[int]) -> None:
        """Go on without a pair for a rule, if it still is the first that is left."""
        if len(self.left) and self.first == (target, context):
            self.left = self.left[1:]

    def try_pair(self, pair: Numbers, table: Table) -> None:
        """Let a pair of rows stand for the rules that are left and that it breaks."""
        equal, signs = _compared(pair, table)
        agree = bitsets.of(np.flatnonzero(equal).tolist(), self._broken.contexts.shape[1])
        one, other = self._columns[self.left].T
        hit = np.where(one == other, ~equal[one], signs[one] * signs[other] == self._sign[self.left])
        hit &= ((self._broken.contexts[self.left] & ~agree) == 0).all(axis=1)
        self.pairs[self.left[hit]] = pair
        self.left = self.left[~hit]


def _compared(pair: Numbers, table: Table) -> tuple[NDArray[np.bool_], Numbers]:
    """On which columns two rows agree, and the sign of their difference on each; 0 where a null leaves it unknown."""
    codes = table.codes(pair)
    keys = np.array([table.order_keys(column).of(own) for column, own in enumerate(codes)]).reshape(-1, 2)
    one, other = keys.T
    equal, signs = one == other, (one > other).astype(np.int64) - (one < other)
    if table.schema.nulls == "distinct":
        known = (codes != NULL_CODE).all(axis=1)
        equal, signs = equal & known, signs * known
    return equal, signs
