"""Patterns of text, as regular expressions that are matched in time linear in the text (RE2, by way of Arrow)."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.rules.conditions import Like, Matches
from holdfast.rules.constants import Unfit
from holdfast.table import arrow


def expression(condition: Like | Matches) -> str:
    """The regular expression that a text as a whole matches."""
    if isinstance(condition, Matches):
        return rf"\A(?:{condition.pattern})\z"
    return rf"(?s)\A{''.join(_pieces(condition.pattern, condition.escape))}\z"


def _pieces(pattern: str, escape: str) -> list[str]:
    found, literal = [], False
    for character in pattern:
        if character == escape and not literal:
            literal = True
            continue
        wild = {"%": ".*", "_": "."} if not literal else {}
        found.append(wild.get(character, re.escape(character)))
        literal = False
    return found


def refuse_bad(condition: Like | Matches) -> None:
    """`Unfit` where a pattern is no regular expression by itself, or none that ends with it."""
    tried = [condition.pattern, expression(condition)] if isinstance(condition, Matches) else [expression(condition)]
    for each in tried:
        try:
            pc.match_substring_regex(arrow.texts([""]), each)  # without a text, nothing is read
        except pa.ArrowInvalid as error:
            reason = str(error).partition(": ")[2].partition(f": {each}")[0] or "it is too large"
            raise Unfit(f"has a pattern that can't be read ({reason}); mend it, in the syntax of RE2") from None
