"""Holdfast: which rules hold in your data, which just broke, and because of which rows.

import holdfast as hf
found = hf.discover("tax.parquet", rules=["column"])
watch = hf.Monitor.create("state/", {"tax": "tax.parquet"}, watch=["column"])
outcome = watch.apply(inserts=new_rows, deletes=old_rows)
"""

from __future__ import annotations

__version__ = "0.1.0"

# The command line starts here: nothing is imported before it answers Ctrl-C. `__init__.pyi`, the stub that type
# checkers read, lists all exports: `from holdfast.api.checks import check as check`.
with open(f"{__file__.removesuffix('.py')}.pyi", encoding="utf-8") as _stub:  # noqa: PTH123
    _WHERE = {line.split()[3]: line.split()[1] for line in _stub if line.startswith("from holdfast.")}
__all__ = sorted(_WHERE)


def __getattr__(name: str) -> object:
    """Import an export when it is first used: Arrow, NumPy and Spark take their time."""
    if name not in _WHERE:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    """All exports, whether they are imported yet or not."""
    return sorted({*globals(), *_WHERE})
