"""Blocks of rows, in a temporary file where they are many: a full disk gives a plain error."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from holdfast.pairs.blocks import Blocks

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


def test_blocks_move_to_a_file_when_they_are_many() -> None:
    rows = np.arange(60, dtype=np.uint64).reshape(-1, 2)
    gathered = Blocks(2, in_memory=100)
    for begin in range(0, 30, 7):
        gathered.add(rows[begin : begin + 7])
    again = gathered.rows()
    assert isinstance(again.base, np.memmap)
    assert np.array_equal(again, rows)
