"""Targets in threads: what one raises, or a full disk, ends them all, and soon."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from holdfast.errors import BadInput
from holdfast.pairs.threads import Told, each

_FULL = """
import resource
import numpy as np
from holdfast.errors import BadInput
from holdfast.pairs.blocks import Blocks

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
blocks = Blocks(1, in_memory=1000)
try:
    for _ in range(1000):
        blocks.add(np.zeros((1000, 1), np.uint64))
except BadInput as error:
    print(error)
"""


def test_an_error_in_one_target_ends_all() -> None:
    def one(target: int, told: Told) -> int:
        if target == 0:
            raise BadInput("no space")
        while True:
            told(0)
            time.sleep(0.01)

    with pytest.raises(BadInput, match="no space"):
        each([0, 1, 2], one)


def test_results_that_fit_no_disk() -> None:
    told = subprocess.run([sys.executable, "-c", _FULL], capture_output=True, text=True, check=True).stdout
    assert "no space left for more than" in told
    assert "--max-lhs" in told
