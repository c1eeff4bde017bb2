"""Many random streams against the oracles, for as long as one likes: `python -m tests.laws.soak --streams 5000`.

Not part of the test suite. A stream follows from the seed and its number alone, so a failure can be repeated:
`python -m tests.laws.soak --seed 7 --first 4711 --streams 1`.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from tempfile import TemporaryDirectory
from unittest.mock import patch

from holdfast.table import admit
from tests.laws.budgets import SMALL_BUDGETS
from tests.laws.stream import Stream

_PRINTED_EVERY = 30.0  # seconds


def run(seed: int, number: int) -> str | None:
    """One stream; gives what went wrong, if anything did."""
    random = Random(f"{seed}/{number}")
    in_memory = admit.SMALL if random.random() < 0.75 else 0  # else as tasks over files
    small = random.random() < 0.5
    with ExitStack() as patches:
        folder = patches.enter_context(TemporaryDirectory(prefix="holdfast-soak-"))
        patches.enter_context(patch.object(admit, "SMALL", in_memory))
        for module, name, value in SMALL_BUDGETS if small else ():
            patches.enter_context(patch.object(module, name, value))
        try:
            Stream(random, Path(folder)).run(batches=random.randint(1, 8))
        except Exception:
            return traceback.format_exc()
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the streams; returns 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.laws.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=1000, help="how many streams to run")
    parser.add_argument("--seed", type=int, default=None, help="the seed that a run printed, to run the same again")
    parser.add_argument("--first", type=int, default=0, help="the number of the first stream")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes share the work")
    options = parser.parse_args(arguments)
    seed = SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    numbers = range(options.first, options.first + options.streams)
    print(f"seed {seed}: streams {numbers.start} to {numbers.stop - 1}", flush=True)
    failed, printed = 0, time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        for done, (number, wrong) in enumerate(zip(numbers, pool.map(partial(run, seed), numbers), strict=True), 1):
            if wrong is not None:
                failed += 1
                again = f"python -m tests.laws.soak --seed {seed} --first {number} --streams 1"
                print(f"stream {number} failed:\n{wrong}\nto run it again: {again}", flush=True)
            if time.monotonic() - printed > _PRINTED_EVERY:
                printed = time.monotonic()
                print(f"{done:,} of {len(numbers):,} streams, {failed} failed", file=sys.stderr, flush=True)
    print(f"seed {seed}: {len(numbers):,} streams, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
