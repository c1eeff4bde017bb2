"""Only what Spark Connect also has: no RDDs, no access to the JVM."""

from __future__ import annotations

import re
from pathlib import Path

import holdfast

FORBIDDEN = re.compile(r"\b_jvm\b|\b_jsc\b|\bsparkContext\b|\.rdd\b|\b_jdf\b|\bSparkContext\b")


def test_nothing_reaches_behind_the_data_frames() -> None:
    sources = sorted(Path(holdfast.__file__).parent.rglob("*.py"))
    assert len(sources) > 30
    found = {
        f"{path.name}:{number}": line
        for path in sources
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if FORBIDDEN.search(line)
    }
    assert found == {}
