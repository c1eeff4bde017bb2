"""What denial constraints say."""

from __future__ import annotations

from holdfast.engines.denial.model import Cell, Predicate
from holdfast.engines.denial.parse import parse
from holdfast.engines.meaning import Breach, Comparison, Constant, Meaning, listed
from holdfast.engines.meaning import Cell as SharedCell


def meaning(text: str) -> Meaning:
    """Rows break it that make all predicates true, in which no comparison with null is."""
    rule = parse(text)
    said = listed([predicate.text for predicate in rule.predicates])
    sentence = f"No row t has {said}." if rule.is_single else f"No two rows t and s have {said}."
    comparisons = tuple(_comparison(predicate) for predicate in rule.predicates)
    unequal = [cell.column for each in rule.predicates if each.operator != "=" for cell in each.cells]
    faults = tuple(dict.fromkeys(unequal)) or rule.columns
    return Meaning(sentence, rule.columns, (Breach(comparisons, faults),), nulls_compare=False)


def _comparison(predicate: Predicate) -> Comparison:
    right = predicate.right
    other = SharedCell(right.row, right.column) if isinstance(right, Cell) else Constant(right.text)
    return Comparison(SharedCell(predicate.left.row, predicate.left.column), predicate.operator, other)
