"""Holdfast: which rules hold in your data, which just broke, and because of which rows.

import holdfast as hf
found = hf.discover("tax.parquet", rules=["column"])
watch = hf.Monitor.create("state/", {"tax": "tax.parquet"}, watch=["column"])
outcome = watch.apply(inserts=new_rows, deletes=old_rows)
"""

from __future__ import annotations

TYPE_CHECKING = False  # the command line starts here: not even the module typing is imported before it answers Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from holdfast.api.checking import check
    from holdfast.api.discovery import discover
    from holdfast.api.monitor import Monitor
    from holdfast.api.ordering import orders
    from holdfast.api.suggesting import suggest
    from holdfast.api.verifying import verify
    from holdfast.api.view import View
    from holdfast.errors import BadInput, HoldfastError
    from holdfast.intake.reading import ReadOptions
    from holdfast.sources.dialect import CsvOptions
    from holdfast.store.backup import backup

__version__ = "0.1.0"
__all__ = [
    "BadInput",
    "CsvOptions",
    "HoldfastError",
    "Monitor",
    "ReadOptions",
    "View",
    "backup",
    "check",
    "discover",
    "orders",
    "suggest",
    "verify",
]
_WHERE = {
    "check": "holdfast.api.checking",
    "View": "holdfast.api.view",
    "discover": "holdfast.api.discovery",
    "BadInput": "holdfast.errors",
    "HoldfastError": "holdfast.errors",
    "ReadOptions": "holdfast.intake.reading",
    "Monitor": "holdfast.api.monitor",
    "CsvOptions": "holdfast.sources.dialect",
    "orders": "holdfast.api.ordering",
    "suggest": "holdfast.api.suggesting",
    "backup": "holdfast.store.backup",
    "verify": "holdfast.api.verifying",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: Arrow, NumPy and Spark take their time."""
    if name not in _WHERE:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)
