"""What canonical order dependencies say."""

from __future__ import annotations

from holdfast.engines.meaning import Breach, Meaning, alike, compared, listed
from holdfast.engines.order.model import Constant, parse


def meaning(text: str) -> Meaning:
    """Two rows break a constant that differ in it, and a pair of columns that they order in opposite ways."""
    rule = parse(text)
    among = f"Among rows that share {listed(rule.context)}, " if rule.context else ""
    if isinstance(rule, Constant):
        sentence = f"{among}all have the same {rule.column}." if among else f"All rows share {rule.column}."
        breach = Breach((*alike(rule.context), compared(rule.column, "!=")), (rule.column,))
        return Meaning(sentence, rule.looked_at, (breach,))
    one, other = rule.pair
    rising = rule.direction == "asc"
    sentence = f"{among}{other} never {'falls' if rising else 'rises'} while {one} rises."
    breach = Breach((*alike(rule.context), compared(one, "<"), compared(other, ">" if rising else "<")), rule.pair)
    return Meaning(sentence, rule.looked_at, (breach,))
