"""A package that is missing: one sentence names what needs it, and the command that installs it."""

from __future__ import annotations

import sys
from importlib import import_module

import pyarrow as pa
import pytest

from holdfast.errors import BadInput
from holdfast.extras import EXTRAS, needs
from holdfast.table.frames import Framed


class Table(Framed):
    def to_arrow(self) -> pa.Table:
        return pa.table({"n": [1, None]})


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(BadInput) as caught, needs("serve", "The live page"):
        import_module("uvicorn")
    assert str(caught.value) == 'The live page needs uvicorn: pip install "holdfast[serve]"'
    assert caught.value.__suppress_context__


def test_other_missing_modules_stay_errors() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), needs("serve", "The live page"):
        import_module("no_such_module")


def test_what_is_installed_is_silent() -> None:
    for extra, packages in EXTRAS.items():
        with needs(extra, "This test"):
            for name in packages:
                pytest.importorskip(name)


def test_frames_of_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(BadInput, match=r'^A pandas frame needs pandas: pip install "holdfast\[pandas\]"$'):
        Table().to_pandas()
