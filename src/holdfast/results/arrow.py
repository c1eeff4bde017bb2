"""Findings as an Arrow table, for other libraries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa


def to_arrow(findings: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Findings as an Arrow table; whatever isn't a number or a text is JSON text, and so are mixed columns."""
    names = list(dict.fromkeys(name for finding in findings for name in finding))
    return pa.table({name: _arrow_column([finding.get(name) for finding in findings]) for name in names})


def _arrow_column(values: list[Any]) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} or kinds <= {str} or kinds <= {int, float}:
        return pa.array(values)
    return pa.array([None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values], pa.string())
