"""Deriving the dependencies: a comparison of what columns have with what they share (papers: inclusion, lemma 4.2).

`A in B` holds iff B holds as many of A's values as A has. With an error e, it also counts where at most the share e of
A's distinct values is missing in B, however many rows carry them; as for FDs, it is decided in whole values
(`thresholds`). An empty column is included in every other one, of whatever type.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.inclusion.clusters import Matrix
from holdfast.engines.inclusion.state import INDState, share_of, side_of
from holdfast.engines.thresholds import limit_of
from holdfast.rules.inclusion import IND


def unary(state: INDState) -> dict[str, IND]:
    """The unary dependencies that hold, by text, in the order of columns."""
    return chosen(state, holding(state, state.settings.error))


def chosen(state: INDState, pairs: NDArray[np.bool_]) -> dict[str, IND]:
    """The dependencies between some pairs of different columns, by text."""
    found = (between(state, a, b) for a, b in np.argwhere(pairs).tolist() if a != b)
    return {ind.text: ind for ind in found}


def holding(state: INDState, error: float = 0.0) -> NDArray[np.bool_]:
    """Which columns are included in which others, `[dependent, referenced]`."""
    allowed = [limit_of(error, distinct) for distinct in state.clusters.values.diagonal().tolist()]
    holds: NDArray[np.bool_] = missing(state.clusters.values) <= np.array(allowed, np.int64)[:, None]
    np.fill_diagonal(holds, False)
    return holds


def valid_pairs(state: INDState, error: float = 0.0) -> NDArray[np.bool_]:
    """The same, each column included in itself, too."""
    valid = holding(state, error)
    np.fill_diagonal(valid, True)
    return valid


def missing(shared: Matrix) -> Matrix:
    """How much of each column (rows of the matrix) each other one lacks."""
    return np.asarray(shared.diagonal()[:, None] - shared)


def between(state: INDState, a: int, b: int) -> IND:
    """How far column a is included in column b."""
    values, rows = state.clusters.values, state.clusters.rows
    distinct, carried = int(values[a, a]), int(rows[a, a])
    return IND(
        side_of(state.attributes[a]),
        side_of(state.attributes[b]),
        distinct - int(values[a, b]),
        carried - int(rows[a, b]),
        share_of(int(values[a, b]), distinct),
        share_of(int(rows[a, b]), carried),
        not distinct,
    )
