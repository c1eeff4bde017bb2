"""Compiling, which the first use needs: people hear of it once, if it takes long."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

from holdfast.kernels import jit
from holdfast.progress import Progress, hide, show

ONCE = ["Compiling for this machine (at first use only) …"]


class Notes(Progress):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)


@pytest.fixture
def notes() -> Iterator[list[str]]:
    shown = Notes()
    show(shown)
    yield shown.texts
    hide(shown)


def until_said(notes: list[str]) -> list[str]:
    end = time.monotonic() + 20.0
    while not notes and time.monotonic() < end:
        time.sleep(0.01)
    return notes


def test_a_long_compilation_is_noted_once(notes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "LONG", 0.0)
    clock = jit.Clock()
    clock.start()
    clock.start()  # a kernel that it calls
    assert until_said(notes) == ONCE
    clock.stop()
    clock.stop()
    clock.start()
    clock.stop()
    assert notes == ONCE


def test_short_ones_add_up(notes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = jit.Clock()
    monkeypatch.setattr(jit, "LONG", 1000.0)
    clock.start()
    time.sleep(0.01)
    clock.stop()
    assert notes == []
    monkeypatch.setattr(jit, "LONG", 0.01)  # that long it took already
    clock.start()
    assert until_said(notes) == ONCE
    clock.stop()


def test_numba_says_when_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(jit.Clock, "start", lambda _: seen.append("start"))
    monkeypatch.setattr(jit.Clock, "stop", lambda _: seen.append("stop"))
    total = jit._Kernel(lambda numbers: numbers.sum()).compiled
    assert total(np.arange(4)) == 6
    assert seen
    assert seen.count("start") == seen.count("stop")
    compiled = len(seen)
    assert total(np.arange(5)) == 10
    assert len(seen) == compiled


def test_who_has_ended_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "LONG", 0.0)
    before, after = Notes(), Notes()
    show(before)
    show(after)
    hide(before)
    clock = jit.Clock()
    clock.start()
    assert until_said(after.texts) == ONCE
    clock.stop()
    hide(after)
    assert before.texts == []
