"""How two rows break a rule, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast.changes.diff import Witness
from holdfast.changes.names import quoted
from holdfast.changes.naming import by_key, shown
from holdfast.rules.pointwise import Pointwise

_LONGEST = 28  # of a value


def explained(rule: Pointwise, witness: Witness) -> Witness:
    """The same witness, with a sentence that says how its two rows, t and s in this order, break a rule."""
    one, other = witness.values
    met = " and ".join(_compared(name, operator, one, other) for name, operator in rule.left)
    name, operator = rule.right
    broken = _compared(name, f"is not {operator}", one, other)
    return replace(witness, sentence=f"{_who(witness)}: {f'{met}, but ' if met else ''}{broken}")


def _compared(name: str, operator: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    return f"{quoted(name)} {shown(one[name], _LONGEST)} {operator} {shown(other[name], _LONGEST)}"


def _who(witness: Witness) -> str:
    if witness.keys:
        return " and ".join(by_key(key) for key in witness.keys)
    return f"rows {witness.rows[0]} and {witness.rows[1]}"
