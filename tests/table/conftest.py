"""One folder for all segment files of a test run: Hypothesis forbids a new one for each example."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("segments"))
