"""The one place where engines register: a name for `--watch` and `--rules`, and where its module is.

Engines are imported when they are asked for, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module

from holdfast.engine import Engine, Settings
from holdfast.errors import BadInput

_MODULES = {
    "column": "holdfast.column.engine",
    "dc": "holdfast.denial.engine",
}

NAMES = tuple(_MODULES)


def engine(name: str, settings: Settings | None = None) -> Engine:
    """The engine with a name, set as the user asks."""
    if name not in _MODULES:
        raise BadInput(f"there is no rule class {name!r}; choose from: {', '.join(NAMES)}")
    made: Engine = import_module(_MODULES[name]).make(settings or Settings())
    return made
