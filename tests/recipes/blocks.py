"""The recipes of docs/recipes.md, and the shop that they work on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.project import ROOT

_PAGE = ROOT / "docs" / "recipes.md"
_SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

RULES = "rules:\n  - {name: one-order, rule: key(id)}\n  - {rule: t.amount >= 0}\n"
GOOD = "id,amount\n1,10\n2,20\n"
BAD = "id,amount\n3,-5\n"


class Recipe(NamedTuple):
    """A block of code, and its language."""

    language: str
    code: str


def recipes() -> dict[str, Recipe]:
    """The recipe of each tool."""
    found = {}
    for tool, text in _SECTION.findall(_PAGE.read_text(encoding="utf-8")):
        (block,) = _BLOCK.findall(text)
        found[tool] = Recipe(*block)
    return found


def write_shop(folder: Path) -> None:
    """The files that recipes name: the rules, the orders, and those of a good day and a bad one."""
    for name in ("in", "data"):
        (folder / name).mkdir()
    (folder / "rules.yaml").write_text(RULES, encoding="utf-8")
    (folder / "data" / "orders.csv").write_text(GOOD, encoding="utf-8")
    (folder / "in" / "2026-01-01.csv").write_text(GOOD.replace("1,10\n2,", "4,10\n5,"), encoding="utf-8")
    (folder / "in" / "2026-01-02.csv").write_text(BAD, encoding="utf-8")
