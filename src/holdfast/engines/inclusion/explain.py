"""Why a dependency holds or not: how far it does, and the values, rows and clusters that break it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.changes.equal_rows import group_rows
from holdfast.engines import contract
from holdfast.engines.inclusion import derive, tuples, witness
from holdfast.engines.inclusion.partners import Reference
from holdfast.engines.inclusion.state import Attribute, INDState, share_of
from holdfast.engines.inclusion.witness import SHOWN, Orphans
from holdfast.rules.inclusion import IND, parse
from holdfast.table.plain import plain_values


@dataclass(frozen=True)
class INDExplanation(contract.RuleExplanation):
    """A dependency with how far it holds; what breaks it; and the clusters that contain its left side only."""

    rule: IND
    compared: tuple[tuple[Attribute, Attribute], ...]
    witness: Orphans | None = None
    clusters: tuple[tuple[tuple[str, ...], int], ...] = ()

    FIGURES = ("comparable",)

    @property
    def comparable(self) -> bool:
        """Whether the types compare."""
        return all(a.kind == b.kind for a, b in self.compared)

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON."""
        clusters = [{"columns": list(columns), "values": values} for columns, values in self.clusters]
        return {**super().to_json(), **({"clusters": clusters} if clusters else {})}

    def lines(self) -> list[str]:
        """As text, a line each."""
        ind = self.rule
        if ind.empty:
            return [f"{ind} holds: {ind.dependent} has no value at all."]
        if self.witness is None:
            return [f"{ind} holds."]
        lines = [f"{ind} does not hold."]
        if not self.comparable:
            lines.append("Their types don't compare; compare them as text to see whether they print alike.")
        elif any(_is_float_beside_decimal(a.kept, b.kept) for a, b in self.compared):
            lines.append(
                "A float beside a decimal: the float 0.1 is not exactly 0.1. Read both as decimals (--schema)."
            )
        lines.append(
            f"Missing on the right: {ind.missing_values:,} value{'s' * (ind.missing_values != 1)} in "
            f"{ind.missing_rows:,} row{'s' * (ind.missing_rows != 1)}; included are {ind.value_coverage:.2%} of the "
            f"values and {ind.row_coverage:.2%} of the rows."
        )
        lines += [f"  {value!r} in {rows:,} row{'s' * (rows != 1)}" for value, rows in self.witness.missing]
        lines.append(f"Rows, for example: {self.witness.named()}")
        lines += [f"Held by {', '.join(c)} alone: {n:,} value{'s' * (n != 1)}" for c, n in self.clusters]
        return lines


def explain(state: INDState, text: str) -> INDExplanation:
    """Whether a dependency holds now, how far, and what breaks it."""
    requested = parse(text)
    if requested.arity > 1:
        return by_rows(state, requested)
    a, b = witness.bound(state, requested)
    compared = ((a, b),)
    ind = derive.between(state, a.number, b.number)
    if not ind.missing_values:
        return INDExplanation(ind, compared)
    clusters = tuple(witness.clusters_without(state, a.number, b.number)[:SHOWN])
    return INDExplanation(ind, compared, witness.orphans(state, a, b), clusters)


def _is_float_beside_decimal(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether numbers may print alike and differ."""
    types = (one, other)
    return any(map(pa.types.is_floating, types)) and any(map(pa.types.is_decimal, types))


def by_rows(state: INDState, requested: IND) -> INDExplanation:
    """The same of any number of columns, by one pass over both tables, whatever is known."""
    compared = witness.compared(state, requested)
    reference = Reference.of(state, compared)
    broken, total = reference.orphans, reference.support
    table, columns = state.place([a for a, _ in compared])
    everything = group_rows(table.codes(tuples.full_rows(table, columns), columns)).count
    codes = table.codes(broken, columns)
    groups = group_rows(codes)
    lost, counts = codes[:, groups.first], np.bincount(groups.of_row)
    ind = replace(
        requested,
        missing_values=lost.shape[1],
        missing_rows=len(broken),
        value_coverage=share_of(everything - lost.shape[1], everything),
        row_coverage=share_of(total - len(broken), total),
        empty=not total,
    )
    if not len(broken):
        return INDExplanation(ind, compared)
    shown = [plain_values(table.dictionaries[c].values(lost[i, :SHOWN])) for i, c in enumerate(columns)]
    values = [list(value) if requested.arity > 1 else value[0] for value in zip(*shown, strict=True)]
    counted = zip(values, counts[:SHOWN].tolist(), strict=True)
    return INDExplanation(
        ind, compared, Orphans.of(table, requested.dependent.columns, broken[groups.first[:SHOWN]], counted, ind)
    )
