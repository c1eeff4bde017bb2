"""Pages: how long they take to write, how large they are, how soon a browser shows them, and how quickly it searches.

Peers, in an environment of their own that is made when first needed (requirements/peers.txt): the profile page of
fg-data-profiling, and the Data Docs of Great Expectations with one expectation a column. Their times are those of a
whole process, as ours are where we stand beside them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa

from benchmarks.bench_memory import ROWS, rows_of, rules
from benchmarks.data import CACHE, shared
from benchmarks.frame import Case, benchmark, quick, timed
from holdfast.api.discovery import found_in
from holdfast.api.monitor import Monitor
from holdfast.api.tables_report import found_document, write_document
from holdfast.api.workspace import workspace_of
from holdfast.engines.registry import make_engine
from holdfast.progress import SILENT
from tests.browser.chromium import NONE, executable, running

MOST_BYTES, MOST_SECONDS = 5_000_000, 10.0
TO_OPEN, TO_SEARCH = 1.0, 0.05
_REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements" / "peers.txt"
_PROFILE = """
import sys, pandas
from data_profiling import ProfileReport
ProfileReport(pandas.read_csv(sys.argv[1]), progress_bar=False, title="profile").to_file(sys.argv[2] + "/page.html")
"""
_DATA_DOCS = """
import sys, pandas, great_expectations as gx
data = pandas.read_csv(sys.argv[1])
context = gx.get_context(mode="file", project_root_dir=sys.argv[2])
asset = context.data_sources.add_pandas("pandas").add_dataframe_asset("data")
batch = asset.add_batch_definition_whole_dataframe("all")
suite = context.suites.add(gx.ExpectationSuite(name="suite"))
for column in data.columns:
    suite.add_expectation(gx.expectations.ExpectColumnValuesToNotBeNull(column=column))
check = context.validation_definitions.add(gx.ValidationDefinition(name="check", data=batch, suite=suite))
action = gx.checkpoint.UpdateDataDocsAction(name="docs")
point = context.checkpoints.add(gx.Checkpoint(name="point", validation_definitions=[check], actions=[action]))
point.run(batch_parameters={"dataframe": data})
"""


# ---- peers ----------------------------------------------------------------------------------------------------------


def _peers() -> str:
    """The Python of an environment with the peers."""
    place = CACHE / "peers"
    if not (place / "ready").exists():
        venv.create(place, with_pip=True, clear=True)
        pip = [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        subprocess.run([*pip, "-r", str(_REQUIREMENTS)], check=True, capture_output=True)
        (place / "ready").touch()
    return str(place / "bin" / "python")


def _spent(command: list[str]) -> float:
    started = perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return perf_counter() - started


def _beside(name: str, folder: Path) -> Iterator[Case]:
    """The page of a file beside those of the peers."""
    file, ours = shared(name), folder / f"{name}.html"
    spent = _spent([sys.executable, "-m", "holdfast.cli", "discover", str(file), "--html", str(ours)])
    profile, docs = folder / f"{name}-profile", folder / f"{name}-docs"
    for place in (profile, docs):
        place.mkdir()
    for script, place, rival in ((_PROFILE, profile, "fg-data-profiling"), (_DATA_DOCS, docs, "Great Expectations")):
        theirs = _spent([_peers(), "-c", script, str(file), str(place)])
        page = max(place.rglob("*.html"), key=lambda each: each.stat().st_size)
        note = f"{_size(ours)} beside {_size(page)}; requests to other hosts {_asked(ours)} beside {_asked(page)}"
        yield Case(f"{name}: discover --html", spent, theirs, rival, note=note)


def _size(page: Path) -> str:
    return f"{page.stat().st_size / 1e6:.2f} MB"


def _asked(page: Path) -> str:
    """How many requests to other hosts a page makes when it is opened."""
    path = executable()
    if path is None:
        return "?"
    requested: list[str] = []
    with running(path) as browser:
        shown = browser.new_page()
        shown.on("request", lambda request: requested.append(request.url))
        shown.goto(page.as_uri(), wait_until="domcontentloaded")
        shown.wait_for_timeout(500)
    return str(sum(url.startswith("http") for url in requested))


# ---- large pages ----------------------------------------------------------------------------------------------------


def _million(folder: Path) -> Iterator[Case]:
    """All FDs of flight_1k: 982,631."""
    page = folder / "flight.html"
    with workspace_of(shared("flight_1k"), (), "equal", None, None, SILENT) as tables:
        found = found_in(tables, [make_engine("fd")], "equal", SILENT)
        spent, size = timed(lambda: write_document(page, found_document(tables, found)), repeat=2)
    yield _written("flight_1k, 982,631 FDs", spent, size)
    yield from _shown("flight_1k, 982,631 FDs", page, "Dest -> City", "Distance Time")


def _batches(folder: Path) -> Iterator[Case]:
    """A state of a thousand batches and fifty rules."""
    count = 50 if quick() else 1000
    random, page = np.random.default_rng(7), folder / "batches.html"
    with Monitor.create(folder / "state", {"t": rows_of(random, 0, ROWS)}, rules=rules(), key="id") as monitor:
        for number in range(count):
            gone = pa.table({"id": np.arange(number * 5, (number + 1) * 5)})
            monitor.apply(inserts=rows_of(random, ROWS + number * 5, 5), deletes=gone)
        spent, size = timed(lambda: monitor.report(page), repeat=2)
    yield _written(f"{count:,} batches, 50 rules", spent, size)
    yield from _shown(f"{count:,} batches, 50 rules", page, "c1 -> c2", "c3")


def _written(case: str, spent: float, size: int) -> Case:
    met = size < MOST_BYTES and spent < MOST_SECONDS
    return Case(f"{case}: write", spent, goal="10 s, 5 MB", met=met, note=f"{size / 1e6:.2f} MB")


def _shown(case: str, page: Path, *searches: str) -> Iterator[Case]:
    """How soon a browser shows it, and how long a search takes."""
    path = executable()
    if path is None:
        yield Case(f"{case}: open", note=NONE)
        return
    with running(path) as browser:
        took = []
        for _ in range(3):
            shown = browser.new_page()
            started = perf_counter()
            shown.goto(page.as_uri())
            shown.wait_for_selector("main h1")
            took.append(perf_counter() - started)
        yield Case(f"{case}: open", min(took), goal=f"{TO_OPEN:g} s", met=min(took) < TO_OPEN)
        for words in searches:
            spent = min(float(shown.evaluate(_SEARCH, words)) for _ in range(3)) / 1000
            yield Case(f"{case}: search {words!r}", spent, goal="50 ms", met=spent < TO_SEARCH)


# From the address that asks to the list of hits: the page answers when its address changes.
_SEARCH = """async words => {
  location.hash = "#/";
  await new Promise(done => setTimeout(done, 100));
  const changed = new Promise(done => addEventListener("hashchange", done, { once: true }));
  const started = performance.now();
  location.hash = "#/rules?q=" + encodeURIComponent(words);
  await changed;
  document.querySelector("main").getBoundingClientRect();
  return performance.now() - started;
}"""


@benchmark("report", "pages: beside those of a profiler and a checker, and of a million rules")
def report() -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        yield from _beside("hospital", folder)
        if not quick():
            yield from _beside("flight_1k", folder)
        yield from _million(folder)


@benchmark("report-batches", "the page of a state with 1,000 batches and 50 rules")
def report_batches() -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        yield from _batches(Path(name))
