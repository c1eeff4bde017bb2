"""A state at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.results.drawn import Drawn
from holdfast.results.history import RuleHistory
from holdfast.table.table import Table


@dataclass(frozen=True)
class State(Drawn):
    """What a notebook shows of a state: its tables, and the rules that broke most often."""

    path: str
    batches: int
    tables: Mapping[str, Table]
    history: RuleHistory
