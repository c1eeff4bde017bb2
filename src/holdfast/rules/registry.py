"""All classes of rules: which class a text belongs to, and the rule that it states.

If several classes match a text, the first one takes it: rules about a row come before denial constraints, as both may
start with `not`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from holdfast.errors import BadInput
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.dependency import FD, Key
from holdfast.rules.inclusion import IND
from holdfast.rules.language import ConditionReader
from holdfast.rules.lists import ListOD
from holdfast.rules.measure import TableRule
from holdfast.rules.order import Compatible, ConstantOD
from holdfast.rules.pointwise import Pointwise
from holdfast.rules.row import RowRule
from holdfast.rules.rule import Rule
from holdfast.text.quotes import QUOTED, between

CLASSES: list[type[Rule]] = [
    RowRule,
    TableRule,
    DenialConstraint,
    FD,
    Key,
    IND,
    ConstantOD,
    Compatible,
    ListOD,
    Pointwise,
]
_QUOTE = chr(39)
_OPERAND = rf"t\s*\.|-?[\s(]*(?:[0-9.]|t\s*\.)|(?:date|time|timestamp)?\s*{_QUOTE}|(?:true|false|nan|inf|infinity)\b"
_WHERE = re.compile(
    rf"{between(_QUOTE)}|{QUOTED}|{between('`')}"
    rf"|(?P<where>(?<=[\s\])}}])where(?=\s+(?:not\b|!|¬|\(|\s)*(?:{_OPERAND})))",
    re.IGNORECASE,
)


def register(*classes: type[Rule]) -> None:
    """Add classes."""
    CLASSES.extend(each for each in classes if each not in CLASSES)


def given_types() -> list[type[Rule]]:
    """The classes whose rules can be given."""
    return [each for each in CLASSES if each.given_as]


def examples() -> str:
    """Examples of rules that can be given, for errors."""
    *others, last = (each.example for each in given_types())
    return f"{', '.join(others)} or {last}"


def rule_type(text: str) -> type[Rule] | None:
    """The class that a text belongs to, if it belongs to any."""
    return _type_of(_parted(text)[0])


def parse(text: str) -> Rule:
    """The rule of a text; BadInput if it is none."""
    body, where = _parted(text)
    found = _type_of(body)
    if found is None:
        raise BadInput(f"{text!r} is not a rule; write one such as {examples()}")
    rule = found.parse(body)
    return replace(rule, where=ConditionReader(where).rule()) if where else rule


def _type_of(body: str) -> type[Rule] | None:
    return next((each for each in CLASSES if each.means(body)), None)


def _parted(text: str) -> tuple[str, str]:
    """A text without its `where`, and the condition after it. `where` counts only before a condition on row t."""
    found = next((each for each in _WHERE.finditer(text) if each["where"]), None)
    return (text[: found.start()].strip(), text[found.end() :].strip()) if found else (text.strip(), "")
