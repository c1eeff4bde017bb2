"""A copy of what a package is built from, for tests that build one: a build writes beside its sources."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]


def copy_project(to: Path) -> Path:
    """Copy it into a new folder."""
    shutil.copytree(ROOT / "src", to / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, to / name)
    return to
