"""Applies batches one after another, as a process of its own that is killed on the way.

    python applier.py STATE BATCHES SCRATCH [N [QUARANTINE]]

It says `ready` when everything is imported, and then the name of each batch that was applied. With N it dies by its own
hand when it is about to flush a file to the disk for the N-th time: every file and every transaction goes through that.
Batches with `.feed.` in their names tell the table of each row in the column `tbl`. With BATCHES given as `-`, it
makes the state from the file SCRATCH instead; with `vacuum`, it writes the state anew, again and again, and says so
each time. With QUARANTINE, it watches the folder BATCHES until all is applied, and sets aside there what can't be.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pyarrow as pa

from holdfast.api import monitor, upkeep
from holdfast.engines.functional import groups_keeper, key_index
from holdfast.table import files

CHECKPOINT_EVERY = 2
RULES = ["key(name, amount)"]


def small_thresholds() -> None:
    """Have the index of a key in a file, though its rows are few, and have it written anew every few batches."""
    key_index.FEWEST, key_index.MUCH, groups_keeper._FEW = 0, 5, 1 << 40


def warm_up(scratch: Path) -> None:
    """Import and compile all that applying a batch needs."""
    rows = pa.table({"id": [1, 2], "name": ["a", "b"], "amount": [1.5, None]})
    with monitor.Monitor.create(scratch, {"t": rows}, key=["id"]) as watch:
        watch.apply(inserts=pa.table({"id": [3], "name": ["c"], "amount": [0.5]}), deletes=pa.table({"id": [1]}))
        watch.vacuum()


def die_at_flush(number: int) -> None:
    """Count flushes from now on, and die when the count is full."""
    flush, left = files.flush, [number]

    def counted(path: Path) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        flush(path)

    files.flush = counted


def main(state: str, batches: str, scratch: str, die: str = "0", quarantine: str = "") -> None:
    """Do as the module says."""
    upkeep._REPLAY_BATCHES = CHECKPOINT_EVERY
    small_thresholds()
    if batches == "-":
        die_at_flush(int(die))
        monitor.Monitor.create(state, {"orders": scratch}, rules=RULES, key=["id"]).close()
        return
    warm_up(Path(scratch))
    die_at_flush(int(die))
    with monitor.Monitor.open(state) as watch:
        print("ready", flush=True)
        while batches == "vacuum":
            watch.vacuum()
            print("vacuum", flush=True)
        if quarantine:
            watch.watch_folder(batches, how="changes", once=True, quarantine=quarantine)
            return
        for path in sorted(Path(batches).iterdir()):
            watch.apply(changes=path, batch_id=path.name, table_column="tbl" if ".feed." in path.name else None)
            print(path.name, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
