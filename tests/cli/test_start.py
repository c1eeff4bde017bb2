"""What a small batch loads: libraries that it does not need take longer than the batch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import Holdfast, environment, write

NEVER = ["pandas", "pydantic", "pyspark", "pyarrow.dataset", "pyarrow.fs", "pyarrow.parquet", "holdfast.rules.file"]
RUN = """
import sys
from holdfast.cli.entry import run
try:
    run()
finally:
    print("\\n".join(sys.modules), file=sys.stderr)
"""


def loaded(*words: object) -> set[str]:
    """The modules that a command has loaded."""
    command = [sys.executable, "-c", RUN, *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=120, check=True)
    return set(ran.stderr.splitlines())


@pytest.mark.parametrize(
    ("given", "not_even"),
    [
        ([], ["numba", "yaml"]),
        (["zip -> city", "not(t.zip = s.zip and t.rate < s.rate and t.at > s.at)"], ["numba"]),
        (["t.zip in (1, 2) or t.at < DATE '2030-01-01'", "t.city like 'O%'", "min(rate) >= 0"], ["yaml"]),
    ],
)
def test_a_small_batch_loads_what_it_needs(
    tmp_path: Path, holdfast: Holdfast, given: list[str], not_even: list[str]
) -> None:
    table = write(tmp_path / "t.csv", ["zip,city,at,rate", "1,Rome,2020-01-01,0.5", "2,Bern,2020-01-02,", "2,Bern,,7"])
    more = write(tmp_path / "more.csv", ["zip,city,at,rate", "3,Oslo,2020-01-03,1.25"])
    rules = write(tmp_path / "rules.yaml", ["rules:", *(f"  - rule: {rule}" for rule in given)]) if given else None
    assert holdfast("init", tmp_path / "state", table, *(["--rules", rules] if rules else [])).code == 0
    for change in (["--insert", more], ["--delete", more]):
        modules = loaded("apply", tmp_path / "state", *change)
        assert "holdfast.api.monitor" in modules
        assert not modules & {*NEVER, *not_even}
