"""g1 and g3: how far rules fail to hold.

- **g1**, of keys and functional dependencies: the share of all pairs of rows that break the rule (papers: dynast,
  section 6);
- **g3**, of orders, of suggestions and of rules that are given: the least share of rows to remove so that it holds.
"""

from __future__ import annotations

from typing import Any, Literal

ErrorName = Literal["g1", "g3"]
_SHARES = {"g1": "share of pairs", "g3": "share of rows"}


def pairs_of(rows: int) -> int:
    """How many unordered pairs some rows make."""
    return rows * (rows - 1) // 2


def g1(pairs: int, rows: int) -> float:
    """The share of all pairs of rows that some pairs are."""
    return pairs / pairs_of(rows) if pairs else 0.0


def g3(to_remove: int, rows: int) -> float:
    """The share of rows that those to remove are."""
    return to_remove / rows if to_remove else 0.0


def error_of(count: int, rows: int, name: ErrorName) -> float:
    """An error: how many pairs break a rule, or how many rows are to remove, as a share."""
    return g1(count, rows) if name == "g1" else g3(count, rows)


def error_figures(error: float, name: ErrorName) -> dict[str, Any]:
    """The error as JSON has it; unless it is 0, with its name and what it is a share of."""
    return {"error": error, **({"measure": _SHARES[name], "error_name": name} if error else {})}
