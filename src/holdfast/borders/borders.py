"""The borders of a table's rules: found by evidence and proof, to a fixpoint, and kept under batches."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from holdfast.borders.evidence import Evidence, Witnesses
from holdfast.borders.partitions import Columns
from holdfast.borders.proving import questions, refuted, sampled, witnesses_of
from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.progress import SILENT, Progress

_SAMPLED = 1 << 16


class Borders:
    def __init__(self, rows: RankedColumns, targets: Targets, max_size: int | None = None) -> None:
        self.rows, self.targets, self._max_size = rows, targets, max_size
        self.evidence = Evidence.of(targets, Witnesses.none(targets))
        self.covers: dict[int, Words] = {}
        self._proven: dict[int, Words] = {}
        self.log = []

    def discover(self, progress: Progress = SILENT) -> None:
        import time
        t = time.perf_counter()
        columns = Columns(self.rows)
        for pairs in sampled(columns, _SAMPLED):
            self.evidence = self.evidence.with_more(witnesses_of(self.rows, self.targets, pairs))
        self.log.append(("sample", len(self.evidence.sets), len(self.evidence.witnesses), time.perf_counter() - t))
        wanted = self.targets.wanted()
        self._settle(columns, [t for t in wanted if t <= self.targets.key], progress)
        self._settle(columns, wanted, progress)

    def _settle(self, columns: Columns, wanted: Iterable[int], progress: Progress) -> None:
        import time
        wanted = list(wanted)
        stale = wanted
        while True:
            t0 = time.perf_counter()
            self.covers |= self.evidence.covers(stale, self._max_size)
            t1 = time.perf_counter()
            open_ = {t: self._open(t) for t in wanted}
            contexts = np.concatenate(list(open_.values()))
            numbers = np.repeat(list(open_), [len(each) for each in open_.values()])
            if not len(contexts):
                break
            asked = questions(columns, self.targets, contexts, numbers)
            t2 = time.perf_counter()
            pairs = refuted(columns, asked)
            t3 = time.perf_counter()
            before = self.evidence
            if len(pairs):
                self.evidence = before.with_more(witnesses_of(self.rows, self.targets, pairs))
            stale = [t for t in self.evidence.changed_since(before) if t in set(wanted)]
            broken = self.evidence.witnesses
            for t, own in open_.items():
                fine = own[bitsets.containers(own, self.evidence.family(t)) < 0]
                self._proven[t] = np.concatenate([self._proven.get(t, own[:0]), fine])
            t4 = time.perf_counter()
            self.log.append((sum(len(q.asked.key) for q in asked), len(asked), len(contexts), "pairs", len(pairs), "sets", len(self.evidence.sets), len(broken), "stale", len(stale), [round(x, 3) for x in (t1 - t0, t2 - t1, t3 - t2, t4 - t3)]))

    def _open(self, target: int) -> Words:
        own = self.covers[target]
        own = bitsets.minus(own, self._proven.get(target, own[:0]))
        if target > self.targets.key:
            for column in self.targets.columns_of(target):
                own = bitsets.minus(own, self._proven.get(column, own[:0]))
        return own
