"""What the rest of the program knows of classes of rules is what they declare."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engines.registry import finder, found_classes, rule_class, rule_classes
from holdfast.errors import BadInput
from holdfast.rules.dependency import FD
from holdfast.rules.registry import CLASSES

SOURCE = Path(holdfast.__file__).parent
ABOVE = ("advice", "api", "cli", "ranking", "report", "results", "serve", "store")
WORDS = {"column", "row", "table"}  # names that mean other things, too
DENIAL = Path("cli/discover.py"), "dc"  # what users write: --as dc


def literals() -> Iterator[tuple[Path, str]]:
    for folder in ABOVE:
        for path in (SOURCE / folder).rglob("*.py"):
            found = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
            yield from ((path.relative_to(SOURCE), value) for value in found if isinstance(value, str))


def test_nothing_above_engines_names_a_class() -> None:
    names = rule_classes().keys() - WORDS
    assert {each for each in literals() if each[1] in names} == {DENIAL}


@pytest.mark.parametrize("name", rule_classes())
def test_a_class_declares_what_commands_need(name: str) -> None:
    declared = rule_class(name)
    assert declared.title
    assert declared.settings()
    assert declared.facts or declared.rules
    assert bool(declared.yours) == declared.given


def test_every_rule_is_served_and_every_given_one_is_kept() -> None:
    served = {rule for each in rule_classes().values() for rule in each.rules}
    assert served == set(CLASSES)
    for rule in CLASSES:
        assert not rule.given_as or rule in rule_class(rule.given_as).rules


def test_classes_by_name_and_by_rule() -> None:
    assert finder(FD).name == "fd"
    names = ", ".join(each.name for each in found_classes())
    with pytest.raises(BadInput, match=f"there is no rule class 'fdd'; choose from: {names}"):
        rule_class("fdd")
