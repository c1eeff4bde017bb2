"""Patterns of text as regular expressions, matched in time linear in the text (RE2, through Arrow)."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.rules.conditions import Like, Matches
from holdfast.rules.constants import Unfit
from holdfast.table import arrow

_WILD = {"%": ".*", "_": "."}


def expression(condition: Like | Matches) -> str:
    """The regular expression for the whole text."""
    if isinstance(condition, Matches):
        return rf"\A(?:{condition.pattern})\z"
    escaped = f"{re.escape(condition.escape)}(.)" if condition.escape else "((?!))"  # the latter matches nothing
    found = re.findall(f"(?s){escaped}|(.)", condition.pattern)
    pieces = (re.escape(itself) or _WILD.get(other, re.escape(other)) for itself, other in found)
    return rf"(?s)\A{''.join(pieces)}\z"


def refuse_bad(condition: Like | Matches) -> None:
    """Raise `Unfit` if a pattern is not a regular expression, alone or within one for the whole text."""
    tried = [condition.pattern, expression(condition)] if isinstance(condition, Matches) else [expression(condition)]
    for each in tried:
        try:
            pc.match_substring_regex(arrow.texts([""]), each)  # Arrow reads no pattern where there is no text
        except pa.ArrowInvalid as error:
            reason = str(error).partition(": ")[2].partition(f": {each}")[0] or "it is too large"
            raise Unfit(f"has a bad pattern ({reason}); write it in the syntax of RE2") from None
