"""Witnesses that wait until they are asked for."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.changes.asked import WhenAsked
from holdfast.changes.diff import Witness


def test_witnesses_are_made_once_and_only_when_asked_for() -> None:
    asked = []

    def make() -> Mapping[str, Witness]:
        asked.append(1)
        return {"A -> B": Witness((1, 2))}

    waiting = WhenAsked(make)
    assert not asked
    assert waiting == {"A -> B": Witness((1, 2))}
    assert waiting.get("A -> C") is None
    assert list(waiting) == ["A -> B"]
    assert len(waiting) == 1
    assert repr(waiting) == repr({"A -> B": Witness((1, 2))})
    assert len(asked) == 1
