"""Bits that turn, one at a time, anywhere in the files of a state: it is refused, or its answers are the same, and
`verify` names the file.

    .venv/bin/python -m tests.store.flips --flips 2000

Half of them in a state at rest, half in one whose writer was killed, with the log that SQLite keeps. Left out are the
lock, which holds the number of a process and nothing of the state, and pages of a database that its log holds in a
newer version: nobody reads them, and the next writer copies the log over them.
"""

from __future__ import annotations

import argparse
import random
import shutil
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.api.monitor import Monitor
from holdfast.api.verification import verify
from holdfast.api.view import View
from holdfast.errors import Damaged
from tests.store import harm

DATABASE, LOG, SUMS = "holdfast.db", "holdfast.db-wal", "holdfast.sums"
_LOG_HEADER, _FRAME_HEADER, _PAGE = 32, 24, 4096


def states(place: Path) -> list[Path]:
    """A state at rest, and one as a killed writer leaves it."""
    rest, killed = place / "rest", place / "killed"
    harm.make(rest)
    shutil.copytree(rest, place / "open")
    with Monitor.open(place / "open") as monitor:
        monitor.apply(inserts=harm.people(60, 4), deletes=harm.people(20, 2))
        monitor.apply(inserts=harm.people(70, 1))
        shutil.copytree(place / "open", killed, ignore=shutil.ignore_patterns("*-shm"))
    return [rest, killed]


def answers(path: Path) -> list[Any]:
    """All answers of a state, about now and about the past."""
    with View.open(path) as view:
        memory = view.memory()
        return [
            harm.answers(view),
            [batch.to_json() for batch in view.history()],
            [memory.events(), memory.counts(), memory.figures(), memory.columns(), memory.left_out()],
            [row.to_json() for row in view.rows(range(view.tables["people"].next_id))],
            [view.changes(), str(view.rules()), view.marks()],
            [view._store.handled_files(["none"]).get("none"), view._store.bulk.states().keys()],
        ]


def paths(state: Path) -> list[Path]:
    """The files of a state; each of the few of the database as often as all segments together have a third."""
    segments = sorted((state / "segments").iterdir())
    own = [each for name in (DATABASE, LOG, SUMS) if (each := state / name).exists()]
    return [*segments, *own * (len(segments) // 2)]


def is_in_log(path: Path, bit: int) -> bool:
    """Whether a bit of a database is in a page that its log holds."""
    log = path.with_name(LOG)
    if path.name != DATABASE or not log.exists():
        return False
    raw = log.read_bytes()
    starts = range(_LOG_HEADER, len(raw), _FRAME_HEADER + _PAGE)
    return bit // 8 // _PAGE + 1 in {struct.unpack_from(">I", raw, at)[0] for at in starts}


def run(state: Path, expected: list[Any], flips: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Turn some bits of a state; yields the file of each and the effect: "refused", "same" or what is wrong."""
    files = paths(state)
    log = (state / LOG).read_bytes() if (state / LOG).exists() else b""
    done = 0
    while done < flips:
        with harm.turned(files, chance) as (path, bit):
            if is_in_log(path, bit):
                continue
            done += 1
            kind = path.name if path.parent == state else "segments"
            yield kind, _outcome(state, expected, path)
        (state / f"{DATABASE}-shm").unlink(missing_ok=True)
        assert not log or (state / LOG).read_bytes() == log, "a reader has changed the log"


def _outcome(state: Path, expected: list[Any], path: Path) -> str:
    try:
        outcome = "same" if answers(state) == expected else "another answer"
    except Damaged as error:
        outcome = "refused" if error.path == str(path) else f"refused for {error}"
    named = [problem for problem in verify(state).problems if problem.startswith(f"{path}: damaged (")]
    return outcome if named else f"{outcome}, and verify is silent"


def main() -> int:
    """Turn bits of both states, and print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flips", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=24)
    options = parser.parse_args()
    found: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number, state in enumerate(states(Path(folder))):
            found.update(run(state, answers(state), options.flips // 2, random.Random(options.seed + number)))
    for (kind, outcome), count in sorted(found.items()):
        print(f"{kind:16} {outcome:24} {count:6,}")
    return int(any(outcome not in ("refused", "same") for _, outcome in found))


if __name__ == "__main__":
    sys.exit(main())
