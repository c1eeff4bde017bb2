"""Why a rule doesn't hold: the clusters that break it, what most of their rows say, and the rows to look at.

Also g3 of a named rule: the share of rows that must go so that it holds, and which rows these are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.functional.clusters import Clusters, Ids
from holdfast.functional.model import FD, Rule, columns_of, pairs_of, parse, quoted
from holdfast.functional.witness import plain_value
from holdfast.table.table import Table


@dataclass(frozen=True)
class Broken:
    """One cluster that breaks a rule: rows that agree on the left side and not on the right one."""

    values: dict[str, Any]  # what they agree on
    rows: int
    majority: Any  # the most frequent right side; None for a key
    counts: tuple[tuple[Any, int], ...]  # right sides with their rows, the most frequent first; none for a key
    look_at: tuple[int, ...]  # ids of the rows outside the majority; for a key all but the oldest

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON."""
        return {
            "values": self.values,
            "rows": self.rows,
            "majority": self.majority,
            "counts": [list(pair) for pair in self.counts],
            "look_at": list(self.look_at),
        }


@dataclass(frozen=True)
class Explanation:
    """How far a rule holds. `clusters` may be cut; `broken_clusters` counts them all."""

    rule: Rule
    rows: int
    broken_pairs: int
    g1: float  # the share of pairs that break it
    g3: float  # the share of rows to remove
    to_remove: int
    broken_clusters: int
    clusters: tuple[Broken, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing breaks it."""
        return self.broken_pairs == 0

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {
            **self.rule.to_json(),
            "holds": self.holds,
            "rows": self.rows,
            "broken_pairs": self.broken_pairs,
            "g1": self.g1,
            "g3": self.g3,
            "to_remove": self.to_remove,
            "broken_clusters": self.broken_clusters,
            "clusters": [cluster.to_json() for cluster in self.clusters],
        }

    def lines(self) -> list[str]:
        """As text, a line each."""
        if self.holds:
            return [f"{self.rule.text} holds in all {self.rows:,} rows"]
        head = (
            f"{self.rule.text} is broken by {self.broken_pairs:,} pairs of rows ({self.g1:.4%} of all) in "
            f"{self.broken_clusters:,} clusters; without {self.to_remove:,} rows ({self.g3:.4%}) it would hold"
        )
        return [head, *(_line(self.rule, cluster) for cluster in self.clusters)]


def explain(table: Table, text: str, clusters: int = 10, rows: int = 20) -> Explanation:
    """Explain a rule of a table, with up to so many clusters, and up to so many rows to look at in each."""
    rule = parse(text, table.schema.names, table.schema.name)
    lhs, rhs = columns_of(rule, table.schema.names)
    found = Clusters.of(table, lhs, rhs)
    broken = found.broken()
    shown = tuple(_broken(table, found, where, lhs, rhs, rows) for where in broken[:clusters])
    pairs = found.broken_pairs
    share = pairs / pairs_of(table.rows) if pairs else 0.0
    rule = type(rule)(**{**rule.__dict__, "error": share})
    return Explanation(rule, table.rows, pairs, share, found.g3, len(found.to_remove), len(broken), shown)


def rows_to_remove(table: Table, text: str) -> tuple[Ids, float]:
    """The fewest rows without which a rule holds, by id, and their share of all rows: g3."""
    rule = parse(text, table.schema.names, table.schema.name)
    found = Clusters.of(table, *columns_of(rule, table.schema.names))
    return found.to_remove, found.g3


def _broken(table: Table, found: Clusters, where: slice, lhs: list[int], rhs: int | None, most: int) -> Broken:
    ids, values, good = found.ids[where], found.value[where], found.majority[where]
    codes = table.codes(ids[:1])
    agreed = {table.schema.names[c]: _value(table, c, int(codes[c, 0])) for c in lhs}
    look_at = tuple(int(row) for row in np.sort(ids[~good])[:most])
    if rhs is None:
        return Broken(agreed, len(ids), None, (), look_at)
    distinct, counts = np.unique(values, return_counts=True)
    best = values[good][0]
    order = np.lexsort((distinct != best, -counts))
    told = [(_value(table, rhs, int(distinct[i])), int(counts[i])) for i in order[:most]]
    return Broken(agreed, len(ids), _value(table, rhs, int(best)), tuple(told), look_at)


def _value(table: Table, column: int, code: int) -> Any:
    """The value of a code; codes below zero stand for nulls that equal nothing."""
    return plain_value(table.dictionaries[column].values(np.array([max(code, 0)], np.int64))[0].as_py())


def _line(rule: Rule, cluster: Broken) -> str:
    where = ", ".join(f"{quoted(name)} = {value!r}" for name, value in cluster.values.items()) or "all rows"
    rows = ", ".join(map(str, cluster.look_at))
    if not isinstance(rule, FD):
        return f"  {where}: {cluster.rows:,} equal rows; look at rows {rows}"
    said = ", ".join(f"{value!r} x {count:,}" for value, count in cluster.counts)
    return f"  {where}: {quoted(rule.rhs)} is {said}; most say {cluster.majority!r}; look at rows {rows}"
