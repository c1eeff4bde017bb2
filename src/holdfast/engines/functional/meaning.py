"""What keys and FDs say."""

from __future__ import annotations

from holdfast.engines.functional.model import Key, parse
from holdfast.engines.meaning import Breach, Meaning, alike, compared, listed


def meaning(text: str) -> Meaning:
    """Two rows break an FD that agree on the left, and not on the right; a key, if they agree."""
    rule = parse(text)
    if isinstance(rule, Key):
        shared = listed(rule.columns)
        sentence = f"No two rows share {shared}." if rule.columns else "There are no two rows."
        return Meaning(sentence, rule.columns, (Breach(alike(rule.columns), rule.columns),))
    same = f"Rows that share {listed(rule.lhs)} share {rule.rhs}." if rule.lhs else f"All rows share {rule.rhs}."
    breach = Breach((*alike(rule.lhs), compared(rule.rhs, "!=")), (rule.rhs,))
    return Meaning(same, rule.looked_at, (breach,))
