"""Blocks of rows in a temporary file: a full disk gives a plain error."""

from __future__ import annotations

import subprocess
import sys

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


def test_results_that_fit_no_disk() -> None:
    printed = subprocess.run([sys.executable, "-c", _FULL], capture_output=True, text=True, check=True).stdout
    assert "no space left for more than" in printed
    assert "--max-lhs" in printed
