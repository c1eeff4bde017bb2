"""Results as mappings that make their rules when asked: a million FDs are a few words each until someone reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.parts import Part
from holdfast.changes.asked import RulesWhenAsked, as_told
from holdfast.changes.names import quoted
from holdfast.pairs import bitsets
from holdfast.pairs.filled import ALWAYS, Filled
from holdfast.rules.dependency import FD, Dependency, Key, fd_text, key_text, parse

_AT_ONCE = 1 << 14


class Rules(RulesWhenAsked[Dependency]):
    """Rules by text. Targets are columns, or the number after the last one: keys. `filled` tells which of them are
    empty. Nothing here changes later.
    """

    def __init__(
        self, table: str, names: Sequence[str], parts: Mapping[int, Part], pairs: int = 0, filled: Filled = ALWAYS
    ) -> None:
        self.table, self.names, self.pairs, self.filled = table, tuple(names), pairs, filled
        self.parts = {target: part for target, part in parts.items() if len(part)}

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts.values())

    def __iter__(self) -> Iterator[str]:
        written = [quoted(name) for name in self.names]
        for target, columns, *_ in self._listed():
            chosen = [written[c] for c in columns]
            yield fd_text(chosen, written[target]) if target < len(written) else key_text(chosen)

    def __getitem__(self, text: str) -> Dependency:
        rule = as_told(text, lambda text: parse(text, self.names, self.table))
        found = self._find(rule)
        if found is None:
            raise KeyError(text)
        return found

    def rules(self) -> Iterator[Dependency]:
        """The rules, target by target, short left sides first."""
        return (self._rule(*told) for told in self._listed())

    def by_length(self) -> Iterator[Dependency]:
        """The same, the shortest of all first; those with equal left sides follow one another."""
        return (self._rule(*told) for told in self._by_length())

    def texts_by_length(self, names: Mapping[str, str]) -> Iterator[str]:
        """Their texts in that order, with other names in place of the columns'."""
        written = [names[name] for name in self.names]
        for target, columns, *_ in self._by_length():
            chosen = [written[c] for c in columns]
            yield fd_text(chosen, written[target]) if target < len(written) else key_text(chosen)

    def _by_length(self) -> Iterator[tuple[int, list[int], int, bool]]:
        targets = np.repeat(np.fromiter(self.parts, np.int64), [len(part) for part in self.parts.values()])
        none = np.empty((0, 1), np.uint64)
        lhs = np.concatenate([part.sets for part in self.parts.values()]) if self.parts else none
        broken = [np.zeros(len(p), np.int64) if p.broken is None else p.broken for p in self.parts.values()]
        counts = np.concatenate([np.empty(0, np.int64), *broken])
        order = np.lexsort((targets, *lhs.T, bitsets.sizes(lhs)))
        for begin in range(0, len(order), _AT_ONCE):
            some = order[begin : begin + _AT_ONCE]
            columns, empty = bitsets.elements_of_each(lhs[some]), self.filled.empty(lhs[some]).tolist()
            yield from zip(targets[some].tolist(), columns, counts[some].tolist(), empty, strict=True)

    def up_to(self, columns: int) -> Rules:
        """Those with at most so many columns on the left."""
        return self.some({target: bitsets.sizes(part.sets) <= columns for target, part in self.parts.items()})

    def tested(self) -> Rules:
        """Those that are not empty."""
        return self.some({target: ~self.filled.empty(part.sets) for target, part in self.parts.items()})

    def untested(self) -> Rules:
        """Those that are empty."""
        return self.some({target: self.filled.empty(part.sets) for target, part in self.parts.items()})

    def some(self, marks: Mapping[int, NDArray[np.bool_]]) -> Rules:
        """Those of some targets that are marked."""
        return self.with_parts({target: self.parts[target].some(chosen) for target, chosen in marks.items()})

    def with_parts(self, parts: Mapping[int, Part]) -> Rules:
        """Other rules of the same moment."""
        return Rules(self.table, self.names, parts, self.pairs, self.filled)

    def _rule(self, target: int, columns: Sequence[int], broken: int, empty: bool) -> Dependency:
        chosen = tuple([self.names[c] for c in columns])
        error = broken / self.pairs if broken else 0.0
        if target == len(self.names):
            return Key(self.table, chosen, error, empty=empty)
        return FD(self.table, chosen, self.names[target], error, empty=empty)

    def _listed(self) -> Iterator[tuple[int, list[int], int, bool]]:
        for target, part in sorted(self.parts.items()):
            order = np.lexsort((*part.sets.T, bitsets.sizes(part.sets)))
            for begin in range(0, len(order), _AT_ONCE):
                some = order[begin : begin + _AT_ONCE]
                broken = [0] * len(some) if part.broken is None else part.broken[some].tolist()
                empty = self.filled.empty(part.sets[some]).tolist()
                lists = bitsets.elements_of_each(part.sets[some])
                for columns, count, mark in zip(lists, broken, empty, strict=True):
                    yield target, columns, count, mark

    def _find(self, rule: Dependency) -> Dependency | None:
        target = self.names.index(rule.rhs) if isinstance(rule, FD) else len(self.names)
        if target not in self.parts:
            return None
        part = self.parts[target]
        columns = [self.names.index(name) for name in (rule.lhs if isinstance(rule, FD) else rule.columns)]
        at = np.flatnonzero((part.sets == bitsets.of(columns, part.sets.shape[1])).all(axis=1))
        if not len(at):
            return None
        empty = bool(self.filled.empty(part.sets[at[:1]])[0])
        return self._rule(target, columns, 0 if part.broken is None else int(part.broken[at[0]]), empty)
