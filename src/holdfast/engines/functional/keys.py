"""The engine of keys: that of functional dependencies, with the row itself as what is determined."""

from __future__ import annotations

from holdfast.engines.contract import Settings
from holdfast.engines.functional.engine import FunctionalEngine


def make(settings: Settings) -> FunctionalEngine:
    """The engine of keys."""
    return FunctionalEngine("ucc", "keys", settings)
