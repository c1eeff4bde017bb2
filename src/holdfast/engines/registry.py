"""The one place where engines register: a name for `--watch` and `--rules`, and where its module is.

Engines are imported when they are asked for, so that the command line answers at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.errors import BadInput

if TYPE_CHECKING:
    from holdfast.engines.contract import Engine, Settings

_MODULES = {
    "column": "holdfast.engines.column.engine",
    "dc": "holdfast.engines.denial.engine",
    "ucc": "holdfast.engines.functional.keys",
    "fd": "holdfast.engines.functional.engine",
    "named": "holdfast.engines.functional.named",
    "ind": "holdfast.engines.inclusion.engine",
}

NAMES = tuple(_MODULES)
MANY = ("ucc", "fd")  # there may be a million of these: they are kept in their engine's state alone, not one by one
GIVEN = ("dc", "named")  # these serve rules that were given
ALL_TABLES = "*"  # stands where the name of a table would, for engines that look across tables
FOUND = tuple(name for name in NAMES if name not in GIVEN)


def classes(names: str | Iterable[str]) -> list[str]:
    """Names of rule classes, each once: as a list, or in one text with commas between them."""
    listed = names.split(",") if isinstance(names, str) else names
    return list(dict.fromkeys(name.strip() for name in listed if name.strip()))


def refuse_given(names: Iterable[str]) -> None:
    """Say so where someone asks to find rules of a class that are given."""
    for name in names:
        if name in GIVEN:
            raise BadInput(f"rules of the class {name!r} are given, not found: write them into a rule file")


def engine(name: str, settings: Settings | None = None) -> Engine:
    """The engine with a name, set as the user asks."""
    if name not in _MODULES:
        raise BadInput(f"there is no rule class {name!r}; choose from: {', '.join(FOUND)}")
    from holdfast.engines.contract import Settings as Plain

    made: Engine = import_module(_MODULES[name]).make(settings or Plain())
    return made
