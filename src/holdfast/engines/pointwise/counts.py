"""The way of counts: the signatures of order of all pairs of rows, counted. Those that occur are the evidence, which so
decides every box of any length; a batch adds and subtracts.

Cost: every pair of rows once, a nanosecond each where there are few columns; then as many as a batch touches.
"""

from __future__ import annotations

from holdfast.engines.pointwise.marks import Values
from holdfast.engines.pointwise.ways import Arrays, Asked, Facts, Tally, Way
from holdfast.engines.watched import WatchedTable
from holdfast.pairs.ordered import CountedSignatures
from holdfast.pairs.signatures import values_of
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner


class Counts(Way):
    """The way of counts."""

    name = "counts"
