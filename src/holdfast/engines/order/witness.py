"""Witnesses: for each rule that a batch broke, two rows that break it, one of them new where that can be.

A rule that held before a batch is broken by a pair with a new row. One pair may break many rules: the signature of each
pair that is found is tried on all rules that are left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.targets import Targets
from holdfast.changes.diff import NOBODY
from holdfast.engines.order.breaks import LivingRows, Numbers
from holdfast.engines.order.result import Listed, columns_by_target
from holdfast.pairs import bitsets
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

_FEW = 1 << 15  # pairs that are compared rather than looked for


def breaking_pairs(broken: Listed, targets: Targets, change: Change, known: Numbers) -> Numbers:
    """For each rule two row ids, NOBODY where no rows break it; `known` are pairs of which some may break some."""
    rules = _Open(broken, targets)
    born = np.asarray(change.born, np.int64)
    few = len(born) * change.after.rows <= _FEW
    rules.try_pairs(_all_new(born, change.after) if few else known[np.isin(known, born).any(axis=1)], change.after)
    if not len(rules.left):
        return rules.pairs
    rows = LivingRows(change.after)
    new = np.isin(rows.ids, born)
    while len(rules.left):
        target, context = rules.first
        found = rows.broken(targets, target, context, new) or rows.broken(targets, target, context)
        if found is not None:
            rules.try_pairs(rows.ids[[found.rows]], change.after)
        rules.leave(target, context)
    return rules.pairs


def _all_new(born: Numbers, table: Table) -> Numbers:
    """All pairs of rows of which one is new, the lower id first; those of two new rows come twice."""
    ids = table.living_ids()
    pairs = np.stack([np.repeat(born, len(ids)), np.tile(ids, len(born))], axis=1)
    return np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)


class _Open:
    """Rules that are broken, of which some are `left` without a pair; large contexts first: who agrees on much breaks
    more.
    """

    def __init__(self, broken: Listed, targets: Targets) -> None:
        self._broken, self._targets = broken, targets
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

    def try_pairs(self, pairs: Numbers, table: Table) -> None:
        """Let pairs of rows stand for the rules that are left and that they break."""
        equal, signs = _compared(pairs, table)
        agree = bitsets.packed(equal, self._broken.contexts.shape[1])
        of = self._broken.targets[self.left]
        hit = np.full(len(self.left), -1)
        for target in np.unique(of):
            breaking = np.flatnonzero(self._break(int(target), equal, signs))
            mine = np.flatnonzero(of == target) if len(breaking) else of[:0]
            if len(mine):
                found = bitsets.containers(self._broken.contexts[self.left[mine]], agree[breaking])
                hit[mine[found >= 0]] = breaking[found[found >= 0]]
        self.pairs[self.left[hit >= 0]] = pairs[hit[hit >= 0]]
        self.left = self.left[hit < 0]

    def _break(self, target: int, equal: NDArray[np.bool_], signs: Numbers) -> NDArray[np.bool_]:
        """Which pairs break a target."""
        columns = columns_by_target(self._targets)[target]
        if len(columns) == 1:
            return ~equal[:, columns[0]]
        one, other = columns
        breaks: NDArray[np.bool_] = signs[:, one] * signs[:, other] == (
            1 if self._targets.is_descending(target) else -1
        )
        return breaks


def _compared(pairs: Numbers, table: Table) -> tuple[NDArray[np.bool_], Numbers]:
    """On which columns the two rows of each pair agree, and the sign of their difference on each, `[pair, column]`; 0
    where a null leaves it unknown.
    """
    rows, back = np.unique(pairs, return_inverse=True)
    codes = table.codes(rows)
    keys = np.array([table.order_keys(column).of(own) for column, own in enumerate(codes)]).reshape(len(codes), -1)
    one, other = (keys[:, back.reshape(-1, 2)[:, side]].T for side in (0, 1))
    equal, signs = one == other, (one > other).astype(np.int64) - (one < other)
    if table.schema.nulls.are_distinct:
        nulls = (codes == NULL_CODE)[:, back.reshape(-1, 2)].any(axis=2).T
        equal, signs = equal & ~nulls, np.where(nulls, 0, signs)
    return equal, signs
