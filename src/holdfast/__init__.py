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

    from holdfast.advice.advice import Advice as Advice
    from holdfast.api.checking import check as check
    from holdfast.api.discovery import discover as discover
    from holdfast.api.monitor import Monitor as Monitor
    from holdfast.api.ordering import orders as orders
    from holdfast.api.suggesting import suggest as suggest
    from holdfast.api.verifying import verify as verify
    from holdfast.api.view import View as View
    from holdfast.engines.listing import Listing as Listing
    from holdfast.engines.order.list_first import Ordered as Ordered
    from holdfast.errors import BadInput as BadInput
    from holdfast.errors import HoldfastError as HoldfastError
    from holdfast.intake.reading import ReadOptions as ReadOptions
    from holdfast.report.notebook import html_of as html_of
    from holdfast.results.changed import Changed as Changed
    from holdfast.results.checked import Checked as Checked
    from holdfast.results.checked import Listings as Listings
    from holdfast.results.explanation import Explanation as Explanation
    from holdfast.results.found import Found as Found
    from holdfast.results.history import RuleHistory as RuleHistory
    from holdfast.results.lens import Lens as Lens
    from holdfast.results.marks import Marks as Marks
    from holdfast.results.memory import Memory as Memory
    from holdfast.results.outcome import Outcome as Outcome
    from holdfast.results.rows import Row as Row
    from holdfast.results.suggestions import Suggestions as Suggestions
    from holdfast.results.upkeep import Vacuumed as Vacuumed
    from holdfast.results.upkeep import Verified as Verified
    from holdfast.sources.dialect import CsvOptions as CsvOptions
    from holdfast.store.backup import Backup as Backup
    from holdfast.store.backup import backup as backup
    from holdfast.store.records import BatchRecord as BatchRecord

__version__ = "0.1.0"
_WHERE = {  # each name with its module: what users call, what they get, and what they may hand over
    "Advice": "advice.advice",
    "BadInput": "errors",
    "Backup": "store.backup",
    "BatchRecord": "store.records",
    "Changed": "results.changed",
    "Checked": "results.checked",
    "CsvOptions": "sources.dialect",
    "Explanation": "results.explanation",
    "Found": "results.found",
    "HoldfastError": "errors",
    "Lens": "results.lens",
    "Listing": "engines.listing",
    "Listings": "results.checked",
    "Marks": "results.marks",
    "Memory": "results.memory",
    "Monitor": "api.monitor",
    "Ordered": "engines.order.list_first",
    "Outcome": "results.outcome",
    "ReadOptions": "intake.reading",
    "Row": "results.rows",
    "RuleHistory": "results.history",
    "Suggestions": "results.suggestions",
    "Vacuumed": "results.upkeep",
    "Verified": "results.upkeep",
    "View": "api.view",
    "backup": "store.backup",
    "check": "api.checking",
    "discover": "api.discovery",
    "html_of": "report.notebook",
    "orders": "api.ordering",
    "suggest": "api.suggesting",
    "verify": "api.verifying",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: Arrow, NumPy and Spark take their time."""
    if name not in _WHERE:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"holdfast.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    """All that can be asked for, whether it is imported yet or not."""
    return sorted({*globals(), *_WHERE})
