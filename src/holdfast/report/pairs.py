"""Why some rows break a rule, in one sentence, and in which cells one looks for the fault."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from holdfast.changes.naming import Values
from holdfast.engines.meaning import Breach, Cell, Comparison, Meaning, Partner, listed

Show = Callable[[Any], str]  # a value as a text: as it is, or hashed

_COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WORDS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "!=": "other than"}


@dataclass(frozen=True)
class Told:
    """Rows that break a rule, in the order in which the sentence speaks of them, and the columns of the fault."""

    sentence: str
    order: tuple[int, ...]  # places of the rows
    marked: tuple[str, ...]


def told(meaning: Meaning, rows: Sequence[Values], show: Show, numeric: Mapping[str, bool]) -> Told:
    """Why rows with these values break a rule. `numeric` says which columns compare as numbers."""
    places = tuple(range(len(rows)))
    if meaning.partner is not None:
        return Told(_without_partner(meaning.partner, rows[0], show), places, meaning.partner.columns)
    for breach in meaning.breaches:
        for order in (places, places[::-1]):
            own = dict(zip("ts", (rows[place] for place in order), strict=False))
            if all(_is_met(each, own, numeric, meaning.nulls_compare) for each in breach.comparisons):
                return Told(_sentence(breach, own, show), order, breach.faults)
    if meaning.condition and len(rows) == 1:
        values = [f"{column} {show(rows[0].get(column))}" for column in meaning.columns]
        return Told(f"This row has {listed(values)}.", places, meaning.columns)
    return Told("", places, meaning.breaches[0].faults if meaning.breaches else ())


def _without_partner(partner: Partner, row: Values, show: Show) -> str:
    values = ", ".join(show(row.get(column)) for column in partner.columns)
    named = f"{partner.table}.{listed(partner.columns)}"
    return f"{named} is {values}, which no row of {partner.other} has in {listed(partner.other_columns)}."


# ---- comparing ------------------------------------------------------------------------------------------------------


def _is_met(comparison: Comparison, rows: Mapping[str, Values], numeric: Mapping[str, bool], nulls: bool) -> bool:
    """Whether values compare so; a constant is taken to do: the engine has compared it."""
    right = comparison.right
    if not isinstance(right, Cell):
        return True
    if right.row not in rows:
        return False
    one, other = (_key(rows[cell.row].get(cell.column), numeric[cell.column]) for cell in (comparison.left, right))
    if not nulls and (one[0] == 0 or other[0] == 0):
        return False
    try:
        return bool(_COMPARE[comparison.sign](one, other))
    except TypeError:  # of two columns of different types: the engine has compared them
        return True


def _key(value: Any, numeric: bool) -> tuple[int, Any]:
    """What orders as the engines do: null first, NaN last."""
    if value is None:
        return 0, 0
    if numeric and isinstance(value, str):  # JSON has no decimals, and no NaN
        try:
            number = Decimal(value)
        except InvalidOperation:
            return 1, value
        return (2, 0) if number.is_nan() else (1, number)
    return 1, value


# ---- words ----------------------------------------------------------------------------------------------------------


def _sentence(breach: Breach, rows: Mapping[str, Values], show: Show) -> str:
    same = [c for c in breach.comparisons if _is_shared(c)]
    others = [c for c in breach.comparisons if not _is_shared(c)]
    both = [f"{c.left.column} {show(rows['t'].get(c.left.column))}" for c in same]
    start = f"Both rows have {listed(both)}" if both else ""
    parts = [_said(comparison, rows, show) for comparison in others]
    if not parts:
        return f"{start}."
    if not start:
        first, *rest = parts
        return f"{first}{', but ' if rest else ''}{listed(rest) if rest else ''}."
    return f"{start}, but {listed(parts)}."


def _is_shared(comparison: Comparison) -> bool:
    right = comparison.right
    return comparison.sign == "=" and isinstance(right, Cell) and right.column == comparison.left.column


def _said(comparison: Comparison, rows: Mapping[str, Values], show: Show) -> str:
    left, right, sign = comparison.left, comparison.right, comparison.sign
    value = show(rows[left.row].get(left.column))
    if not isinstance(right, Cell):
        return f"{left.column} {value} is {_WORDS.get(sign, '')} {right.text}".replace("  ", " ")
    other = show(rows[right.row].get(right.column))
    if left.column == right.column and sign == "!=":
        return f"{left.column} is {value} in one and {other} in the other"
    if left.column == right.column:
        return f"{left.column} {value} is {_WORDS[sign]} {other}"
    return f"{left.column} {value} is {_WORDS.get(sign, 'equal to')} {right.column} {other}"
