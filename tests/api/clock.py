"""A clock of a state that a test can turn on."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

import pytest

from holdfast.api import upkeep
from holdfast.store import batches


class Clock:
    """The time that batches get, and by which rows expire: that of now, and days more."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.days = 0.0
        clock = self

        class Time(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
                return datetime.now(tz) + timedelta(clock.days)

        for module in (upkeep, batches):
            patch.setattr(module, "datetime", Time)
