"""Why a rule doesn't hold: the clusters that break it, what most of their rows say, and the rows to look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines import contract
from holdfast.engines.functional.groups import Groups
from holdfast.engines.thresholds import untested_sentence
from holdfast.pairs.filled import is_empty
from holdfast.rules.dependency import FD, Dependency, Key, columns_of
from holdfast.rules.error_measures import g1, g3
from holdfast.rules.registry import parse
from holdfast.rules.sentences import shown as said_value
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.plain import plain_values
from holdfast.table.row_names import keys_of, names_of
from holdfast.table.rows import Ids
from holdfast.table.table import Table
from holdfast.text.quotes import quoted
from holdfast.text.row_names import Values, listed
from holdfast.visible import counted


@dataclass(frozen=True)
class BrokenCluster:
    """One cluster that breaks a rule: rows that agree on the left side and not on the right one."""

    values: dict[str, Any]  # what they agree on
    rows: int
    majority: Any  # the most frequent right side; None for a key
    counts: tuple[tuple[Any, int], ...]  # right sides with their rows, the most frequent first; none for a key
    look_at: tuple[int, ...]  # ids of the rows outside the majority; for a key all but the oldest
    keys: tuple[Values, ...] = ()  # of these rows; none where no key is declared
    names: tuple[str, ...] = ()  # what these rows are called

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON."""
        return {
            "values": self.values,
            "rows": self.rows,
            "majority": self.majority,
            "counts": [list(pair) for pair in self.counts],
            "look_at": list(self.look_at),
            **({"keys": [dict(key) for key in self.keys]} if self.keys else {}),
        }


@dataclass(frozen=True)
class DependencyExplanation(contract.RuleExplanation):
    """How far a rule holds. `clusters` may be cut; `broken_clusters` counts them all."""

    rule: Dependency
    rows: int
    broken_pairs: int
    g1: float  # the share of pairs that break it
    g3: float  # the share of rows to remove
    to_remove: int
    broken_clusters: int
    clusters: tuple[BrokenCluster, ...]

    FIGURES = ("rows", "broken_pairs", "g1", "g3", "to_remove", "broken_clusters")
    witness = None  # clusters show more

    @property
    def holds(self) -> bool:
        """Whether nothing breaks it."""
        return self.broken_pairs == 0

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {**super().to_json(), "clusters": [cluster.to_json() for cluster in self.clusters]}

    def lines(self) -> list[str]:
        """As text, a line each."""
        if self.rule.empty:
            return [f"{self.rule.text} is empty: {untested_sentence(self.rule.lhs, self.rows)}"]
        if self.holds:
            return [f"{self.rule.text} holds in all {self.rows:,} rows"]
        head = (
            f"{self.rule.text} is broken by {counted(self.broken_pairs, 'pair')} of rows ({self.g1:.4%} of all) in "
            f"{counted(self.broken_clusters, 'cluster')}; without {counted(self.to_remove, 'row')} ({self.g3:.4%}) it "
            "would hold"
        )
        more = self.broken_clusters - len(self.clusters)
        rest = [f"  … and {counted(more, 'more cluster')}"] if more else []
        return [head, *(_line(self.rule, cluster) for cluster in self.clusters), *rest]


def explain(table: Table, text: str, clusters: int = 10, rows: int = 20) -> DependencyExplanation:
    """Explain a rule of a table, with up to `clusters` clusters, and up to `rows` rows to look at in each."""
    rule = parse(text).in_table(table.schema.names, table.schema.name)
    assert isinstance(rule, FD | Key)
    lhs, rhs = columns_of(rule, table.schema.names)
    groups = Groups(table, lhs, rhs)
    broken = groups.broken_clusters()
    shown = tuple(_broken(table, *groups.rows_in(int(cluster)), lhs, rhs, rows) for cluster in broken[:clusters])
    pairs, gone = groups.broken_pairs, groups.to_remove
    errors = g1(pairs, table.rows), g3(gone, table.rows)
    found = replace(rule, error=errors[0], empty=is_empty(table, lhs))
    return DependencyExplanation(found, table.rows, pairs, *errors, gone, len(broken), shown)


def _broken(
    table: Table, ids: Ids, outside: NDArray[np.bool_], lhs: list[int], rhs: int | None, most: int
) -> BrokenCluster:
    codes = table.codes(ids).astype(np.int64)
    agreed = {table.schema.names[c]: _value(table, c, int(codes[c, 0])) for c in lhs}
    shown = ids[outside][:most]
    names = names_of(table, shown, _not_said(table, lhs, rhs))
    look_at = tuple(shown.tolist()), keys_of(table, shown), tuple(names)
    if rhs is None:
        return BrokenCluster(agreed, len(ids), None, (), *look_at)
    best = int(codes[rhs, ~outside][0])
    distinct, counts = _distinct(codes[rhs], table.schema.nulls.are_distinct)
    order = np.lexsort((distinct != best, -counts))
    values = [(_value(table, rhs, int(distinct[i])), int(counts[i])) for i in order[:most]]
    return BrokenCluster(agreed, len(ids), _value(table, rhs, best), tuple(values), *look_at)


def _not_said(table: Table, lhs: list[int], rhs: int | None) -> list[str]:
    """Columns that show what a row's cluster doesn't: the right side, then others."""
    others = [c for c in range(len(table.schema.columns)) if c not in lhs and c != rhs]
    return [table.schema.names[c] for c in [*([] if rhs is None else [rhs]), *others][:4]]


def _distinct(codes: Ids, nulls_differ: bool) -> tuple[Ids, Ids]:
    """The codes with how often each occurs; nulls that differ from each other are listed one by one."""
    distinct, counts = np.unique(codes, return_counts=True)
    if not nulls_differ or distinct[0] != NULL_CODE:
        return distinct, counts
    times = int(counts[0])
    return np.append(np.full(times, NULL_CODE), distinct[1:]), np.append(np.ones(times, np.int64), counts[1:])


def _value(table: Table, column: int, code: int) -> Any:
    return plain_values(table.dictionaries[column].values(np.array([code], np.int64)))[0]


def _line(rule: Dependency, cluster: BrokenCluster) -> str:
    where = ", ".join(f"{quoted(name)} = {said_value(value)}" for name, value in cluster.values.items()) or "all rows"
    rows = listed(cluster.names)
    empty = [quoted(name) for name, value in cluster.values.items() if value is None]
    if not isinstance(rule, FD) and empty:
        have = "has" if cluster.rows == 1 else "have"
        return f"  {counted(cluster.rows, 'row')} {have} no {' and no '.join(empty)}; look at {rows}"
    if not isinstance(rule, FD):
        return f"  {where}: {cluster.rows:,} equal rows; look at {rows}"
    said = ", ".join(f"{said_value(value)} x {count:,}" for value, count in cluster.counts)
    return f"  {where}: {quoted(rule.rhs)} is {said}; most say {said_value(cluster.majority)}; look at {rows}"
