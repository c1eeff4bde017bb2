"""Witnesses: for each rule that a batch broke, two rows that break it, one of them new where that can be.

A rule that held before a batch is broken by a pair with a new row. One pair may break many rules: the signature of each
pair that is found is tried on all rules that are left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.targets import Targets
from holdfast.engines.order.breaks import LivingRows, Numbers
from holdfast.engines.order.result import Listed
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

NOBODY = -1


def breaking_pairs(broken: Listed, targets: Targets, change: Change, known: Numbers) -> Numbers:
    """For each rule two row ids, NOBODY where no rows break it; `known` are pairs that are tried first."""
    pairs = np.full((len(broken), 2), NOBODY)
    open_ = np.argsort(-bitsets.sizes(broken.contexts), kind="stable")  # who agrees on much breaks more
    for pair in known:
        open_ = _tried(pair, broken, open_, targets, change.after, pairs)
    rows = LivingRows(change.after)
    new = np.isin(rows.ids, np.asarray(change.born, np.int64))
    while len(open_):
        found = _search(rows, broken, int(open_[0]), targets, new)
        if found is None:
            open_ = open_[1:]
        else:
            open_ = _tried(rows.ids[list(found)], broken, open_, targets, change.after, pairs)
    return pairs


def _tried(pair: Numbers, broken: Listed, open_: Numbers, targets: Targets, table: Table, pairs: Numbers) -> Numbers:
    """Let a pair stand for the open rules that it breaks; the others stay open."""
    agree, breaks = _shown_by(pair, targets, table)
    hit = ((broken.contexts[open_] & ~agree) == 0).all(axis=1)
    hit &= breaks[broken.targets[open_]]
    pairs[open_[hit]] = pair
    left: Numbers = open_[~hit]
    return left


def _shown_by(pair: Numbers, targets: Targets, table: Table) -> tuple[Words, NDArray[np.bool_]]:
    """The columns on which two rows agree, and which targets they break."""
    codes = table.codes(pair)
    keys = np.array([table.order_keys(column).of(codes[column]) for column in range(targets.columns)]).reshape(-1, 2)
    known = np.ones(len(keys), np.bool_)
    if table.schema.nulls == "distinct":
        known = (codes != NULL_CODE).all(axis=1)
    marks = [(keys[:, 0] == keys[:, 1]) & known, (keys[:, 0] < keys[:, 1]) & known, (keys[:, 0] > keys[:, 1]) & known]
    agree, less, more = (bitsets.of(np.flatnonzero(each).tolist(), targets.context_words)[None] for each in marks)
    breaks = np.zeros(targets.count, np.bool_)
    breaks[bitsets.elements(targets.broken_by(agree, less, more)[0])] = True
    return agree[0], breaks


def _search(
    rows: LivingRows, broken: Listed, place: int, targets: Targets, new: NDArray[np.bool_]
) -> tuple[int, int] | None:
    """The places of two rows that break a rule: one of them new, or else any two."""
    target, context = int(broken.targets[place]), bitsets.elements(broken.contexts[place])
    found = rows.broken(targets, target, context, new) or rows.broken(targets, target, context)
    return None if found is None else found.rows
