"""All classes of rules: which class a text belongs to, and the rule that it states.

If several classes match a text, the first one takes it: rules about a row come before denial constraints, as both may
start with `not`, and rules about a table before those, as `share(t.A = 1) <= 0.5` has a condition on a row.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

from holdfast.errors import BadInput
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.dependency import FD, Key
from holdfast.rules.inclusion import IND
from holdfast.rules.language import ConditionReader
from holdfast.rules.lists import ListOD
from holdfast.rules.measure import Measure, TableRule
from holdfast.rules.order import Compatible, ConstantOD
from holdfast.rules.pointwise import Pointwise
from holdfast.rules.reader import without_quoted
from holdfast.rules.row import RowRule
from holdfast.rules.rule import Rule
from holdfast.text.quotes import QUOTED, between, unquoted

CLASSES: list[type[Rule]] = [
    TableRule,
    RowRule,
    DenialConstraint,
    FD,
    Key,
    IND,
    ConstantOD,
    Compatible,
    ListOD,
    Pointwise,
]
_NEGATED = (RowRule, DenialConstraint)  # with `not` before all of it, a text may be either
_QUOTE = chr(39)
_WORDS = (
    "key",
    "not",
    "and",
    "in",
    "between",
    "is",
    "null",
    "like",
    "orders",
    "rows",
    "rows_in_batch",
    "matches",
    "t",
    "s",
)
_FUNCTIONS = ("key", "unique", "not", *get_args(Measure))
_SIGNS: tuple[tuple[type[Rule], str], ...] = (  # how texts of some classes begin, once words are known
    (Key, r"(?:key|unique)\s*\("),
    (TableRule, rf"rows\b|rows_in_batch\b|(?:{'|'.join(get_args(Measure))})\s*\("),
    (RowRule, r"c (?:not )?(?:(?:is|like|matches|between)\b|in\s*\()|c\s*[<>=!]+\s*[0-9]"),
)
_OPERAND = (
    rf"[-+\s(]*(?:t\s*\.|(?:length|lower|upper)\s*\(|[0-9.]|(?:date|time|timestamp)?\s*{_QUOTE}"
    r"|(?:true|false|nan|inf|infinity)\b)"
)
_TABLE = re.compile(rf"""\s*(?P<table>{QUOTED}|[^\s"'`\[{{(:][^"'`\[{{(:]*):\s+(?P<rule>\S.*)""", re.DOTALL)
_WHERE = re.compile(
    rf"{between(_QUOTE)}|{QUOTED}|{between('`')}|\b[^\W\d]\w*\s*\.\s*where\b"  # the last is a column
    rf"|(?P<where>(?<=[\s\])}}])where\b(?=\s*(?:not\b|!|¬|\(|\s)*(?:{_OPERAND})))",
    re.IGNORECASE,
)


def register(*classes: type[Rule]) -> None:
    """Add classes."""
    CLASSES.extend(each for each in classes if each not in CLASSES)


def given_types() -> list[type[Rule]]:
    """The classes whose rules can be given."""
    return [each for each in CLASSES if each.given_as]


def nearest_kind(text: str) -> str:
    """What a text that is no rule may be meant to be, for errors.

    >>> nearest_kind("kye(Zip)")
    'the nearest kind is a key, such as key(Zip)'
    """
    from difflib import SequenceMatcher  # only where something is wrong: help must answer quickly

    shape = _shape(text)
    for kind, sign in _SIGNS:
        if re.match(sign, shape):
            return f"the nearest kind is {kind.described}, such as {kind.example}"
    types = sorted(given_types(), key=lambda each: each is not FD)  # the first one, where nothing resembles the text
    nearest = max(types, key=lambda each: SequenceMatcher(None, shape, _shape(each.example)).ratio())
    return f"the nearest kind is {nearest.described}, such as {nearest.example}"


def _shape(text: str) -> str:
    """A text with `c` for each name and `0` for each number; words of rules, also misspelt ones, stay."""
    from difflib import get_close_matches

    def known(word: re.Match[str]) -> str:
        if word[0].isdecimal():
            return "0"
        if word[0] not in "ts" and word.string[word.end() :].startswith("."):  # a table
            return "c"
        words = _FUNCTIONS if word.string[word.end() :].lstrip().startswith("(") else _WORDS
        return next(iter(get_close_matches(word[0].lower(), words, 1, 0.66)), "c")

    return re.sub(r"\w+", known, without_quoted(text).replace("=>", "->"))


def split_table(text: str) -> tuple[str, str]:
    """The table that a text names before its rule, as `discover` prints it, and the rest; "" if it names none.

    >>> split_table("orders: country -> currency"), split_table("country -> currency")
    (('orders', 'country -> currency'), ('', 'country -> currency'))
    """
    found = _TABLE.match(text)
    if found is None or rule_type(found["table"]) is not None:
        return "", text
    return unquoted(found["table"]), found["rule"]


def of_table(text: str, table: str | None) -> tuple[str, str | None]:
    """A text without the table before its rule, and the table that is meant; BadInput if another one is wanted."""
    named, rest = split_table(text)
    if named and table and named != table:
        raise BadInput(f"{text!r} is about {named!r}, and not about {table!r}; name one table")
    return rest, named or table


def rule_type(text: str) -> type[Rule] | None:
    """The class that a text belongs to, if it belongs to any."""
    return _type_of(_parted(text)[0])


def parse(text: str) -> Rule:
    """The rule of a text; BadInput if it is none."""
    body, where = _parted(text)
    found = _type_of(body)
    if found is None:
        raise BadInput(f"{text!r} is not a rule; {nearest_kind(body)}")
    rule = found.parse(body)
    return replace(rule, where=ConditionReader(where).rule()) if where else rule


def _type_of(body: str) -> type[Rule] | None:
    found = next((each for each in CLASSES if each.means(body)), None)
    if found in _NEGATED and DenialConstraint.means(body) and not _reads(found, body):
        return next((each for each in _NEGATED if each is not found and _reads(each, body)), found)
    return found


def _reads(kind: type[Rule], body: str) -> bool:
    """Whether a text is a rule of a class."""
    try:
        kind.parse(body)
    except BadInput:
        return False
    return True


def _parted(text: str) -> tuple[str, str]:
    """A text without its `where`, and the condition after it. `where` counts only before a condition on row t."""
    found = next((each for each in _WHERE.finditer(text) if each["where"]), None)
    return (text[: found.start()].strip(), text[found.end() :].strip()) if found else (text.strip(), "")
