"""What every benchmark shares: how one is declared, timed, weighed, run apart from the others, and kept.

A benchmark is a function that yields `Case` rows under `@benchmark(name, what)`, in a module `bench_*.py`. Each
runs in a process of its own, so that its memory and its warm-up are its own; the parent only waits for it.

Invariant: the cases that a benchmark gave before an error are kept, and an error or a wrong answer of one
benchmark never stops the others.
Cost: weighing reads files of /proc every 50 ms: about a thousandth of a core, a hundredth beside a JVM.
"""

import gc
import importlib.util
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
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

HERE = Path(__file__).resolve().parent
SAMPLE_SECONDS = 0.05
GRACE_SECONDS = 5.0
LIBRARIES = ("holdfast", "numpy", "numba", "pyarrow", "pyspark", "pandas", "polars", "duckdb", "desbordante")
_QUICK = "HOLDFAST_BENCH_QUICK"
_CHILD = "from benchmarks.frame import child; child()"

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
    published: str = ""  # what a paper says of it

    @property
    def ratio(self) -> float | None:
        """How many times as long as ours the rival takes: above 1, ours is the faster."""
        return self.rival / self.ours if self.ours and self.rival is not None else None


Run = Callable[[], Iterable[Case]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A declared benchmark."""

    name: str
    what: str
    run: Run
    file: Path


@dataclass(slots=True)
class Outcome:
    """What came of one benchmark: its cases up to its end, or up to its error."""

    name: str
    what: str
    quick: bool
    cases: list[Case] = field(default_factory=list)
    seconds: float = 0.0
    peaks_mb: dict[str, float] = field(default_factory=dict)
    error: str = ""  # only its kind: its text may hold paths, and this is what results keep

    @property
    def failed(self) -> bool:
        """A benchmark fails by an error or by a wrong answer, never by being slow."""
        return bool(self.error) or any(case.equal is False for case in self.cases)


# Declaring and finding ------------------------------------------------------------------------------------

_declared: dict[tuple[Path, str], Benchmark] = {}


def benchmark(name: str, what: str) -> Callable[[Run], Run]:
    """Declare the function below as the benchmark of this name; `what` says in one line what it measures."""

    def declare(run: Run) -> Run:
        file = Path(str(sys.modules[run.__module__].__file__)).resolve()
        if (file, name) in _declared and _declared[file, name].run.__qualname__ != run.__qualname__:
            raise ValueError(f"{file.name} declares two benchmarks named {name!r}")
        _declared[file, name] = Benchmark(name, what, run, file)
        return run

    return declare


def load(file: Path) -> list[Benchmark]:
    """Import one module of benchmarks and return those that it declares."""
    folder = file.parent.resolve()
    module = ".".join(
        ["benchmarks", *(folder.relative_to(HERE).parts if folder.is_relative_to(HERE) else ()), file.stem]
    )
    spec = importlib.util.spec_from_file_location(module, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} is not a Python module")
    sys.modules[module] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[module])
    return [found for found in _declared.values() if found.file == file.resolve()]


def quick() -> bool:
    """Whether the run shall be quick: then a benchmark takes small data and few repeats."""
    return os.environ.get(_QUICK) == "1"


# Timing ---------------------------------------------------------------------------------------------------


def _once(run: Callable[[], Ours]) -> tuple[float, Ours]:
    gc.collect()  # else one run pays for the garbage of the one before
    start = time.perf_counter()
    answer = run()
    return time.perf_counter() - start, answer


def timed(run: Callable[[], Ours], repeat: int = 5) -> tuple[float, Ours]:
    """The median seconds of `repeat` runs, and the answer of the last one."""
    spent = [_once(run)[0] for _ in range(repeat - 1)]
    seconds, answer = _once(run)
    return statistics.median([*spent, seconds]), answer


@dataclass(frozen=True, slots=True)
class Race(Generic[Ours, Rival]):
    """Median seconds and last answers of two ways to do the same."""

    ours: float
    rival: float
    ours_answer: Ours
    rival_answer: Rival

    def case(
        self,
        case: str,
        rival_name: str,
        equal: bool | None,
        *,
        least: float | None = None,
        rows: int | None = None,
        note: str = "",
    ) -> Case:
        """The race as a case; with `least`, its goal is to be that many times as fast, and right."""
        plain = Case(case, self.ours, self.rival, rival_name, equal=equal, note=note, rows=rows)
        if least is None:
            return plain
        return replace(plain, goal=f"{least:g}x", met=self.rival >= least * self.ours and equal is not False)


def race(ours: Callable[[], Ours], rival: Callable[[], Rival], repeat: int = 5) -> Race[Ours, Rival]:
    """Time both by turns, each first every other time, so that what disturbs the machine disturbs both."""
    ours_spent: list[float] = []
    rival_spent: list[float] = []
    for turn in range(repeat - 1):
        if turn % 2:
            rival_spent.append(_once(rival)[0])
        ours_spent.append(_once(ours)[0])
        if not turn % 2:
            rival_spent.append(_once(rival)[0])
    ours_seconds, ours_answer = _once(ours)
    rival_seconds, rival_answer = _once(rival)
    return Race(
        statistics.median([*ours_spent, ours_seconds]),
        statistics.median([*rival_spent, rival_seconds]),
        ours_answer,
        rival_answer,
    )


# Weighing -------------------------------------------------------------------------------------------------


class Rss:
    """Measures the peak of resident memory while its block runs, of this process and all its descendants.

    `own_mb` is the peak of this process alone, exact, from the kernel's high-water mark, which each block sets
    back. `peak_mb` is the peak of the sum over the process tree (a JVM, Spark's workers), sampled every 50 ms,
    and never below `own_mb`. Pages that processes share count once for each: the sum is an upper bound.
    Blocks may be nested; one thread samples for all. Where there is no /proc, both figures are the process's
    peak since its start.
    """

    _open: ClassVar[list["Rss"]] = []
    _sampler: ClassVar[threading.Thread | None] = None

    def __init__(self) -> None:
        self.own_mb = 0.0
        self.peak_mb = 0.0

    def __enter__(self) -> Self:
        self._fold()
        Rss._open.append(self)
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # sets VmHWM back to what is resident now
        if Rss._sampler is None:
            Rss._sampler = threading.Thread(target=_sample_forever, daemon=True)
            Rss._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._fold()
        Rss._open.remove(self)

    @staticmethod
    def _fold() -> None:
        """Hand the high-water mark to all open blocks, before it is set back."""
        high = _high_water_mb()
        for block in Rss._open:
            block.own_mb = max(block.own_mb, high)
            block.peak_mb = max(block.peak_mb, high)


def _sample_forever() -> None:
    family: list[int] = []
    for turn in count():
        if Rss._open:
            # Finding descendants reads a file for each thread, which are many in a JVM; weighing, one a process.
            family = family if turn % 4 else _family(os.getpid())
            weight = _resident_mb(family)
            for block in list(Rss._open):
                block.peak_mb = max(block.peak_mb, weight)
        time.sleep(SAMPLE_SECONDS)


def _family(root: int) -> list[int]:
    """The process and all its descendants."""
    found = [root]
    for process in found:  # grows while it is walked
        with suppress(OSError):  # a process or thread may have ended meanwhile
            for thread in Path(f"/proc/{process}/task").iterdir():
                with suppress(OSError):
                    found += map(int, (thread / "children").read_text().split())
    return found


def _resident_mb(processes: list[int]) -> float:
    pages = 0
    for process in processes:
        with suppress(OSError):
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _high_water_mb() -> float:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return _usage_mb(resource.RUSAGE_SELF)


def _usage_mb(who: int) -> float:
    unit = 1024 if sys.platform == "linux" else 1024 * 1024
    return resource.getrusage(who).ru_maxrss / unit


# Running apart --------------------------------------------------------------------------------------------


def child() -> None:
    """In the child process: run the benchmark that the arguments name and note its cases, a line each."""
    file, name, notes = sys.argv[1:]
    with Path(notes).open("w", buffering=1) as lines:

        def note(**entry: Any) -> None:
            print(json.dumps(entry, default=lambda value: value.item()), file=lines)  # NumPy's numbers

        try:
            chosen = {found.name: found for found in load(Path(file))}[name]
            with Rss() as whole:
                for case in _weighed(chosen.run):
                    note(case=asdict(case))
            # Not RUSAGE_SELF: at its start that inherits the peak of the parent. RUSAGE_CHILDREN likewise is
            # never below what we held when we started the child.
            children = _usage_mb(resource.RUSAGE_CHILDREN)
            note(peaks_mb={"tree": whole.peak_mb, "self": whole.own_mb, "largest_child": children})
        except Exception as error:
            traceback.print_exc()
            note(error=type(error).__name__)
            sys.exit(1)


def _weighed(run: Run) -> Iterator[Case]:
    """The cases, each with the peak of its own stretch; cases returned together share one peak."""
    with Rss() as stretch:
        cases = run()
        together = isinstance(cases, list | tuple)
        pending = iter(cases)
        case = next(pending, None)
    if case is None:
        raise ValueError("the benchmark gave no cases")
    while case is not None:
        yield case if case.peak_rss_mb is not None else replace(case, peak_rss_mb=round(stretch.peak_mb, 1))
        if together:
            case = next(pending, None)
        else:
            with Rss() as stretch:
                case = next(pending, None)


def run_apart(chosen: Benchmark, quickly: bool) -> Outcome:
    """Run one benchmark in a fresh process and gather what it noted, however it ended."""
    outcome = Outcome(chosen.name, chosen.what, quickly)
    path = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")]))
    pool = {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # as the command line sets it
    environment = pool | os.environ | {"PYTHONPATH": path, _QUICK: str(int(quickly))}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        notes = Path(folder) / "notes.jsonl"
        command = [sys.executable, "-c", _CHILD, str(chosen.file), chosen.name, str(notes)]
        start = time.perf_counter()
        # A session of its own, so that Ctrl-C reaches the parent alone, and that we can end what it started.
        # Its output goes to our stderr: stdout is for results.
        process = subprocess.Popen(command, env=environment, stdout=2, start_new_session=True)
        try:
            code = process.wait()
            outcome.seconds = time.perf_counter() - start
        finally:
            _end(process)
        for line in notes.read_text().splitlines() if notes.exists() else []:
            _take_note(outcome, json.loads(line))
    if code and not outcome.error:
        outcome.error = f"ended by signal {-code}" if code < 0 else f"ended with code {code}"
    return outcome


def _take_note(outcome: Outcome, entry: dict[str, Any]) -> None:
    match entry:
        case {"case": values}:
            outcome.cases.append(Case(**values))
        case {"peaks_mb": peaks}:
            outcome.peaks_mb = {kind: round(peak, 1) for kind, peak in peaks.items()}
        case {"error": kind}:
            outcome.error = kind


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child and all that it left running: a JVM may leave by itself first, then politely, then by force."""
    ended_by_itself = process.poll() is not None
    for sign in (0, signal.SIGTERM, signal.SIGKILL) if ended_by_itself else (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)  # 0 sends nothing
            end = time.monotonic() + GRACE_SECONDS
            while time.monotonic() < end:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(SAMPLE_SECONDS)
        except OSError:
            return  # nobody is left


# Keeping --------------------------------------------------------------------------------------------------


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome with the facts of the machine: what results keep. Neither host names nor paths."""
    cases = [asdict(case) | {"ratio": case.ratio} for case in outcome.cases]
    return asdict(outcome) | {"cases": cases, "machine": machine()}


def machine() -> dict[str, Any]:
    """What a reader needs to judge the figures by."""
    libraries = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            libraries[name] = version(name)
    return {
        "cpus": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * resource.getpagesize() / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "libraries": libraries,
    }
