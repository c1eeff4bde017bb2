"""What pointwise order dependencies say."""

from __future__ import annotations

from holdfast.engines.meaning import NEGATED, Breach, Meaning, compared, listed
from holdfast.engines.pointwise.model import Mark, parse

_WORDS = {"<": "a smaller", "<=": "a smaller or equal", "=": "the same", ">=": "a greater or equal", ">": "a greater"}


def meaning(text: str) -> Meaning:
    """Two rows break it that compare as the left side says, and not as the right side does."""
    rule = parse(text)
    column, sign = rule.right
    left = f"a row that has {listed([_said(mark) for mark in rule.left])}" if rule.left else "each"
    comparisons = (*(compared(*mark) for mark in rule.left), compared(column, NEGATED[sign]))
    sentence = f"Of two rows, {left} has {_said(rule.right)}."
    return Meaning(sentence, tuple(dict.fromkeys(rule.looked_at)), (Breach(comparisons, (column,)),))


def _said(mark: Mark) -> str:
    return f"{_WORDS[mark[1]]} {mark[0]}"
