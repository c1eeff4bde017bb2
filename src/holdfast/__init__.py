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
    from holdfast.api.checks import check as check
    from holdfast.api.checks import orders as orders
    from holdfast.api.discovery import discover as discover
    from holdfast.api.monitor import Monitor as Monitor
    from holdfast.api.suggestions import suggest as suggest
    from holdfast.api.verification import verify as verify
    from holdfast.api.view import View as View
    from holdfast.engines.listing import Listing as Listing
    from holdfast.engines.order.list_first import Ordered as Ordered
    from holdfast.errors import BadInput as BadInput
    from holdfast.errors import HoldfastError as HoldfastError
    from holdfast.intake.source import ReadOptions as ReadOptions
    from holdfast.ranking.suggestion import Doubt as Doubt
    from holdfast.ranking.suggestion import Same as Same
    from holdfast.ranking.suggestion import Suggestion as Suggestion
    from holdfast.report.notebook import html_of as html_of
    from holdfast.results.changed import Changed as Changed
    from holdfast.results.checked import Checked as Checked
    from holdfast.results.checked import Listings as Listings
    from holdfast.results.explanation import Explanation as Explanation
    from holdfast.results.found import Found as Found
    from holdfast.results.history import RuleHistory as RuleHistory
    from holdfast.results.lens import Lens as Lens
    from holdfast.results.marks import Marks as Marks
    from holdfast.results.memory import ColumnFigures as ColumnFigures
    from holdfast.results.memory import Event as Event
    from holdfast.results.memory import Figures as Figures
    from holdfast.results.memory import KeptWitness as KeptWitness
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
_MODULES = {  # what users call, what they get, and what they may hand over
    "advice.advice": ("Advice",),
    "api.checks": ("check", "orders"),
    "api.discovery": ("discover",),
    "api.monitor": ("Monitor",),
    "api.suggestions": ("suggest",),
    "api.verification": ("verify",),
    "api.view": ("View",),
    "engines.listing": ("Listing",),
    "engines.order.list_first": ("Ordered",),
    "errors": ("BadInput", "HoldfastError"),
    "intake.source": ("ReadOptions",),
    "ranking.suggestion": ("Doubt", "Same", "Suggestion"),
    "report.notebook": ("html_of",),
    "results.changed": ("Changed",),
    "results.checked": ("Checked", "Listings"),
    "results.explanation": ("Explanation",),
    "results.found": ("Found",),
    "results.history": ("RuleHistory",),
    "results.lens": ("Lens",),
    "results.marks": ("Marks",),
    "results.memory": ("ColumnFigures", "Event", "Figures", "KeptWitness", "Memory"),
    "results.outcome": ("Outcome",),
    "results.rows": ("Row",),
    "results.suggestions": ("Suggestions",),
    "results.upkeep": ("Vacuumed", "Verified"),
    "sources.dialect": ("CsvOptions",),
    "store.backup": ("Backup", "backup"),
    "store.records": ("BatchRecord",),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: Arrow, NumPy and Spark take their time."""
    if name not in _WHERE:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"holdfast.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    """All that can be asked for, whether it is imported yet or not."""
    return sorted({*globals(), *_WHERE})
